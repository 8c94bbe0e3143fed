"""The example in ``examples/spark-build``, against a real S3 server."""

import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest

import canter

EXAMPLES = pathlib.Path(__file__).parents[4] / "examples"
SECRETS = {"AWS_ACCESS_KEY_ID": "canter-tests", "AWS_SECRET_ACCESS_KEY": "the-secret-of-the-tests"}


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A bucket on a server of its own; the environment says how it is reached."""
    program = os.environ.get("CANTER_VERSITYGW")
    if program is None:
        pytest.skip("there is no S3 server: CANTER_VERSITYGW names none")
    (tmp_path / "store" / "bucket").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    command = [program, "--port", f"127.0.0.1:{port}", "--access", SECRETS["AWS_ACCESS_KEY_ID"]]
    command += ["--secret", SECRETS["AWS_SECRET_ACCESS_KEY"], "--quiet", "posix", str(tmp_path / "store")]
    server = subprocess.Popen(command, cwd=tmp_path)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        yield "s3://bucket/logs"
    finally:
        server.terminate()
        server.wait()


def test_the_example_builds_once_and_reads_what_it_built(bucket):
    log = EXAMPLES / "access-logs/access-logs.ndjson"
    command = [sys.executable, str(EXAMPLES / "spark-build/build.py"), str(log), bucket, "--partitions", "3"]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        assert "documents: 400" in done.stdout
        assert "|status|count|" in done.stdout
    index = canter.open(bucket)
    assert index.search("*").num_hits == len(log.read_text().splitlines())
    assert index.describe()["num_splits"] == 3
