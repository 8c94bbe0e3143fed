"""Stores of documents that know Elasticsearch or OpenSearch, and nothing of Canter: what they write, they find."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_elasticsearch import BM25Strategy, ElasticsearchStore
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.elasticsearch import AsyncBM25Strategy
from llama_index.vector_stores.elasticsearch import ElasticsearchStore as LlamaStore
from opensearchpy import ConflictError, NotFoundError, OpenSearch, helpers
from serving import serving


@pytest.fixture
def url(tmp_path):
    with serving(tmp_path) as address:
        yield address


TEXTS = {"a": "a red car", "b": "a blue house", "c": "the red roof of a house"}


def test_langchain_keeps_and_finds_documents_by_words(url):
    store = ElasticsearchStore("notes", es_url=url, strategy=BM25Strategy())
    documents = [Document(page_content=text, metadata={"name": name}) for name, text in TEXTS.items()]
    assert store.add_documents(documents, ids=list(TEXTS)) == list(TEXTS)

    def names(query, **more):
        return {found.metadata["name"] for found in store.similarity_search(query, k=10, **more)}

    assert names("red") == {"a", "c"}
    assert names("house", filter=[{"term": {"metadata.name.keyword": "b"}}]) == {"b"}
    # Documents with the same ids replace the ones that are there.
    store.add_documents([Document(page_content="a green car", metadata={"name": "a"})], ids=["a"])
    assert names("red") == {"c"}
    assert names("car") == {"a"}
    assert store.delete(["a"])
    assert names("car") == set()
    assert names("house") == {"b", "c"}


def test_llama_index_keeps_and_finds_nodes_by_words(url):
    async def run():
        store = LlamaStore("notes", es_url=url, retrieval_strategy=AsyncBM25Strategy())
        nodes = [TextNode(text=text, id_=name) for name, text in TEXTS.items()]
        assert await store.async_add(nodes) == list(TEXTS)

        async def names(query):
            asked = VectorStoreQuery(query_str=query, similarity_top_k=10, mode=VectorStoreQueryMode.TEXT_SEARCH)
            return set((await store.aquery(asked)).ids)

        assert await names("red") == {"a", "c"}
        await store.async_add([TextNode(text="a green car", id_="a")])
        assert await names("red") == {"c"}
        await store.adelete_nodes(["a"])
        assert await names("car") == set()
        store.close()

    asyncio.run(run())


def test_opensearch_py_writes_reads_changes_and_deletes_documents(tmp_path):
    with serving(tmp_path, "--compatible-with", "opensearch") as address:
        client = OpenSearch(address)
        assert client.info()["version"]["distribution"] == "opensearch"
        client.indices.create(index="shop-1", body={"mappings": {"properties": {"sku": {"type": "keyword"}}}})
        client.indices.put_alias(index="shop-1", name="shop")
        assert client.index(index="shop", body={"sku": "x", "n": 1}, id="1")["result"] == "created"
        assert client.update(index="shop", id="1", body={"doc": {"n": 2}})["result"] == "updated"
        assert client.get(index="shop", id="1")["_source"] == {"sku": "x", "n": 2}
        with pytest.raises(ConflictError):
            client.create(index="shop", id="1", body={"sku": "y"})
        actions = [{"_index": "shop", "_id": str(n), "_source": {"sku": "x", "n": n}} for n in range(20)]
        assert helpers.bulk(client, actions, refresh=True) == (20, [])
        assert client.count(index="shop")["count"] == 20
        found = helpers.scan(client, {"query": {"term": {"sku": "x"}}}, index="shop", size=7)
        assert sorted(int(hit["_id"]) for hit in found) == list(range(20))
        assert helpers.reindex(client, "shop", "copy") == (20, 0)
        assert client.count(index="copy")["count"] == 20
        assert client.delete(index="shop", id="1")["result"] == "deleted"
        with pytest.raises(NotFoundError):
            client.get(index="shop", id="1")
        assert client.indices.get_alias(name="shop") == {"shop-1": {"aliases": {"shop": {}}}}
