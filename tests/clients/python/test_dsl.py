"""The DSL of the Python client: searches that are put together, pages, scans, marks, buckets and documents."""

import collections
import datetime

import elasticsearch
import pytest
from test_search import words_of

PAGE = 40


def said(doc):
    return words_of(doc["message"])


def has_disk(doc):
    return "disk" in said(doc)


def is_error(doc):
    return doc["level"] == "ERROR"


# What is put together by the DSL's Q, and which documents that is.
QUERIES = {
    "and": (lambda Q: Q("match", message="disk") & Q("term", level="ERROR"), lambda d: has_disk(d) and is_error(d)),
    "or": (lambda Q: Q("match", message="disk") | Q("term", level="ERROR"), lambda d: has_disk(d) or is_error(d)),
    "not": (lambda Q: ~Q("term", level="ERROR"), lambda d: not is_error(d)),
    "and not": (lambda Q: Q("match", message="disk") & ~Q("term", level="ERROR"), lambda d: has_disk(d) and not is_error(d)),
    "or of and": (
        lambda Q: (Q("match", message="disk") & Q("term", level="ERROR")) | (Q("term", is_slow=True) & Q("range", id={"lt": 900})),
        lambda d: (has_disk(d) and is_error(d)) or (d["is_slow"] and d["id"] < 900),
    ),
    "not of or": (
        lambda Q: ~(Q("match", message="disk") | Q("term", is_slow=True)),
        lambda d: not has_disk(d) and not d["is_slow"],
    ),
    "bool": (
        lambda Q: Q(
            "bool",
            must=[Q("match", message="disk")],
            filter=[Q("range", id={"lt": 900})],
            should=[Q("term", level="ERROR"), Q("term", is_slow=True)],
            minimum_should_match=1,
        ),
        lambda d: has_disk(d) and d["id"] < 900 and (is_error(d) or d["is_slow"]),
    ),
    "multi_match": (
        lambda Q: Q("multi_match", query="peer", fields=["message", "title"]),
        lambda d: "peer" in said(d) + words_of(d["title"]),
    ),
    "match_phrase": (lambda Q: Q("match_phrase", message="user login"), lambda d: "user login" in d["message"].lower()),
    "terms": (lambda Q: Q("terms", status=[404, 500]), lambda d: d["status"] in (404, 500)),
    "exists": (lambda Q: Q("exists", field="optional"), lambda d: "optional" in d),
    "prefix": (lambda Q: Q("prefix", service="a"), lambda d: d["service"].startswith("a")),
    "wildcard": (lambda Q: Q("wildcard", service="*i*"), lambda d: "i" in d["service"]),
    "regexp": (lambda Q: Q("regexp", service="[a-z]+g"), lambda d: d["service"] == "billing"),
    "fuzzy": (lambda Q: Q("fuzzy", service="billin"), lambda d: d["service"] == "billing"),
    "query_string": (
        lambda Q: Q("query_string", query="level:WARN AND is_slow:true"),
        lambda d: d["level"] == "WARN" and d["is_slow"],
    ),
    "simple_query_string": (
        lambda Q: Q("simple_query_string", query="disk +user", fields=["message"], default_operator="and"),
        lambda d: {"disk", "user"} <= set(said(d)),
    ),
    "constant_score": (lambda Q: Q("constant_score", filter=Q("term", level="ERROR"), boost=2), is_error),
    "dis_max": (
        lambda Q: Q("dis_max", queries=[Q("match", message="disk"), Q("term", level="ERROR")]),
        lambda d: has_disk(d) or is_error(d),
    ),
    "boosting": (
        lambda Q: Q("boosting", positive=Q("match", message="disk"), negative=Q("term", level="ERROR"), negative_boost=0.2),
        has_disk,
    ),
    "a field with a dot": (lambda Q: Q("term", ctx__user="u4"), lambda d: d["ctx"]["user"] == "u4"),
    "nested": (lambda Q: Q("nested", path="ctx", query=Q("term", ctx__attempt=1)), lambda d: d["ctx"]["attempt"] == 1),
    "match_all": (lambda Q: Q("match_all"), lambda d: True),
    "match_none": (lambda Q: Q("match_none"), lambda d: False),
}


@pytest.fixture(scope="module")
def search(client, dsl):
    return dsl.Search(using=client, index="logs")


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_put_together_finds_what_a_scan_finds(dsl, search, docs, name):
    query, matches = QUERIES[name]
    expected = [doc["id"] for doc in docs if matches(doc)]
    search = search.query(query(dsl.Q))
    found = search.sort("id").source(["id"])[: len(docs)].execute()
    assert [hit.id for hit in found] == expected
    assert found.success() and not found.timed_out
    assert search.count() == len(expected)


def test_filters_and_exclusions_add_up(search, docs):
    some = search.filter("terms", level=["ERROR", "WARN"]).exclude("term", is_slow=True).query("match", message="disk")
    expected = [doc for doc in docs if doc["level"] != "INFO" and not doc["is_slow"] and has_disk(doc)]
    assert some.count() == len(expected)
    late = some.post_filter("range", id={"gte": 1_000})
    assert late.execute().hits.total.value == sum(doc["id"] >= 1_000 for doc in expected)


def test_slices_are_pages(search, docs):
    some = search.filter("term", is_slow=True).sort({"latency": "desc"}, "id")
    expected = sorted((doc for doc in docs if doc["is_slow"]), key=lambda doc: (-doc["latency"], doc["id"]))
    seen = []
    for at in range(0, len(expected) + PAGE, PAGE):
        seen += [hit.id for hit in some[at : at + PAGE]]
    assert seen == [doc["id"] for doc in expected]
    assert [hit.id for hit in some[3]] == [expected[3]["id"]]


def test_search_after_goes_on_behind_a_page(search, docs):
    some = search.sort("-timestamp")[:300].extra(track_total_hits=True)
    seen, page = [], some.execute()
    while page.hits:
        assert page.hits.total.value == len(docs)
        seen += [hit.id for hit in page]
        page = some.extra(search_after=list(page.hits[-1].meta.sort)).execute()
    assert seen == [doc["id"] for doc in reversed(docs)]


def test_a_scan_goes_through_all_hits_once(search, docs):
    some = search.query("match", message="user").source(["id", "level"]).params(size=150)
    hits = list(some.scan())
    expected = {doc["id"]: doc["level"] for doc in docs if "user" in said(doc)}
    assert len(hits) == len(expected)
    assert {hit.id: hit.level for hit in hits} == expected
    assert {hit.meta.index for hit in hits} == {"logs"}


def test_hits_have_parts_of_documents(search, docs):
    (hit,) = search.filter("term", id=6).source(includes=["ctx.*", "level"], excludes=["ctx.attempt"]).execute()
    assert hit.to_dict() == {"level": docs[6]["level"], "ctx": {"user": docs[6]["ctx"]["user"]}}
    (hit,) = search.filter("term", id=6).source(False).extra(fields=["status", "ctx.user"]).execute()
    assert hit.to_dict() == {"status": [docs[6]["status"]], "ctx.user": [docs[6]["ctx"]["user"]]}
    assert hit.meta.id and hit.meta.index == "logs"


def test_matches_are_marked(search, docs):
    some = search.query("match", message="disk").highlight("message").highlight_options(pre_tags=["<b>"], post_tags=["</b>"])
    found = some[:50].execute()
    assert len(found) == 50
    for hit in found:
        (passage,) = hit.meta.highlight.message
        marked = [f"<b>{word}</b>" if word.lower() == "disk" else word for word in docs[hit.id]["message"].split()]
        assert passage == " ".join(marked)


def test_a_field_has_settings_of_its_own_for_marks(search, docs):
    found = search.query("match", message="disk").highlight("message", number_of_fragments=0, pre_tags=["<b>"], post_tags=["</b>"]).execute()
    for hit in found:
        (passage,) = hit.meta.highlight.message
        assert passage.replace("<b>", "").replace("</b>", "") == docs[hit.id]["message"]


def test_buckets_and_metrics(dsl, search, docs):
    some = search.filter("range", id={"gte": 100})[:0]
    some.aggs.bucket("levels", "terms", field="level", order={"_key": "asc"}).metric("mean", "avg", field="latency").bucket(
        "services", "terms", field="service"
    )
    some.aggs.bucket("minutes", "date_histogram", field="timestamp", fixed_interval="10m").pipeline(
        "so_far", "cumulative_sum", buckets_path="_count"
    )
    some.aggs.bucket("slow", dsl.A("filter", filter=dsl.Q("term", is_slow=True)))
    some.aggs.metric("most", "max", field="latency")
    found = some.execute().aggregations
    kept = docs[100:]
    assert [bucket.key for bucket in found.levels] == sorted({doc["level"] for doc in kept})
    for bucket in found.levels.buckets:
        of_level = [doc for doc in kept if doc["level"] == bucket.key]
        assert bucket.doc_count == len(of_level)
        assert bucket.mean.value == pytest.approx(sum(doc["latency"] for doc in of_level) / len(of_level))
        services = collections.Counter(doc["service"] for doc in of_level)
        assert {inner.key: inner.doc_count for inner in bucket.services} == services
    minutes = collections.Counter(doc["timestamp"][:15] for doc in kept)
    assert [bucket.doc_count for bucket in found.minutes] == [minutes[key] for key in sorted(minutes)]
    assert [bucket.key_as_string[:15] for bucket in found.minutes] == sorted(minutes)
    assert found.minutes.buckets[-1].so_far.value == len(kept)
    assert found.slow.doc_count == sum(doc["is_slow"] for doc in kept)
    assert found.most.value == max(doc["latency"] for doc in kept)


def test_many_searches_in_one_request(client, dsl, search, docs):
    many = dsl.MultiSearch(using=client, index="logs")
    levels = ["ERROR", "WARN", "INFO", "NONE"]
    for level in levels:
        many = many.add(search.filter("term", level=level).sort("id")[:1])
    for level, found in zip(levels, many.execute()):
        expected = [doc["id"] for doc in docs if doc["level"] == level]
        assert found.hits.total.value == len(expected)
        assert [hit.id for hit in found] == expected[:1]


def faceted(client, dsl):
    class Faceted(dsl.FacetedSearch):
        index = "logs"
        using = client
        fields = ["message", "title"]
        facets = {
            "level": dsl.TermsFacet(field="level"),
            "status": dsl.RangeFacet(field="status", ranges=[("fine", (200, 400)), ("bad", (400, None))]),
            "latency": dsl.HistogramFacet(field="latency", interval=25),
            "hour": dsl.DateHistogramFacet(field="timestamp", fixed_interval="1h"),
        }

    return Faceted


def test_facets_count_what_a_scan_counts(client, dsl, docs):
    found = faceted(client, dsl)("disk").execute()
    kept = [doc for doc in docs if "disk" in said(doc) + words_of(doc["title"])]
    assert found.hits.total.value == len(kept)
    assert {key: num for key, num, _ in found.facets.level} == collections.Counter(doc["level"] for doc in kept)
    bad = sum(doc["status"] >= 400 for doc in kept)
    assert {key: num for key, num, _ in found.facets.status} == {"fine": len(kept) - bad, "bad": bad}
    latency = collections.Counter(doc["latency"] // 25 * 25 for doc in kept)
    assert {key: num for key, num, _ in found.facets.latency} == latency
    assert [num for _, num, _ in found.facets.hour] == [len(kept)]


def test_a_chosen_facet_narrows_the_hits_and_the_others(client, dsl, docs):
    found = faceted(client, dsl)("disk", filters={"level": "ERROR"}).execute()
    kept = [doc for doc in docs if "disk" in said(doc) + words_of(doc["title"])]
    assert found.hits.total.value == sum(is_error(doc) for doc in kept)
    assert {key: num for key, num, _ in found.facets.level} == collections.Counter(doc["level"] for doc in kept)
    bad = sum(is_error(doc) and doc["status"] >= 400 for doc in kept)
    assert {key: num for key, num, _ in found.facets.status}["bad"] == bad


def test_hits_are_documents_of_a_class(client, dsl, docs):
    class Log(dsl.Document):
        timestamp = dsl.Date()
        level = dsl.Keyword()
        message = dsl.Text()

        class Index:
            name = "logs"

    hits = Log.search(using=client).filter("term", id=9).execute()
    (hit,) = hits
    assert isinstance(hit, Log) and hit.level == docs[9]["level"] and hit.message == docs[9]["message"]
    assert hit.timestamp == datetime.datetime.fromisoformat(docs[9]["timestamp"])
    assert Log._index.exists(using=client)


def test_an_index_tells_what_is_in_it(client, dsl, docs):
    index = dsl.Index("logs", using=client)
    assert index.exists() and not dsl.Index("missing", using=client).exists()
    properties = index.get_mapping()["logs"]["mappings"]["properties"]
    assert properties["service"] == {"type": "keyword"}
    assert index.stats()["indices"]["logs"]["total"]["docs"]["count"] == len(docs)
    assert index.validate_query(query={"match_all": {}})["valid"]
    # Version 8 knows no type unsigned_long.
    if elasticsearch.__version__[0] >= 9:
        mapping = dsl.Mapping.from_es("logs", using=client)
        assert mapping.resolve_field("latency").name == "double"
        assert mapping.resolve_field("status").name == "unsigned_long"
