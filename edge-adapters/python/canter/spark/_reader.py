"""Reading: the driver lists what matches, tasks read it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import Filter, DataSourceReader, InputPartition

from .._index import Part, open as open_index
from ._filters import query_of
from ._schema import fields_by_path, rows_writer

if TYPE_CHECKING:
    import pyarrow


@dataclass
class DocumentsPartition(InputPartition):
    """Documents that one task reads."""

    part: Part


@dataclass
class CanterReader(DataSourceReader):
    """Reads what a query matches."""

    uri: str
    query: str
    max_docs: int
    schema: Any
    config: dict[str, Any]

    def partitions(self) -> Sequence[InputPartition]:
        parts = open_index(self.uri).parts(self.query, max_docs=self.max_docs)
        return [DocumentsPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow
        from pyspark.sql.pandas.types import to_arrow_schema

        # Where nothing matches, Spark runs one task, of no partition.
        if not isinstance(partition, DocumentsPartition):
            return
        schema = to_arrow_schema(self.schema)
        write = rows_writer(self.schema, self.config)
        for lines in partition.part.lines():
            documents = [json.loads(line) for line in lines.removesuffix(b"\n").split(b"\n")]
            columns = zip(write(documents), schema)
            arrays = [pyarrow.array(values, type=field.type) for values, field in columns]
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


class PushingReader(CanterReader):
    """Makes filters a part of the query."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        fields = fields_by_path(self.config)
        queries = {query: None for given in filters if (query := query_of(given, fields)) is not None}
        if queries:
            own = [] if self.query == "*" else [f"({self.query})"]
            self.query = " AND ".join([*own, *queries])
        # Queries match what filters do and may match more: Spark looks at what is read once more.
        return filters
