"""Aggregations through the Python client, each beside what plain Python makes of the documents."""

import collections
import datetime
import ipaddress
import itertools
import math
import statistics

import pytest

# What the buckets are of: some of the documents, so that a query counts, too.
QUERY = {"range": {"id": {"gte": 137}}}


@pytest.fixture(scope="module")
def some(docs):
    return docs[137:]


@pytest.fixture(scope="module")
def ask(client):
    """Asks for one aggregation, and gives its answer."""

    def ask(kind, inner=None, beside=None, **params):
        aggs = {"it": {kind: params, **({"aggs": inner} if inner else {})}, **(beside or {})}
        found = client.search(index="logs", size=0, query=QUERY, aggs=aggs)["aggregations"]
        return found if beside else found["it"]

    return ask


def moment(doc):
    return datetime.datetime.fromisoformat(doc["timestamp"])


def ms(doc):
    return round(moment(doc).timestamp() * 1_000)


def counts(answer):
    return {bucket["key"]: bucket["doc_count"] for bucket in answer["buckets"]}


def test_terms_are_ordered_and_cut(ask, some):
    users = collections.Counter(doc["ctx"]["user"] for doc in some)
    found = ask("terms", field="ctx.user", size=5)
    best = sorted(users.items(), key=lambda entry: (-entry[1], entry[0]))
    assert [(bucket["key"], bucket["doc_count"]) for bucket in found["buckets"]] == best[:5]
    assert found["sum_other_doc_count"] == sum(num for _, num in best[5:])
    found = ask("terms", field="ctx.user", order={"_key": "desc"}, size=100)
    assert [bucket["key"] for bucket in found["buckets"]] == sorted(users, reverse=True)
    found = ask("terms", field="ctx.user", include="u1.*", exclude=["u12"], size=100)
    assert counts(found) == {user: num for user, num in users.items() if user.startswith("u1") and user != "u12"}
    found = ask("terms", field="optional", missing="none", size=100)
    assert counts(found) == collections.Counter(doc.get("optional", "none") for doc in some)
    found = ask("terms", field="is_slow")
    assert {bucket["key_as_string"]: bucket["doc_count"] for bucket in found["buckets"]} == {
        "true": sum(doc["is_slow"] for doc in some),
        "false": sum(not doc["is_slow"] for doc in some),
    }
    assert counts(ask("terms", field="status")) == collections.Counter(doc["status"] for doc in some)


def test_terms_are_ordered_by_a_metric(ask, some):
    inner = {"most": {"stats": {"field": "latency"}}}
    found = ask("terms", inner, field="ctx.user", order={"most.avg": "desc"}, size=4)
    of_user = collections.defaultdict(list)
    for doc in some:
        of_user[doc["ctx"]["user"]].append(doc["latency"])
    expected = sorted(of_user, key=lambda user: -statistics.fmean(of_user[user]))[:4]
    assert [bucket["key"] for bucket in found["buckets"]] == expected
    for bucket in found["buckets"]:
        assert bucket["most"]["sum"] == pytest.approx(sum(of_user[bucket["key"]]))


def test_terms_of_many_fields(ask, some):
    terms = [{"field": "level"}, {"field": "is_slow"}]
    found = ask("multi_terms", terms=terms, size=20)
    pairs = collections.Counter((doc["level"], doc["is_slow"]) for doc in some)
    assert {tuple(bucket["key"]): bucket["doc_count"] for bucket in found["buckets"]} == pairs


def test_rare_terms(ask, some):
    minutes = collections.Counter(doc["latency"] for doc in some)
    rare = {key: num for key, num in minutes.items() if num <= 1}
    assert counts(ask("rare_terms", field="latency", max_doc_count=1)) == rare
    assert counts(ask("rare_terms", field="level", max_doc_count=5)) == {}


def test_a_histogram_has_empty_buckets(ask, some):
    found = ask("histogram", field="latency", interval=7, offset=2, extended_bounds={"min": -10, "max": 150})
    of = collections.Counter(math.floor((doc["latency"] - 2) / 7) * 7 + 2 for doc in some)
    first = math.floor((-10 - 2) / 7) * 7 + 2
    last = math.floor((150 - 2) / 7) * 7 + 2
    assert counts(found) == {key: of.get(key, 0) for key in range(first, last + 1, 7)}


def test_buckets_of_time(ask, some):
    found = ask("date_histogram", field="timestamp", fixed_interval="5m", format="HH:mm")
    of = collections.Counter(ms(doc) // 300_000 * 300_000 for doc in some)
    assert counts(found) == of
    for bucket in found["buckets"]:
        at = datetime.datetime.fromtimestamp(bucket["key"] / 1_000, datetime.timezone.utc)
        assert bucket["key_as_string"] == f"{at:%H:%M}"
    found = ask("date_histogram", field="timestamp", calendar_interval="hour", time_zone="+05:30", keyed=True, format="HH:mm")
    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    hours = collections.Counter(f"{moment(doc).astimezone(zone):%H:00}" for doc in some)
    assert {key: bucket["doc_count"] for key, bucket in found["buckets"].items()} == hours
    found = ask("date_histogram", field="timestamp", calendar_interval="month", time_zone="Europe/Berlin")
    midnight = datetime.datetime.fromisoformat("2024-05-01T00:00:00+02:00")
    assert counts(found) == {midnight.timestamp() * 1_000: len(some)}
    found = ask("auto_date_histogram", field="timestamp", buckets=10)
    # Its buckets begin with the first minute that there is, and are five of them each.
    first = min(map(ms, some)) // 60_000 * 60_000
    of = collections.Counter(first + (ms(doc) - first) // 300_000 * 300_000 for doc in some)
    assert found["interval"] == "5m" and counts(found) == of


def test_ranges(ask, some):
    found = ask("range", field="latency", ranges=[{"to": 50, "key": "low"}, {"from": 50, "to": 100}, {"from": 100}])
    expected = [(None, 50), (50, 100), (100, None)]
    for bucket, (low, high) in zip(found["buckets"], expected, strict=True):
        assert (bucket.get("from"), bucket.get("to")) == (low, high)
        inside = [doc for doc in some if (low or 0) <= doc["latency"] < (high or 1e9)]
        assert bucket["doc_count"] == len(inside)
    assert found["buckets"][0]["key"] == "low"
    halves = [{"to": "2024-05-01T10:20"}, {"from": "2024-05-01T10:20"}]
    found = ask("date_range", field="timestamp", format="yyyy-MM-dd'T'HH:mm", ranges=halves)
    early = sum(doc["timestamp"][11:16] < "10:20" for doc in some)
    assert [bucket["doc_count"] for bucket in found["buckets"]] == [early, len(some) - early]
    found = ask("ip_range", field="address", ranges=[{"mask": "10.0.1.0/25"}, {"from": "10.0.2.0"}])
    network = ipaddress.ip_network("10.0.1.0/25")
    num_in_network = sum(ipaddress.ip_address(doc["address"]) in network for doc in some)
    num_behind = sum(doc["address"].startswith("10.0.2.") for doc in some)
    assert [bucket["doc_count"] for bucket in found["buckets"]] == [num_in_network, num_behind]


def test_filters_take_the_dsl(ask, some):
    inner = {"most": {"max": {"field": "id"}}}
    found = ask("filter", inner, bool={"must": [{"term": {"level": "WARN"}}], "must_not": [{"match": {"message": "disk"}}]})
    kept = [doc for doc in some if doc["level"] == "WARN" and "disk" not in doc["message"].lower()]
    assert found["doc_count"] == len(kept) and found["most"]["value"] == max(doc["id"] for doc in kept)
    filters = {"slow": {"term": {"is_slow": True}}, "api": {"prefix": {"service": "ap"}}}
    found = ask("filters", filters=filters, other_bucket_key="rest")["buckets"]
    assert found["slow"]["doc_count"] == sum(doc["is_slow"] for doc in some)
    assert found["api"]["doc_count"] == sum(doc["service"] == "api" for doc in some)
    assert found["rest"]["doc_count"] == sum(not doc["is_slow"] and doc["service"] != "api" for doc in some)
    assert ask("missing", field="optional")["doc_count"] == sum("optional" not in doc for doc in some)


def test_pages_of_all_combinations(ask, some):
    sources = [
        {"minute": {"date_histogram": {"field": "timestamp", "fixed_interval": "10m"}}},
        {"level": {"terms": {"field": "level", "order": "desc"}}},
        {"speed": {"histogram": {"field": "latency", "interval": 50}}},
    ]
    seen, more = [], {}
    while True:
        found = ask("composite", sources=sources, size=7, **more)
        if not found["buckets"]:
            break
        seen += [(tuple(bucket["key"].values()), bucket["doc_count"]) for bucket in found["buckets"]]
        more = {"after": found["after_key"]}
    of = collections.Counter((ms(doc) // 600_000 * 600_000, doc["level"], doc["latency"] // 50 * 50) for doc in some)
    levels = sorted({doc["level"] for doc in some}, reverse=True)
    order = sorted(of, key=lambda key: (key[0], levels.index(key[1]), key[2]))
    assert seen == [(key, of[key]) for key in order]


def test_numbers_of_values(ask, some):
    values = [doc["latency"] for doc in some]
    assert ask("avg", field="latency")["value"] == pytest.approx(statistics.fmean(values))
    assert ask("sum", field="latency")["value"] == pytest.approx(math.fsum(values))
    assert ask("min", field="latency")["value"] == min(values)
    assert ask("max", field="timestamp")["value"] == max(map(ms, some))
    assert ask("value_count", field="optional")["value"] == sum("optional" in doc for doc in some)
    assert ask("cardinality", field="ctx.user")["value"] == len({doc["ctx"]["user"] for doc in some})
    found = ask("stats", field="latency")
    assert (found["count"], found["min"], found["max"]) == (len(values), min(values), max(values))
    found = ask("extended_stats", field="latency", sigma=3)
    assert found["variance"] == pytest.approx(statistics.pvariance(values))
    assert found["std_deviation_sampling"] == pytest.approx(statistics.stdev(values))
    upper = statistics.fmean(values) + 3 * statistics.pstdev(values)
    assert found["std_deviation_bounds"]["upper"] == pytest.approx(upper)
    assert found["sum_of_squares"] == pytest.approx(math.fsum(value * value for value in values))
    weighted = ask("weighted_avg", value={"field": "latency"}, weight={"field": "ctx.attempt"})
    weights = [doc["ctx"]["attempt"] for doc in some]
    assert weighted["value"] == pytest.approx(sum(v * w for v, w in zip(values, weights)) / sum(weights))


def test_numbers_of_order(ask, some):
    values = sorted(doc["latency"] for doc in some)
    found = ask("percentiles", field="latency", percents=[10, 50, 99])["values"]
    for percent, value in found.items():
        exact = values[min(round(float(percent) / 100 * len(values)), len(values) - 1)]
        assert value == pytest.approx(exact, rel=1 / 128)
    found = ask("percentile_ranks", field="latency", values=[25, 100], keyed=False)["values"]
    for entry in found:
        exact = 100 * sum(value <= entry["key"] for value in values) / len(values)
        assert entry["value"] == pytest.approx(exact, abs=1)
    # Few enough different values to be exact.
    attempts = [doc["status"] for doc in some]
    middle = statistics.median(attempts)
    spread = statistics.median(abs(value - middle) for value in attempts)
    assert ask("median_absolute_deviation", field="status")["value"] == pytest.approx(spread, abs=0.5)


def test_texts_in_numbers(ask, some):
    texts = [doc["service"] for doc in some]
    found = ask("string_stats", field="service", show_distribution=True)
    letters = collections.Counter("".join(texts))
    assert (found["count"], found["min_length"], found["max_length"]) == (len(texts), 3, 7)
    assert found["avg_length"] == pytest.approx(letters.total() / len(texts))
    shares = {letter: num / letters.total() for letter, num in letters.items()}
    assert found["entropy"] == pytest.approx(-sum(share * math.log2(share) for share in shares.values()))
    assert found["distribution"] == pytest.approx(shares)


def test_the_last_values_of_each_bucket(ask, some):
    inner = {"last": {"top_metrics": {"metrics": [{"field": "id"}], "sort": {"timestamp": "desc"}}}}
    found = ask("terms", inner, field="level")
    for bucket in found["buckets"]:
        of_level = [doc for doc in some if doc["level"] == bucket["key"]]
        assert bucket["last"]["top"][0]["metrics"]["id"] == of_level[-1]["id"]


def test_the_first_documents_of_each_bucket(ask, some):
    sort = [{"latency": "desc"}, {"id": "asc"}]
    inner = {"first": {"top_hits": {"size": 2, "sort": sort, "docvalue_fields": ["id"]}}}
    found = ask("terms", inner, field="level")
    for bucket in found["buckets"]:
        of_level = [doc for doc in some if doc["level"] == bucket["key"]]
        best = sorted(of_level, key=lambda doc: (-doc["latency"], doc["id"]))[:2]
        hits = bucket["first"]["hits"]
        assert hits["total"]["value"] == len(of_level)
        assert [hit["sort"] for hit in hits["hits"]] == [[doc["latency"], doc["id"]] for doc in best]
        assert [hit["fields"]["id"] for hit in hits["hits"]] == [[doc["id"]] for doc in best]


def test_the_first_documents_of_a_bucket_are_whole(ask, docs):
    found = ask("terms", {"first": {"top_hits": {"size": 1, "_source": ["id", "level"]}}}, field="level")
    for bucket in found["buckets"]:
        (hit,) = bucket["first"]["hits"]["hits"]
        assert hit["_source"]["level"] == bucket["key"] == docs[hit["_source"]["id"]]["level"]


@pytest.mark.parametrize("zone, text", [("UTC", "2024-05-01T10:00:00.000Z"), ("+02:00", "2024-05-01T12:00:00.000+02:00")])
def test_keys_of_time_have_milliseconds(ask, zone, text):
    found = ask("date_histogram", field="timestamp", calendar_interval="hour", time_zone=zone)
    assert [bucket["key_as_string"] for bucket in found["buckets"]] == [text]


def test_pipelines(ask, some):
    inner = {
        "total": {"sum": {"field": "latency"}},
        "change": {"derivative": {"buckets_path": "total"}},
        "so_far": {"cumulative_sum": {"buckets_path": "_count"}},
        "mean": {"bucket_script": {"buckets_path": {"t": "total", "n": "_count"}, "script": "params.t / params.n"}},
        "share": {"normalize": {"buckets_path": "total", "method": "percent_of_sum"}},
    }
    beside = {
        "most": {"max_bucket": {"buckets_path": "it>total"}},
        "all": {"stats_bucket": {"buckets_path": "it>total"}},
        "sum": {"sum_bucket": {"buckets_path": "it>_count"}},
    }
    found = ask("date_histogram", inner, beside, field="timestamp", fixed_interval="10m")
    groups = [list(group) for _, group in itertools.groupby(some, lambda doc: doc["timestamp"][:15])]
    totals = [math.fsum(doc["latency"] for doc in group) for group in groups]
    buckets = found["it"]["buckets"]
    assert [bucket["doc_count"] for bucket in buckets] == [len(group) for group in groups]
    for nth, (bucket, group, total) in enumerate(zip(buckets, groups, totals)):
        assert bucket["so_far"]["value"] == sum(map(len, groups[: nth + 1]))
        assert bucket["mean"]["value"] == pytest.approx(total / len(group))
        assert bucket["share"]["value"] == pytest.approx(total / sum(totals))
        if nth:
            assert bucket["change"]["value"] == pytest.approx(total - totals[nth - 1])
    assert found["most"]["value"] == pytest.approx(max(totals)) and len(found["most"]["keys"]) == 1
    assert found["all"]["avg"] == pytest.approx(statistics.fmean(totals))
    assert found["sum"]["value"] == len(some)


def test_buckets_are_chosen_and_sorted(ask, some):
    users = collections.Counter(doc["ctx"]["user"] for doc in some if doc["level"] == "ERROR")
    inner = {
        "errors": {"filter": {"term": {"level": "ERROR"}}},
        "many": {"bucket_selector": {"buckets_path": {"n": "errors>_count"}, "script": "params.n >= 62"}},
        "order": {"bucket_sort": {"sort": [{"errors>_count": "desc"}, {"_key": "asc"}], "size": 3}},
    }
    found = ask("terms", inner, field="ctx.user", size=20)
    kept = sorted(((-num, user) for user, num in users.items() if num >= 62))[:3]
    assert [(-bucket["errors"]["doc_count"], bucket["key"]) for bucket in found["buckets"]] == kept


def test_what_is_said_of_an_aggregation_comes_back(client):
    found = client.search(index="logs", size=0, aggs={"most": {"max": {"field": "latency"}, "meta": {"colour": "red"}}})
    assert found["aggregations"]["most"]["meta"] == {"colour": "red"}


def test_names_of_aggregations_have_their_types_in_front(client):
    aggs = {"levels": {"terms": {"field": "level"}, "aggs": {"mean": {"avg": {"field": "latency"}}}}}
    found = client.search(index="logs", size=0, aggs=aggs, typed_keys=True)["aggregations"]
    assert set(found) == {"sterms#levels"}
    assert all("avg#mean" in bucket for bucket in found["sterms#levels"]["buckets"])
