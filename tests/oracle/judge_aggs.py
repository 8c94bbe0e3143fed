"""Compares the answers of aggregations with the oracle's, number by number."""

from aggregate import Aggregator
from compare import NOW_MS, Outcome, curl, sent
from metrics import Near

MAX_PAGES = 40


class AggsJudge:
    """Judges aggregations over the documents of a query."""

    def __init__(self, judge):
        self.judge = judge
        self.aggregator = Aggregator(judge.store, judge.matcher)

    def body(self, query, aggs, is_quickwit):
        """The request, and where it goes."""
        body = {"query": sent(query), "aggs": sent(aggs)}
        if is_quickwit:
            return f"/api/v1/{self.judge.name}/search", {**body, "max_hits": 0, "now_ms": NOW_MS}
        return f"/{self.judge.name}/_search", {**body, "size": 0, "track_total_hits": True}

    def aggs(self, query, aggs, is_quickwit=False):
        """Asks for aggregations; a composite at the top is gone through page by page."""
        docs = self.judge.matcher.docs(query).nonzero()[0].tolist()
        wanted = self.aggregator.all(aggs, docs)
        path, body = self.body(query, aggs, is_quickwit)
        status, answer = self.judge.server.post(path, body)
        if status != 200:
            return self.judge.refusal(status, answer, path, body)
        wrong = differs(cut(wanted, aggs), answer["aggregations"], "aggs")
        for name, agg in aggs.items():
            if not wrong and "composite" in agg and wanted[name]["buckets"]:
                wrong = self.pages(query, name, agg, wanted[name]["buckets"])
        return Outcome("wrong" if wrong else "right", wrong, len(docs), curl(path, body))

    def pages(self, query, name, agg, wanted):
        """All pages of a composite, one after the other."""
        found, after, size = [], None, agg["composite"]["size"]
        for _ in range(MAX_PAGES):
            one = {**agg, "composite": {**agg["composite"], **({"after": after} if after else {})}}
            path, body = self.body(query, {name: one}, False)
            status, answer = self.judge.server.post(path, body)
            if status != 200:
                return f"page {len(found) // size}: {answer}"
            page = answer["aggregations"][name]
            found += page["buckets"]
            after = page.get("after_key")
            if not after:
                break
        return differs(wanted[: len(found)] if after else wanted, found, f"pages of {name}")


def cut(wanted, aggs):
    """The first page of each composite, wherever it stands."""
    found = {}
    for name, value in wanted.items():
        agg = aggs.get(name)
        if agg is None or not isinstance(value, dict):
            found[name] = value
            continue
        inner = agg.get("aggs", {})
        within = lambda bucket: {key: cut({key: item}, inner)[key] if key in inner else item for key, item in bucket.items()}
        buckets = value.get("buckets")
        if isinstance(buckets, list):
            size = agg["composite"]["size"] if "composite" in agg else len(buckets)
            value = {**value, "buckets": [within(bucket) for bucket in buckets[:size]]}
        elif isinstance(buckets, dict):
            value = {**value, "buckets": {key: within(bucket) for key, bucket in buckets.items()}}
        elif inner:
            value = within(value)
        found[name] = value
    return found


def differs(wanted, got, path):
    """Where an answer differs from what is wanted, in words; nothing if it does not."""
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return f"{path}: expected {wanted}, got {got}"
        is_keyed = path.endswith((".buckets", ".values"))
        if is_keyed and set(wanted) != set(got):
            return f"{path}: expected the keys {sorted(wanted)[:9]}, got {sorted(got)[:9]}"
        for key, value in wanted.items():
            wrong = differs(value, got.get(key, "nothing"), f"{path}.{key}")
            if wrong:
                return wrong
        return ""
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(wanted) != len(got):
            keys = lambda buckets: [bucket.get("key") if isinstance(bucket, dict) else bucket for bucket in buckets]
            return f"{path}: expected {len(wanted)}: {keys(wanted)[:30]}, got {len(got)}: {keys(got)[:30]}"
        for place, (one, other) in enumerate(zip(wanted, got)):
            wrong = differs(one, other, f"{path}[{place}]")
            if wrong:
                return wrong
        return ""
    is_same = wanted == got if isinstance(wanted, Near) or not isinstance(got, Near) else False
    return "" if is_same else f"{path}: expected {wanted!r}, got {got!r}"
