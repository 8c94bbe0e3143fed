// The typed API of version 8: requests are put together from structs, and answers are read into structs.

package v8

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"canter.example/clients/shop"
	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/typedapi/core/scroll"
	"github.com/elastic/go-elasticsearch/v8/typedapi/core/search"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types/enums/operator"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types/enums/sortorder"
)

var ctx = context.Background()

func typed(t *testing.T) *elasticsearch.TypedClient {
	t.Helper()
	es, err := elasticsearch.NewTypedClient(config())
	if err != nil {
		t.Fatal(err)
	}
	return es
}

func of[T any](value T) *T { return &value }

type clause struct {
	name    string
	query   types.Query
	matches func(shop.Document) bool
}

func term(field string, value any) types.Query {
	return types.Query{Term: map[string]types.TermQuery{field: {Value: value}}}
}

func match(text string) types.Query {
	return types.Query{Match: map[string]types.MatchQuery{"name": {Query: text, Operator: &operator.And}}}
}

var clauses = []clause{
	{"match_all", types.Query{MatchAll: types.NewMatchAllQuery()}, func(shop.Document) bool { return true }},
	{"match", match("red lamp"), func(doc shop.Document) bool { return doc.Name == "A red lamp" }},
	{
		"match_phrase",
		types.Query{MatchPhrase: map[string]types.MatchPhraseQuery{"name": {Query: "dark blue", Slop: of(0)}}},
		func(doc shop.Document) bool { return doc.Name == "A dark blue "+doc.Kind },
	},
	{
		"multi_match",
		types.Query{MultiMatch: &types.MultiMatchQuery{Query: "dark", Fields: []string{"name^2", "note"}}},
		func(doc shop.Document) bool { return doc.Name == "A dark blue "+doc.Kind },
	},
	{"term", term("kind", "chair"), func(doc shop.Document) bool { return doc.Kind == "chair" }},
	{"term of a flag", term("is_new", true), func(doc shop.Document) bool { return doc.IsNew }},
	{
		"terms",
		types.Query{Terms: &types.TermsQuery{TermsQuery: map[string]types.TermsQueryField{"kind": []string{"book", "lamp"}}}},
		func(doc shop.Document) bool { return doc.Kind != "chair" },
	},
	{
		"range of numbers",
		types.Query{Range: map[string]types.RangeQuery{
			"price": types.NumberRangeQuery{Gte: of(types.Float64(10)), Lt: of(types.Float64(42.5))},
		}},
		func(doc shop.Document) bool { return doc.Price >= 10 && doc.Price < 42.5 },
	},
	{
		"range of dates",
		types.Query{Range: map[string]types.RangeQuery{
			"sold": types.DateRangeQuery{Gte: of("2024-02-29"), Lt: of("2024-03-01"), TimeZone: of("UTC")},
		}},
		func(doc shop.Document) bool { return doc.Sold[:10] == "2024-02-29" },
	},
	{"exists", types.Query{Exists: &types.ExistsQuery{Field: "note"}}, func(doc shop.Document) bool { return doc.Note != "" }},
	{
		"prefix",
		types.Query{Prefix: map[string]types.PrefixQuery{"kind": {Value: "LA", CaseInsensitive: of(true)}}},
		func(doc shop.Document) bool { return doc.Kind == "lamp" },
	},
	{
		"wildcard",
		types.Query{Wildcard: map[string]types.WildcardQuery{"kind": {Value: of("*oo?")}}},
		func(doc shop.Document) bool { return doc.Kind == "book" },
	},
	{
		"fuzzy",
		types.Query{Fuzzy: map[string]types.FuzzyQuery{"kind": {Value: "chiar", Fuzziness: "AUTO"}}},
		func(doc shop.Document) bool { return doc.Kind == "chair" },
	},
	{
		"query_string",
		types.Query{QueryString: &types.QueryStringQuery{Query: "kind:book AND is_new:true"}},
		func(doc shop.Document) bool { return doc.Kind == "book" && doc.IsNew },
	},
	{
		"bool",
		types.Query{Bool: &types.BoolQuery{
			Should:             []types.Query{term("kind", "book"), term("kind", "lamp"), term("is_new", true)},
			MustNot:            []types.Query{match("green")},
			MinimumShouldMatch: 2,
		}},
		func(doc shop.Document) bool {
			return doc.Kind != "chair" && doc.IsNew && doc.Name != "A green "+doc.Kind
		},
	},
	{
		"constant_score",
		types.Query{ConstantScore: &types.ConstantScoreQuery{Filter: term("kind", "book"), Boost: of(float32(2))}},
		func(doc shop.Document) bool { return doc.Kind == "book" },
	},
}

func TestTypedClausesFindWhatAScanFinds(t *testing.T) {
	es := typed(t)
	for _, clause := range clauses {
		t.Run(clause.name, func(t *testing.T) {
			expected := shop.Scan(clause.matches)
			count, err := es.Count().Index("shop").Query(&clause.query).Do(ctx)
			shop.Same(t, err, nil)
			shop.Same(t, count.Count, int64(len(expected)))
			// Not Do, which asks for typed_keys.
			response, err := es.Search().Index("shop").Request(request(&clause.query)).Perform(ctx)
			shop.Same(t, err, nil)
			defer response.Body.Close()
			found := search.NewResponse()
			shop.Same(t, json.NewDecoder(response.Body).Decode(found), nil)
			shop.Same(t, response.StatusCode, 200)
			shop.Same(t, found.Hits.Total.Value, int64(len(expected)))
			shop.Same(t, ids(t, found), expected)
		})
	}
}

func request(query *types.Query) *search.Request {
	byID := types.SortOptions{SortOptions: map[string]types.FieldSort{"id": {Order: &sortorder.Asc}}}
	return &search.Request{Query: query, Size: of(shop.NumDocs), Sort: []types.SortCombinations{byID}, TrackTotalHits: true}
}

func ids(t *testing.T, found *search.Response) []int {
	t.Helper()
	ids := []int{}
	for _, hit := range found.Hits.Hits {
		var doc shop.Document
		shop.Same(t, json.Unmarshal(hit.Source_, &doc), nil)
		ids = append(ids, doc.ID)
	}
	return ids
}

func TestTypedSearchesHaveTypedAggregations(t *testing.T) {
	es := typed(t)
	shop.Works(t, func() error {
		aggs := map[string]types.Aggregations{"kinds": {Terms: &types.TermsAggregation{Field: of("kind")}}}
		found, err := es.Search().Index("shop").Request(&search.Request{Size: of(0), Aggregations: aggs}).Do(ctx)
		if err != nil {
			return err
		}
		kinds, isTyped := found.Aggregations["kinds"].(*types.StringTermsAggregate)
		if !isTyped {
			return fmt.Errorf("%T", found.Aggregations["kinds"])
		}
		shop.Same(t, len(kinds.Buckets.([]types.StringTermsBucket)), 3)
		return nil
	})
}

func TestTypedListsOfSearches(t *testing.T) {
	es := typed(t)
	shop.Works(t, func() error {
		many := es.Msearch().Index("shop")
		if err := many.AddSearch(types.MultisearchHeader{}, types.MultisearchBody{Size: of(0)}); err != nil {
			return err
		}
		found, err := many.Do(ctx)
		if err != nil {
			return err
		}
		shop.Same(t, len(found.Responses), 1)
		return nil
	})
}

func TestTypedScrollGoesThroughAllHits(t *testing.T) {
	es := typed(t)
	body := &search.Request{Size: of(150), Sort: []types.SortCombinations{"_doc"}}
	response, err := es.Search().Index("shop").Scroll("1m").Request(body).Perform(ctx)
	shop.Same(t, err, nil)
	defer response.Body.Close()
	first := search.NewResponse()
	shop.Same(t, json.NewDecoder(response.Body).Decode(first), nil)
	num, id := len(first.Hits.Hits), *first.ScrollId_
	for {
		page, err := es.Scroll().Request(&scroll.Request{ScrollId: id, Scroll: "1m"}).Do(ctx)
		shop.Same(t, err, nil)
		if len(page.Hits.Hits) == 0 {
			break
		}
		num, id = num+len(page.Hits.Hits), *page.ScrollId_
	}
	shop.Same(t, num, shop.NumDocs)
	cleared, err := es.ClearScroll().ScrollId(id).Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, cleared.Succeeded, true)
}

func TestTypedAnswersAboutIndexes(t *testing.T) {
	es := typed(t)
	info, err := es.Info().Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, info.Tagline, "You Know, for Search")
	isThere, err := es.Ping().Do(ctx)
	shop.Same(t, []any{isThere, err}, []any{true, nil})
	health, err := es.Cluster.Health().Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, health.Status.String(), "green")
	for index, expected := range map[string]bool{"shop": true, "missing": false} {
		isThere, err := es.Indices.Exists(index).Do(ctx)
		shop.Same(t, []any{isThere, err}, []any{expected, nil})
	}
	mapping, err := es.Indices.GetMapping().Index("shop").Do(ctx)
	shop.Same(t, err, nil)
	_, isKeyword := mapping["shop"].Mappings.Properties["kind"].(*types.KeywordProperty)
	_, isDate := mapping["shop"].Mappings.Properties["sold"].(*types.DateProperty)
	shop.Same(t, []bool{isKeyword, isDate}, []bool{true, true})
	got, err := es.Indices.Get("sh*").Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, len(got["shop"].Mappings.Properties), 7)
	caps, err := es.FieldCaps().Index("shop").Fields("price", "name").Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, []bool{caps.Fields["price"]["double"].Aggregatable, caps.Fields["name"]["text"].Searchable}, []bool{true, true})
	stats, err := es.Indices.Stats().Index("shop").Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, stats.Indices["shop"].Total.Docs.Count, int64(shop.NumDocs))
	valid, err := es.Indices.ValidateQuery().Index("shop").Query(of(term("kind", "book"))).Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, valid.Valid, true)
	resolved, err := es.Indices.ResolveIndex("*").Do(ctx)
	shop.Same(t, err, nil)
	shop.Same(t, resolved.Indices[0].Name, "shop")
}

func TestTypedTablesAreJSON(t *testing.T) {
	es := typed(t)
	rows, err := es.Cat.Indices().Do(ctx)
	if err != nil {
		t.Fatal(err)
	}
	shop.Same(t, []string{*rows[0].Index, *rows[0].DocsCount}, []string{"shop", fmt.Sprint(shop.NumDocs)})
}

func TestTypedErrors(t *testing.T) {
	es := typed(t)
	for index, expected := range map[string]string{"missing": "index_not_found_exception", "shop": "search_phase_execution_exception"} {
		_, err := es.Count().Index(index).Query(of(term("nowhere", 1))).Do(ctx)
		var read *types.ElasticsearchError
		if !errors.As(err, &read) {
			t.Fatalf("%T: %v", err, err)
		}
		shop.Same(t, read.ErrorCause.Type, expected)
		shop.Same(t, read.Status, map[string]int{"missing": 404, "shop": 400}[index])
	}
}
