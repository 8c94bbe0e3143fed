"""An index of known documents, served by `canter serve`, and clients that know nothing of Canter."""

import collections
import contextlib
import datetime
import json
import logging
import os
import pathlib
import random
import subprocess
import urllib.parse

import elasticsearch
import pytest

NUM_DOCS = 2_000
LEVELS = ["ERROR", "INFO", "WARN"]
SERVICES = ["api", "auth", "billing", "Search"]
WORDS = ["timeout", "connection", "reset", "peer", "disk", "full", "user", "login", "failed", "ok"]
START_MS = 1_714_557_600_000

CONFIG = """
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: timestamp
  field_mappings:
    - {name: timestamp, type: datetime, fast: true, input_formats: [rfc3339], fast_precision: milliseconds}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: service, type: text, tokenizer: raw, fast: true}
    - {name: status, type: u64, fast: true}
    - {name: latency, type: f64, fast: true}
    - {name: address, type: ip, fast: true}
    - {name: is_slow, type: bool, fast: true}
    - {name: message, type: text, record: position}
    - {name: title, type: text, record: position}
    - {name: id, type: u64, fast: true}
search_settings:
  default_search_fields: [message, title]
"""


class Calls(logging.Handler):
    """Counts what the clients say of their calls, by the last word of the API in a path."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.num = collections.Counter()

    def emit(self, record):
        # POST http://127.0.0.1:7280/logs/_search?size=3 [status:200 duration:0.004s]
        method_url = record.getMessage().split(" [status:")
        if len(method_url) != 2 or method_url[1].startswith("N/A"):
            return
        path = urllib.parse.urlsplit(method_url[0].split(" ")[1]).path
        words = [word for word in path.split("/") if word.startswith("_")]
        self.num[words[-1] if words else "index" if path.strip("/") else "root"] += 1


CALLS = Calls()
logging.getLogger("elastic_transport.transport").setLevel(logging.INFO)
logging.getLogger("elastic_transport.transport").addHandler(CALLS)


# Fewer calls of a run of all tests: tests were skipped, or say nothing of what they ask.
LEAST_CALLS = 40 if os.environ.get("HOST") == "worker" else 120


def pytest_sessionfinish(session, exitstatus):
    config = session.config
    is_selection = config.option.keyword or config.option.markexpr or config.option.collectonly
    is_whole = not is_selection and all(pathlib.Path(arg).is_dir() for arg in config.args)
    if exitstatus == 0 and is_whole and CALLS.num.total() < LEAST_CALLS:
        print(f"\nall tests made {CALLS.num.total()} calls, and not at least {LEAST_CALLS}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    kinds = ", ".join(f"{kind} {num}" for kind, num in CALLS.num.most_common())
    version = elasticsearch.__versionstr__
    terminalreporter.write_line(f"elasticsearch {version}: {CALLS.num.total()} API calls ({kinds})")


def time_of(number):
    ms = START_MS + number * 1_500
    seconds, rest = divmod(ms, 1_000)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    # As documents are shown: without zeros at the end.
    fraction = f".{rest:03d}".rstrip("0") if rest else ""
    return ms, f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def document(number):
    ms, text = time_of(number)
    draw = random.Random(number)
    words = [draw.choice(WORDS) for _ in range(4)]
    doc = {
        "timestamp": text,
        "id": number,
        "level": LEVELS[number % 7 % 3],
        "service": SERVICES[number % 4],
        "status": [200, 200, 404, 500][number % 4] + (number % 11 == 0),
        "latency": (number * 37 % 1000) / 8,
        "address": f"10.0.{number % 3}.{number % 200}",
        "is_slow": number % 5 == 0,
        "message": " ".join(words).capitalize(),
        "title": f"Request {number % 50} {words[0]}",
        "ctx": {"user": f"u{number % 13}", "attempt": number % 4},
    }
    if number % 3 == 0:
        doc["optional"] = f"v{number % 5}"
    return doc


@pytest.fixture(scope="session")
def docs():
    return [document(number) for number in range(NUM_DOCS)]


@pytest.fixture(scope="session")
def index(tmp_path_factory, docs):
    """The documents as an index, in a folder."""
    folder = tmp_path_factory.mktemp("logs")
    config = folder / "index.yaml"
    config.write_text(CONFIG)
    lines = folder / "docs.ndjson"
    lines.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    index = folder / "logs"

    def run(*args):
        subprocess.run([os.environ["CANTER"], *args], check=True, capture_output=True)

    run("index", "create", "--index", str(index), "--index-config", str(config))
    # Several splits: pages, merges and ties between them are what an index has.
    lines_of = lines.read_text().splitlines(keepends=True)
    for part in range(4):
        some = folder / f"part{part}.ndjson"
        some.write_text("".join(lines_of[part * NUM_DOCS // 4 : (part + 1) * NUM_DOCS // 4]))
        run("index", "ingest", "--index", str(index), "--input", str(some))
    return index


def is_worker():
    return os.environ.get("HOST") == "worker"


def host_command(index, keys=None):
    """What serves an index: `canter serve`, or with HOST=worker the Worker on workerd."""
    if is_worker():
        worker = pathlib.Path(__file__).parent.parent / "worker.mjs"
        return ["node", str(worker), str(index), "logs", *([] if keys is None else [str(keys)])]
    return server_command(index, *([] if keys is None else ["--api-keys", str(keys)]))


def server_command(index, *more):
    engine = os.environ.get("ENGINE", "wasm")
    listen = ["--listen", "127.0.0.1:0", "--engine", engine]
    return [os.environ["CANTER"], "serve", "--index", f"logs={index}", *listen, *more]


@contextlib.contextmanager
def serving(command):
    """Runs a server, and gives its address."""
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    address = None
    for line in server.stdout:
        for word in line.split():
            if word.startswith("http://127.0.0.1:"):
                address = "/".join(word.split("/")[:3])
        if address:
            break
    assert address, "the server does not say where it listens"
    yield address
    server.terminate()
    server.wait(30)


@pytest.fixture(scope="session")
def url(index):
    """Where the documents are served."""
    with serving(host_command(index)) as address:
        yield address


@pytest.fixture(scope="session")
def client(url):
    with elasticsearch.Elasticsearch(url, request_timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def dsl():
    """The DSL: a package beside version 8 of the client, and a part of version 9."""
    if elasticsearch.__version__[0] >= 9:
        import elasticsearch.dsl as module
    else:
        import elasticsearch_dsl as module
    return module
