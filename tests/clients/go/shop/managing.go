// Indexes and templates that a client makes and deletes, on a server that begins with none.

package shop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Manager is what one version's low-level client does with indexes and templates. The body is JSON.
type Manager interface {
	Create(index, body string) (Answer, error)
	Exists(index string) (Answer, error)
	Delete(indexes ...string) (Answer, error)
	PutIndexTemplate(name, body string) (Answer, error)
	ExistsIndexTemplate(name string) (Answer, error)
	DeleteIndexTemplate(name string) (Answer, error)
	Index(index, body string) (Answer, error)
	Count(index, body string) (Answer, error)
}

const managedMapping = `{"properties": {"@timestamp": {"type": "date"}, "message": {"type": "text"}}}`

const managedEvent = `{"@timestamp": "2026-11-05T10:00:00Z", "message": "an event came in", "tags": ["a", "b"]}`

// IndexesComeAndGo makes an index, fills it and deletes it, and does the same by a template.
func IndexesComeAndGo(t *testing.T, connect func(url string) Manager) {
	client := connect(manages(t))
	for _, step := range []struct {
		name   string
		call   func() (Answer, error)
		status int
	}{
		{"no index yet", func() (Answer, error) { return client.Exists("logs") }, 404},
		{"made", func() (Answer, error) { return client.Create("logs", `{"mappings": `+managedMapping+`}`) }, 200},
		{"made twice", func() (Answer, error) { return client.Create("logs", `{}`) }, 400},
		{"there", func() (Answer, error) { return client.Exists("logs") }, 200},
		{"filled", func() (Answer, error) { return client.Index("logs", managedEvent) }, 201},
		{"found", func() (Answer, error) { return client.Count("logs", `{"query": {"match": {"message": "event"}}}`) }, 200},
		{"not by a pattern", func() (Answer, error) { return client.Delete("lo*") }, 400},
		{"deleted", func() (Answer, error) { return client.Delete("logs") }, 200},
		{"gone", func() (Answer, error) { return client.Delete("logs") }, 404},
		{"no template yet", func() (Answer, error) { return client.ExistsIndexTemplate("app") }, 404},
		{"not without a template", func() (Answer, error) { return client.Index("app-1", managedEvent) }, 404},
		{"a template", func() (Answer, error) {
			return client.PutIndexTemplate("app", `{"index_patterns": ["app-*"], "template": {"mappings": `+managedMapping+`}}`)
		}, 200},
		{"the template", func() (Answer, error) { return client.ExistsIndexTemplate("app") }, 200},
		{"by the template", func() (Answer, error) { return client.Index("app-1", managedEvent) }, 201},
		{"by the template, too", func() (Answer, error) { return client.Index("app-2", managedEvent) }, 201},
		{"both", func() (Answer, error) { return client.Delete("app-1", "app-2") }, 200},
		{"no template any more", func() (Answer, error) { return client.DeleteIndexTemplate("app") }, 200},
	} {
		answer, err := step.call()
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if answer.Status != step.status {
			t.Fatalf("%s: %d %s", step.name, answer.Status, answer.Body)
		}
	}
}

// manages serves a folder in which there is no index yet.
func manages(t *testing.T) string {
	t.Helper()
	if IsWorker || os.Getenv("CANTER_URL") != "" {
		t.Skip("this host only searches")
	}
	args := []string{"serve", "--indexes-in", filepath.Join(t.TempDir(), "all"), "--listen", "127.0.0.1:0"}
	args = append(args, "--writable", "--commit-interval", "50ms", "--auto-create-index", "none")
	if engine := os.Getenv("ENGINE"); engine != "" {
		args = append(args, "--engine", engine)
	}
	url, stop, err := listen(exec.Command(os.Getenv("CANTER"), args...))
	t.Cleanup(stop)
	if err != nil {
		t.Fatal(err)
	}
	return url
}
