// Package shop is what the tests of both versions of Elasticsearch's Go client share: documents, a host that serves
// them, and the tests themselves, over calls that each version makes with its own client.
package shop

import (
	"fmt"
	"strings"
	"time"
)

// NumDocs is how many documents there are.
const NumDocs = 400

// Document is one of them, as it is shown.
type Document struct {
	ID    int     `json:"id"`
	Name  string  `json:"name"`
	Kind  string  `json:"kind"`
	Price float64 `json:"price"`
	Sold  string  `json:"sold"`
	IsNew bool    `json:"is_new"`
	Note  string  `json:"note,omitempty"`
}

const config = `
version: 0.9
index_id: shop
doc_mapping:
  mode: strict
  timestamp_field: sold
  field_mappings:
    - {name: id, type: u64, fast: true}
    - {name: name, type: text, record: position}
    - {name: kind, type: text, tokenizer: raw, fast: true}
    - {name: price, type: f64, fast: true}
    - {name: sold, type: datetime, fast: true, input_formats: [rfc3339], fast_precision: milliseconds}
    - {name: is_new, type: bool, fast: true}
    - {name: note, type: text, tokenizer: raw, fast: true}
search_settings:
  default_search_fields: [name]
`

// Documents are all of them, in the order of their ids.
func Documents() []Document {
	kinds := []string{"book", "lamp", "chair"}
	colours := []string{"red", "green", "blue", "dark blue"}
	start := time.Date(2024, time.February, 28, 22, 0, 0, 0, time.UTC)
	docs := make([]Document, NumDocs)
	for id := range docs {
		docs[id] = Document{
			ID:    id,
			Name:  fmt.Sprintf("A %s %s", colours[id*7%4], kinds[id%3]),
			Kind:  kinds[id%3],
			Price: float64(id*37%400) / 4,
			Sold:  start.Add(time.Duration(id) * 10 * time.Minute).Format(time.RFC3339),
			IsNew: id%5 < 2,
		}
		if id%4 == 0 {
			docs[id].Note = fmt.Sprintf("note %d", id%3)
		}
	}
	return docs
}

// Scan is the ids of the documents that match.
func Scan(matches func(Document) bool) []int {
	ids := []int{}
	for _, doc := range Documents() {
		if matches(doc) {
			ids = append(ids, doc.ID)
		}
	}
	return ids
}

func (doc Document) hasWord(words ...string) bool {
	for _, word := range strings.Fields(strings.ToLower(doc.Name)) {
		for _, wanted := range words {
			if word == wanted {
				return true
			}
		}
	}
	return false
}
