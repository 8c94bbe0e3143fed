// The tests of the low-level client. Each version of it makes the calls.

package shop

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Answer is what a call brought.
type Answer struct {
	Status int
	Body   []byte
}

// Client makes calls with one version of Elasticsearch's client.
type Client interface {
	Search(index, body string) (Answer, error)
	SearchByURL(index, query, sort string, size int) (Answer, error)
	BeginScroll(index, body string) (Answer, error)
	Scroll(id string) (Answer, error)
	ClearScroll(id string) (Answer, error)
	Msearch(lines string) (Answer, error)
	Count(index, body string) (Answer, error)
	FieldCaps(index string, fields ...string) (Answer, error)
	Info() (Answer, error)
	Ping() (Answer, error)
	Health() (Answer, error)
	CatIndices(format string) (Answer, error)
	Exists(index string) (Answer, error)
	Mapping(index string) (Answer, error)
	FieldMapping(index, field string) (Answer, error)
	Get(index string) (Answer, error)
	Stats(index string) (Answer, error)
	Validate(index, body string) (Answer, error)
	Resolve(names string) (Answer, error)
}

// Hits are those of a search, as far as they are looked at.
type Hits struct {
	Total *struct {
		Value    int    `json:"value"`
		Relation string `json:"relation"`
	} `json:"total"`
	MaxScore *float64 `json:"max_score"`
	Hits     []struct {
		Index     string              `json:"_index"`
		ID        string              `json:"_id"`
		Score     *float64            `json:"_score"`
		Source    Document            `json:"_source"`
		Sort      []any               `json:"sort"`
		Highlight map[string][]string `json:"highlight"`
	} `json:"hits"`
}

type found struct {
	ScrollID     string          `json:"_scroll_id"`
	TimedOut     bool            `json:"timed_out"`
	Status       int             `json:"status"`
	Hits         Hits            `json:"hits"`
	Aggregations json.RawMessage `json:"aggregations"`
	Error        *struct {
		Type      string `json:"type"`
		Reason    string `json:"reason"`
		RootCause []any  `json:"root_cause"`
	} `json:"error"`
}

func (found found) ids() []int {
	ids := []int{}
	for _, hit := range found.Hits.Hits {
		ids = append(ids, hit.Source.ID)
	}
	return ids
}

// Read reads an answer with status 200 into `into`.
func Read(t *testing.T, into any, answer Answer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != 200 {
		t.Fatalf("%d: %s", answer.Status, answer.Body)
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		t.Fatalf("%v: %s", err, answer.Body)
	}
}

// Same compares what was found with what there is.
func Same(t *testing.T, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

func search(t *testing.T, client Client, body string) found {
	t.Helper()
	var read found
	answer, err := client.Search("shop", body)
	Read(t, &read, answer, err)
	return read
}

// Run tests a client.
func Run(t *testing.T, client Client) {
	for _, clause := range clauses {
		t.Run(clause.name+" finds what a scan finds", func(t *testing.T) { clause.check(t, client) })
	}
	for name, test := range map[string]func(*testing.T, Client){
		"hits are whole documents":           hitsAreWhole,
		"pages go on behind the last hit":    pagesGoOn,
		"a parameter in the URL counts":      urlsCount,
		"matches are marked":                 matchesAreMarked,
		"aggregations are those of a scan":   aggregationsAreThoseOfAScan,
		"many searches go in one request":    manySearches,
		"a scroll goes through all hits":     scrollGoesThroughAll,
		"a scroll without a sort does, too":  scrollWithoutSort,
		"an index tells of itself":           indexTells,
		"a cluster tells of itself":          clusterTells,
		"errors have Elasticsearch's form":   errorsHaveForm,
		"an index that there is not is told": missingIndexIsTold,
	} {
		t.Run(name, func(t *testing.T) { test(t, client) })
	}
}

func (clause clause) check(t *testing.T, client Client) {
	expected := Scan(clause.matches)
	if len(expected) == 0 {
		t.Fatal("a query that finds nothing shows little")
	}
	body := fmt.Sprintf(`{"query": %s, "size": %d, "sort": ["id"], "track_total_hits": true}`, clause.query, NumDocs)
	read := search(t, client, body)
	Same(t, read.ids(), expected)
	Same(t, read.Hits.Total.Value, len(expected))
	var count struct {
		Count int `json:"count"`
	}
	answer, err := client.Count("shop", fmt.Sprintf(`{"query": %s}`, clause.query))
	Read(t, &count, answer, err)
	Same(t, count.Count, len(expected))
}

func hitsAreWhole(t *testing.T, client Client) {
	docs := Documents()
	read := search(t, client, `{"query": {"match": {"name": "dark"}}, "size": 20}`)
	if len(read.Hits.Hits) != 20 || read.TimedOut || read.Hits.MaxScore == nil {
		t.Fatalf("%+v", read)
	}
	for _, hit := range read.Hits.Hits {
		Same(t, hit.Source, docs[hit.Source.ID])
		if hit.Index != "shop" || hit.ID == "" || *hit.Score <= 0 || *hit.Score > *read.Hits.MaxScore {
			t.Fatalf("%+v", hit)
		}
	}
}

func pagesGoOn(t *testing.T, client Client) {
	seen, after := []int{}, ""
	for {
		read := search(t, client, fmt.Sprintf(`{"size": 64, "sort": [{"price": "desc"}, {"id": "asc"}]%s}`, after))
		if len(read.Hits.Hits) == 0 {
			break
		}
		seen = append(seen, read.ids()...)
		last, err := json.Marshal(read.Hits.Hits[len(read.Hits.Hits)-1].Sort)
		if err != nil {
			t.Fatal(err)
		}
		after = fmt.Sprintf(`, "search_after": %s`, last)
	}
	docs := Documents()
	slices.SortStableFunc(docs, func(a, b Document) int {
		switch {
		case a.Price > b.Price:
			return -1
		case a.Price < b.Price:
			return 1
		}
		return 0
	})
	expected := []int{}
	for _, doc := range docs {
		expected = append(expected, doc.ID)
	}
	Same(t, seen, expected)
}

func urlsCount(t *testing.T, client Client) {
	var read found
	answer, err := client.SearchByURL("shop", "kind:book", "id:desc", NumDocs)
	Read(t, &read, answer, err)
	expected := Scan(func(doc Document) bool { return doc.Kind == "book" })
	slices.Reverse(expected)
	Same(t, read.ids(), expected)
}

func matchesAreMarked(t *testing.T, client Client) {
	read := search(t, client, `{"query": {"match": {"name": "dark"}}, "size": 30,
		"highlight": {"fields": {"name": {}}, "pre_tags": ["<"], "post_tags": [">"]}}`)
	for _, hit := range read.Hits.Hits {
		Same(t, hit.Highlight["name"], []string{strings.Replace(hit.Source.Name, "dark", "<dark>", 1)})
	}
}

func aggregationsAreThoseOfAScan(t *testing.T, client Client) {
	read := search(t, client, `{"size": 0, "aggs": {
		"kinds": {"terms": {"field": "kind"}, "aggs": {"mean": {"avg": {"field": "price"}}}},
		"days": {"date_histogram": {"field": "sold", "calendar_interval": "day", "format": "yyyy-MM-dd"}},
		"spread": {"stats": {"field": "price"}}}}`)
	var aggs struct {
		Kinds struct {
			Buckets []struct {
				Key      string                  `json:"key"`
				DocCount int                     `json:"doc_count"`
				Mean     struct{ Value float64 } `json:"mean"`
			} `json:"buckets"`
		} `json:"kinds"`
		Days struct {
			Buckets []struct {
				Key      string `json:"key_as_string"`
				DocCount int    `json:"doc_count"`
			} `json:"buckets"`
		} `json:"days"`
		Spread struct{ Count, Min, Max, Sum float64 } `json:"spread"`
	}
	Read(t, &aggs, Answer{200, read.Aggregations}, nil)
	counts, sums, days, total, most := map[string]int{}, map[string]float64{}, map[string]int{}, 0.0, 0.0
	for _, doc := range Documents() {
		counts[doc.Kind]++
		sums[doc.Kind] += doc.Price
		days[doc.Sold[:10]]++
		total += doc.Price
		most = max(most, doc.Price)
	}
	for _, bucket := range aggs.Kinds.Buckets {
		Same(t, bucket.DocCount, counts[bucket.Key])
		if math.Abs(bucket.Mean.Value-sums[bucket.Key]/float64(bucket.DocCount)) > 1e-9 {
			t.Fatalf("the mean of %s is not %v", bucket.Key, bucket.Mean.Value)
		}
	}
	found := map[string]int{}
	for _, bucket := range aggs.Days.Buckets {
		found[bucket.Key] = bucket.DocCount
	}
	Same(t, len(aggs.Kinds.Buckets), len(counts))
	Same(t, found, days)
	Same(t, aggs.Spread, struct{ Count, Min, Max, Sum float64 }{NumDocs, 0, most, total})
}

func manySearches(t *testing.T, client Client) {
	var read struct {
		Responses []found `json:"responses"`
	}
	answer, err := client.Msearch(`{"index": "shop"}
{"size": 1, "sort": ["id"]}
{"index": "shop"}
{"query": {"nope": {}}}
{"index": "missing"}
{}
{}
{"size": 0, "query": {"term": {"kind": "book"}}}
`)
	Read(t, &read, answer, err)
	statuses := []int{}
	for _, response := range read.Responses {
		statuses = append(statuses, response.Status)
	}
	Same(t, statuses, []int{200, 400, 404, 200})
	Same(t, read.Responses[0].ids(), []int{0})
	Same(t, read.Responses[3].Hits.Total.Value, len(Scan(func(doc Document) bool { return doc.Kind == "book" })))
}

// scroll reads all pages.
func scroll(t *testing.T, client Client, body string) []int {
	t.Helper()
	var page found
	answer, err := client.BeginScroll("shop", body)
	Read(t, &page, answer, err)
	ids := []int{}
	for len(page.Hits.Hits) > 0 {
		ids = append(ids, page.ids()...)
		answer, err = client.Scroll(page.ScrollID)
		page = found{}
		Read(t, &page, answer, err)
	}
	var cleared struct {
		Succeeded bool `json:"succeeded"`
	}
	answer, err = client.ClearScroll(page.ScrollID)
	Read(t, &cleared, answer, err)
	Same(t, cleared.Succeeded, true)
	slices.Sort(ids)
	return ids
}

func scrollGoesThroughAll(t *testing.T, client Client) {
	ids := scroll(t, client, `{"size": 130, "sort": ["_doc"], "query": {"term": {"is_new": true}}}`)
	Same(t, ids, Scan(func(doc Document) bool { return doc.IsNew }))
}

func scrollWithoutSort(t *testing.T, client Client) {
	ids := scroll(t, client, `{"size": 45}`)
	Works(t, func() error {
		if len(ids) != NumDocs {
			return fmt.Errorf("there are %d of %d", len(ids), NumDocs)
		}
		return nil
	})
}

func indexTells(t *testing.T, client Client) {
	type typed struct {
		Type string `json:"type"`
	}
	type mapped struct {
		Mappings struct {
			Properties map[string]typed `json:"properties"`
		} `json:"mappings"`
	}
	types := map[string]typed{
		"id": {"unsigned_long"}, "name": {"text"}, "kind": {"keyword"}, "price": {"double"}, "sold": {"date"},
		"is_new": {"boolean"}, "note": {"keyword"},
	}
	for _, call := range []func(string) (Answer, error){client.Mapping, client.Get} {
		var read map[string]mapped
		answer, err := call("sh*")
		Read(t, &read, answer, err)
		Same(t, read["shop"].Mappings.Properties, types)
	}
	var caps struct {
		Fields map[string]map[string]struct {
			Searchable   bool `json:"searchable"`
			Aggregatable bool `json:"aggregatable"`
		} `json:"fields"`
	}
	answer, err := client.FieldCaps("shop", "na*", "kind")
	Read(t, &caps, answer, err)
	Same(t, len(caps.Fields), 2)
	Same(t, []bool{caps.Fields["name"]["text"].Aggregatable, caps.Fields["kind"]["keyword"].Aggregatable}, []bool{false, true})
	var field map[string]struct {
		Mappings map[string]any `json:"mappings"`
	}
	answer, err = client.FieldMapping("shop", "is_*")
	Read(t, &field, answer, err)
	Same(t, len(field["shop"].Mappings), 1)
	var stats struct {
		Indices map[string]struct {
			Total struct{ Docs struct{ Count int } } `json:"total"`
		} `json:"indices"`
	}
	answer, err = client.Stats("shop")
	Read(t, &stats, answer, err)
	Same(t, stats.Indices["shop"].Total.Docs.Count, NumDocs)
	for body, expected := range map[string]bool{
		`{"query": {"match_all": {}}}`: true, `{"query": {"nope": {}}}`: false,
	} {
		var valid struct {
			Valid bool `json:"valid"`
		}
		answer, err = client.Validate("shop", body)
		Read(t, &valid, answer, err)
		Same(t, valid.Valid, expected)
	}
}

func clusterTells(t *testing.T, client Client) {
	var info struct {
		Version struct{ Number string } `json:"version"`
		Tagline string                  `json:"tagline"`
	}
	answer, err := client.Info()
	Read(t, &info, answer, err)
	if !strings.HasPrefix(info.Version.Number, "8.") || info.Tagline != "You Know, for Search" {
		t.Fatalf("%+v", info)
	}
	for index, status := range map[string]int{"shop": 200, "missing": 404} {
		answer, err := client.Exists(index)
		Same(t, err, nil)
		Same(t, answer.Status, status)
	}
	answer, err = client.Ping()
	Same(t, err, nil)
	Same(t, answer.Status, 200)
	var health struct {
		Status string `json:"status"`
	}
	answer, err = client.Health()
	Read(t, &health, answer, err)
	Same(t, health.Status, "green")
	var rows []map[string]string
	answer, err = client.CatIndices("json")
	Read(t, &rows, answer, err)
	Same(t, []string{rows[0]["index"], rows[0]["docs.count"]}, []string{"shop", fmt.Sprint(NumDocs)})
	answer, err = client.CatIndices("text")
	Same(t, err, nil)
	if !strings.Contains(string(answer.Body), "shop") {
		t.Fatalf("%s", answer.Body)
	}
	var names struct {
		Indices []struct{ Name string } `json:"indices"`
	}
	answer, err = client.Resolve("*")
	Read(t, &names, answer, err)
	Same(t, names.Indices, []struct{ Name string }{{"shop"}})
}

func errorsHaveForm(t *testing.T, client Client) {
	for _, wrong := range []struct {
		index, body string
		status      int
		kind        string
	}{
		{"missing", `{}`, 404, "index_not_found_exception"},
		{"shop", `{"query": {"nope": {}}}`, 400, "parsing_exception"},
		{"shop", `{"query": {"term": {"nowhere": 1}}}`, 400, "search_phase_execution_exception"},
		{"shop", `{"sort": ["name"]}`, 400, "search_phase_execution_exception"},
		{"shop", `{"size": `, 400, "parsing_exception"},
	} {
		var read found
		answer, err := client.Search(wrong.index, wrong.body)
		Same(t, err, nil)
		Same(t, answer.Status, wrong.status)
		Same(t, json.Unmarshal(answer.Body, &read), nil)
		if read.Error == nil || read.Error.Type != wrong.kind || len(read.Error.RootCause) == 0 {
			t.Fatalf("%s: %s", wrong.body, answer.Body)
		}
	}
}

func missingIndexIsTold(t *testing.T, client Client) {
	Works(t, func() error {
		var read found
		answer, err := client.Get("missing")
		Same(t, err, nil)
		Same(t, answer.Status, 404)
		if err := json.Unmarshal(answer.Body, &read); err != nil {
			return err
		}
		if read.Error == nil || read.Error.Type != "index_not_found_exception" {
			return fmt.Errorf("%s", answer.Body)
		}
		return nil
	})
}
