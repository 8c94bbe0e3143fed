"""Asks the server and the oracle the same, and says what differs."""

import dataclasses
import json

import numpy

import strings
from corpora import NUMBER
from matching import Matcher

# What `now` is; the server is told so where its API takes it.
NOW_MS = 1_780_000_000_000
SHOWN = 25


@dataclasses.dataclass
class Outcome:
    """What came of one request: right, refused or wrong."""

    what: str
    reason: str = ""
    num_found: int = 0
    curl: str = ""


def sent(query):
    """A query as it goes out: a query string in the place of what it means."""
    if isinstance(query, list):
        return [sent(item) for item in query]
    if not isinstance(query, dict):
        return query
    if "_said" in query:
        return query["_said"]["send"]
    return {key: sent(value) for key, value in query.items()}


def curl(path, body):
    return f"curl -s 'http://127.0.0.1:7280{path}' -H 'content-type: application/json' -d '{json.dumps(body, ensure_ascii=False)}'"


class Judge:
    """Judges the answers of one server over one store."""

    def __init__(self, store, server):
        self.store, self.server = store, server
        self.matcher = Matcher(store, NOW_MS)
        self.name = store.corpus.name

    def query(self, query):
        """The hits of a query by both APIs: their number, the first of them, and the sum of all their numbers."""
        found = self.matcher.docs(query).nonzero()[0]
        body = {"query": sent(query), "size": SHOWN, "sort": [{NUMBER: "asc"}], "_source": [NUMBER], "track_total_hits": True}
        path = f"/{self.name}/_search"
        if "now" not in json.dumps(body["query"]):
            body["aggs"] = {"sum": {"sum": {"field": NUMBER}}}
        status, answer = self.server.post(path, body)
        if status != 200:
            return self.refusal(status, answer, path, body)
        got = [hit["_source"][NUMBER] for hit in answer["hits"]["hits"]]
        wrong = self.differs(found, answer["hits"]["total"]["value"], got, answer.get("aggregations"))
        if wrong:
            return Outcome("wrong", wrong, len(found), curl(path, body))
        return Outcome("right", num_found=len(found))

    def quickwit(self, query, is_string):
        """The same through Quickwit's API, as DSL or as a query string; None if there is no such string."""
        given = strings.query_string(query, self.store.fields) if is_string else sent(query)
        if given is None:
            return None
        found = self.matcher.docs(query).nonzero()[0]
        body = {"query": given, "max_hits": SHOWN, "sort_by": f"-{NUMBER}", "now_ms": NOW_MS, "aggs": {"sum": {"sum": {"field": NUMBER}}}}
        path = f"/api/v1/{self.name}/search"
        status, answer = self.server.post(path, body)
        if status != 200:
            return self.refusal(status, answer, path, body)
        wrong = self.differs(found, answer["num_hits"], [hit[NUMBER] for hit in answer["hits"]], answer.get("aggregations"))
        if wrong:
            return Outcome("wrong", wrong, len(found), curl(path, body))
        return Outcome("right", num_found=len(found))

    def in_time(self, body):
        """The hits of a query between two times, of which the second is not included, and what `_count` says of the query."""
        name = self.store.corpus.timestamp
        mask = self.matcher.docs(body["query"])
        path, count = f"/{self.name}/_count", {"query": sent(body["query"])}
        status, answer = self.server.post(path, count)
        if status != 200:
            return self.refusal(status, answer, path, count)
        if answer["count"] != int(mask.sum()):
            return Outcome("wrong", f"{int(mask.sum())} documents expected, got {answer['count']}", 0, curl(path, count))
        low, high = body["start_timestamp"], body["end_timestamp"]
        found = (mask & self.store.where(name, "value >= ? AND value < ?", [low * 10**9, high * 10**9])).nonzero()[0]
        request = {**body, "query": sent(body["query"]), "max_hits": SHOWN, "sort_by": f"-{NUMBER}", "now_ms": NOW_MS}
        path = f"/api/v1/{self.name}/search"
        status, answer = self.server.post(path, request)
        if status != 200:
            return self.refusal(status, answer, path, request)
        wrong = self.differs(found, answer["num_hits"], [hit[NUMBER] for hit in answer["hits"]], None)
        return Outcome("wrong" if wrong else "right", wrong, len(found), curl(path, request))

    def refusal(self, status, answer, path, body):
        reason = answer.get("message") or json.dumps(answer.get("error", answer))
        what = "refused" if status == 400 else "wrong"
        return Outcome(what, f"{status}: {reason}"[:400], 0, curl(path, body))

    def differs(self, found, total, got, aggregations):
        """What is wrong with the hits, in words."""
        if total != len(found):
            extra = sorted(set(got) - set(found.tolist()))[:3]
            lacking = sorted(set(found[:SHOWN].tolist()) - set(got))[:3]
            return f"{len(found)} documents expected, got {total}; too many: {self.show(extra)}; lacking: {self.show(lacking)}"
        if got != found[:SHOWN].tolist():
            return f"expected the documents {found[:SHOWN].tolist()}, got {got}"
        if aggregations and aggregations["sum"]["value"] != float(numpy.sum(found, dtype=numpy.int64)):
            return f"the sum of numbers is {numpy.sum(found)}, got {aggregations['sum']['value']}"
        return ""

    def show(self, numbers):
        return json.dumps([self.store.docs[number] for number in numbers[:1]], ensure_ascii=False)[:1500] + f" {numbers}"
