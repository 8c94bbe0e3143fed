"""The Python client's asynchronous side: its client, its helpers and its DSL, many searches at once."""

import asyncio
import collections

import elasticsearch
import elasticsearch.helpers
import pytest
from test_search import words_of


def run(url, work):
    """Runs `work` with an asynchronous client."""

    async def with_client():
        async with elasticsearch.AsyncElasticsearch(url, request_timeout=60) as client:
            return await work(client)

    return asyncio.run(with_client())


def test_many_searches_run_at_once(url, docs):
    async def work(client):
        queries = [{"range": {"id": {"gte": low, "lt": low + 150}}} for low in range(0, 1_500, 100)]
        return await asyncio.gather(
            *(client.search(index="logs", query=query, size=200, sort=["id"], source=["id"]) for query in queries)
        )

    for nth, found in enumerate(run(url, work)):
        expected = list(range(nth * 100, nth * 100 + 150))
        assert [hit["_source"]["id"] for hit in found["hits"]["hits"]] == expected


def test_counts_lists_and_fields(url, docs):
    async def work(client):
        count = await client.count(index="logs", query={"match": {"message": "disk"}})
        searches = [{"index": "logs"}, {"size": 0, "query": {"term": {"level": "WARN"}}}, {}, {"query": {"nope": {}}}]
        many = await client.msearch(searches=searches)
        return count, many, await client.field_caps(index="logs", fields="lat*"), await client.info()

    count, many, caps, info = run(url, work)
    assert count["count"] == sum("disk" in words_of(doc["message"]) for doc in docs)
    first, second = many["responses"]
    assert first["hits"]["total"]["value"] == sum(doc["level"] == "WARN" for doc in docs)
    assert second["status"] == 400
    assert list(caps["fields"]) == ["latency"] and "double" in caps["fields"]["latency"]
    assert info.meta.headers["x-elastic-product"] == "Elasticsearch"


def test_a_scan_goes_through_all_hits_once(url, docs):
    async def work(client):
        query = {"query": {"term": {"service": "auth"}}, "_source": ["id"]}
        hits = elasticsearch.helpers.async_scan(client, index="logs", query=query, size=90)
        return [hit["_source"]["id"] async for hit in hits]

    ids = run(url, work)
    assert sorted(ids) == [doc["id"] for doc in docs if doc["service"] == "auth"]


def test_a_scroll_is_read_page_by_page(url, docs):
    async def work(client):
        page, ids = await client.search(index="logs", scroll="1m", size=800, source=["id"], sort="_doc"), []
        while page["hits"]["hits"]:
            ids.append([hit["_source"]["id"] for hit in page["hits"]["hits"]])
            page = await client.scroll(scroll_id=page["_scroll_id"], scroll="1m")
        await client.clear_scroll(scroll_id=page["_scroll_id"])
        return ids

    pages = run(url, work)
    assert [len(page) for page in pages] == [800, 800, 400]
    assert sorted(sum(pages, [])) == [doc["id"] for doc in docs]


def test_the_dsl_awaits_its_answers(url, docs, dsl):
    async def work(client):
        search = dsl.AsyncSearch(using=client, index="logs").query("match", message="peer").sort("id")
        search.aggs.bucket("levels", "terms", field="level")
        scanned = [hit.id async for hit in dsl.AsyncSearch(using=client, index="logs").filter("term", level="WARN").scan()]
        return await search[5:25].execute(), await search.count(), scanned

    found, count, scanned = run(url, work)
    expected = [doc for doc in docs if "peer" in words_of(doc["message"])]
    assert count == len(expected) and [hit.id for hit in found] == [doc["id"] for doc in expected][5:25]
    levels = {bucket.key: bucket.doc_count for bucket in found.aggregations.levels}
    assert levels == collections.Counter(doc["level"] for doc in expected)
    assert sorted(scanned) == [doc["id"] for doc in docs if doc["level"] == "WARN"]


def test_errors_are_raised(url):
    async def work(client):
        with pytest.raises(elasticsearch.NotFoundError) as missing:
            await client.search(index="missing")
        with pytest.raises(elasticsearch.BadRequestError) as unknown:
            await client.count(index="logs", query={"nope": {}})
        return missing.value, unknown.value

    missing, unknown = run(url, work)
    assert missing.error == "index_not_found_exception" and unknown.status_code == 400
