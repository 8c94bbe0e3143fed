"""An index that is open for searching."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import _canter
from ._result import SearchResult

Time = int | datetime
"""Seconds since 1970, or a date with a time zone."""

_CHUNK_BYTES = 256 * 1024


def open(
    uri: str | os.PathLike[str],
    *,
    engine: str = "native",
    cache: str | os.PathLike[str] | None = None,
    cache_bytes: int = 256 * 1024 * 1024,
    threads: int | None = None,
    deadline_ms: int | None = None,
) -> "Index":
    """Opens an index for searching. Nothing of it is read yet.

    ``uri`` is a folder, ``s3://``, ``gs://``, ``az://`` or a web server's ``https://``; credentials come from the
    environment. What searches fetch is kept in the folder ``cache``, or in memory, up to ``cache_bytes``. ``engine`` is
    ``"native"``, or ``"wasm"`` for the sandboxed engine. ``threads`` is into how many parts a search may be divided;
    a search that takes longer than ``deadline_ms`` (30,000) answers with what it has.

    Raises :class:`canter.InvalidRequestError` for an address or settings that cannot be used.
    """
    return Index(os.fspath(uri), engine, None if cache is None else os.fspath(cache), cache_bytes, threads, deadline_ms)


class Index:
    """An index that is open for searching; made by :func:`canter.open`. Threads may share it."""

    def __init__(
        self,
        uri: str,
        engine: str,
        cache: str | None,
        cache_bytes: int,
        threads: int | None,
        deadline_ms: int | None,
    ) -> None:
        self.uri = uri
        self._deadline_ms = deadline_ms
        self._searcher = _canter.Searcher(uri, engine, cache, cache_bytes, threads, deadline_ms)

    def __repr__(self) -> str:
        return f"canter.open({self.uri!r})"

    def search(
        self,
        query: str = "*",
        *,
        aggs: Mapping[str, Any] | None = None,
        max_hits: int = 20,
        start_offset: int = 0,
        sort_by: str | None = None,
        track_total_hits: bool | int = True,
        search_fields: str | Sequence[str] = (),
        snippet_fields: str | Sequence[str] = (),
        start_timestamp: Time | None = None,
        end_timestamp: Time | None = None,
        budget: Mapping[str, int] | None = None,
    ) -> SearchResult:
        """Searches the index.

        ``query`` is in Canter's query language; ``*`` matches everything. ``aggs`` are Elasticsearch's aggregations.
        ``sort_by`` names fast fields separated by commas, with ``-`` in front for ascending. ``track_total_hits`` says how many
        hits are counted at least: with ``False`` or a number, splits that no hit is taken from may stay unread, and
        ``num_hits`` is a lower bound where the answer's ``num_hits_relation`` is ``"gte"``. ``start_timestamp`` is included,
        ``end_timestamp`` is not. ``budget`` may hold ``max_requests``, ``max_bytes``, ``max_waves`` and ``deadline_ms``.

        Raises a :class:`canter.CanterError` of the kind that says what to do.
        """
        request = _request(
            query=query,
            max_hits=max_hits,
            start_offset=start_offset,
            profile=True,
            aggs=None if aggs is None else dict(aggs),
            sort_by=sort_by,
            track_total_hits=None if track_total_hits is True else track_total_hits,
            search_field=_names(search_fields),
            snippet_fields=_names(snippet_fields),
            start_timestamp=_seconds(start_timestamp),
            end_timestamp=_seconds(end_timestamp),
            budget=None if budget is None else dict(budget),
        )
        return SearchResult(json.loads(self._searcher.search(request)))

    def parts(
        self,
        query: str = "*",
        *,
        search_fields: str | Sequence[str] = (),
        start_timestamp: Time | None = None,
        end_timestamp: Time | None = None,
        max_docs: int = 100_000,
    ) -> "list[Part]":
        """All documents that a query matches, in parts of at most ``max_docs``, to be read anywhere and in any order.

        What is published, merged or deleted afterwards does not change them; :meth:`Part.documents` reads them for as
        long as ``canter index gc`` leaves replaced splits alone. The index's own order is that of time, split by split.
        """
        request = _request(
            query=query,
            search_field=_names(search_fields),
            start_timestamp=_seconds(start_timestamp),
            end_timestamp=_seconds(end_timestamp),
        )
        deadline_ms = 600_000 if self._deadline_ms is None else self._deadline_ms
        listed = _canter.list_documents(self.uri, request, max_docs, deadline_ms)
        return [Part(self.uri, num_docs, part) for num_docs, part in listed]

    def scan(
        self,
        query: str = "*",
        *,
        search_fields: str | Sequence[str] = (),
        start_timestamp: Time | None = None,
        end_timestamp: Time | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All documents that a query matches, however many they are, split by split.

        Takes the memory of one part at a time: a few megabytes.
        """
        parts = self.parts(
            query, search_fields=search_fields, start_timestamp=start_timestamp, end_timestamp=end_timestamp
        )
        for part in parts:
            yield from part.documents()

    def config(self) -> dict[str, Any]:
        """The config of the index."""
        config: dict[str, Any] = json.loads(_canter.index_config(self.uri))
        return config

    def describe(self) -> dict[str, Any]:
        """The index in numbers, and its splits."""
        described: dict[str, Any] = json.loads(_canter.describe(self.uri))
        return described

    def settle(self) -> None:
        """Waits until the cache holds what searches have fetched: for a process that is about to end."""
        self._searcher.settle()


@dataclass(frozen=True)
class Part:
    """Documents that :meth:`Index.parts` has listed. It can be pickled, and read on any machine."""

    uri: str
    num_docs: int
    _json: str = field(repr=False)

    def lines(self) -> Iterator[bytes]:
        """The documents as lines of JSON, some of them at a time."""
        reader = _canter.DocumentReader(self.uri, self._json)
        while chunk := reader.read(_CHUNK_BYTES):
            yield chunk

    def documents(self) -> Iterator[dict[str, Any]]:
        """The documents, as they were ingested."""
        for chunk in self.lines():
            for line in chunk.removesuffix(b"\n").split(b"\n"):
                yield json.loads(line)


def _request(**parts: Any) -> str:
    """A search request of what is given."""
    return json.dumps({key: value for key, value in parts.items() if value is not None})


def _names(names: str | Sequence[str]) -> list[str] | None:
    listed = [names] if isinstance(names, str) else list(names)
    return listed or None


def _seconds(time: Time | None) -> int | None:
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise ValueError(f"{time} has no time zone: use datetime(…, tzinfo=timezone.utc)")
        # Whole seconds are all there is; a fraction would move the end of a range.
        if time.microsecond:
            raise ValueError(f"{time} is no whole second")
        return int(time.timestamp())
    return time
