// The host: an index that `canter` makes, served by `canter serve`, by the Worker (HOST=worker), or by whom CANTER_URL
// names, whose index `shop` must hold these documents.

package shop

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// URL is where the documents are served.
var URL string

// Guarded is where they are served to holders of tokens, and what is the token of a holder who may see the books; empty
// with CANTER_URL.
var Guarded, Token string

// IsWorker is whether the host is the Worker.
var IsWorker = os.Getenv("HOST") == "worker"

// Main runs the tests of a version of the client, and says how many calls they made.
func Main(m *testing.M, version string) {
	os.Exit(func() int {
		stop, err := start()
		defer stop()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		status := m.Run()
		fmt.Printf("go-elasticsearch %s: %s\n", version, Calls.String())
		isWhole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
		if least := leastCalls(); status == 0 && isWhole && Calls.total() < least {
			fmt.Printf("these are not at least %d\n", least)
			return 1
		}
		return status
	}())
}

// leastCalls is how many calls all tests make: with fewer, some were skipped, or say nothing of what they ask.
func leastCalls() int {
	if IsWorker {
		return 40
	}
	return 120
}

func start() (stop func(), err error) {
	var undo []func()
	stop = func() {
		for nth := len(undo) - 1; nth >= 0; nth-- {
			undo[nth]()
		}
	}
	if URL = os.Getenv("CANTER_URL"); URL != "" {
		return stop, nil
	}
	folder, err := os.MkdirTemp("", "canter-clients-")
	if err != nil {
		return stop, err
	}
	undo = append(undo, func() { os.RemoveAll(folder) })
	index, err := makeIndex(folder)
	if err != nil {
		return stop, err
	}
	serve := func(keys string) (string, error) {
		url, stop, err := serve(index, keys)
		undo = append(undo, stop)
		return url, err
	}
	if URL, err = serve(""); err != nil {
		return stop, err
	}
	keys := filepath.Join(folder, "keys.toml")
	if Token, err = canter("key", "add", "--file", keys, "--id", "books", "--index", "sh*", "--filter", "kind:book"); err != nil {
		return stop, err
	}
	Guarded, err = serve(keys)
	return stop, err
}

func canter(args ...string) (string, error) {
	said, err := exec.Command(os.Getenv("CANTER"), args...).Output()
	if err != nil {
		return "", fmt.Errorf("canter %s (CANTER is %q): %w", strings.Join(args, " "), os.Getenv("CANTER"), err)
	}
	return strings.TrimSpace(string(said)), nil
}

// makeIndex makes an index of several splits.
func makeIndex(folder string) (string, error) {
	of := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(of("index.yaml"), []byte(config), 0o600); err != nil {
		return "", err
	}
	if _, err := canter("index", "create", "--index", of("shop"), "--index-config", of("index.yaml")); err != nil {
		return "", err
	}
	docs := Documents()
	for from := 0; from < len(docs); from += 150 {
		var lines strings.Builder
		for _, doc := range docs[from:min(from+150, len(docs))] {
			line, err := json.Marshal(doc)
			if err != nil {
				return "", err
			}
			lines.Write(append(line, '\n'))
		}
		if err := os.WriteFile(of("docs.ndjson"), []byte(lines.String()), 0o600); err != nil {
			return "", err
		}
		if _, err := canter("index", "ingest", "--index", of("shop"), "--input", of("docs.ndjson")); err != nil {
			return "", err
		}
	}
	return of("shop"), nil
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// serve serves an index, to holders of the keys in a file if there is one.
func serve(index, keys string) (url string, stop func(), err error) {
	engine := os.Getenv("ENGINE")
	if engine == "" {
		engine = "wasm"
	}
	name, args := os.Getenv("CANTER"), []string{"serve", "--index", "shop=" + index, "--listen", "127.0.0.1:0", "--engine", engine}
	if keys != "" {
		args = append(args, "--api-keys", keys)
	}
	if IsWorker {
		name, args = "node", []string{filepath.Join("..", "..", "worker.mjs"), index, "shop"}
		if keys != "" {
			args = append(args, keys)
		}
	}
	return listen(exec.Command(name, args...))
}

// listen starts a host, and gives what it says of its address.
func listen(server *exec.Cmd) (url string, stop func(), err error) {
	// A host ends with its standard input at the latest.
	input, err := server.StdinPipe()
	if err != nil {
		return "", func() {}, err
	}
	output, err := server.StdoutPipe()
	if err != nil {
		return "", func() {}, err
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		return "", func() {}, err
	}
	stop = func() {
		input.Close()
		// Not killed: the Worker has a process of its own to end.
		server.Process.Signal(syscall.SIGTERM)
		server.Wait()
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if url = address.FindString(lines.Text()); url != "" {
			go func() {
				for lines.Scan() {
				}
			}()
			return url, stop, nil
		}
	}
	return "", stop, fmt.Errorf("the host does not say where it listens")
}

// Counter is a transport that counts what goes through it.
type Counter struct {
	lock  sync.Mutex
	kinds map[string]int
}

// Calls counts the calls of all clients.
var Calls = &Counter{kinds: map[string]int{}}

// RoundTrip sends a request on, and counts it if it was answered.
func (counter *Counter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	kind := "index"
	for _, word := range strings.Split(request.URL.Path, "/") {
		if strings.HasPrefix(word, "_") {
			kind = word
		}
	}
	counter.lock.Lock()
	defer counter.lock.Unlock()
	counter.kinds[kind]++
	return response, nil
}

func (counter *Counter) total() int {
	total := 0
	for _, num := range counter.kinds {
		total += num
	}
	return total
}

func (counter *Counter) String() string {
	shown := []string{}
	for kind, num := range counter.kinds {
		shown = append(shown, fmt.Sprintf("%s %d", kind, num))
	}
	sort.Strings(shown)
	return fmt.Sprintf("%d API calls (%s)", counter.total(), strings.Join(shown, ", "))
}

// Works runs what fails with an error if it does not work.
func Works(t *testing.T, body func() error) {
	t.Helper()
	if err := body(); err != nil {
		t.Fatal(err)
	}
}
