"""Clients with each kind of token that they know, and with compressed bodies and answers."""

import os
import subprocess

import elasticsearch
import pytest
from conftest import host_command, is_worker, serving

FILTER = "level:ERROR"


@pytest.fixture(scope="module")
def guarded(index, tmp_path_factory):
    """The address of a host that asks for tokens, and those of two holders."""
    keys = tmp_path_factory.mktemp("keys") / "keys.toml"

    def add(*args):
        command = [os.environ["CANTER"], "key", "add", "--file", str(keys), *args]
        token = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        return tuple(token.split("."))

    everything = add("--id", "everything")
    errors = add("--id", "errors", "--index", "l*", "--filter", FILTER)
    with serving(host_command(index, keys)) as address:
        yield address, everything, errors


def clients(address, key):
    return [
        elasticsearch.Elasticsearch(address, api_key=key),
        elasticsearch.Elasticsearch(address, basic_auth=key),
        elasticsearch.Elasticsearch(address, bearer_auth=".".join(key)),
        elasticsearch.Elasticsearch(address, api_key=key, http_compress=True),
    ]


def test_each_kind_of_token_sees_what_its_key_allows(guarded, docs):
    address, everything, errors = guarded
    num_errors = sum(doc["level"] == "ERROR" for doc in docs)
    for client in clients(address, everything):
        assert client.count(index="logs")["count"] == len(docs)
    for client in clients(address, errors):
        assert client.count(index="logs")["count"] == num_errors
        found = client.search(index="logs", size=2_000, query={"match_all": {}})
        levels = {hit["_source"]["level"] for hit in found["hits"]["hits"]}
        assert levels == {"ERROR"}
        # A long body is compressed by a client that may, and what it says counts.
        ids = {"terms": {"id": list(range(1_000))}}
        expected = sum(doc["level"] == "ERROR" and doc["id"] < 1_000 for doc in docs)
        assert client.count(index="logs", query=ids)["count"] == expected


def test_a_token_that_is_not_right_is_told_so(guarded):
    address, (name, _), _ = guarded
    for client in [elasticsearch.Elasticsearch(address), *clients(address, (name, "guessed"))]:
        with pytest.raises(elasticsearch.AuthenticationException) as error:
            client.count(index="logs")
        assert error.value.status_code == 401


@pytest.mark.skipif(is_worker(), reason="a Worker has no log to find a request in")
def test_opaque_ids_come_back(guarded):
    address, everything, _ = guarded
    client = elasticsearch.Elasticsearch(address, api_key=everything).options(opaque_id="dashboard/7")
    assert client.count(index="logs").meta.headers["x-opaque-id"] == "dashboard/7"
