"""Fields of an index as columns, and values of documents as values of columns."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from pyspark.sql import types

#: What is not mapped, as a JSON object.
DYNAMIC = "_dynamic"

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: Dates that are written as numbers: how many of them make a second.
UNIX_FORMATS = {
    "unix_timestamp_secs": 1,
    "unix_timestamp_millis": 1_000,
    "unix_timestamp_micros": 1_000_000,
    "unix_timestamp_nanos": 1_000_000_000,
}
_TEXT_FORMATS = ("rfc3339", "iso8601")


def fields_of(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The mappings of the index's fields; those of objects are within."""
    return list(config["doc_mapping"].get("field_mappings", []))


def fields_by_path(config: Mapping[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """The mappings of all fields that hold values."""

    def within(fields: list[dict[str, Any]], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
        for field in fields:
            path = (*above, field["name"])
            if field["type"] == "object":
                yield from within(field.get("field_mappings", []), path)
            else:
                yield path, field

    return dict(within(fields_of(config), ()))


def schema_of(config: Mapping[str, Any]) -> Any:
    """The columns of an index."""
    columns = [_column(field) for field in fields_of(config) if _is_stored(field)]
    if config["doc_mapping"].get("mode", "dynamic") == "dynamic":
        columns.append(types.StructField(DYNAMIC, types.StringType()))
    return types.StructType(columns)


def _is_stored(field: Mapping[str, Any]) -> bool:
    if field["type"] == "object":
        return any(map(_is_stored, field.get("field_mappings", [])))
    return bool(field.get("stored", True)) and field["type"] != "concatenate"


def _column(field: Mapping[str, Any]) -> Any:
    kind = field["type"]
    if kind == "object":
        inside = [_column(inner) for inner in field.get("field_mappings", []) if _is_stored(inner)]
        return types.StructField(field["name"], types.StructType(inside))
    element = kind.removeprefix("array<").removesuffix(">")
    column = _element(element, field)
    return types.StructField(field["name"], types.ArrayType(column) if element != kind else column)


def _element(kind: str, field: Mapping[str, Any]) -> Any:
    if kind == "datetime":
        return types.TimestampType() if is_instant(field) else types.StringType()
    plain = {
        "i64": types.LongType(),
        # As Spark reads such columns of Parquet: a long has no room for all of them.
        "u64": types.DecimalType(20, 0),
        "f64": types.DoubleType(),
        "bool": types.BooleanType(),
        "bytes": types.BinaryType(),
    }
    return plain.get(kind, types.StringType())


def is_instant(field: Mapping[str, Any]) -> bool:
    """Whether a date is written so that it can be read again."""
    written = field.get("output_format", "rfc3339")
    return written in UNIX_FORMATS or written in _TEXT_FORMATS


def rows_writer(schema: Any, config: Mapping[str, Any]) -> Callable[[list[dict[str, Any]]], list[list[Any]]]:
    """What makes columns of documents."""
    mappings = {field["name"]: field for field in fields_of(config)}
    columns = [(column.name, _converter(column.dataType, mappings.get(column.name))) for column in schema.fields]
    has_dynamic = DYNAMIC in schema.names and DYNAMIC not in mappings

    def write(documents: list[dict[str, Any]]) -> list[list[Any]]:
        if has_dynamic:
            for document in documents:
                rest = {key: value for key, value in document.items() if key not in mappings and key != "_source"}
                document[DYNAMIC] = rest or None
        return [[convert(document.get(name)) for document in documents] for name, convert in columns]

    return write


def _converter(kind: Any, field: Mapping[str, Any] | None) -> Callable[[Any], Any]:
    """What makes a value of a column's type, or nothing, of a document's value."""
    convert = _converter_of_values(kind, field)
    return lambda value: None if value is None else convert(value)


def _converter_of_values(kind: Any, field: Mapping[str, Any] | None) -> Callable[[Any], Any]:
    if isinstance(kind, types.ArrayType):
        element = _converter(kind.elementType, field)
        return lambda value: [element(one) for one in (value if isinstance(value, list) else [value])]
    if isinstance(kind, types.StructType):
        mappings = {inner["name"]: inner for inner in (field or {}).get("field_mappings", [])}
        inside = [(inner.name, _converter(inner.dataType, mappings.get(inner.name))) for inner in kind.fields]
        return lambda value: {name: convert(value.get(name)) for name, convert in inside}
    if isinstance(kind, types.MapType):
        inner = _converter(kind.valueType, None)
        return lambda value: [(key, inner(one)) for key, one in value.items()]
    if isinstance(kind, types.StringType):
        return _text
    if isinstance(kind, types.BinaryType):
        return bytes.fromhex if (field or {}).get("output_format") == "hex" else base64.b64decode
    if isinstance(kind, types.DecimalType):
        return lambda value: Decimal(str(value))
    if isinstance(kind, (types.DoubleType, types.FloatType)):
        return float
    if isinstance(kind, types.TimestampType):
        per_second = UNIX_FORMATS.get((field or {}).get("output_format", "rfc3339"))
        return lambda value: _instant(value, per_second)
    if isinstance(kind, types.DateType):
        return lambda value: date.fromisoformat(value[:10])
    return lambda value: value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _instant(value: Any, per_second: int | None) -> datetime:
    if isinstance(value, str):
        # Finer than microseconds is more than Spark keeps, and more than Python reads before 3.11.
        whole, dot, rest = value.replace("Z", "+00:00").partition(".")
        if dot:
            digits = len(rest) - len(rest.lstrip("0123456789"))
            whole += f".{rest[:digits][:6]:0<6}{rest[digits:]}"
        return datetime.fromisoformat(whole)
    # Cut, and not rounded: before 1970, too.
    return _EPOCH + timedelta(microseconds=value * 1_000_000 // (per_second or 1))
