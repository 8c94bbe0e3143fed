"""The documents of a corpus as the oracle has them: values in DuckDB, words of text in plain dictionaries."""

import collections

import duckdb
import numpy

from fields import words

SQL_TYPES = {"text": "VARCHAR", "u64": "HUGEINT", "i64": "HUGEINT", "f64": "DOUBLE"}
SQL_TYPES |= {"bool": "TINYINT", "datetime": "BIGINT", "ip": "VARCHAR"}


def at(document, path):
    """What stands in a document at a path with dots; objects in lists are looked into."""
    if path in document:
        return document[path]
    head, _, rest = path.partition(".")
    if not rest or head not in document:
        return None
    inner = document[head]
    if isinstance(inner, list):
        return [at(item, rest) for item in inner if isinstance(item, dict)]
    return at(inner, rest) if isinstance(inner, dict) else None


class Store:
    """All documents, in the order in which they were ingested."""

    def __init__(self, corpus):
        self.corpus = corpus
        self.docs = corpus.docs
        self.num_docs = len(corpus.docs)
        self.fields = {field.name: field for field in corpus.fields}
        self.db = duckdb.connect(config={"threads": 1})
        self.tables, self.columns, self.postings, self.spots = {}, {}, {}, {}
        self.cache = {}
        for place, field in enumerate(corpus.fields):
            self.load(f"v{place}", field)

    def load(self, table, field):
        """The values of a field: a row for each, with its document and its place among others."""
        of_docs = [field.values(at(doc, field.name)) for doc in self.docs]
        self.columns[field.name] = of_docs
        self.tables[field.name] = table
        rows = [(doc, place, value) for doc, values in enumerate(of_docs) for place, value in enumerate(values)]
        given = {
            "doc": numpy.array([row[0] for row in rows], dtype=numpy.int32),
            "place": numpy.array([row[1] for row in rows], dtype=numpy.int32),
        }
        kind = SQL_TYPES[field.kind]
        if kind == "DOUBLE":
            given["value"] = numpy.array([row[2] for row in rows], dtype=numpy.float64)
        else:
            given["value"] = numpy.array([str(row[2]) for row in rows] or [""], dtype=object)[: len(rows)]
        self.db.register("given", given)
        self.db.execute(f"CREATE TABLE {table} AS SELECT doc, place, CAST(value AS {kind}) AS value FROM given")
        self.db.unregister("given")
        if field.is_text:
            self.cut(field, of_docs)

    def cut(self, field, of_docs):
        """The documents of each word, and where words stand in each document."""
        postings, spots = collections.defaultdict(list), []
        for doc, values in enumerate(of_docs):
            own, begin = collections.defaultdict(set), 0
            for value in values:
                last = -1
                for place, word in words(field.tokenizer, value):
                    own[word].add(begin + place)
                    last = place
                # A phrase must not reach from one value into the next.
                begin += last + 1000
            for word in own:
                postings[word].append(doc)
            spots.append(own)
        self.postings[field.name] = {word: numpy.array(docs, dtype=numpy.int32) for word, docs in postings.items()}
        self.spots[field.name] = spots

    def none(self):
        """No documents."""
        return numpy.zeros(self.num_docs, dtype=bool)

    def all(self):
        """Every document."""
        return numpy.ones(self.num_docs, dtype=bool)

    def of_docs(self, docs):
        """These documents."""
        mask = self.none()
        mask[docs] = True
        return mask

    def of_words(self, field, words_found):
        """Documents with any of these words."""
        mask = self.none()
        of_field = self.postings[field]
        for word in words_found:
            if word in of_field:
                mask[of_field[word]] = True
        return mask

    def where(self, field, condition, values=()):
        """Documents with a value for which an SQL condition holds."""
        key = (field, condition, tuple(map(str, values)))
        if key not in self.cache:
            sql = f"SELECT DISTINCT doc FROM {self.tables[field]} WHERE {condition}"
            docs = self.db.execute(sql, list(values)).fetchnumpy()["doc"]
            if len(self.cache) > 2_000:
                self.cache.clear()
            self.cache[key] = self.of_docs(numpy.asarray(docs, dtype=numpy.int64))
        return self.cache[key]

    def rows(self, sql, docs, field):
        """Asks SQL of the values (`v`) of some documents."""
        self.db.register("chosen", {"doc": numpy.asarray(docs, dtype=numpy.int32)})
        rows = self.db.execute(sql.format(v=f"(SELECT t.* FROM {self.tables[field]} t SEMI JOIN chosen USING (doc))")).fetchall()
        self.db.unregister("chosen")
        return rows

    def groups(self, field, docs, key="value", having="TRUE"):
        """Documents by a key made of their values: each once for a key."""
        sql = f"SELECT {key} AS k, list(DISTINCT doc ORDER BY doc) FROM {{v}} WHERE {having} GROUP BY k ORDER BY k"
        return self.rows(sql, docs, field)
