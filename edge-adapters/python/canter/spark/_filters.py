"""Filters of Spark as a query: one that matches at least what the filter does, and so can stand in front of it."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import datasource as spark

from ._schema import is_instant

_Fields = Mapping[tuple[str, ...], Mapping[str, Any]]

#: Names that need no escapes.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

#: Ranges with one end: its bracket.
_LOWER = {"GreaterThan": "{", "GreaterThanOrEqual": "["}
_UPPER = {"LessThan": "}", "LessThanOrEqual": "]"}

#: So many values of one ``IN`` are asked for.
_MAX_VALUES = 500


def query_of(given: Any, fields: _Fields) -> str | None:
    """The query; ``None`` if there is none, and Spark has to look at all documents."""
    if isinstance(given, spark.Not):
        # What is left out must be exactly what the filter within matches.
        query = query_of(given.child, fields) if _is_exact(given.child, fields) else None
        return None if query is None else f"(* AND NOT {query})"
    path = tuple(given.attribute)
    field = fields.get(path)
    if field is None or not all(map(_NAME.fullmatch, path)) or not _is_searchable(field):
        return None
    name, kind = ".".join(path), field["type"]
    if isinstance(given, (spark.EqualTo, spark.EqualNullSafe)):
        if given.value is None:
            return None
        return _equal(name, field, given.value)
    if isinstance(given, spark.In):
        values = [value for value in given.value if value is not None]
        queries = [_equal(name, field, value) for value in values[: _MAX_VALUES + 1]]
        known = [query for query in queries if query is not None]
        if not known or len(known) < len(queries) or len(known) > _MAX_VALUES:
            return None
        return f"({' OR '.join(known)})"
    if isinstance(given, spark.IsNotNull):
        return f"{name}:*" if field.get("fast") else None
    if isinstance(given, spark.StringStartsWith):
        return f"{name}:{_escaped(given.value)}*" if kind == "text" and given.value else None
    comparison = type(given).__name__
    if kind == "text" or comparison not in (*_LOWER, *_UPPER):
        return None
    return _range(name, field, comparison, given.value)


def _is_searchable(field: Mapping[str, Any]) -> bool:
    """Whether values of it are found as they are."""
    kind = field["type"]
    if kind == "text":
        return bool(field.get("indexed", True)) and field.get("tokenizer") == "raw"
    if kind == "datetime" and not is_instant(field):
        return False
    return kind in ("i64", "u64", "f64", "bool", "datetime") and bool(field.get("indexed", True) or field.get("fast"))


def _is_exact(given: Any, fields: _Fields) -> bool:
    """Whether the query of a filter matches no more than the filter."""
    if not isinstance(given, (spark.EqualTo, spark.In)):
        return False
    values = given.value if isinstance(given, spark.In) else [given.value]
    field = fields.get(tuple(given.attribute), {})
    return field.get("type") in ("text", "i64", "u64", "bool") and None not in values


def _equal(name: str, field: Mapping[str, Any], value: Any) -> str | None:
    kind = field["type"]
    if kind == "text":
        return f"{name}:{_quoted(value)}" if isinstance(value, str) else None
    if kind == "bool":
        return f"{name}:{str(value).lower()}" if isinstance(value, bool) else None
    if kind == "datetime":
        ends = [_range(name, field, end, value) for end in ("GreaterThanOrEqual", "LessThanOrEqual")]
        return None if None in ends else f"({' AND '.join(map(str, ends))})"
    number = _number(kind, value)
    return None if number is None else f"{name}:{_quoted(number)}"


def _range(name: str, field: Mapping[str, Any], comparison: str, value: Any) -> str | None:
    if field["type"] == "datetime":
        # Documents may show less of a date than the index knows, or the other way round, but whole seconds always.
        bound = _second(value, 0 if comparison in _LOWER else 1)
        bracket = "[" if comparison in _LOWER else "]"
    else:
        bound = _number(field["type"], value)
        bracket = (_LOWER | _UPPER)[comparison]
    if bound is None:
        return None
    return f"{name}:{bracket}{bound} TO *]" if comparison in _LOWER else f"{name}:[* TO {bound}{bracket}"


def _second(value: Any, later: int) -> str | None:
    """The whole second of a date, or one after it."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    second = value.astimezone(timezone.utc).replace(microsecond=0, tzinfo=None)
    try:
        return f"{(second + timedelta(seconds=later)).isoformat()}Z"
    except OverflowError:
        return None


def _number(kind: str, value: Any) -> str | None:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return None
    if kind == "f64":
        # Texts of the shortest digits are read as the same number again; infinities and the like are left to Spark.
        number = repr(float(value)).replace("e+", "e")
        return number if number[-1].isdigit() and float(value) != 0 else None
    lowest, highest = (0, 2**64) if kind == "u64" else (-(2**63), 2**63)
    is_whole = value == int(value)
    return str(int(value)) if is_whole and lowest <= value < highest else None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escaped(text: str) -> str:
    return "".join(character if character.isalnum() else f"\\{character}" for character in text)
