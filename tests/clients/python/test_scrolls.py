"""Scrolls of an index that lives on: pages by another server, what each says is left, and splits that are merged meanwhile."""

import json
import os
import subprocess

import elasticsearch
import elasticsearch.helpers
import pytest
from conftest import server_command, serving

pytestmark = pytest.mark.skipif(os.environ.get("HOST") == "worker", reason="the servers of these tests come and go")

NUM_DOCS = 100
NUM_PARTS = 4

# As many splits as are merged at once.
CONFIG = f"""
version: 0.9
index_id: logs
doc_mapping:
  field_mappings:
    - {{name: id, type: u64, fast: true}}
indexing_settings:
  merge_policy: {{type: stable_log, min_level_num_docs: {NUM_DOCS}, merge_factor: {NUM_PARTS}, max_merge_factor: {NUM_PARTS}}}
"""


def canter(*args):
    subprocess.run([os.environ["CANTER"], *map(str, args)], check=True, capture_output=True)


@pytest.fixture
def parts(tmp_path):
    """An index of several splits."""
    config, index = tmp_path / "index.yaml", tmp_path / "logs"
    config.write_text(CONFIG)
    canter("index", "create", "--index", index, "--index-config", config)
    for part in range(NUM_PARTS):
        lines = tmp_path / f"part{part}.ndjson"
        ids = range(part * NUM_DOCS // NUM_PARTS, (part + 1) * NUM_DOCS // NUM_PARTS)
        lines.write_text("".join(json.dumps({"id": number}) + "\n" for number in ids))
        canter("index", "ingest", "--index", index, "--input", lines)
    return index


def ids(page):
    return [hit["_source"]["id"] for hit in page["hits"]["hits"]]


def test_a_scroll_goes_on_at_another_server(parts):
    with serving(server_command(parts)) as address, elasticsearch.Elasticsearch(address) as client:
        page = client.search(index="logs", scroll="1ms", size=30)
        found = ids(page)
    with serving(server_command(parts)) as address, elasticsearch.Elasticsearch(address) as client:
        while page["hits"]["hits"]:
            page = client.scroll(scroll_id=page["_scroll_id"], scroll="1ms")
            found += ids(page)
    assert sorted(found) == list(range(NUM_DOCS))


def test_each_page_says_how_many_hits_there_are(parts):
    with serving(server_command(parts)) as address, elasticsearch.Elasticsearch(address) as client:
        page, num_seen = client.search(index="logs", scroll="1m", size=30), 0
        while page["hits"]["hits"]:
            assert page["hits"]["total"] == {"value": NUM_DOCS, "relation": "eq"}
            num_seen += len(ids(page))
            page = client.scroll(scroll_id=page["_scroll_id"], scroll="1m")
        assert num_seen == NUM_DOCS and page["hits"]["total"] == {"value": NUM_DOCS, "relation": "eq"}


def test_a_scroll_goes_on_where_splits_are_merged_and_documents_come(parts, tmp_path):
    with serving(server_command(parts)) as address, elasticsearch.Elasticsearch(address) as client:
        scan = elasticsearch.helpers.scan(client, index="logs", size=30)
        found = [next(scan)["_source"]["id"] for _ in range(40)]
        lines = tmp_path / "more.ndjson"
        lines.write_text("".join(json.dumps({"id": NUM_DOCS + number}) + "\n" for number in range(20)))
        canter("index", "ingest", "--index", parts, "--input", lines)
        canter("index", "merge", "--index", parts)
        found += [hit["_source"]["id"] for hit in scan]
    assert sorted(found) == list(range(NUM_DOCS))


def test_a_scroll_ends_at_another_server_once_its_index_has_changed(parts):
    with serving(server_command(parts)) as address, elasticsearch.Elasticsearch(address) as client:
        page = client.search(index="logs", scroll="1m", size=30)
    canter("index", "merge", "--index", parts)
    with serving(server_command(parts)) as address, elasticsearch.Elasticsearch(address) as client:
        with pytest.raises(elasticsearch.NotFoundError) as error:
            client.scroll(scroll_id=page["_scroll_id"], scroll="1m")
        assert error.value.body["error"]["type"] == "search_context_missing_exception"
        assert "begin again" in error.value.body["error"]["reason"]
        assert sorted(ids(client.search(index="logs", size=NUM_DOCS))) == list(range(NUM_DOCS))
