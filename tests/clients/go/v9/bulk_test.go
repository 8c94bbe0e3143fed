// The bulk indexer of Elasticsearch's Go client, version 9, against `canter serve --writable`.

package v9

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"canter.example/clients/shop"
	"github.com/elastic/go-elasticsearch/v9"
	"github.com/elastic/go-elasticsearch/v9/esutil"
)

func TestTheBulkIndexerSendsEachLineOnce(t *testing.T) { shop.EachLineIsSentOnce(t, index) }

func TestTheBulkIndexerSendsAgainToAFullServer(t *testing.T) { shop.AFullServerIsSentToAgain(t, index) }

func TestTheBulkIndexerIsToldWhatIsNotTaken(t *testing.T) { shop.WhatIsNotTakenIsSaid(t, index) }

func index(t *testing.T, url, index string, documents []string, patient bool) (acknowledged int, problems []string) {
	t.Helper()
	config := elasticsearch.Config{Addresses: []string{url}, Transport: shop.Calls, CompressRequestBody: true}
	if patient {
		// By itself the client sends again only after 502, 503 and 504.
		config.RetryOnStatus = []int{429, 502, 503, 504}
		config.MaxRetries = 50
		config.RetryBackoff = func(int) time.Duration { return 50 * time.Millisecond }
	}
	client, err := elasticsearch.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	failed := func(problem string) {
		lock.Lock()
		defer lock.Unlock()
		problems = append(problems, problem)
	}
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: index, NumWorkers: 4, FlushBytes: 50_000,
		OnError: func(_ context.Context, err error) { failed(err.Error()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		item := esutil.BulkIndexerItem{
			Action: "create",
			Body:   strings.NewReader(document),
			OnFailure: func(_ context.Context, _ esutil.BulkIndexerItem, answer esutil.BulkIndexerResponseItem, err error) {
				if err == nil {
					failed(answer.Error.Type)
				}
			},
		}
		shop.Works(t, func() error { return indexer.Add(context.Background(), item) })
	}
	shop.Works(t, func() error { return indexer.Close(context.Background()) })
	return int(indexer.Stats().NumFlushed), problems
}
