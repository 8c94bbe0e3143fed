"""Compares whole searches: order, pages, counts, and what is shown of the hits."""

import fnmatch
import json

from compare import Outcome, curl, sent
from corpora import NUMBER
from fields import address, address_text


class SearchJudge:
    """Judges searches over the documents of a query."""

    def __init__(self, judge):
        self.judge, self.store = judge, judge.store

    def search(self, body):
        """Asks for one page, and compares all that it shows."""
        mask = self.judge.matcher.docs(body["query"])
        if "post_filter" in body:
            mask = mask & self.judge.matcher.docs(body["post_filter"])
        found = mask.nonzero()[0].tolist()
        path, request = f"/{self.judge.name}/_search", sent(body)
        status, answer = self.judge.server.post(path, request)
        if status != 200:
            return self.judge.refusal(status, answer, path, request)
        hits = answer["hits"]
        wrong = wrong_total(body.get("track_total_hits"), hits.get("total"), len(found))
        wrong = wrong or self.wrong_hits(body, found, hits["hits"]) or self.wrong_source(body.get("_source"), hits["hits"])
        if not wrong and is_whole(body) and 20 < len(found) < 3_000:
            wrong = self.wrong_pages(body, found)
        return Outcome("wrong" if wrong else "right", wrong, len(found), curl(path, request))

    def wrong_hits(self, body, found, hits):
        """Whether these are the hits, in the order that was asked for."""
        begin = body.get("from", 0)
        got = [hit["_source"].get(NUMBER) for hit in hits]
        num_wanted = max(0, min(body["size"], len(found) - begin))
        if len(got) != num_wanted:
            return f"{num_wanted} hits expected, got {len(got)}"
        if len(set(got)) < len(got) or not set(got) <= set(found):
            return f"hits that are none or that are there twice: {got}"
        sort = body.get("sort")
        if not sort:
            scores = [hit["_score"] for hit in hits]
            return "" if scores == sorted(scores, reverse=True) else f"scores are not in their order: {scores}"
        wanted = self.ordered(found, sort)[begin : begin + body["size"]]
        if got != wanted and is_whole(body):
            return f"expected the documents {wanted}, got {got}"
        for place, (one, other) in enumerate(zip(wanted, got)):
            if self.keys(one, sort) != self.keys(other, sort):
                return f"hit {place} is {other} with {self.keys(other, sort)}, expected {one} with {self.keys(one, sort)}"
        if got != wanted:
            return f"ties: expected the documents {wanted}, got {got}"
        return self.wrong_sort_values(sort, hits)

    def keys(self, doc, sort):
        """The sort keys of a document: of several values the one that places it first."""
        return [nearest(self.store.columns[name_of(key)][doc], order_of(key)) for key in sort]

    def ordered(self, found, sort):
        """Documents by their keys. Ties are in the order of time and line, or the other way round if the first key is."""
        times = self.store.columns.get(self.store.corpus.timestamp)
        is_reversed = "desc" in json.dumps(sort[0])
        found = sorted(found, key=lambda doc: (times[doc] if times else 0, doc), reverse=is_reversed)
        for key in reversed(sort):
            name = name_of(key)
            rule = key[name] if isinstance(key[name], dict) else {}
            column = self.store.columns[name]
            have = [doc for doc in found if column[doc]]
            have_not = [doc for doc in found if not column[doc]]
            # Python keeps ties in their order, also when it sorts the other way round.
            order = order_of(key)
            have.sort(key=lambda doc: nearest(column[doc], order), reverse=order == "desc")
            found = have_not + have if rule.get("missing") == "_first" else have + have_not
        return found

    def wrong_sort_values(self, sort, hits):
        """Whether the sort values beside a hit are those of the document."""
        for hit in hits:
            for key, name, shown in zip(self.keys(hit["_source"][NUMBER], sort), map(name_of, sort), hit["sort"]):
                field = self.store.fields[name]
                if key is None or field.kind == "bool":
                    continue
                if field.kind == "datetime":
                    key = key if field.precision in ("nanoseconds", "microseconds") else key // 10**6
                if field.kind == "ip":
                    key = address_text(key)
                if key != shown:
                    return f"document {hit['_source'][NUMBER]} has the sort value {shown!r} of {name}, expected {key!r}"
        return ""

    def wrong_pages(self, body, found):
        """Whether pages by `search_after` are the whole, one behind the other."""
        wanted = self.ordered(found, body["sort"])
        got, after, size = [], None, max(3, len(found) // 4)
        while True:
            page = {"query": body["query"], "sort": body["sort"], "size": size, "_source": [NUMBER]}
            if after:
                page["search_after"] = after
            if "post_filter" in body:
                page["post_filter"] = body["post_filter"]
            status, answer = self.judge.server.post(f"/{self.judge.name}/_search", sent(page))
            if status != 200:
                return f"the page behind {after}: {answer}"
            hits = answer["hits"]["hits"]
            got += [hit["_source"][NUMBER] for hit in hits]
            if not hits or len(got) > len(wanted):
                break
            after = hits[-1]["sort"]
        if got != wanted:
            pairs = enumerate(zip(wanted, got))
            place = next((place for place, (one, other) in pairs if one != other), min(len(got), len(wanted)))
            here, there = got[place : place + 5], wanted[place : place + 5]
            return f"pages of {size} have {len(got)} documents, expected {len(wanted)}; from {place} on {here}, expected {there}"
        return ""

    def wrong_source(self, source, hits):
        """Whether of each document just that is shown which was asked for."""
        for hit in hits:
            doc = self.store.docs[hit["_source"][NUMBER]]
            wanted = {path: value for path, value in leaves(doc) if is_shown(path, source)}
            got = dict(leaves(hit["_source"]))
            if set(wanted) != set(got):
                return f"document {doc[NUMBER]} shows {sorted(got)}, expected {sorted(wanted)}"
            for path, value in wanted.items():
                if not self.is_same(path, value, got[path]):
                    return f"document {doc[NUMBER]} shows {path}: {got[path]!r}, expected {value!r}"
        return ""

    def is_same(self, path, value, shown):
        """Whether a value is shown as it was; a date and an address may be written in another way."""
        field = self.store.fields.get(path)
        if field and field.kind == "datetime":
            return True
        if field and field.kind == "ip":
            values, shown = (item if isinstance(item, list) else [item] for item in (value, shown))
            return [address(item) for item in values] == [address(item) for item in shown]
        return value == shown or [value] == shown or value == [shown]


def name_of(key):
    return next(iter(key))


def order_of(key):
    rule = key[name_of(key)]
    return rule["order"] if isinstance(rule, dict) else rule


def nearest(values, order):
    """The value of several that places its document first."""
    return (max if order == "desc" else min)(values, default=None)


def is_whole(body):
    """Whether the order tells all documents apart."""
    return bool(body.get("sort")) and any(NUMBER in key for key in body["sort"])


def wrong_total(track, total, num_found):
    """Whether hits are counted as far as was asked for."""
    if track is False:
        return "" if total is None or total["value"] <= num_found else f"no total was wanted, got {total}"
    most = 10**9 if track is True else 10_000 if track is None else track
    if num_found <= most:
        wanted = {"value": num_found, "relation": "eq"}
        return "" if total == wanted else f"expected the total {wanted}, got {total}"
    is_right = total["value"] == num_found if total["relation"] == "eq" else most <= total["value"] <= num_found
    return "" if is_right else f"expected at least {most} of {num_found} hits, got {total}"


def leaves(value, path=""):
    """Values by their paths, without nulls and without what is empty."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            merged = {}
            for item in value:
                for inner, leaf in leaves(item, path):
                    merged.setdefault(inner, []).append(leaf)
            yield from merged.items()
        elif any(item is not None for item in value):
            yield path, [item for item in value if item is not None]
    elif value is not None:
        yield path, value


def is_shown(path, source):
    """Whether `_source` lets a path through."""
    if source is None:
        return True
    source = {"includes": source} if isinstance(source, (str, list)) else source
    lists = {key: value if isinstance(value, list) else [value] for key, value in source.items()}
    parts = path.split(".")
    above = [".".join(parts[: end + 1]) for end in range(len(parts))]
    takes = lambda patterns: any(fnmatch.fnmatchcase(part, pattern) for part in above for pattern in patterns)
    return ("includes" not in lists or takes(lists["includes"])) and not takes(lists.get("excludes", []))
