"""Builds an index on a Spark cluster, and reads some of it again.

python build.py INPUT URI [--partitions N]     INPUT: Parquet, or lines of JSON by their ending
"""

import argparse
import pathlib

from canter.spark import CanterDataSource
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

CONFIG = (pathlib.Path(__file__).parent / "../access-logs/index-config.yaml").read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("uri")
    parser.add_argument("--partitions", type=int, default=16)
    arguments = parser.parse_args()

    spark = SparkSession.builder.appName("canter-build").getOrCreate()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(CanterDataSource)

    as_json = arguments.input.endswith((".json", ".ndjson"))
    frame = spark.read.json(arguments.input) if as_json else spark.read.parquet(arguments.input)
    (
        # By what they hold, and sorted: a second run has the same partitions, row by row, and so adds nothing.
        frame.repartition(arguments.partitions, "@timestamp", "clientip")
        .sortWithinPartitions("@timestamp", "clientip", "request")
        .write.format("canter")
        .mode("append")
        .option("uri", arguments.uri)
        .option("config", CONFIG)
        .option("source", arguments.input)
        .save()
    )

    index = spark.read.format("canter").option("uri", arguments.uri).load()
    print("documents:", index.count())
    index.filter(F.col("status") >= 500).groupBy("status").count().orderBy("status").show()


if __name__ == "__main__":
    main()
