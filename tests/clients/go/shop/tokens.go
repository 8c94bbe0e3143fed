// Tokens, compressed bodies and nodes: what is expected of each version's client.

package shop

import (
	"encoding/base64"
	"strings"
	"testing"
)

type counted struct {
	Count int `json:"count"`
}

func isBook(doc Document) bool { return doc.Kind == "book" }

// Books is the token of a holder who may see the books, in its parts, and as an API key.
func Books(t *testing.T) (id, secret, encoded string) {
	t.Helper()
	if Guarded == "" {
		t.Skip("CANTER_URL asks for no tokens")
	}
	id, secret, _ = strings.Cut(Token, ".")
	return id, secret, base64.StdEncoding.EncodeToString([]byte(id + ":" + secret))
}

// SeesBooks checks a count of all documents that a holder of that token may see.
func SeesBooks(t *testing.T, answer Answer, err error) {
	t.Helper()
	var read counted
	Read(t, &read, answer, err)
	Same(t, read.Count, len(Scan(isBook)))
}

// StaysWhereItIs checks a client that has asked for the cluster's nodes.
func StaysWhereItIs(t *testing.T, client Client, err error) {
	t.Helper()
	Works(t, func() error {
		if err != nil {
			return err
		}
		answer, err := client.Count("shop", `{}`)
		if err != nil {
			return err
		}
		var read counted
		Read(t, &read, answer, nil)
		Same(t, read.Count, NumDocs)
		return nil
	})
}
