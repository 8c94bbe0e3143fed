"""Writing: executors build and upload splits, the driver publishes all of them at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from .._build import Receipt, build_split, publish

if TYPE_CHECKING:
    import pyarrow


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
