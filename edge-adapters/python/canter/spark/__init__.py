"""Spark: the format ``canter`` builds an index on a cluster, and reads one.

Writing, every task builds splits of its partition and uploads them; its commit message is their receipt. The driver
publishes all receipts at once. A task that is repeated or runs twice counts once, and a job that fails publishes nothing.

>>> from canter.spark import CanterDataSource
>>> spark.dataSource.register(CanterDataSource)
>>> df.write.format("canter").mode("append").option("uri", "s3://bucket/logs").option("source", "2026-11-22").save()

Reading, the driver asks the index which documents match, and every task reads some of them. With
``spark.sql.python.filterPushdown.enabled`` filters of the data frame become a part of the query.

>>> df = spark.read.format("canter").option("uri", "s3://bucket/logs").option("query", "body:timeout").load()

Needs Spark 4.1 or newer.
"""

from typing import Any
from uuid import uuid4

from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, DataSourceReader

from .._build import create
from .._index import open as open_index
from ._reader import CanterReader, PushingReader
from ._schema import schema_of
from ._writer import CanterWriter, Uploaded

__all__ = ["CanterDataSource", "CanterReader", "CanterWriter", "Uploaded"]

_WRITING = ("uri", "config", "source", "split_num_docs", "max_rejects")
_READING = ("uri", "query", "partition_num_docs", "pushdown")


class CanterDataSource(DataSource):
    """The format ``canter``. Its options for writing:

    - ``uri``: where the index is;
    - ``config``: the text of an index config; with it, the index is made if there is none;
    - ``source``: who the documents are. The same source written again is known by it, if its partitions are the same,
      and adds nothing; without it, every write adds all of its documents;
    - ``split_num_docs``: documents of a split, at most; otherwise what the config says;
    - ``max_rejects``: how many rows a task may have that the config does not take (0).

    For reading:

    - ``uri``: where the index is;
    - ``query``: what to read, in Canter's query language (``*``);
    - ``partition_num_docs``: documents of a partition, at most (100,000);
    - ``pushdown``: ``false`` for Spark to apply all filters alone. Otherwise Spark wants to have
      ``spark.sql.python.filterPushdown.enabled`` set.

    Without a schema of the caller's, columns are the fields of the index's config. Whole numbers of ``u64`` fields are
    decimals of 20 digits, ``json`` fields are text, and so is ``_dynamic``: a JSON object of what is not mapped.
    """

    @classmethod
    def name(cls) -> str:
        return "canter"

    def schema(self) -> Any:
        return schema_of(open_index(self._uri(_READING)).config())

    def reader(self, schema: Any) -> DataSourceReader:
        uri = self._uri(_READING)
        pushdown = str(self.options.get("pushdown", "true")).lower()
        if pushdown not in ("true", "false"):
            raise ValueError(f"pushdown is true or false, and not {pushdown!r}")
        reader = PushingReader if pushdown == "true" else CanterReader
        return reader(
            uri=uri,
            query=self.options.get("query", "*"),
            max_docs=int(self.options.get("partition_num_docs", 100_000)),
            schema=schema,
            config=open_index(uri).config(),
        )

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        uri = self._uri(_WRITING)
        if overwrite:
            raise ValueError('an index is added to, and not overwritten: use mode("append")')
        if config := self.options.get("config"):
            create(uri, config)
        split_num_docs = self.options.get("split_num_docs")
        return CanterWriter(
            uri=uri,
            # Drawn once, by the driver: all attempts of all tasks have it.
            source=self.options.get("source") or f"spark {uuid4()}",
            split_num_docs=None if split_num_docs is None else int(split_num_docs),
            max_rejects=int(self.options.get("max_rejects", 0)),
        )

    def _uri(self, known: tuple[str, ...]) -> str:
        """Where the index is; options that are not known are refused."""
        unknown = sorted(set(self.options) - set(known) - {"path"})
        if unknown:
            raise ValueError(f"the format canter has no option {unknown[0]!r} here; it has {', '.join(known)}")
        uri = self.options.get("uri") or self.options.get("path")
        if not uri:
            raise ValueError('where is the index? give .option("uri", …)')
        return str(uri)
