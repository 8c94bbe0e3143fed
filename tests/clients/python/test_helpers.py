"""Scrolls and scans of the Python client, and the parameters that it has for all calls."""

import elasticsearch
import elasticsearch.helpers
import pytest
from conftest import is_worker
from test_search import words_of


def test_a_scan_takes_what_a_search_takes(client, docs):
    query = {"query": {"match": {"message": "user"}}, "_source": ["id", "ctx.user"]}
    hits = elasticsearch.helpers.scan(
        client, index="logs", query=query, size=70, scroll="2m", request_timeout=30, clear_scroll=False, raise_on_error=True
    )
    found = {hit["_source"]["id"]: hit["_source"]["ctx"] for hit in hits}
    assert found == {doc["id"]: {"user": doc["ctx"]["user"]} for doc in docs if "user" in words_of(doc["message"])}


def test_a_scan_takes_a_query_string(client, docs):
    hits = elasticsearch.helpers.scan(client, index="logs", q="level:WARN AND service:api", size=40)
    assert {hit["_source"]["id"] for hit in hits} == {d["id"] for d in docs if d["level"] == "WARN" and d["service"] == "api"}


@pytest.mark.parametrize("size", [1_000, 999, 501, 500, 499])
def test_pages_of_any_size_are_all_of_a_scan(client, docs, size):
    hits = elasticsearch.helpers.scan(client, index="logs", query={"_source": ["id"]}, size=size)
    assert sorted(hit["_source"]["id"] for hit in hits) == [doc["id"] for doc in docs]


def test_a_scan_of_nothing_is_empty(client):
    hits = elasticsearch.helpers.scan(client, index="logs", query={"query": {"term": {"level": "NONE"}}})
    assert list(hits) == []


def scroll(client, **how):
    """The pages of a scroll."""
    page = client.search(index="logs", scroll="1m", source=["id"], **how)
    total = page["hits"].get("total")
    pages = []
    while page["hits"]["hits"]:
        pages.append([hit["_source"]["id"] for hit in page["hits"]["hits"]])
        page = client.scroll(scroll_id=page["_scroll_id"], scroll="1m")
    return total, pages


@pytest.mark.parametrize("query", [{"match_all": {}}, {"match": {"message": "disk"}}])
@pytest.mark.parametrize("size", [150, 300])
def test_a_scroll_without_a_sort_goes_through_all_hits(client, docs, query, size):
    _, pages = scroll(client, size=size, query=query)
    expected = [doc["id"] for doc in docs if "match_all" in query or "disk" in words_of(doc["message"])]
    assert sorted(sum(pages, [])) == expected


def test_a_scroll_says_how_many_hits_there_are(client, docs):
    total, pages = scroll(client, size=300, sort=["_doc"])
    assert sum(map(len, pages)) == len(docs)
    assert total == {"value": len(docs), "relation": "eq"}


def test_a_scan_keeps_the_order_that_is_asked_for(client, docs):
    query = {"sort": [{"latency": "desc"}, {"id": "asc"}]}
    hits = elasticsearch.helpers.scan(client, index="logs", query=query, size=300, preserve_order=True)
    expected = sorted(docs, key=lambda doc: (-doc["latency"], doc["id"]))
    assert [hit["_source"]["id"] for hit in hits] == [doc["id"] for doc in expected]


def test_a_client_sends_options_of_its_own(client, docs):
    client = client.options(opaque_id="dashboard/9", headers={"x-more": "yes"}, request_timeout=20)
    found = client.search(index="logs", size=0, preference="_local", request_cache=True, allow_partial_search_results=False)
    assert found["hits"]["total"]["value"] == len(docs)
    # The client's other way to say what may go wrong.
    assert client.options(ignore_status=404).search(index="missing")["status"] == 404
    assert client.search(index="missing", ignore_unavailable=True)["hits"]["hits"] == []
    assert client.search(index="missing*")["hits"]["total"]["value"] == 0


def test_answers_are_cut_to_the_paths_that_are_asked_for(client, docs):
    found = client.search(index="logs", size=2, sort=["id"], source=["id"], filter_path="hits.total.value,hits.hits._source")
    assert found.body == {"hits": {"total": {"value": len(docs)}, "hits": [{"_source": {"id": 0}}, {"_source": {"id": 1}}]}}
    assert client.count(index="logs", filter_path="count").body == {"count": len(docs)}


def test_a_page_goes_on_behind_a_date_as_text(client, docs):
    after = {"sort": [{"timestamp": "asc"}], "search_after": [docs[1_000]["timestamp"]]}
    found = client.search(index="logs", size=2, source=["id"], **after)["hits"]["hits"]
    assert [hit["_source"]["id"] for hit in found] == [1_001, 1_002]


def test_a_pattern_may_have_to_stand_for_an_index(client):
    with pytest.raises(elasticsearch.NotFoundError) as error:
        client.search(index="missing*", allow_no_indices=False)
    assert error.value.error == "index_not_found_exception"


@pytest.mark.skipif(is_worker(), reason="a Worker knows no address of its own")
def test_a_client_that_asks_for_nodes_has_one(url, docs):
    with elasticsearch.Elasticsearch(url, sniff_on_start=True) as client:
        assert client.count(index="logs")["count"] == len(docs)


def test_lists_for_people_are_tables(client, docs):
    assert str(client.cat.indices(h="index,docs.count", v=True)).split() == ["index", "docs.count", "logs", str(len(docs))]
    assert client.cat.indices(index="logs", h=["index", "health"], format="json").body == [{"index": "logs", "health": "green"}]
    assert "green" in str(client.cat.health())
    assert client.cat.health(format="json")[0]["status"] == "green"


def test_an_index_that_there_is_not_is_told_so(client):
    with pytest.raises(elasticsearch.NotFoundError) as error:
        client.indices.get(index="missing")
    assert error.value.error == "index_not_found_exception"
    assert error.value.meta.headers["x-elastic-product"] == "Elasticsearch"


def test_each_path_tells_of_an_index_that_there_is_not(client):
    for call in (
        client.search,
        client.count,
        client.field_caps,
        client.indices.get_mapping,
        client.indices.stats,
        client.indices.validate_query,
        client.cat.indices,
    ):
        more = {"fields": "*"} if call == client.field_caps else {}
        with pytest.raises(elasticsearch.NotFoundError) as error:
            call(index="missing", **more)
        assert error.value.error == "index_not_found_exception"
        assert "no such index [missing]" in str(error.value.body["error"]["reason"])
