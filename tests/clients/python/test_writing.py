"""Documents sent by the clients' own helpers, and by OpenTelemetry's exporter, to `canter serve --writable`."""

import os
import subprocess

import elasticsearch
import pytest
from conftest import CONFIG, document, serving
from elasticsearch import helpers

pytestmark = pytest.mark.skipif(os.environ.get("HOST") == "worker", reason="a Worker only searches")


@pytest.fixture
def writable(tmp_path):
    """The address of a server with an empty index, and one of OpenTelemetry's logs."""
    config = tmp_path / "index.yaml"
    config.write_text(CONFIG)

    def create(name, *args):
        command = [os.environ["CANTER"], "index", "create", "--index", str(tmp_path / name), *args]
        subprocess.run(command, check=True, capture_output=True)

    create("logs", "--index-config", str(config))
    create("otel-logs", "--preset", "otel-logs")
    indexes = [arg for name in ("logs", "otel-logs") for arg in ("--index", f"{name}={tmp_path / name}")]
    engine = os.environ.get("ENGINE", "wasm")
    command = [os.environ["CANTER"], "serve", *indexes, "--listen", "127.0.0.1:0", "--engine", engine]
    with serving([*command, "--writable", "--commit-interval", "50ms"]) as address:
        yield address


@pytest.fixture
def writer(writable):
    with elasticsearch.Elasticsearch(writable, request_timeout=60) as client:
        yield client


def ids(client, **query):
    found = client.search(index="logs", size=1_000, sort="id", source=["id"], **query)
    return [hit["_source"]["id"] for hit in found["hits"]["hits"]]


def test_a_bulk_helper_sends_documents_that_can_be_found_at_once(writer):
    actions = [{"_index": "logs", "_source": document(number)} for number in range(300)]
    assert helpers.bulk(writer, actions, chunk_size=100) == (300, [])
    assert ids(writer, query={"match_all": {}}) == list(range(300))
    wanted = [number for number in range(300) if document(number)["level"] == "ERROR"]
    assert ids(writer, query={"term": {"level": "ERROR"}}) == wanted


def test_a_bulk_helper_is_told_which_documents_were_not_taken(writer):
    actions = [{"_index": "logs", "_op_type": "create", **document(number)} for number in range(10)]
    actions[3]["timestamp"] = "never"
    actions[7]["_id"] = "7"
    done = list(helpers.streaming_bulk(writer, actions, raise_on_error=False))
    assert [place for place, (is_done, _) in enumerate(done) if not is_done] == [3, 7]
    assert done[3][1]["create"]["error"]["type"] == "document_parsing_exception"
    assert "_id" in done[7][1]["create"]["error"]["reason"]
    assert ids(writer, query={"match_all": {}}) == [0, 1, 2, 4, 5, 6, 8, 9]
    with pytest.raises(helpers.BulkIndexError):
        helpers.bulk(writer, actions)


def test_a_parallel_bulk_helper_loses_nothing(writer):
    actions = [{"_index": "logs", "_source": document(number)} for number in range(400)]
    done = helpers.parallel_bulk(writer, actions, thread_count=4, chunk_size=20)
    assert all(is_done for is_done, _ in done)
    assert ids(writer, query={"match_all": {}}) == list(range(400))


def test_a_single_document_is_created_and_found_by_its_fields(writer):
    created = writer.index(index="logs", document=document(5), refresh=True)
    assert (created["result"], created.meta.status) == ("created", 201)
    assert writer.count(index="logs", query={"term": {"id": 5}})["count"] == 1
    with pytest.raises(elasticsearch.BadRequestError):
        writer.index(index="logs", id="5", document=document(5))
    with pytest.raises(elasticsearch.BadRequestError):
        writer.index(index="logs", document={"timestamp": "never"})
    with pytest.raises(elasticsearch.NotFoundError):
        writer.index(index="missing", document=document(5))


def test_what_is_not_refreshed_is_there_after_a_refresh(writer):
    writer.bulk(index="logs", refresh=False, operations=[{"create": {}}, document(1), {"create": {}}, document(2)])
    assert writer.indices.refresh(index="logs")["_shards"]["failed"] == 0
    assert ids(writer, query={"match_all": {}}) == [1, 2]


def test_a_query_deletes_what_it_finds(writer):
    helpers.bulk(writer, [{"_index": "logs", "_source": document(number)} for number in range(100)])
    gone = [number for number in range(100) if document(number)["service"] == "auth"]
    deleted = writer.delete_by_query(index="logs", query={"term": {"service": "auth"}}, conflicts="proceed")
    assert (deleted["deleted"], deleted["failures"]) == (len(gone), [])
    assert ids(writer, query={"match_all": {}}) == [number for number in range(100) if number not in gone]


def test_opentelemetry_s_own_exporter_is_answered(writable, writer):
    logs = pytest.importorskip("opentelemetry.sdk._logs")
    export = pytest.importorskip("opentelemetry.sdk._logs.export")
    otlp = pytest.importorskip("opentelemetry.exporter.otlp.proto.http._log_exporter")
    resource = pytest.importorskip("opentelemetry.sdk.resources")
    api = pytest.importorskip("opentelemetry._logs")

    provider = logs.LoggerProvider(resource=resource.Resource({"service.name": "shop"}))
    exporter = otlp.OTLPLogExporter(endpoint=f"{writable}/v1/logs", compression=otlp.Compression.Gzip)
    provider.add_log_record_processor(export.BatchLogRecordProcessor(exporter))
    logger = provider.get_logger("orders")
    for number in range(50):
        logger.emit(
            api.LogRecord(
                timestamp=1_714_557_600_000_000_000 + number,
                severity_text="ERROR" if number % 5 == 0 else "INFO",
                body=f"order {number} came in",
                attributes={"number": number},
            )
        )
    assert provider.force_flush()
    provider.shutdown()
    found = writer.search(index="otel-logs", size=100, query={"term": {"severity_text": "ERROR"}})
    assert found["hits"]["total"]["value"] == 10
    sources = [hit["_source"] for hit in found["hits"]["hits"]]
    assert {source["service_name"] for source in sources} == {"shop"}
    assert sorted(source["attributes"]["number"] for source in sources) == list(range(0, 50, 5))
