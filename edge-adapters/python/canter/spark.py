"""Spark: ``df.write.format("canter")`` builds an index on a cluster.

Every task builds splits of its partition and uploads them; its commit message is their receipt. The driver publishes all
receipts at once. A task that is repeated or runs twice counts once, and a job that fails publishes nothing.

>>> from canter.spark import CanterDataSource
>>> spark.dataSource.register(CanterDataSource)
>>> df.write.format("canter").mode("append").option("uri", "s3://bucket/logs").option("source", "2026-11-22").save()

Needs Spark 4.1 or newer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    WriterCommitMessage,
)

from ._build import Receipt, build_split, create, publish

if TYPE_CHECKING:
    import pyarrow

_OPTIONS = ("uri", "config", "source", "split_num_docs", "max_rejects")


class CanterDataSource(DataSource):
    """The format ``canter``. Its options:

    - ``uri``: where the index is;
    - ``config``: the text of an index config; with it, the index is made if there is none;
    - ``source``: who the documents are. The same source written again is known by it, if its partitions are the same,
      and adds nothing; without it, every write adds all of its documents;
    - ``split_num_docs``: documents of a split, at most; otherwise what the config says;
    - ``max_rejects``: how many rows a task may have that the config does not take (0).
    """

    @classmethod
    def name(cls) -> str:
        return "canter"

    def schema(self) -> str:
        raise NotImplementedError("the format canter can be written, and not read: search the index with canter.open")

    def writer(self, schema: Any, overwrite: bool) -> "DataSourceArrowWriter":
        given = dict(self.options)
        unknown = sorted(set(given) - set(_OPTIONS) - {"path"})
        if unknown:
            raise ValueError(f"the format canter has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}")
        if overwrite:
            raise ValueError('an index is added to, and not overwritten: use mode("append")')
        uri = given.get("uri") or given.get("path")
        if not uri:
            raise ValueError('where is the index? give .option("uri", …)')
        if config := given.get("config"):
            create(uri, config)
        split_num_docs = given.get("split_num_docs")
        return CanterWriter(
            uri=uri,
            # Drawn once, by the driver: all attempts of all tasks have it.
            source=given.get("source") or f"spark {uuid4()}",
            split_num_docs=None if split_num_docs is None else int(split_num_docs),
            max_rejects=int(given.get("max_rejects", 0)),
        )


@dataclass
class Uploaded(WriterCommitMessage):
    """What a task has uploaded."""

    #: The receipt; none for a partition without rows.
    receipt: str | None


@dataclass
class CanterWriter(DataSourceArrowWriter):
    """Builds on executors, publishes on the driver."""

    uri: str
    source: str
    split_num_docs: int | None
    max_rejects: int

    def write(self, iterator: Iterator["pyarrow.RecordBatch"]) -> Uploaded:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            raise RuntimeError("this is no task of Spark")
        receipt = build_split(
            iterator,
            uri=self.uri,
            source=f"{self.source} partition {context.partitionId()}",
            split_num_docs=self.split_num_docs,
            max_rejects=self.max_rejects,
        )
        return Uploaded(receipt.json if receipt.num_splits > 0 else None)

    def commit(self, messages: list[Any]) -> None:
        receipts = [Receipt(message.receipt) for message in messages if message is not None and message.receipt]
        if receipts:
            publish(self.uri, receipts)

    def abort(self, messages: list[Any]) -> None:
        """Nothing was published; what was uploaded, ``canter index gc`` removes."""
