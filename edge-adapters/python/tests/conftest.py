"""An index of a few logs, made by the command that the wheel brings."""

import json
import os
import pathlib
import subprocess

import pytest

CONFIG = """
version: 0.8
index_id: logs
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: timestamp, type: datetime, input_formats: [unix_timestamp], output_format: unix_timestamp_secs, fast: true}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: size, type: u64, fast: true}
    - {name: body, type: text, record: position}
  timestamp_field: timestamp
"""

START = 1_700_000_000
LEVELS = ["INFO", "INFO", "WARN", "ERROR"]


def lines(num_docs=400):
    """Four a minute."""
    return [
        {"timestamp": START + at * 15, "level": LEVELS[at % 4], "size": at % 10, "body": f"request {at} took long"}
        for at in range(num_docs)
    ]


@pytest.fixture(scope="session")
def command():
    """The program that the wheel installs."""
    return pathlib.Path(os.environ["CANTER_TEST_COMMAND"])


@pytest.fixture(scope="session")
def index_uri(tmp_path_factory, command):
    folder = tmp_path_factory.mktemp("index")
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "lines.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines()))
    uri = str(folder / "logs")
    made = [command, "index", "ingest", "--index", uri, "--index-config", folder / "config.yaml"]
    subprocess.run([*made, "--input", folder / "lines.ndjson", "--split-num-docs", "150"], check=True, capture_output=True)
    return uri
