"""Writing from Spark: one publication, nothing lost and nothing doubled, whatever tasks do.

``CANTER_SPARK_DOCS`` and ``CANTER_SPARK_ROUNDS`` make it larger.
"""

import os
import pathlib
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from pyspark import TaskContext, cloudpickle
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import LongType, StringType, StructField, StructType

import canter
from canter.spark import CanterDataSource, CanterWriter

# Workers do not have this module: its classes go to them as they are.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

CONFIG = """
version: 0.8
index_id: logs
doc_mapping:
  field_mappings:
    - {name: timestamp, type: datetime, input_formats: [unix_timestamp], output_format: unix_timestamp_secs, fast: true}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: number, type: u64, fast: true}
  timestamp_field: timestamp
"""
START = 1_700_000_000
PARTITIONS = 16
NUM_DOCS = int(os.environ.get("CANTER_SPARK_DOCS", 4_000))
ROUNDS = int(os.environ.get("CANTER_SPARK_ROUNDS", 2))
SCHEMA = StructType(
    [StructField("timestamp", LongType()), StructField("level", StringType()), StructField("number", LongType())]
)


class FailingWriter(CanterWriter):
    """Fails before, during or after an upload, in some attempts of some tasks."""

    def write(self, iterator):
        context = TaskContext.get()
        draw = random.Random(f"{self.source} {context.partitionId()} {context.attemptNumber()}")
        # The last of four attempts must go well.
        mode = draw.choice(["before", "during", "after", "well"]) if context.attemptNumber() < 3 else "well"
        if mode != "well":
            injected = pathlib.Path(f"{self.uri}.injected")
            injected.mkdir(exist_ok=True)
            (injected / f"{context.partitionId()} {context.attemptNumber()} {mode}").touch()
        if mode == "before":
            raise RuntimeError("injected before the upload")
        if mode == "during":

            def broken():
                yield next(iterator)
                raise RuntimeError("injected during the upload")

            return super().write(broken())
        uploaded = super().write(iterator)
        if mode == "after":
            raise RuntimeError("injected after the upload")
        return uploaded


class FailingDataSource(CanterDataSource):
    @classmethod
    def name(cls):
        return "failing_canter"

    def writer(self, schema, overwrite):
        writer = super().writer(schema, overwrite)
        return FailingWriter(**vars(writer))


class TwiceWriter(CanterWriter):
    """Every task runs twice at once, as with speculation, which Spark does on another machine only; both come to an end, and
    either of their messages may be the one that counts, or both."""

    def write(self, iterator):
        batches, partition = list(iterator), TaskContext.get().partitionId()
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.map(lambda _: self.built(batches, partition), range(2))
        return [Uploads([first]), Uploads([second]), Uploads([first, second])][partition % 3]

    def built(self, batches, partition):
        source = f"{self.source} partition {partition}"
        return canter.build_split(iter(batches), uri=self.uri, source=source)

    def commit(self, messages):
        canter.publish(self.uri, [receipt for message in messages for receipt in message.receipts])


@dataclass
class Uploads(WriterCommitMessage):
    receipts: list[canter.Receipt]


class TwiceDataSource(CanterDataSource):
    @classmethod
    def name(cls):
        return "twice_canter"

    def writer(self, schema, overwrite):
        return TwiceWriter(**vars(super().writer(schema, overwrite)))


def documents(spark):
    def of_partition(numbers):
        for number in numbers:
            yield START + number % 100_000, ("INFO", "WARN", "ERROR")[number % 3], number

    numbers = spark.sparkContext.range(NUM_DOCS, numSlices=PARTITIONS)
    return spark.createDataFrame(numbers.mapPartitions(of_partition), SCHEMA)


def write(frame, kind, uri, source, **options):
    writer = frame.write.format(kind).mode("append").option("uri", str(uri)).option("source", source)
    for name, value in options.items():
        writer = writer.option(name, value)
    writer.save()


def answer(uri):
    aggs = {"levels": {"terms": {"field": "level"}}, "sum": {"sum": {"field": "number"}}}
    found = canter.open(uri).search("*", aggs=aggs, max_hits=1_000, sort_by="number")
    return found.num_hits, found.hits, found.aggregations


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The same documents, built by one process."""
    uri = tmp_path_factory.mktemp("alone")
    rows = (
        {"timestamp": START + number % 100_000, "level": ("INFO", "WARN", "ERROR")[number % 3], "number": number}
        for number in range(NUM_DOCS)
    )
    canter.publish(uri, [canter.build_split(rows, CONFIG, uri=uri, source="alone")])
    return answer(uri)


def test_tasks_that_fail_lose_and_double_nothing(spark, tmp_path, alone):
    spark.dataSource.register(FailingDataSource)
    num_injected = 0
    for number in range(ROUNDS):
        uri = tmp_path / str(number)
        write(documents(spark), "failing_canter", uri, f"round {number}", config=CONFIG)
        assert answer(uri) == alone
        described = canter.open(uri).describe()
        assert described["num_splits"] == PARTITIONS
        num_injected += len(os.listdir(f"{uri}.injected"))
    print(f"{num_injected} failures in {ROUNDS} rounds of {NUM_DOCS} documents")
    assert num_injected >= 10 * ROUNDS


def test_tasks_that_run_twice_at_once_count_once(spark, tmp_path, alone):
    spark.dataSource.register(TwiceDataSource)
    write(documents(spark), "twice_canter", tmp_path, "day", config=CONFIG)
    assert answer(tmp_path) == alone
    assert canter.open(tmp_path).describe()["num_splits"] == PARTITIONS


def test_a_source_that_is_written_again_adds_nothing(spark, tmp_path, alone):
    spark.dataSource.register(CanterDataSource)
    write(documents(spark), "canter", tmp_path, "day", config=CONFIG)
    write(documents(spark), "canter", tmp_path, "day")
    assert answer(tmp_path) == alone
    write(documents(spark), "canter", tmp_path, "another day")
    assert answer(tmp_path)[0] == 2 * alone[0]


def test_a_job_that_fails_publishes_nothing(spark, tmp_path):
    spark.dataSource.register(CanterDataSource)
    frame = documents(spark).selectExpr("timestamp", "level", "number - 1 as number")
    # The first number is below 0, which the config does not take.
    with pytest.raises(Exception, match="reject"):
        write(frame, "canter", tmp_path, "day", config=CONFIG)
    assert canter.open(tmp_path).search("*").num_hits == 0
    write(frame, "canter", tmp_path, "day", max_rejects=1)
    assert canter.open(tmp_path).search("*").num_hits == NUM_DOCS - 1


@pytest.mark.parametrize(
    ("options", "mode", "part"),
    [({"colour": "red"}, "append", "colour"), ({}, "overwrite", "append"), ({"uri": ""}, "append", "where is")],
)
def test_wrong_options_are_refused_by_name(spark, tmp_path, options, mode, part):
    spark.dataSource.register(CanterDataSource)
    writer = documents(spark).write.format("canter").mode(mode).option("uri", str(tmp_path))
    for name, value in options.items():
        writer = writer.option(name, value)
    with pytest.raises(Exception, match=part):
        writer.save()
