"""Indexes and templates made, shown and deleted by the clients, on `canter serve --writable --indexes-in`."""

import os

import elasticsearch
import pytest
from conftest import is_worker, serving
from elasticsearch import helpers

pytestmark = pytest.mark.skipif(is_worker(), reason="a Worker only searches")

MAPPINGS = {
    "properties": {
        "@timestamp": {"type": "date"},
        "message": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
        "tags": {"type": "keyword"},
        "host": {"properties": {"ip": {"type": "ip"}}},
    }
}


def event(number):
    return {
        "@timestamp": f"2026-11-05T10:00:{number % 60:02d}.000Z",
        "message": f"event {number} came in",
        "tags": ["all", f"n{number % 3}"],
        "host": {"ip": f"10.0.0.{number % 200}"},
    }


@pytest.fixture
def manager(tmp_path):
    """A client of a server on which no index is yet."""
    engine = os.environ.get("ENGINE", "wasm")
    command = [os.environ["CANTER"], "serve", "--indexes-in", str(tmp_path / "all"), "--listen", "127.0.0.1:0"]
    command += ["--engine", engine, "--writable", "--commit-interval", "50ms", "--auto-create-index", "free-*"]
    with serving(command) as address, elasticsearch.Elasticsearch(address, request_timeout=60) as client:
        yield client


def test_an_index_is_made_found_filled_and_deleted(manager):
    assert not manager.indices.exists(index="logs")
    made = manager.indices.create(index="logs", mappings=MAPPINGS, settings={"number_of_shards": 1})
    assert (made["acknowledged"], made["shards_acknowledged"], made["index"]) == (True, True, "logs")
    assert manager.indices.exists(index="logs")
    properties = manager.indices.get_mapping(index="logs")["logs"]["mappings"]["properties"]
    assert {name: properties[name]["type"] for name in ("@timestamp", "message", "tags")} == {
        "@timestamp": "date",
        "message": "text",
        "tags": "keyword",
    }
    with pytest.raises(elasticsearch.BadRequestError) as error:
        manager.indices.create(index="logs")
    assert error.value.error == "resource_already_exists_exception"
    documents = [{"_index": "logs", "_source": event(number)} for number in range(100)]
    assert helpers.bulk(manager, documents) == (100, [])
    found = manager.search(index="logs", query={"term": {"tags": "n1"}}, size=100, sort="@timestamp")
    wanted = [event(number) for number in range(100) if number % 3 == 1]
    by_message = sorted((hit["_source"] for hit in found["hits"]["hits"]), key=lambda source: source["message"])
    # As they were sent, lists as lists.
    assert by_message == sorted(wanted, key=lambda source: source["message"])
    assert manager.count(index="logs", query={"term": {"message.keyword": "event 7 came in"}})["count"] == 1
    manager.indices.delete(index="logs")
    assert not manager.indices.exists(index="logs")
    with pytest.raises(elasticsearch.NotFoundError) as error:
        manager.indices.delete(index="logs")
    assert error.value.error == "index_not_found_exception"
    assert manager.indices.delete(index="logs", ignore_unavailable=True)["acknowledged"]


def test_fields_are_added_and_whole_values_are_found(manager):
    levels = ["ERROR", "Disk full", "ERROR"]
    documents = [{"_index": "free-logs", "_source": {"level": level, "n": n}} for n, level in enumerate(levels)]
    assert helpers.bulk(manager, documents) == (3, [])
    assert manager.count(index="free-logs", query={"term": {"level.keyword": "ERROR"}})["count"] == 2
    assert manager.count(index="free-logs", query={"match": {"level": "disk"}})["count"] == 1
    assert manager.indices.put_mapping(index="free-logs", properties={"host": {"type": "keyword"}})["acknowledged"]
    more = [{"_index": "free-logs", "_source": {"level": "WARN", "n": 4, "host": "a b"}}]
    assert helpers.bulk(manager, more) == (1, [])
    for name in ("host", "host.keyword"):
        assert manager.count(index="free-logs", query={"term": {name: "a b"}})["count"] == 1
    aggs = {"levels": {"terms": {"field": "level.keyword"}}}
    buckets = manager.search(index="free-logs", size=0, aggs=aggs)["aggregations"]["levels"]["buckets"]
    assert {bucket["key"]: bucket["doc_count"] for bucket in buckets} == {"ERROR": 2, "Disk full": 1, "WARN": 1}
    with pytest.raises(elasticsearch.BadRequestError):
        manager.indices.put_mapping(index="free-logs", properties={"host": {"type": "long"}})


def test_all_indexes_are_never_deleted_by_a_pattern(manager):
    manager.indices.create(index="one")
    manager.indices.create(index="two")
    for pattern in ("*", "_all", "o*", "one,t*"):
        with pytest.raises(elasticsearch.BadRequestError):
            manager.indices.delete(index=pattern)
    assert manager.indices.delete(index=["one", "two"])["acknowledged"]


@pytest.mark.parametrize(
    "mappings, part",
    [
        ({"properties": {"f": {"type": "sparse_vector"}}}, "sparse_vector"),
        ({"properties": {"f": {"type": "text", "analyzer": "mine"}}}, "mine"),
        ({"properties": {"f": {"type": "long", "null_value": "many"}}}, "null_value"),
        ({"_source": {"compress": True}}, "compress"),
    ],
)
def test_what_would_not_mean_the_same_is_refused(manager, mappings, part):
    with pytest.raises(elasticsearch.BadRequestError) as error:
        manager.indices.create(index="logs", mappings=mappings)
    assert error.value.error == "mapper_parsing_exception"
    assert part in str(error.value.body)


def test_a_template_is_put_shown_and_deleted(manager):
    hosts = {"mappings": {"properties": {"host.name": {"type": "keyword"}}}}
    manager.cluster.put_component_template(name="hosts", template=hosts)
    assert manager.cluster.exists_component_template(name="hosts")
    template = {"index_patterns": ["app-*"], "priority": 200, "composed_of": ["hosts"], "data_stream": {}}
    manager.indices.put_index_template(name="app", template={"mappings": MAPPINGS}, **template)
    assert manager.indices.exists_index_template(name="app")
    shown = manager.indices.get_index_template(name="app")["index_templates"]
    assert [(one["name"], one["index_template"]["index_patterns"]) for one in shown] == [("app", ["app-*"])]
    with pytest.raises(elasticsearch.BadRequestError):
        manager.cluster.delete_component_template(name="hosts")
    manager.indices.create_data_stream(name="app-web")
    streams = manager.indices.get_data_stream(name="app-*")["data_streams"]
    assert [stream["name"] for stream in streams] == ["app-web"]
    manager.indices.delete_data_stream(name="app-web")
    manager.indices.delete_index_template(name="app")
    manager.cluster.delete_component_template(name="hosts")
    assert not manager.indices.exists_index_template(name="app")
    with pytest.raises(elasticsearch.NotFoundError):
        manager.indices.get_index_template(name="app")


def test_a_document_makes_the_index_that_a_template_describes(manager):
    manager.indices.put_index_template(name="app", index_patterns=["app-*"], template={"mappings": MAPPINGS})
    actions = [{"_op_type": "create", "_index": f"app-{number % 2}", **event(number)} for number in range(40)]
    assert helpers.bulk(manager, actions) == (40, [])
    assert [manager.count(index=f"app-{number}")["count"] for number in range(2)] == [20, 20]
    assert manager.index(index="app-new", document=event(1))["result"] == "created"
    assert manager.index(index="free-1", document={"anything": 1})["result"] == "created"
    with pytest.raises(elasticsearch.NotFoundError):
        manager.index(index="other", document=event(1))


def test_a_template_of_the_old_form_makes_indexes_too(manager):
    manager.indices.put_template(name="old", index_patterns=["old-*"], order=1, mappings=MAPPINGS)
    assert manager.indices.exists_template(name="old")
    manager.index(index="old-1", document=event(1))
    assert manager.count(index="old-1", query={"match": {"message": "came"}})["count"] == 1
    manager.indices.delete_template(name="old")
    assert not manager.indices.exists_template(name="old")
