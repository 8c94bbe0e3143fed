// A server that takes documents, lines that are hard to carry, and what must be true after a bulk indexer has sent them.

package shop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
)

// Indexer is one version's bulk indexer. It sends documents to the index of that name and gives how many were acknowledged,
// and why others were not. If it is patient it sends again what a full server had no room for.
type Indexer func(t *testing.T, url, index string, documents []string, patient bool) (acknowledged int, problems []string)

const logsConfig = `
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: timestamp
  field_mappings:
    - {name: timestamp, type: datetime, fast: true, input_formats: [rfc3339]}
    - {name: number, type: u64, fast: true}
    - {name: message, type: text, record: position}
`

var hard = []string{
	"GET /cart status=200",
	"Ünïcödé 日本語 🎉 \u2028 \u0085 \u202e",
	`a "quoted" \ backslash, \u0041 and {"json": [1, 2}`,
	"\x00 \x01 \x1b[31mred\x1b[0m \x7f and\ttabs",
	"two\nlines\r\nor three",
	strings.Repeat("x", 4_000),
	"   spaces   ",
}

// EachLineIsSentOnce sends lines by several workers at once.
func EachLineIsSentOnce(t *testing.T, send Indexer) {
	url := takesLogs(t, "--commit-interval", "50ms")
	sent, documents := logLines(t, 1_400)
	if acknowledged, problems := send(t, url, "logs", documents, false); acknowledged != len(sent) || len(problems) != 0 {
		t.Fatalf("%d of %d were acknowledged: %v", acknowledged, len(sent), problems)
	}
	holds(t, url, sent)
}

// AFullServerIsSentToAgain sends to a server that has no room for all requests at once.
func AFullServerIsSentToAgain(t *testing.T, send Indexer) {
	url := takesLogs(t, "--commit-interval", "100ms", "--max-pending-bytes", "150KB")
	sent, documents := logLines(t, 700)
	if acknowledged, problems := send(t, url, "logs", documents, true); acknowledged != len(sent) || len(problems) != 0 {
		t.Fatalf("%d of %d were acknowledged: %v", acknowledged, len(sent), problems)
	}
	holds(t, url, sent)
}

// WhatIsNotTakenIsSaid sends documents that the index does not allow, and to an index that is not there.
func WhatIsNotTakenIsSaid(t *testing.T, send Indexer) {
	url := takesLogs(t, "--commit-interval", "50ms")
	sent, documents := logLines(t, 10)
	documents = append(documents, `{"message": "without a time"}`, `{"timestamp": "never", "message": "in vain"}`)
	acknowledged, problems := send(t, url, "logs", documents, false)
	if wanted := []string{"document_parsing_exception", "document_parsing_exception"}; acknowledged != len(sent) || !reflect.DeepEqual(problems, wanted) {
		t.Fatalf("%d were acknowledged, and %v", acknowledged, problems)
	}
	holds(t, url, sent)
	acknowledged, problems = send(t, url, "missing", documents[:1], false)
	if wanted := []string{"index_not_found_exception"}; acknowledged != 0 || !reflect.DeepEqual(problems, wanted) {
		t.Fatalf("%d were acknowledged, and %v", acknowledged, problems)
	}
}

// takesLogs serves a new index `logs` that may be written to.
func takesLogs(t *testing.T, more ...string) string {
	t.Helper()
	if IsWorker || os.Getenv("CANTER_URL") != "" {
		t.Skip("this host only searches")
	}
	folder := t.TempDir()
	index, config := filepath.Join(folder, "logs"), filepath.Join(folder, "index.yaml")
	Works(t, func() error { return os.WriteFile(config, []byte(logsConfig), 0o600) })
	Works(t, func() error {
		_, err := canter("index", "create", "--index", index, "--index-config", config)
		return err
	})
	args := []string{"serve", "--index", "logs=" + index, "--listen", "127.0.0.1:0", "--writable"}
	if engine := os.Getenv("ENGINE"); engine != "" {
		args = append(args, "--engine", engine)
	}
	url, stop, err := listen(exec.Command(os.Getenv("CANTER"), append(args, more...)...))
	t.Cleanup(stop)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// logLines gives messages, and the documents that have them.
func logLines(t *testing.T, num int) (messages, documents []string) {
	t.Helper()
	for number := range num {
		message := fmt.Sprintf("%d %s", number, hard[number%len(hard)])
		document, err := json.Marshal(map[string]any{
			"timestamp": fmt.Sprintf("2026-11-05T10:%02d:%02dZ", number/60%60, number%60),
			"number":    number,
			"message":   message,
		})
		if err != nil {
			t.Fatal(err)
		}
		messages, documents = append(messages, message), append(documents, string(document))
	}
	return messages, documents
}

// holds fails unless the index has each message, and once.
func holds(t *testing.T, url string, wanted []string) {
	t.Helper()
	body := strings.NewReader(`{"size": 10000, "sort": ["number"], "_source": ["message"]}`)
	response, err := http.Post(url+"/logs/_search", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Hits struct {
			Hits []struct {
				Source struct {
					Message string `json:"message"`
				} `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, hit := range answer.Hits.Hits {
		found = append(found, hit.Source.Message)
	}
	sort.Strings(found)
	wanted = append([]string(nil), wanted...)
	sort.Strings(wanted)
	if !reflect.DeepEqual(found, wanted) {
		t.Fatalf("%d messages are there, and not the %d that were sent", len(found), len(wanted))
	}
}
