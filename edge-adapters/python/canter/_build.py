"""Building indexes: documents → splits → one publication."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Union

from . import _canter
from ._arrow import is_table, streams

if TYPE_CHECKING:
    import pyarrow

Documents = Union[Iterable[Union[Mapping[str, Any], str, bytes, "pyarrow.RecordBatch", "pyarrow.Table"]], "pyarrow.Table"]
"""Documents as dictionaries, as lines of JSON, or as rows of tables: Arrow's, or those of any library that hands its tables
over as Arrow's (pandas, Polars, DuckDB)."""

_CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True)
class Receipt:
    """What :func:`build_split` has uploaded: to be carried to whoever publishes. It can be pickled."""

    json: str

    @property
    def num_lines(self) -> int:
        """Documents that were read."""
        return int(json.loads(self.json)["num_lines"])

    @property
    def num_rejected(self) -> int:
        """Documents that the config does not take."""
        return int(json.loads(self.json)["num_rejected_docs"])

    @property
    def num_splits(self) -> int:
        """Splits that were uploaded."""
        return len(json.loads(self.json)["splits"])

    def __repr__(self) -> str:
        return f"Receipt(num_lines={self.num_lines}, num_rejected={self.num_rejected}, num_splits={self.num_splits})"


@dataclass(frozen=True)
class Publication:
    """What :func:`publish` did."""

    #: Documents that can be found from now on.
    num_published_docs: int
    #: Documents that were published before: the same parts, built again.
    num_known_docs: int
    num_published_splits: int
    num_known_splits: int
    #: Splits that the index has now.
    num_live_splits: int


def create(uri: str | os.PathLike[str], config: str | Mapping[str, Any]) -> bool:
    """Makes an empty index from a config, YAML or a dictionary. ``False`` if there is one with that config already.

    Raises :class:`canter.InvalidRequestError` for a config that is wrong, or where there is an index of another.
    """
    return _canter.create(os.fspath(uri), config if isinstance(config, str) else json.dumps(config))


def build_split(
    documents: Documents,
    config: str | Mapping[str, Any] | None = None,
    *,
    uri: str | os.PathLike[str],
    source: str,
    split_num_docs: int | None = None,
    rejects: str | os.PathLike[str] | None = None,
    max_rejects: int | None = 0,
) -> Receipt:
    """Builds splits of documents and uploads them to the index at ``uri``. Nothing is published: see :func:`publish`.

    ``source`` says who the documents are: the same source with the same documents, built again, is the same splits and
    counts once, and no two sources may have one name. With ``config`` the index is made if there is none. More than
    ``max_rejects`` documents that the config does not take are an error (``None``: any number); they are written to the
    file ``rejects``, one a line, with the reason. More documents than ``split_num_docs`` become several splits.
    """
    uri = os.fspath(uri)
    if config is not None:
        create(uri, config)
    failures: list[BaseException] = []
    path = None if rejects is None else os.fspath(rejects)
    try:
        text = _canter.build_split(uri, _reader(documents, failures), source, split_num_docs, path, max_rejects)
    except _canter.CanterError:
        # What went wrong while documents were made is the caller's own error.
        if failures:
            raise failures[0] from None
        raise
    return Receipt(text)


def publish(uri: str | os.PathLike[str], receipts: Iterable[Receipt]) -> Publication:
    """Publishes what receipts say was uploaded: all at once, or nothing."""
    report = json.loads(_canter.publish(os.fspath(uri), [receipt.json for receipt in receipts]))
    return Publication(**report)


def _reader(documents: Documents, failures: list[BaseException]) -> Callable[[], tuple[bool, bytes]]:
    """A function that gives some documents each time, whether as a table and that, and no bytes at the end."""
    chunks = _chunks([documents] if is_table(documents) else documents)

    def read() -> tuple[bool, bytes]:
        try:
            return next(chunks, (False, b""))
        except BaseException as failure:
            failures.append(failure)
            raise

    return read


def _chunks(documents: Documents) -> Iterator[tuple[bool, bytes]]:
    lines: list[bytes] = []
    size = 0
    for document in documents:
        if is_table(document):
            if lines:
                yield False, b"".join(lines)
                lines, size = [], 0
            for table in streams(document):
                yield True, table
            continue
        if isinstance(document, str):
            line = document.encode().removesuffix(b"\n") + b"\n"
        elif isinstance(document, bytes):
            line = document.removesuffix(b"\n") + b"\n"
        elif isinstance(document, Mapping):
            line = _line(document)
        else:
            raise TypeError(f"a document is a dictionary, a line of JSON or a table, and not {type(document).__name__}")
        lines.append(line)
        size += len(line)
        if size >= _CHUNK_BYTES:
            yield False, b"".join(lines)
            lines, size = [], 0
    if lines:
        yield False, b"".join(lines)


def _line(document: Mapping[str, Any]) -> bytes:
    # What a column has no value of is no value, and not null.
    given = {key: value for key, value in document.items() if value is not None}
    return json.dumps(given, default=_plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _plain(value: Any) -> Any:
    """What JSON does not know, as documents write it."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            value = value.replace(tzinfo=timezone.utc)
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        import base64

        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} cannot stand in a document: {value!r}")
