"""The answer to a search, and tables of it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import pyarrow

_OF_BUCKETS = {"key", "key_as_string", "doc_count", "doc_count_error_upper_bound", "from", "from_as_string", "to"}
_OF_BUCKETS |= {"to_as_string", "mask"}


class SearchResult:
    """The answer to a search."""

    def __init__(self, answer: dict[str, Any]) -> None:
        #: The answer as the search API has it.
        self.raw = answer
        #: The documents that were found, best first.
        self.hits: list[dict[str, Any]] = answer["hits"]
        #: How many documents match.
        self.num_hits: int = answer["num_hits"]
        #: ``"eq"``, or ``"gte"`` where there may be more hits than were counted.
        self.num_hits_relation: str = answer.get("num_hits_relation", "eq")
        #: What was aggregated, by name, as Elasticsearch writes it.
        self.aggregations: dict[str, Any] = answer.get("aggregations") or {}
        #: What the search cost: waves, requests, bytes, microseconds.
        self.profile: dict[str, Any] = answer["profile"]
        #: Splits that could not be searched; the answer is without them.
        self.failed_splits: list[dict[str, Any]] = answer.get("failed_splits") or []

    def __repr__(self) -> str:
        parts = [f"num_hits={self.num_hits}", f"hits={len(self.hits)}"]
        if self.aggregations:
            parts.append(f"aggregations={sorted(self.aggregations)}")
        return f"SearchResult({', '.join(parts)})"

    def rows(self, aggregation: str | None = None) -> list[dict[str, Any]]:
        """The hits, or the buckets of an aggregation, as rows.

        Buckets inside of buckets are rows of their own, with the keys around them; a row has a column for each
        aggregation that its bucket is in, named after it, one for each metric, and ``doc_count``.
        """
        if aggregation is None:
            return self.hits
        if aggregation not in self.aggregations:
            known = ", ".join(sorted(self.aggregations)) or "none"
            raise KeyError(f"there is no aggregation {aggregation!r}; there is {known}")
        return list(_rows(aggregation, self.aggregations[aggregation], {}))

    def to_arrow(self, aggregation: str | None = None) -> "pyarrow.Table":
        """The hits, or an aggregation, as a table; see :meth:`rows`. Needs the package ``pyarrow``."""
        import pyarrow

        return pyarrow.Table.from_pylist(_with_all_columns(self.rows(aggregation)))

    def to_pandas(self, aggregation: str | None = None) -> "pandas.DataFrame":
        """The hits, or an aggregation, as a data frame; see :meth:`rows`. Needs the package ``pandas``."""
        import pandas

        return pandas.DataFrame(_with_all_columns(self.rows(aggregation)))


def _with_all_columns(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the columns of all of them, in the order of their first rows."""
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(row))
    return [{column: row.get(column) for column in columns} for row in rows]


def _rows(name: str, aggregation: Mapping[str, Any], around: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "buckets" not in aggregation:
        inside = {key: value for key, value in aggregation.items() if isinstance(value, Mapping)}
        if "doc_count" in aggregation:
            yield from _bucket(name, aggregation, around)
        elif "hits" in inside:
            yield {**around, name: inside["hits"].get("hits")}
        elif "value" in aggregation:
            yield {**around, name: aggregation["value"]}
        else:
            yield {**around, **{f"{name}.{key}": value for key, value in _flat(aggregation)}}
        return
    buckets = aggregation["buckets"]
    if isinstance(buckets, Mapping):
        buckets = [{"key": key, **bucket} for key, bucket in buckets.items()]
    for bucket in buckets:
        yield from _bucket(name, bucket, around)


def _bucket(name: str, bucket: Mapping[str, Any], around: dict[str, Any]) -> Iterator[dict[str, Any]]:
    key = bucket.get("key_as_string", bucket.get("key"))
    row = dict(around)
    if isinstance(key, Mapping):
        row.update({f"{name}.{part}": value for part, value in key.items()})
    elif key is not None:
        row[name] = key
    row["doc_count"] = bucket["doc_count"]
    nested = []
    for inside, value in bucket.items():
        if inside in _OF_BUCKETS or not isinstance(value, Mapping):
            continue
        if "buckets" in value or "doc_count" in value:
            nested.append((inside, value))
        else:
            for metric in _rows(inside, value, {}):
                row.update(metric)
    if not nested:
        yield row
        return
    # Each bucket inside has its own.
    row.pop("doc_count")
    for inside, value in nested:
        yield from _rows(inside, value, row)


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            for inner, number in _flat(value):
                yield f"{key}.{inner}", number
        else:
            yield key, value
