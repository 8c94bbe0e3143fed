"""Logs sent by Python programs to `canter serve --writable`: hard lines, a server that is full, and one that is killed."""

import contextlib
import io
import json
import logging
import os
import re
import signal
import socket
import subprocess

import elasticsearch
import pytest
from elasticsearch import helpers

pytestmark = pytest.mark.skipif(os.environ.get("HOST") == "worker", reason="a Worker only searches")

CONFIG = """
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: "@timestamp"
  field_mappings:
    - {name: "@timestamp", type: datetime, fast: true, input_formats: [rfc3339]}
    - {name: message, type: text, record: position}
search_settings:
  default_search_fields: [message]
"""

HARD = [
    "GET /cart status=200",
    "Ünïcödé 日本語 🎉 \u2028 \x85 \u202e",
    'a "quoted" \\ backslash, \\u0041 and {"json": [1, 2}',
    "\x00 \x01 \x1b[31mred\x1b[0m \x7f and\ttabs",
    "two\nlines\r\nor three",
    "x" * 40_000,
    "   spaces   ",
]


class Server:
    """One that may be killed, and started again on its port."""

    def __init__(self, folder, *more):
        config = folder / "index.yaml"
        config.write_text(CONFIG)
        create = ["index", "create", "--index", str(folder / "logs"), "--index-config", str(config)]
        subprocess.run([os.environ["CANTER"], *create], check=True, capture_output=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        engine = ["--engine", os.environ.get("ENGINE", "wasm")]
        serve = ["serve", "--index", str(folder / "logs"), "--listen", self.address, "--writable", *engine, *more]
        self.command = [os.environ["CANTER"], *serve]
        self.process = None

    def start(self):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, text=True, **streams)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if re.search(r"http://127\.0\.0\.1:\d+", line):
                return
        raise AssertionError(f"the server does not say where it listens: {said}")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)


@pytest.fixture
def running(tmp_path):
    """Starts servers, and gives clients of them."""
    with contextlib.ExitStack() as after:

        def run(*more):
            server = Server(tmp_path, *more)
            server.start()
            after.callback(server.end)
            client = elasticsearch.Elasticsearch(f"http://{server.address}", request_timeout=60, retry_on_timeout=False)
            return server, after.enter_context(client)

        yield run


def documents(num):
    return [{"@timestamp": f"2026-11-05T10:00:00.{nth:06d}Z", "message": f"{nth} {HARD[nth % 7]}"} for nth in range(num)]


def actions(num):
    return [{"_op_type": "create", "_index": "logs", "_source": document} for document in documents(num)]


def messages(client):
    """Those of all documents, in the order of their numbers."""
    client.indices.refresh(index="logs")
    scan = helpers.scan(client, index="logs", size=1_000)
    return sorted((hit["_source"]["message"] for hit in scan), key=lambda text: int(text.split()[0]))


def of(documents):
    return [document["message"] for document in documents]


def test_hard_lines_come_in_as_they_are(running):
    _, client = running("--commit-interval", "50ms")
    assert helpers.bulk(client, actions(700), chunk_size=100) == (700, [])
    assert messages(client) == of(documents(700))


def test_a_full_server_is_sent_to_again(running):
    # A chunk fits, and two at once do not.
    _, client = running("--commit-interval", "100ms", "--max-pending-bytes", "400KB")
    patient = {"max_retries": 10, "initial_backoff": 0.05, "max_backoff": 0.2}
    sent = helpers.bulk(client, actions(300), chunk_size=30, **patient)
    assert sent == (300, [])
    assert messages(client) == of(documents(300))


def test_a_killed_server_keeps_what_it_acknowledged(running):
    server, client = running("--commit-interval", "100ms")
    acknowledged = []
    sending = helpers.streaming_bulk(client, actions(700), chunk_size=50, yield_ok=True)
    with pytest.raises(elasticsearch.ConnectionError):
        for nth, (is_done, _) in enumerate(sending):
            assert is_done
            acknowledged.append(nth)
            if nth == 249:
                server.end(signal.SIGKILL)
    assert len(acknowledged) == 250
    server.start()
    assert messages(client) == of(documents(700))[:250]
    # The rest, which nobody has acknowledged; nothing of it had been sent.
    assert helpers.bulk(client, actions(700)[250:])[0] == 450
    assert messages(client) == of(documents(700))


def test_what_is_only_safe_is_there_after_a_kill(running):
    server, client = running("--commit-interval", "1h")
    # Without `refresh=false` it would be answered in an hour.
    assert helpers.bulk(client, actions(70), refresh=False) == (70, [])
    server.end(signal.SIGKILL)
    server.start()
    assert messages(client) == of(documents(70))


def test_ecs_logging_s_lines_are_documents(running):
    ecs_logging = pytest.importorskip("ecs_logging")
    _, client = running("--commit-interval", "50ms")
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(ecs_logging.StdlibFormatter())
    log = logging.Logger("orders", logging.INFO)
    log.addHandler(handler)
    log.info("order %d came in", 7, extra={"http.request.method": "post", "order": {"id": 7}})
    try:
        int("seven")
    except ValueError:
        log.exception("order not read")
    sent = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert helpers.bulk(client, sent, index="logs") == (2, [])

    def found(query):
        return [hit["_source"] for hit in client.search(index="logs", query=query)["hits"]["hits"]]

    assert found({"term": {"log.level": "error"}}) == [shown(sent[1])]
    assert found({"term": {"http.request.method": "post"}}) == [shown(sent[0])]
    assert found({"match": {"error.type": "ValueError"}}) == [shown(sent[1])]


def shown(document):
    """As a document is shown: its time without zeros at the end."""
    time = document["@timestamp"].removesuffix("Z").rstrip("0").removesuffix(".")
    return {**document, "@timestamp": f"{time}Z"}
