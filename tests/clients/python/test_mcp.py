"""`canter mcp` with the protocol's own client, in both ways in which a session may begin."""

import asyncio
import json
import os

import mcp
import pytest

pytestmark = pytest.mark.skipif(os.environ.get("HOST") == "worker", reason="a Worker has no pipes to speak through")

TOOLS = ["list_indexes", "describe_fields", "search", "aggregate", "explain_cost"]


@pytest.fixture(params=["legacy", "auto"])
def session(index, request):
    """Runs what is given a client of a server of the documents."""
    engine = os.environ.get("ENGINE", "wasm")
    args = ["mcp", "--index", f"logs={index}", "--engine", engine]
    server = mcp.StdioServerParameters(command=os.environ["CANTER"], args=args, env=dict(os.environ))

    def run(talk):
        async def with_client():
            async with mcp.Client(server, mode=request.param, read_timeout_seconds=60) as client:
                await talk(client)

        asyncio.run(with_client())

    return run


def test_tools_are_listed(session):
    async def talk(client):
        assert client.server_info.name == "canter"
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        for tool in tools:
            assert tool.input_schema["additionalProperties"] is False
            assert tool.annotations.read_only_hint is True

    session(talk)


def test_answers_are_those_of_a_scan(session, docs):
    errors = [doc for doc in docs if doc["level"] == "ERROR"]

    async def talk(client):
        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        indexes = await call("list_indexes")
        assert [(found["index"], found["num_docs"]) for found in indexes["indexes"]] == [("logs", len(docs))]
        described = await call("describe_fields", index="logs", pattern="s*")
        assert [field["name"] for field in described["fields"]] == ["service", "status"]
        found = await call("search", index="logs", query="level:ERROR", max_hits=3, fields=["id"])
        assert found["num_hits"] == len(errors)
        assert found["hits"] == [{"id": doc["id"]} for doc in reversed(errors[-3:])]
        aggs = {"services": {"terms": {"field": "service"}}}
        counted = await call("aggregate", index="logs", query="level:ERROR", aggs=aggs)
        buckets = counted["aggregations"]["services"]["buckets"]
        assert sum(bucket["doc_count"] for bucket in buckets) == len(errors)
        explained = await call("explain_cost", index="logs", query="level:ERROR")
        assert explained["num_splits"] == 4

    session(talk)


def test_mistakes_are_told(session):
    async def talk(client):
        wrong = await client.call_tool("search", {"index": "logs", "query": "(a"})
        assert wrong.is_error and "query, column 1: the query cannot be parsed" in wrong.content[0].text
        with pytest.raises(mcp.MCPError, match="qurey"):
            await client.call_tool("search", {"index": "logs", "qurey": "a"})

    session(talk)
