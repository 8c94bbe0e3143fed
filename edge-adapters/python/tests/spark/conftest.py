"""A Spark of two executors, each a process of its own, whose tasks may fail three times."""

import os
import subprocess
import sys

import pytest

# Everything stays on this machine.
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYSPARK_PYTHON"] = sys.executable

CLUSTER = "local-cluster[2,1,1024]"

#: A cluster that cannot start waits for ever.
START_SECONDS = 120

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.executor.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

PROBE = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master(sys.argv[1])
for setting in sys.argv[2:]:
    builder = builder.config(*setting.split("=", 1))
assert builder.getOrCreate().range(10).count() == 10
"""


def can_start(master):
    command = [sys.executable, "-c", PROBE, master, *(f"{name}={value}" for name, value in SETTINGS.items())]
    try:
        return subprocess.run(command, capture_output=True, timeout=START_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    master = CLUSTER if can_start(CLUSTER) else "local[2,4]"
    print(f"Spark at {master}")
    builder = SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
