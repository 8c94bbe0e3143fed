// Indexes and templates by Elasticsearch's Go client, version 8, against `canter serve --writable --indexes-in`.

package v8

import (
	"strings"
	"testing"

	"canter.example/clients/shop"
	"github.com/elastic/go-elasticsearch/v8"
)

func TestIndexesComeAndGo(t *testing.T) {
	shop.IndexesComeAndGo(t, func(url string) shop.Manager {
		return connect(t, elasticsearch.Config{Addresses: []string{url}, Transport: shop.Calls})
	})
}

func (c client) Create(index, body string) (shop.Answer, error) {
	by := c.es.Indices.Create
	return read(by(index, by.WithBody(strings.NewReader(body))))
}

func (c client) Delete(indexes ...string) (shop.Answer, error) {
	return read(c.es.Indices.Delete(indexes))
}

func (c client) PutIndexTemplate(name, body string) (shop.Answer, error) {
	return read(c.es.Indices.PutIndexTemplate(name, strings.NewReader(body)))
}

func (c client) ExistsIndexTemplate(name string) (shop.Answer, error) {
	return read(c.es.Indices.ExistsIndexTemplate(name))
}

func (c client) DeleteIndexTemplate(name string) (shop.Answer, error) {
	return read(c.es.Indices.DeleteIndexTemplate(name))
}

func (c client) Index(index, body string) (shop.Answer, error) {
	return read(c.es.Index(index, strings.NewReader(body)))
}
