"""Aggregations over one corpus: Canter, native and in WebAssembly, beside DuckDB over Parquet.

`cargo xtask peers` runs it. Both read the same generated lines from local files that the system has in memory, with one
thread. Their answers must be equal, or it fails. Times are the least of some rounds, in milliseconds of CPU:

- guest: what the guest computed, from the profile of the answer;
- process: all of a `canter search`, from start to exit, which opens the index each time;
- DuckDB: one query in a process that has opened the file already.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import duckdb

DAY, SEVEN_MINUTES, HOUR = 86_400, 420, 3_600


def by_time(interval, inside, offset=None):
    dates = {"field": "timestamp", "fixed_interval": interval, "min_doc_count": 1}
    if offset:
        dates["offset"] = offset
    return {"date_histogram": dates, "aggs": inside}


def start_of(seconds, offset=0):
    """The beginning of the interval that a time is in, in milliseconds, as SQL."""
    return f"(t - (t - {offset}) % {seconds}) * 1000"


LEVELS = {"levels": {"terms": {"field": "severity_text"}}}


def nested(answer):
    """Rows of key, key inside, count."""
    for bucket in answer["buckets"]:
        for level in bucket["levels"]["buckets"]:
            yield bucket["key"], level["key"], level["doc_count"]


def flat(answer):
    for bucket in answer["buckets"]:
        yield bucket["key"], bucket["doc_count"]


def averages(answer):
    for bucket in answer["buckets"]:
        yield bucket["key"], bucket["average"]["value"]


def percentiles(answer):
    yield tuple(answer["values"].values())


# Name, query, aggregation, rows of Canter's answer, SQL, largest relative error of a number (sketches).
QUERIES = [
    (
        "day x level, offset 7 min", "*", by_time("1d", LEVELS, "7m"), nested,
        f"select {start_of(DAY, 420)}, severity_text, count(*) from logs group by all", 0,
    ),
    (
        "7 min x level", "*", by_time("7m", LEVELS), nested,
        f"select {start_of(SEVEN_MINUTES)}, severity_text, count(*) from logs group by all", 0,
    ),
    (
        "hour, of a word (a third of all)", "body:block", by_time("1h", {}), flat,
        f"select {start_of(HOUR)}, count(*) from logs where regexp_matches(body, '(?i)(^|[^a-z0-9])block([^a-z0-9]|$)') "
        "group by all", 0,
    ),
    (
        "day x average", "*", by_time("1d", {"average": {"avg": {"field": "tenant_id"}}}), averages,
        f"select {start_of(DAY)}, avg(tenant_id) from logs group by all", 1e-12,
    ),
    (
        "cardinality", "*", {"cardinality": {"field": "tenant_id"}}, lambda answer: [(answer["value"],)],
        "select count(distinct tenant_id) from logs", 0,
    ),
    (
        "percentiles", "*", {"percentiles": {"field": "tenant_id"}}, percentiles,
        "select " + ", ".join(f"quantile_cont(tenant_id, {p / 100})" for p in (1, 5, 25, 50, 75, 95, 99)) + " from logs",
        0.02,
    ),
    (
        "terms", "*", {"terms": {"field": "tenant_id", "size": 1000}}, flat,
        "select tenant_id, count(*) from logs group by all", 0,
    ),
]


def build(args):
    """The index and the Parquet file, each from the generator's own stream."""
    index, parquet = args.folder / "index", args.folder / "logs.parquet"
    if not index.exists():
        config = args.folder / "config.yaml"
        config.write_bytes(subprocess.run([args.corpus, "--config"], check=True, capture_output=True).stdout)
        lines = subprocess.Popen([args.corpus, str(args.docs)], stdout=subprocess.PIPE)
        per_split = -(-args.docs // args.splits)
        ingest = [
            args.canter, "index", "ingest", "--index", index, "--index-config", config, "--ingest-id", "corpus",
            "--split-num-docs", str(per_split), "--max-split-bytes", str(per_split * 1024),
        ]
        subprocess.run(ingest, stdin=lines.stdout, check=True)
        assert lines.wait() == 0
    if not parquet.exists():
        lines = subprocess.Popen([args.corpus, str(args.docs)], stdout=subprocess.PIPE)
        columns = "{timestamp: 'BIGINT', severity_text: 'VARCHAR', body: 'VARCHAR', tenant_id: 'BIGINT'}"
        pipe = f"/dev/fd/{lines.stdout.fileno()}"
        duckdb.sql(
            f"copy (select timestamp as t, * exclude timestamp from read_json('{pipe}', format = 'newline_delimited', "
            f"columns = {columns}) order by timestamp) to '{parquet}' (format parquet, compression zstd)"
        )
        assert lines.wait() == 0
    return index, parquet


def canter(args, index, engine, query, aggregation):
    """The answer, the guest's milliseconds, and those of the process."""
    command = [
        args.canter, "search", "--index", index, "--engine", engine, "--threads", "1", "--max-hits", "0",
        "--query", query, "--aggs", json.dumps({"a": aggregation}), "--profile", "--format", "json",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{engine}: {query}: canter failed")
    answer = json.loads(text)
    profile = answer["profile"]
    return (
        answer["aggregations"]["a"],
        profile["guest_us"] / 1e3,
        (usage.ru_utime + usage.ru_stime) * 1e3,
        profile["num_requests"],
        profile["num_bytes"],
    )


def same(ours, theirs, error):
    def is_same(left, right):
        if isinstance(left, str) or not error:
            return left == right
        return abs(left - right) <= error * max(abs(left), abs(right))

    return len(ours) == len(theirs) and all(
        len(left) == len(right) and all(map(is_same, left, right)) for left, right in zip(ours, theirs)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--canter", type=pathlib.Path, required=True, help="the program of `cargo xtask dist`")
    parser.add_argument("--corpus", type=pathlib.Path, required=True, help="the example `write_corpus`")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where index and Parquet file are kept")
    parser.add_argument("--docs", type=int, default=2_000_000)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    args.folder = args.folder / f"{args.docs}-{args.splits}"
    args.folder.mkdir(parents=True, exist_ok=True)
    index, parquet = build(args)
    database = duckdb.connect(config={"threads": 1})
    database.sql(f"create view logs as from '{parquet}'")
    print(f"\n{args.docs:,} documents in {args.splits} splits; milliseconds of CPU, one thread, least of {args.rounds}\n")
    print("| | guest, native | guest, wasm | wasm / native | process, native | process, wasm | DuckDB | requests | MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    product = 1.0
    for name, query, aggregation, rows_of, sql, error in QUERIES:
        least = {}
        # In turns, so that what else the machine does befalls all of them.
        for _ in range(args.rounds):
            for engine in ("native", "wasm"):
                answer, guest_ms, process_ms, requests, num_bytes = canter(args, index, engine, query, aggregation)
                least[engine] = min(least.get(engine, guest_ms), guest_ms)
                least[engine, "process"] = min(least.get((engine, "process"), process_ms), process_ms)
                ours = sorted(rows_of(answer))
                started = time.process_time()
                theirs = sorted(tuple(row) for row in database.sql(sql).fetchall())
                duckdb_ms = (time.process_time() - started) * 1e3
                least["duckdb"] = min(least.get("duckdb", duckdb_ms), duckdb_ms)
                if not same(ours, theirs, error):
                    sys.exit(f"{name}, {engine}: {ours[:5]} … is not {theirs[:5]} …")
        ratio = least["wasm"] / least["native"]
        product *= ratio
        figures = [least["native"], least["wasm"]]
        after = [least["native", "process"], least["wasm", "process"], least["duckdb"]]
        print(
            f"| {name} | " + " | ".join(f"{ms:.1f}" for ms in figures) + f" | {ratio:.2f} | "
            + " | ".join(f"{ms:.0f}" for ms in after) + f" | {requests} | {num_bytes / 1e6:.2f} |",
            flush=True,
        )
    print(f"\nwasm / native, geometric mean: {product ** (1 / len(QUERIES)):.2f}")


main()
