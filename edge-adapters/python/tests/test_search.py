"""Searching: what comes back, as what, and what is raised."""

import json
import pickle
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone

import pytest
from conftest import START, lines

import canter


def test_hits_are_documents_newest_first(index_uri):
    found = canter.open(index_uri).search("level:ERROR", max_hits=3)
    errors = [line for line in lines() if line["level"] == "ERROR"]
    assert found.num_hits == len(errors)
    assert found.hits == errors[:-4:-1]
    assert found.profile["num_requests"] > 0
    assert found.failed_splits == []
    assert repr(found) == "SearchResult(num_hits=100, hits=3)"


def test_hits_need_not_all_be_counted(index_uri):
    index = canter.open(index_uri)
    whole = index.search("level:ERROR", max_hits=3)
    for counted in (False, 7):
        part = index.search("level:ERROR", max_hits=3, track_total_hits=counted)
        assert part.hits == whole.hits
        assert part.num_hits == 100 or part.num_hits_relation == "gte"
    assert whole.num_hits_relation == "eq"


@pytest.mark.parametrize("engine", ["native", "wasm"])
def test_engines_answer_alike(index_uri, engine):
    index = canter.open(index_uri, engine=engine, threads=2)
    found = index.search('body:"took long"', aggs={"sizes": {"terms": {"field": "size"}}}, max_hits=0)
    assert found.num_hits == 400
    assert [bucket["doc_count"] for bucket in found.aggregations["sizes"]["buckets"]] == [40] * 10


def test_pages_orders_fields_and_times_are_passed_on(index_uri):
    index = canter.open(index_uri)
    end = datetime.fromtimestamp(START + 60, timezone.utc)
    found = index.search("*", start_timestamp=START + 15, end_timestamp=end, sort_by="-size", start_offset=1)
    assert [hit["size"] for hit in found.hits] == [2, 3]
    found = index.search("399", search_fields="body", snippet_fields=["body"])
    assert [hit["timestamp"] for hit in found.hits] == [START + 399 * 15]
    assert found.raw["snippets"][0]["body"] == ["request <b>399</b> took long"]


def test_a_time_without_a_zone_is_refused(index_uri):
    index = canter.open(index_uri)
    with pytest.raises(ValueError, match="no time zone"):
        index.search("*", start_timestamp=datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="whole second"):
        index.search("*", start_timestamp=datetime(2024, 1, 1, microsecond=1, tzinfo=timezone.utc))


def test_aggregations_are_rows_and_tables(index_uri):
    aggs = {
        "hours": {
            "date_histogram": {"field": "timestamp", "fixed_interval": "1h"},
            "aggs": {"levels": {"terms": {"field": "level"}, "aggs": {"mean": {"avg": {"field": "size"}}}}},
        },
        "quantiles": {"percentiles": {"field": "size", "percents": [50]}},
        "all": {"sum": {"field": "size"}},
        "errors": {"filter": "level:ERROR", "aggs": {"most": {"max": {"field": "size"}}}},
    }
    found = canter.open(index_uri).search("*", aggs=aggs, max_hits=0)
    rows = found.rows("hours")
    assert set(rows[0]) == {"hours", "levels", "doc_count", "mean"}
    assert sum(row["doc_count"] for row in rows) == 400
    assert found.rows("all") == [{"all": sum(line["size"] for line in lines())}]
    assert found.rows("errors") == [{"doc_count": 100, "most": 9.0}]
    assert list(found.rows("quantiles")[0]) == ["quantiles.values.50.0"]
    table = found.to_arrow("hours")
    assert table.num_rows == len(rows)
    assert table.column_names == ["hours", "levels", "doc_count", "mean"]
    frame = found.to_pandas("hours")
    assert frame.groupby("levels")["doc_count"].sum().to_dict() == {"INFO": 200, "WARN": 100, "ERROR": 100}
    with pytest.raises(KeyError, match="there is all, errors, hours, quantiles"):
        found.rows("nope")


def test_hits_are_tables(index_uri):
    found = canter.open(index_uri).search("*", max_hits=400)
    table = found.to_arrow()
    assert sorted(table.column("timestamp").to_pylist()) == [line["timestamp"] for line in lines()]
    assert found.to_pandas()["size"].sum() == sum(line["size"] for line in lines())


@pytest.mark.parametrize(
    ("search", "kind", "part"),
    [
        ({"query": "level:("}, canter.InvalidRequestError, "query, column 8: "),
        ({"query": "nope:1", "aggs": {"a": {"nope": {}}}}, canter.InvalidRequestError, "nope"),
        ({"max_hits": 1_000_000}, canter.LimitError, "max_hits"),
    ],
)
def test_errors_are_of_their_kind(index_uri, search, kind, part):
    with pytest.raises(kind) as raised:
        canter.open(index_uri).search(**search)
    assert part in str(raised.value)
    assert isinstance(raised.value, canter.CanterError)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(canter.IndexNotFoundError):
        canter.open(tmp_path).search("*")
    with pytest.raises(ValueError, match="engine is"):
        canter.open(tmp_path, engine="gpu")


def test_a_folder_keeps_what_was_fetched(index_uri, tmp_path):
    first = canter.open(index_uri, cache=tmp_path / "cache")
    first.search("level:ERROR")
    first.settle()
    again = canter.open(index_uri, cache=tmp_path / "cache").search("level:ERROR")
    assert again.profile["num_cache_hits"] > 0


def test_the_lock_of_the_interpreter_is_released(index_uri):
    index = canter.open(index_uri)
    over, ticks = threading.Event(), []

    def tick():
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0)

    ticker = threading.Thread(target=tick)
    ticker.start()
    started = time.perf_counter()
    for _ in range(20):
        index.search("*", max_hits=100)
    ended = time.perf_counter()
    over.set()
    ticker.join()
    assert any(started < moment < ended for moment in ticks)


def test_an_index_is_described(index_uri):
    described = canter.open(index_uri).describe()
    assert (described["num_docs"], described["num_splits"]) == (400, 3)


def test_the_command_is_in_the_wheel(command, index_uri):
    answer = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    assert answer.stdout == f"canter {canter.__version__}\n"
    wrong = subprocess.run([command, "search"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--index" in wrong.stderr
    found = [command, "search", "--index", index_uri, "--query", "level:WARN", "--max-hits", "0", "--format", "json"]
    assert '"num_hits":100' in subprocess.run(found, check=True, capture_output=True, text=True).stdout
    assert sys.version_info >= (3, 10)


def test_a_scan_gives_all_documents_in_parts_that_can_be_carried(index_uri):
    index = canter.open(index_uri)
    everything = index.search("*", max_hits=1000)
    scanned = list(index.scan())
    assert sorted(map(json.dumps, scanned)) == sorted(map(json.dumps, everything.hits))
    assert [hit["level"] for hit in index.scan("level:WARN")] == ["WARN"] * 100
    assert list(index.scan("level:nothing")) == []
    parts = index.parts("level:INFO", max_docs=30)
    assert sum(part.num_docs for part in parts) == 200 and max(part.num_docs for part in parts) <= 30
    carried = [pickle.loads(pickle.dumps(part)) for part in parts]
    assert sum(1 for part in carried for _ in part.documents()) == 200
    assert index.config()["index_id"] == "logs"
    with pytest.raises(canter.InvalidRequestError, match="query, column 17: "):
        index.parts("nothing:>1 AND (")
