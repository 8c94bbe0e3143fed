"""What Elasticsearch's Python clients get, beside a plain scan of the documents."""

import collections
import re

import elasticsearch
import elasticsearch.helpers
import pytest

ALL = 10_000


def words_of(text):
    return re.findall(r"\w+", text.lower())


def has_phrase(text, *phrase):
    words = words_of(text)
    return any(tuple(words[at : at + len(phrase)]) == phrase for at in range(len(words)))


def near(word, other, most):
    """Whether so many edits make one of the other; neighbours that change places are one."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(word, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            best = min(row[-1] + 1, rows[-1][j] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and word[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1] <= most


# A query of the DSL, and whether a document matches it.
QUERIES = {
    "match_all": ({"match_all": {}}, lambda d: True),
    "match_none": ({"match_none": {}}, lambda d: False),
    "match": ({"match": {"message": "Timeout DISK"}}, lambda d: {"timeout", "disk"} & set(words_of(d["message"]))),
    "match and": (
        {"match": {"message": {"query": "timeout disk", "operator": "and"}}},
        lambda d: {"timeout", "disk"} <= set(words_of(d["message"])),
    ),
    "match at least": (
        {"match": {"message": {"query": "timeout disk ok user", "minimum_should_match": "50%"}}},
        lambda d: len({"timeout", "disk", "ok", "user"} & set(words_of(d["message"]))) >= 2,
    ),
    "match nearly": (
        {"match": {"message": {"query": "conection", "fuzziness": "AUTO"}}},
        lambda d: any(near("conection", w, 2) for w in words_of(d["message"])),
    ),
    "match a number": ({"match": {"status": "404"}}, lambda d: d["status"] == 404),
    "phrase": (
        {"match_phrase": {"message": "connection failed"}},
        lambda d: has_phrase(d["message"], "connection", "failed"),
    ),
    "phrase prefix": (
        {"match_phrase_prefix": {"title": "request 4"}},
        lambda d: any(
            a == "request" and b.startswith("4") for a, b in zip(words_of(d["title"]), words_of(d["title"])[1:])
        ),
    ),
    "bool prefix": (
        {"match_bool_prefix": {"message": "disk rese"}},
        lambda d: "disk" in words_of(d["message"]) or any(w.startswith("rese") for w in words_of(d["message"])),
    ),
    "multi_match best": (
        {"multi_match": {"query": "user full", "fields": ["message", "title^3"]}},
        lambda d: {"user", "full"} & set(words_of(d["message"] + " " + d["title"])),
    ),
    "multi_match most": (
        {"multi_match": {"query": "user", "fields": ["message", "title"], "type": "most_fields"}},
        lambda d: "user" in words_of(d["message"] + " " + d["title"]),
    ),
    "multi_match cross": (
        {"multi_match": {"query": "request timeout", "fields": ["message", "title"], "type": "cross_fields", "operator": "and"}},
        lambda d: {"request", "timeout"} <= set(words_of(d["message"] + " " + d["title"])),
    ),
    "multi_match phrase": (
        {"multi_match": {"query": "disk full", "fields": ["message", "ti*"], "type": "phrase"}},
        lambda d: has_phrase(d["message"], "disk", "full") or has_phrase(d["title"], "disk", "full"),
    ),
    "query_string": (
        {"query_string": {"query": "level:ERROR AND message:(timeout OR disk)"}},
        lambda d: d["level"] == "ERROR" and {"timeout", "disk"} & set(words_of(d["message"])),
    ),
    "query_string or": (
        {"query_string": {"query": "timeout disk", "default_field": "message"}},
        lambda d: {"timeout", "disk"} & set(words_of(d["message"])),
    ),
    "query_string and": (
        {"query_string": {"query": "timeout disk", "fields": ["message"], "default_operator": "AND"}},
        lambda d: {"timeout", "disk"} <= set(words_of(d["message"])),
    ),
    "query_string exists": ({"query_string": {"query": "_exists_:optional"}}, lambda d: "optional" in d),
    "query_string nearly": (
        {"query_string": {"query": "message:tiemout~1"}},
        lambda d: any(near("tiemout", w, 1) for w in words_of(d["message"])),
    ),
    "query_string range": ({"query_string": {"query": "status:[400 TO 405]"}}, lambda d: 400 <= d["status"] <= 405),
    "simple_query_string": (
        {"simple_query_string": {"query": "timeout + -disk", "fields": ["message"]}},
        lambda d: "timeout" in words_of(d["message"]) and "disk" not in words_of(d["message"]),
    ),
    "term": ({"term": {"service": "auth"}}, lambda d: d["service"] == "auth"),
    "term with value": ({"term": {"status": {"value": 500, "boost": 2.0}}}, lambda d: d["status"] == 500),
    "term flag": ({"term": {"is_slow": True}}, lambda d: d["is_slow"]),
    "term in any case": (
        {"term": {"service": {"value": "search", "case_insensitive": True}}},
        lambda d: d["service"] == "Search",
    ),
    "term of a network": ({"term": {"address": "10.0.1.0/24"}}, lambda d: d["address"].startswith("10.0.1.")),
    "term not mapped": ({"term": {"ctx.user": "u3"}}, lambda d: d["ctx"]["user"] == "u3"),
    "terms": ({"terms": {"status": [404, 501]}}, lambda d: d["status"] in (404, 501)),
    "range": ({"range": {"latency": {"gte": 10.5, "lt": 99}}}, lambda d: 10.5 <= d["latency"] < 99),
    "range of dates": (
        {"range": {"timestamp": {"gte": 1_714_558_000_000, "lte": 1_714_558_600_000, "format": "epoch_millis"}}},
        lambda d: "2024-05-01T10:06:40" <= d["timestamp"][:19] < "2024-05-01T10:16:40" or d["timestamp"] == "2024-05-01T10:16:40Z",
    ),
    "range with date math": (
        {"range": {"timestamp": {"gte": "2024-05-01T10:10:00Z||-1m", "lt": "2024-05-01||+10h+20m"}}},
        lambda d: "2024-05-01T10:09:00" <= d["timestamp"][:19] < "2024-05-01T10:20:00",
    ),
    "range in a zone": (
        {"range": {"timestamp": {"lt": "2024-05-01T12:05:00", "time_zone": "+02:00"}}},
        lambda d: d["timestamp"][:19] < "2024-05-01T10:05:00",
    ),
    "range of text": ({"range": {"service": {"gte": "auth", "lt": "b"}}}, lambda d: "auth" <= d["service"] < "b"),
    "exists": ({"exists": {"field": "optional"}}, lambda d: "optional" in d),
    "prefix": ({"prefix": {"service": "au"}}, lambda d: d["service"].startswith("au")),
    "prefix in any case": (
        {"prefix": {"service": {"value": "SEA", "case_insensitive": True}}},
        lambda d: d["service"].lower().startswith("sea"),
    ),
    "wildcard": ({"wildcard": {"service": {"value": "?*ll*g"}}}, lambda d: d["service"] == "billing"),
    "regexp": ({"regexp": {"service": "a(pi|uth)"}}, lambda d: d["service"] in ("api", "auth")),
    "fuzzy": ({"fuzzy": {"service": {"value": "auht"}}}, lambda d: near("auht", d["service"], 1)),
    "bool": (
        {
            "bool": {
                "must": {"match": {"message": "disk"}},
                "filter": [{"term": {"level": "ERROR"}}],
                "must_not": {"term": {"is_slow": True}},
                "should": {"term": {"service": "api"}},
            }
        },
        lambda d: "disk" in words_of(d["message"]) and d["level"] == "ERROR" and not d["is_slow"],
    ),
    "bool two of three": (
        {
            "bool": {
                "should": [{"term": {"level": "WARN"}}, {"term": {"is_slow": True}}, {"range": {"id": {"lt": 1000}}}],
                "minimum_should_match": 2,
            }
        },
        lambda d: (d["level"] == "WARN") + d["is_slow"] + (d["id"] < 1000) >= 2,
    ),
    "constant_score": ({"constant_score": {"filter": {"term": {"level": "INFO"}}}}, lambda d: d["level"] == "INFO"),
    "dis_max": (
        {"dis_max": {"queries": [{"match": {"message": "ok"}}, {"match": {"title": "ok"}}]}},
        lambda d: "ok" in words_of(d["message"] + " " + d["title"]),
    ),
    "boosting": (
        {
            "boosting": {
                "positive": {"match": {"message": "disk"}},
                "negative": {"term": {"level": "INFO"}},
                "negative_boost": 0.1,
            }
        },
        lambda d: "disk" in words_of(d["message"]),
    ),
    "nested": (
        {"nested": {"path": "ctx", "query": {"term": {"ctx.attempt": 2}}}},
        lambda d: d["ctx"]["attempt"] == 2,
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_what_a_scan_finds(client, docs, name):
    query, matches = QUERIES[name]
    expected = [d["id"] for d in docs if matches(d)]
    found = client.search(index="logs", query=query, size=ALL, sort=["id"], track_total_hits=True)
    assert [hit["_source"]["id"] for hit in found["hits"]["hits"]] == expected
    assert found["hits"]["total"] == {"value": len(expected), "relation": "eq"}
    assert client.count(index="logs", query=query)["count"] == len(expected)
    if name not in ("match_none",):
        assert expected, "a query that finds nothing shows little"


def test_hits_are_as_elasticsearch_has_them(client, docs):
    found = client.search(index="logs", query={"term": {"id": 7}})
    assert found["timed_out"] is False and found["_shards"]["failed"] == 0
    (hit,) = found["hits"]["hits"]
    assert hit["_index"] == "logs" and hit["_id"] and hit["_source"] == docs[7]
    assert found["hits"]["max_score"] == hit["_score"] > 0


def test_the_best_hits_come_first(client):
    query = {"bool": {"should": [{"match": {"message": "disk"}}, {"term": {"level": {"value": "ERROR", "boost": 3}}}]}}
    found = client.search(index="logs", query=query, size=50)["hits"]
    scores = [hit["_score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True) and scores[0] == found["max_score"]
    best = found["hits"][0]["_source"]
    assert best["level"] == "ERROR" and "disk" in words_of(best["message"])


def test_filters_do_not_count_for_scores(client):
    found = client.search(index="logs", query={"bool": {"filter": {"term": {"level": "ERROR"}}}}, size=3)
    assert {hit["_score"] for hit in found["hits"]["hits"]} == {0.0}
    constant = {"constant_score": {"filter": {"term": {"level": "ERROR"}}, "boost": 1.5}}
    found = client.search(index="logs", query=constant, size=3)
    assert {hit["_score"] for hit in found["hits"]["hits"]} == {1.5}


def test_scores_are_made_of_those_of_their_parts(client):
    def scores(query):
        found = client.search(index="logs", query=query, size=ALL, sort=["_score"], source=["id"])["hits"]["hits"]
        return {hit["_source"]["id"]: hit["_score"] for hit in found}

    def same(query, expected):
        found = scores(query)
        assert found.keys() == expected.keys()
        assert all(found[number] == pytest.approx(score, rel=1e-3) for number, score in expected.items())

    a, b = {"match": {"message": "disk"}}, {"match": {"title": "disk request"}}
    of_a, of_b = scores(a), scores(b)
    assert 0 < len(of_a) < len(of_b) and len(set(of_b.values())) > 1
    either = {number: (of_a.get(number, 0), of_b.get(number, 0)) for number in of_a.keys() | of_b.keys()}
    same({"bool": {"should": [a, b]}}, {number: x + y for number, (x, y) in either.items()})
    best = {number: max(x, y) + 0.3 * min(x, y) for number, (x, y) in either.items()}
    same({"dis_max": {"queries": [a, b], "tie_breaker": 0.3}}, best)
    text = {"query": "disk", "fields": ["message", "title"]}
    of_title = scores({"match": {"title": "disk"}})
    both = {number: (of_a.get(number, 0), of_title.get(number, 0)) for number in of_a.keys() | of_title.keys()}
    same({"multi_match": text}, {number: max(pair) for number, pair in both.items()})
    same({"multi_match": {**text, "type": "most_fields"}}, {number: sum(pair) for number, pair in both.items()})
    same({"multi_match": {**text, "fields": ["message^2"]}}, {number: 2 * x for number, x in of_a.items()})
    same({"bool": {"must": a, "filter": b, "boost": 2}}, {number: 2 * of_a[number] for number in of_a if number in of_b})
    lower = {number: x * (0.5 if number in of_title else 1) for number, x in of_a.items()}
    same({"boosting": {"positive": a, "negative": {"match": {"title": "disk"}}, "negative_boost": 0.5}}, lower)
    same({"constant_score": {"filter": a, "boost": 1.25}}, dict.fromkeys(of_a, 1.25))
    same({"bool": {"must": a, "must_not": {"match": {"title": "disk"}}}}, {n: x for n, x in of_a.items() if n not in of_title})


def test_up_to_three_keys_sort_and_their_values_are_shown(client, docs):
    sort = [{"level": "asc"}, {"latency": {"order": "desc"}}, {"id": "asc"}]
    found = client.search(index="logs", size=200, sort=sort)["hits"]["hits"]
    expected = sorted(docs, key=lambda d: (d["level"], -d["latency"], d["id"]))[:200]
    assert [hit["_source"]["id"] for hit in found] == [d["id"] for d in expected]
    assert [hit["sort"] for hit in found] == [[d["level"], d["latency"], d["id"]] for d in expected]


@pytest.mark.parametrize("missing", ["_first", "_last"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_documents_without_a_value_are_first_or_last(client, docs, order, missing):
    sort = [{"optional": {"order": order, "missing": missing}}, {"id": "asc"}]
    found = client.search(index="logs", size=ALL, sort=sort, source=["id"])["hits"]["hits"]
    have = sorted((d for d in docs if "optional" in d), key=lambda d: d["id"])
    have.sort(key=lambda d: d["optional"], reverse=order == "desc")
    have_not = [d for d in docs if "optional" not in d]
    expected = have_not + have if missing == "_first" else have + have_not
    assert [hit["_source"]["id"] for hit in found] == [d["id"] for d in expected]


@pytest.mark.parametrize(
    "sort",
    [
        [{"timestamp": "desc"}],
        [{"timestamp": {"order": "asc", "format": "epoch_nanos_int"}}],
        [{"timestamp": {"order": "asc", "format": "strict_date_optional_time"}}],
        [{"level": "asc"}, {"id": "desc"}],
        [{"optional": {"order": "desc", "missing": "_first"}}, {"latency": "asc"}, {"id": "asc"}],
        [{"latency": "desc"}, {"timestamp": "asc"}],
    ],
)
def test_pages_go_on_where_the_last_one_ended(client, docs, sort):
    query = {"range": {"id": {"lt": 700}}}
    whole = client.search(index="logs", query=query, size=ALL, sort=sort)["hits"]["hits"]
    pages, after = [], None
    while True:
        more = {"search_after": after} if after else {}
        found = client.search(index="logs", query=query, size=90, sort=sort, track_total_hits=True, **more)
        assert found["hits"]["total"]["value"] == 700
        hits = found["hits"]["hits"]
        if not hits:
            break
        pages += hits
        after = hits[-1]["sort"]
    assert [hit["_source"]["id"] for hit in pages] == [hit["_source"]["id"] for hit in whole]
    assert len(pages) == 700


def test_from_and_size(client):
    hits = lambda **more: [hit["_source"]["id"] for hit in client.search(index="logs", sort=["id"], **more)["hits"]["hits"]]
    assert hits() == list(range(10))
    assert hits(size=3, from_=40) == [40, 41, 42]
    assert hits(size=0) == []


def test_dates_as_sort_values_are_milliseconds(client, docs):
    (hit,) = client.search(index="logs", sort=[{"timestamp": "desc"}], size=1)["hits"]["hits"]
    assert hit["sort"] == [1_714_557_600_000 + 1_999 * 1_500]


def test_parts_of_documents(client, docs):
    def source(**how):
        return client.search(index="logs", query={"term": {"id": 6}}, **how)["hits"]["hits"][0].get("_source")

    doc = docs[6]
    assert source(source=False) is None
    assert source(source=["level", "ctx.user"]) == {"level": doc["level"], "ctx": {"user": doc["ctx"]["user"]}}
    assert source(source_includes="ctx.*") == {"ctx": doc["ctx"]}
    rest = {key: value for key, value in doc.items() if key not in ("ctx", "message")}
    assert source(source={"excludes": ["ctx", "message"]}) == rest
    found = client.search(
        index="logs",
        query={"term": {"id": 6}},
        fields=["ctx.*", {"field": "timestamp", "format": "epoch_millis"}],
        docvalue_fields=["status"],
        source=False,
    )
    fields = found["hits"]["hits"][0]["fields"]
    assert fields["ctx.user"] == [doc["ctx"]["user"]] and fields["status"] == [doc["status"]]
    assert fields["timestamp"] == [str(1_714_557_600_000 + 6 * 1_500)]


def test_totals_are_counted_as_far_as_asked(client, docs):
    def total(**how):
        return client.search(index="logs", sort=["id"], **how)["hits"].get("total")

    assert total() == {"value": 2_000, "relation": "eq"}
    assert total(track_total_hits=True) == {"value": 2_000, "relation": "eq"}
    assert total(track_total_hits=100) == {"value": 100, "relation": "gte"}
    assert total(track_total_hits=False) is None
    assert total(rest_total_hits_as_int=True) == 2_000


def test_matches_are_marked(client):
    highlight = {"fields": {"message": {}}, "pre_tags": ["<"], "post_tags": [">"], "number_of_fragments": 0}
    found = client.search(index="logs", query={"match": {"message": "disk"}}, highlight=highlight, size=20)
    for hit in found["hits"]["hits"]:
        (passage,) = hit["highlight"]["message"]
        assert "<disk>" in passage.lower()
        assert passage.replace("<", "").replace(">", "") == hit["_source"]["message"]


def test_aggregations(client, docs):
    aggs = {
        "levels": {"terms": {"field": "level"}, "aggs": {"slowest": {"max": {"field": "latency"}}}},
        "minutes": {"date_histogram": {"field": "timestamp", "fixed_interval": "1m"}},
        "errors": {"filter": {"term": {"level": "ERROR"}}, "aggs": {"mean": {"avg": {"field": "latency"}}}},
        "kinds": {"filters": {"filters": {"bad": {"query_string": {"query": "status:>=500"}}}}},
    }
    found = client.search(index="logs", size=0, aggs=aggs, query={"range": {"id": {"gte": 10}}})["aggregations"]
    some = docs[10:]
    by_level = collections.Counter(d["level"] for d in some)
    assert {b["key"]: b["doc_count"] for b in found["levels"]["buckets"]} == by_level
    for bucket in found["levels"]["buckets"]:
        assert bucket["slowest"]["value"] == max(d["latency"] for d in some if d["level"] == bucket["key"])
    assert sum(b["doc_count"] for b in found["minutes"]["buckets"]) == len(some)
    errors = [d["latency"] for d in some if d["level"] == "ERROR"]
    assert found["errors"]["doc_count"] == len(errors)
    assert abs(found["errors"]["mean"]["value"] - sum(errors) / len(errors)) < 1e-9
    assert found["kinds"]["buckets"]["bad"]["doc_count"] == sum(d["status"] >= 500 for d in some)


def test_many_searches_in_one_request(client, docs):
    searches = [
        {"index": "logs"},
        {"query": {"term": {"level": "WARN"}}, "size": 0, "track_total_hits": True},
        {"index": ["logs"], "ignore_unavailable": True},
        {"query": {"nope": {}}},
        {"index": "missing"},
        {},
        {},
        {"size": 1, "sort": ["id"]},
    ]
    first, second, third, fourth = client.msearch(searches=searches)["responses"]
    assert first["hits"]["total"]["value"] == sum(d["level"] == "WARN" for d in docs) and first["status"] == 200
    assert second["status"] == 400 and "nope" in second["error"]["reason"]
    assert third["status"] == 404 and third["error"]["type"] == "index_not_found_exception"
    assert fourth["hits"]["hits"][0]["_source"]["id"] == 0


@pytest.mark.parametrize("name", ["match_all", "phrase", "range", "bool two of three", "match_none"])
def test_scrolling_goes_through_all_hits_once(client, docs, name):
    query, matches = QUERIES[name]
    expected = {d["id"] for d in docs if matches(d)}
    hits = list(elasticsearch.helpers.scan(client, index="logs", query={"query": query}, size=130))
    found = [hit["_source"]["id"] for hit in hits]
    assert len(found) == len(set(found)) and set(found) == expected
    assert len({hit["_id"] for hit in hits}) == len(hits)


def test_a_scroll_is_read_page_by_page(client, docs):
    page = client.search(index="logs", scroll="1m", size=700, source=["id"], sort=["_doc"])
    sizes = []
    while page["hits"]["hits"]:
        sizes.append(len(page["hits"]["hits"]))
        assert set(page["hits"]["hits"][0]["_source"]) == {"id"}
        page = client.scroll(scroll_id=page["_scroll_id"], scroll="1m")
    assert sizes == [700, 700, 600]
    assert client.clear_scroll(scroll_id=page["_scroll_id"])["succeeded"]
    with pytest.raises(elasticsearch.BadRequestError):
        client.scroll(scroll_id="nonsense")
    with pytest.raises(elasticsearch.BadRequestError):
        client.search(index="logs", scroll="1m", sort=["id"], from_=5)


def test_what_there_is(client, docs):
    assert client.info()["version"]["number"].startswith("8.")
    assert client.ping()
    assert client.cluster.health(wait_for_status="green")["status"] == "green"
    assert client.indices.exists(index="logs") and not client.indices.exists(index="missing")
    properties = client.indices.get_mapping(index="logs")["logs"]["mappings"]["properties"]
    assert properties["level"] == {"type": "keyword"} and properties["message"] == {"type": "text"}
    assert properties["timestamp"] == {"type": "date"} and properties["status"] == {"type": "unsigned_long"}
    assert client.indices.get(index="lo*")["logs"]["mappings"]["properties"] == properties
    field = client.indices.get_field_mapping(fields="lat*", index="logs")["logs"]["mappings"]
    assert field == {"latency": {"full_name": "latency", "mapping": {"latency": {"type": "double"}}}}
    caps = client.field_caps(index="logs", fields=["l*", "message"])["fields"]
    assert set(caps) == {"latency", "level", "message"}
    assert caps["level"]["keyword"] == {
        "type": "keyword",
        "metadata_field": False,
        "searchable": True,
        "aggregatable": True,
    }
    assert caps["message"]["text"]["aggregatable"] is False
    (row,) = client.cat.indices(format="json")
    assert row["index"] == "logs" and row["docs.count"] == str(len(docs))
    assert client.indices.stats(index="logs")["indices"]["logs"]["total"]["docs"]["count"] == len(docs)
    assert [index["name"] for index in client.indices.resolve_index(name="*")["indices"]] == ["logs"]
    assert client.indices.validate_query(index="logs", query={"match_all": {}})["valid"]
    assert not client.indices.validate_query(index="logs", query={"mach": {}})["valid"]


@pytest.mark.parametrize(
    "how, status, what",
    [
        ({"query": {"mach": {"a": 1}}}, 400, "mach"),
        ({"query": {"match": {"missing.in.strict": {"query": "x", "nope": 1}}}}, 400, "nope"),
        ({"query": {"regexp": {"level": "("}}}, 400, "("),
        ({"query": {"term": {"status": "many"}}}, 400, "many"),
        ({"query": {"match": {"message": "x" * (1 << 20)}}}, 413, "bytes"),
        ({"query": {"bool": {"should": [{"term": {"id": n}} for n in range(17_000)]}}}, 400, "clauses"),
        ({"size": 10_001}, 400, "10001"),
        ({"sort": [{"message": "asc"}]}, 400, "message"),
        ({"sort": ["id"], "search_after": [1, 2]}, 400, "search_after"),
        ({"aggs": {"a": {"nope": {}}}}, 400, "nope"),
        ({"index": "missing"}, 404, "missing"),
    ],
)
def test_errors_are_elasticsearchs(client, how, status, what):
    with pytest.raises(Exception) as caught:
        client.search(**{"index": "logs", **how})
    error = caught.value
    assert error.meta.status == status
    assert what in str(error.body)
    assert error.body["status"] == status and error.body["error"]["type"]


def test_the_dsl_package(client, docs):
    try:
        import elasticsearch.dsl as module
    except ImportError:
        import elasticsearch_dsl as module
    search = module.Search(using=client, index="logs")
    search = search.query("match", message="disk").filter("terms", level=["ERROR", "WARN"]).sort("-id")[:5]
    search.aggs.bucket("services", "terms", field="service")
    found = search.execute()
    expected = [d for d in docs if "disk" in words_of(d["message"]) and d["level"] in ("ERROR", "WARN")]
    assert found.hits.total.value == len(expected)
    assert [hit.id for hit in found] == [d["id"] for d in reversed(expected)][:5]
    services = collections.Counter(d["service"] for d in expected)
    assert {bucket.key: bucket.doc_count for bucket in found.aggregations.services.buckets} == services
