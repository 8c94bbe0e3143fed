// Version 9 of Elasticsearch's Go client, as its module proxy has it, against Canter: the calls of its low-level API.
package v9

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"canter.example/clients/shop"
	"github.com/elastic/go-elasticsearch/v9"
	"github.com/elastic/go-elasticsearch/v9/esapi"
)

func TestMain(m *testing.M) { shop.Main(m, elasticsearch.Version) }

func config() elasticsearch.Config {
	return elasticsearch.Config{Addresses: []string{shop.URL}, Transport: shop.Calls}
}

func connect(t *testing.T, config elasticsearch.Config) client {
	t.Helper()
	es, err := elasticsearch.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return client{es}
}

func TestLowLevelClient(t *testing.T) { shop.Run(t, connect(t, config())) }

func TestBodiesMayBeCompressed(t *testing.T) {
	config := config()
	config.CompressRequestBody = true
	answer, err := connect(t, config).Count("shop", `{"query": {"term": {"kind": "book"}}}`)
	shop.SeesBooks(t, answer, err)
}

func TestEachKindOfTokenSeesWhatItAllows(t *testing.T) {
	id, secret, encoded := shop.Books(t)
	for _, change := range []func(*elasticsearch.Config){
		func(config *elasticsearch.Config) { config.APIKey = encoded },
		func(config *elasticsearch.Config) { config.Username, config.Password = id, secret },
		func(config *elasticsearch.Config) { config.ServiceToken = shop.Token },
		func(config *elasticsearch.Config) {
			config.Header = http.Header{"Authorization": []string{"Bearer " + shop.Token}}
		},
	} {
		config := config()
		config.Addresses = []string{shop.Guarded}
		change(&config)
		answer, err := connect(t, config).Count("shop", `{}`)
		shop.SeesBooks(t, answer, err)
	}
}

func TestATokenThatIsNotRightIsToldSo(t *testing.T) {
	id, _, _ := shop.Books(t)
	config := config()
	config.Addresses = []string{shop.Guarded}
	config.Username, config.Password = id, "guessed"
	answer, err := connect(t, config).Search("shop", `{}`)
	shop.Same(t, err, nil)
	shop.Same(t, answer.Status, 401)
}

func TestAClientStaysWhereItIsWhenItAsksForNodes(t *testing.T) {
	client := connect(t, config())
	err := client.es.DiscoverNodes()
	shop.StaysWhereItIs(t, client, err)
}

type client struct{ es *elasticsearch.Client }

func read(response *esapi.Response, err error) (shop.Answer, error) {
	if err != nil {
		return shop.Answer{}, err
	}
	if response.Body == nil {
		return shop.Answer{Status: response.StatusCode}, nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return shop.Answer{Status: response.StatusCode, Body: body}, err
}

func (c client) Search(index, body string) (shop.Answer, error) {
	return read(c.es.Search(c.es.Search.WithIndex(index), c.es.Search.WithBody(strings.NewReader(body))))
}

func (c client) SearchByURL(index, query, sort string, size int) (shop.Answer, error) {
	by := c.es.Search
	return read(by(by.WithIndex(index), by.WithQuery(query), by.WithSort(sort), by.WithSize(size), by.WithTrackTotalHits(true)))
}

func (c client) BeginScroll(index, body string) (shop.Answer, error) {
	by := c.es.Search
	return read(by(by.WithIndex(index), by.WithBody(strings.NewReader(body)), by.WithScroll(time.Minute)))
}

func (c client) Scroll(id string) (shop.Answer, error) {
	return read(c.es.Scroll(c.es.Scroll.WithScrollID(id), c.es.Scroll.WithScroll(time.Minute)))
}

func (c client) ClearScroll(id string) (shop.Answer, error) {
	return read(c.es.ClearScroll(c.es.ClearScroll.WithScrollID(id)))
}

func (c client) Msearch(lines string) (shop.Answer, error) {
	return read(c.es.Msearch(strings.NewReader(lines)))
}

func (c client) Count(index, body string) (shop.Answer, error) {
	return read(c.es.Count(c.es.Count.WithIndex(index), c.es.Count.WithBody(strings.NewReader(body))))
}

func (c client) FieldCaps(index string, fields ...string) (shop.Answer, error) {
	return read(c.es.FieldCaps(c.es.FieldCaps.WithIndex(index), c.es.FieldCaps.WithFields(fields...)))
}

func (c client) Info() (shop.Answer, error) { return read(c.es.Info()) }

func (c client) Ping() (shop.Answer, error) { return read(c.es.Ping()) }

func (c client) Health() (shop.Answer, error) {
	return read(c.es.Cluster.Health(c.es.Cluster.Health.WithWaitForStatus("green")))
}

func (c client) CatIndices(format string) (shop.Answer, error) {
	return read(c.es.Cat.Indices(c.es.Cat.Indices.WithFormat(format)))
}

func (c client) Exists(index string) (shop.Answer, error) {
	return read(c.es.Indices.Exists([]string{index}))
}

func (c client) Mapping(index string) (shop.Answer, error) {
	return read(c.es.Indices.GetMapping(c.es.Indices.GetMapping.WithIndex(index)))
}

func (c client) FieldMapping(index, field string) (shop.Answer, error) {
	by := c.es.Indices.GetFieldMapping
	return read(by([]string{field}, by.WithIndex(index)))
}

func (c client) Get(index string) (shop.Answer, error) {
	return read(c.es.Indices.Get([]string{index}))
}

func (c client) Stats(index string) (shop.Answer, error) {
	return read(c.es.Indices.Stats(c.es.Indices.Stats.WithIndex(index)))
}

func (c client) Validate(index, body string) (shop.Answer, error) {
	by := c.es.Indices.ValidateQuery
	return read(by(by.WithIndex(index), by.WithBody(strings.NewReader(body))))
}

func (c client) Resolve(names string) (shop.Answer, error) {
	return read(c.es.Indices.ResolveIndex([]string{names}))
}
