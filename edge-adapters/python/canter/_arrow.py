"""Tables of other libraries, on their way to Rust: as Arrow's streams of batches. Needs the package ``pyarrow``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

_ROWS_AT_ONCE = 4096


def is_table(value: Any) -> bool:
    """Whether this is a table, or a part of one, that Arrow can take."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def streams(table: Any) -> Iterator[bytes]:
    """The rows of a table, some at a time."""
    import pyarrow

    if hasattr(table, "__arrow_c_stream__"):
        batches = pyarrow.RecordBatchReader.from_stream(table)
    else:
        batches = [pyarrow.record_batch(table)]
    for batch in batches:
        batch = _plain_batch(batch)
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch.slice(start, _ROWS_AT_ONCE))
            yield sink.getvalue().to_pybytes()


def _plain_batch(batch: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
    """The same values in the types that Parquet knows, which are the ones that Rust reads."""
    import pyarrow

    schema = pyarrow.schema([field.with_type(_plain(field.type)) for field in batch.schema])
    return batch if schema.equals(batch.schema) else batch.cast(schema)


def _plain(kind: "pyarrow.DataType") -> "pyarrow.DataType":
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pyarrow.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pyarrow.binary()
    if types.is_duration(kind):
        return pyarrow.int64()
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pyarrow.list_(_plain(kind.value_type))
    if types.is_struct(kind):
        return pyarrow.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind
