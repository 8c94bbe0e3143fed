// The DSL's clauses, and which documents they find.

package shop

import "strings"

type clause struct {
	name    string
	query   string
	matches func(Document) bool
}

var clauses = []clause{
	{"match_all", `{"match_all": {}}`, func(Document) bool { return true }},
	{"match", `{"match": {"name": "red lamp"}}`, func(doc Document) bool { return doc.hasWord("red", "lamp") }},
	{
		"match with all words",
		`{"match": {"name": {"query": "red lamp", "operator": "and"}}}`,
		func(doc Document) bool { return doc.hasWord("red") && doc.hasWord("lamp") },
	},
	{
		"match nearly",
		`{"match": {"name": {"query": "lmap", "fuzziness": "AUTO"}}}`,
		func(doc Document) bool { return doc.hasWord("lamp") },
	},
	{
		"match_phrase",
		`{"match_phrase": {"name": "dark blue"}}`,
		func(doc Document) bool { return strings.Contains(doc.Name, "dark blue") },
	},
	{
		"match_phrase_prefix",
		`{"match_phrase_prefix": {"name": "blue ch"}}`,
		func(doc Document) bool { return strings.Contains(doc.Name, "blue chair") },
	},
	{
		"match_bool_prefix",
		`{"match_bool_prefix": {"name": "red ch"}}`,
		func(doc Document) bool { return doc.hasWord("red", "chair") },
	},
	{
		"multi_match",
		`{"multi_match": {"query": "dark", "fields": ["name", "note"]}}`,
		func(doc Document) bool { return doc.hasWord("dark") },
	},
	{
		"query_string",
		`{"query_string": {"query": "kind:lamp AND price:<5"}}`,
		func(doc Document) bool { return doc.Kind == "lamp" && doc.Price < 5 },
	},
	{
		"simple_query_string",
		`{"simple_query_string": {"query": "dark + -book", "fields": ["name"]}}`,
		func(doc Document) bool { return doc.hasWord("dark") && doc.Kind != "book" },
	},
	{"term", `{"term": {"kind": {"value": "chair"}}}`, func(doc Document) bool { return doc.Kind == "chair" }},
	{"term of a flag", `{"term": {"is_new": true}}`, func(doc Document) bool { return doc.IsNew }},
	{
		"term of a day",
		`{"term": {"sold": "2024-02-29"}}`,
		func(doc Document) bool { return strings.HasPrefix(doc.Sold, "2024-02-29") },
	},
	{"terms", `{"terms": {"kind": ["chair", "book"]}}`, func(doc Document) bool { return doc.Kind != "lamp" }},
	{
		"range",
		`{"range": {"price": {"gt": 10, "lte": 50.25}}}`,
		func(doc Document) bool { return doc.Price > 10 && doc.Price <= 50.25 },
	},
	{
		"range of dates",
		`{"range": {"sold": {"gte": "2024-02-29||/d", "lt": "2024-02-29||+1d/d"}}}`,
		func(doc Document) bool { return strings.HasPrefix(doc.Sold, "2024-02-29") },
	},
	{"exists", `{"exists": {"field": "note"}}`, func(doc Document) bool { return doc.Note != "" }},
	{"prefix", `{"prefix": {"kind": "bo"}}`, func(doc Document) bool { return doc.Kind == "book" }},
	{"wildcard", `{"wildcard": {"kind": {"value": "*a*"}}}`, func(doc Document) bool { return doc.Kind != "book" }},
	{"regexp", `{"regexp": {"kind": "(b|l).*"}}`, func(doc Document) bool { return doc.Kind != "chair" }},
	{"fuzzy", `{"fuzzy": {"kind": {"value": "chiar"}}}`, func(doc Document) bool { return doc.Kind == "chair" }},
	{
		"bool",
		`{"bool": {"should": [{"term": {"kind": "lamp"}}, {"prefix": {"kind": "bo"}}],
			"must_not": {"match": {"name": "green"}}, "minimum_should_match": 1}}`,
		func(doc Document) bool { return doc.Kind != "chair" && !doc.hasWord("green") },
	},
	{
		"constant_score",
		`{"constant_score": {"filter": {"term": {"kind": "book"}}, "boost": 2}}`,
		func(doc Document) bool { return doc.Kind == "book" },
	},
	{
		"dis_max",
		`{"dis_max": {"queries": [{"match": {"name": "dark"}}, {"term": {"kind": "book"}}]}}`,
		func(doc Document) bool { return doc.hasWord("dark") || doc.Kind == "book" },
	},
	{
		"boosting",
		`{"boosting": {"positive": {"match": {"name": "red"}}, "negative": {"term": {"kind": "book"}}, "negative_boost": 0.5}}`,
		func(doc Document) bool { return doc.hasWord("red") },
	},
}
