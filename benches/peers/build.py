"""What an index takes: bytes, time and memory to build, and requests to search; beside DuckDB's Parquet and tantivy.

`cargo xtask peers build` runs it. All read the same generated lines. What is built stays in the folder, so that a
second run only searches; `--again` builds anew. Hits are compared with tantivy's.

- documents a CPU second: user and system time of the whole process, with all of its threads;
- memory: the peak of what the process has resident;
- requests: of one search from an empty cache, as the profile of its answer counts them;
- beside the guest: CPU time of a whole search less what its profile says of the guest, so the start of the process counts.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

HDFS, HTTP = "hdfs", "http"

# Name, query, further arguments; what is counted is told apart below.
QUERIES = [
    ("classic: newest of a level", "severity_text:ERROR"),
    ("a phrase", 'body:"exception while serving"'),
    ("two words", "body:block AND body:exception"),
    ("a word", "body:exception"),
    ("a word and a range", "body:block AND tenant_id:[20 TO 40]"),
]

COLUMNS = {
    HDFS: "{timestamp: 'BIGINT', severity_text: 'VARCHAR', body: 'VARCHAR', tenant_id: 'BIGINT', "
    "resource: 'JSON', attributes: 'JSON'}",
    HTTP: None,
}


def lines_of(args, corpus, docs):
    return subprocess.Popen([args.corpus, str(docs), corpus], stdout=subprocess.PIPE)


def measured(process):
    """CPU seconds and peak memory in bytes of a process until it ends."""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{process.args}: failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def size_of(path):
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def kept(args, folder, name, build):
    """The figures of what is built, from a file beside it if it was built before."""
    path, figures = folder / name, folder / f"{name}.json"
    if args.again:
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
        figures.unlink(missing_ok=True)
    if not figures.exists():
        cpu, memory = build(path)
        figures.write_text(json.dumps({"cpu": cpu, "memory": memory, "bytes": size_of(path)}))
    return json.loads(figures.read_text())


def build_canter(args, corpus, docs, splits):
    def build(path):
        config = path.with_suffix(".yaml")
        config.write_bytes(subprocess.run([args.corpus, "--config", corpus], check=True, capture_output=True).stdout)
        lines = lines_of(args, corpus, docs)
        per_split = -(-docs // splits)
        command = [
            args.canter, "index", "ingest", "--index", path, "--index-config", config, "--ingest-id", "corpus",
            "--split-num-docs", str(per_split), "--max-split-bytes", str(per_split * 1024),
        ]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return measured(subprocess.Popen(command, stdin=lines.stdout, **quiet))

    return build


def build_duckdb(args, corpus, docs):
    """In a process of its own, whose time and memory are DuckDB's alone."""

    def build(path):
        lines = lines_of(args, corpus, docs)
        columns = COLUMNS[corpus]
        columns = f", columns = {columns}" if columns else ""
        code = (
            "import duckdb; duckdb.sql(\"set preserve_insertion_order = true\"); duckdb.sql(\"copy (from "
            f"read_json('/dev/stdin', format = 'newline_delimited'{columns})) to '{path}' "
            '(format parquet, compression zstd)")'
        )
        return measured(subprocess.Popen([sys.executable, "-c", code], stdin=lines.stdout))

    return build


TANTIVY = """
import json, sys, tantivy
path, corpus = sys.argv[1:]
builder = tantivy.SchemaBuilder()
if corpus == "hdfs":
    builder.add_integer_field("timestamp", stored=True, indexed=True, fast=True)
    builder.add_text_field("severity_text", stored=True, tokenizer_name="raw", fast=True)
    builder.add_text_field("body", stored=True)
    builder.add_unsigned_field("tenant_id", stored=True, indexed=True, fast=True)
    builder.add_json_field("resource", stored=True)
    builder.add_json_field("attributes", stored=True)
else:
    builder.add_json_field("line", stored=True, fast=True)
index = tantivy.Index(builder.build(), path=path)
writer = index.writer(heap_size=500_000_000, num_threads=1)
for line in sys.stdin:
    document = json.loads(line)
    if corpus == "http":
        document = {"line": document}
    writer.add_document(tantivy.Document.from_dict(document, index.schema))
writer.commit()
writer.wait_merging_threads()
"""


def build_tantivy(args, corpus, docs):
    def build(path):
        path.mkdir()
        lines = lines_of(args, corpus, docs)
        return measured(subprocess.Popen([sys.executable, "-c", TANTIVY, path, corpus], stdin=lines.stdout))

    return build


def input_bytes(args, corpus, docs, folder):
    known = folder / "input.json"
    if not known.exists():
        lines = lines_of(args, corpus, docs)
        known.write_text(json.dumps(sum(len(part) for part in iter(lambda: lines.stdout.read(1 << 20), b""))))
    return json.loads(known.read_text())


def tables(args, corpus, docs, splits):
    folder = args.folder / f"{corpus}-{docs}-{splits}"
    folder.mkdir(parents=True, exist_ok=True)
    num_bytes = input_bytes(args, corpus, docs, folder)
    print(f"\n{corpus}: {docs:,} documents in {splits} splits, {num_bytes / 1e6:,.0f} MB\n")
    print("| | MB | of the input | documents a CPU second | peak memory, MB |\n|---|---|---|---|---|")
    builders = [
        ("Canter", "index", build_canter(args, corpus, docs, splits)),
        ("DuckDB, Parquet, zstd", "logs.parquet", build_duckdb(args, corpus, docs)),
    ]
    if not args.without_tantivy:
        builders.append(("tantivy (Python), one thread", "tantivy", build_tantivy(args, corpus, docs)))
    for name, path, build in builders:
        figures = kept(args, folder, path, build)
        print(
            f"| {name} | {figures['bytes'] / 1e6:,.1f} | {figures['bytes'] / num_bytes:.1%} | "
            f"{docs / figures['cpu']:,.0f} | {figures['memory'] / 1e6:,.0f} |",
            flush=True,
        )
    index = folder / "index"
    heads = sum(map(head_len, (index / "splits").iterdir()))
    print(f"\nHeads of all splits: {heads / 1e3:,.1f} KB.")
    return folder, index


def head_len(split):
    """Behind eight bytes of magic number and four of version, a split says how long its head is."""
    with split.open("rb") as file:
        return int.from_bytes(file.read(20)[12:], "little")


def search(args, index, query, counted):
    command = [
        args.canter, "search", "--index", index, "--threads", "1", "--max-hits", "10", "--query", query,
        "--profile", "--format", "json", *counted,
    ]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def start_to_exit(args, index):
    """Milliseconds of CPU of a whole search that heads answer, least of 20."""
    command = [args.canter, "search", "--index", index, "--query", "*", "--max-hits", "0"]
    least = float("inf")
    for _ in range(20):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least * 1e3


def beside_the_guest(args, index, engine, further):
    """Milliseconds of CPU of a search that reads a whole column, without the guest's, and the bytes it reads.

    The least of 15 of either: the guest's is by the clock, which goes on while others have the processor.
    """
    whole, guest = float("inf"), float("inf")
    for number in range(15):
        # Under another name each time: a cache also keeps what came of a split.
        aggs = json.dumps({f"run {number} of {os.getpid()} {time.time_ns()}": {"stats": {"field": "tenant_id"}}})
        command = [
            args.canter, "search", "--index", index, "--threads", "1", "--max-hits", "0", "--query", "*", "--aggs", aggs,
            "--engine", engine, "--profile", "--format", "json", *further,
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = subprocess.run(command, check=True, capture_output=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        profile = json.loads(answer)["profile"]
        whole, guest = min(whole, cpu), min(guest, profile["guest_us"] / 1e6)
        num_bytes = profile["num_bytes"] + profile["num_cache_bytes"]
    return (whole - guest) * 1e3, num_bytes


def of_the_host(args, folder, index):
    print("\n| CPU time beside the guest | from | MB | ms |")
    print("|---|---|---|---|")
    for engine in ("native", "wasm"):
        cache = folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        beside_the_guest(args, index, engine, ["--cache", cache])
        for name, further in (("a folder", []), ("a full cache", ["--cache", cache])):
            least, num_bytes = beside_the_guest(args, index, engine, further)
            print(f"| {engine} | {name} | {num_bytes / 1e6:.1f} | {least:.1f} |", flush=True)


def requests(args, folder, index):
    print("\n| 10 newest hits, cold | hits | waves | requests | MB | without counting: waves | requests | MB |")
    print("|---|---|---|---|---|---|---|---|")
    searcher = None
    if not args.without_tantivy:
        import tantivy

        opened = tantivy.Index.open(str(folder / "tantivy"))
        searcher = opened.searcher()
    for name, query in QUERIES:
        whole, part = (search(args, index, query, counted) for counted in ((), ("--count-up-to", "0")))
        if whole["hits"] != part["hits"]:
            sys.exit(f"{query}: other hits without counting")
        if searcher:
            found = searcher.search(opened.parse_query(query, ["body"]), limit=1, count=True).count
            if found != whole["num_hits"]:
                sys.exit(f"{query}: {whole['num_hits']} hits, and tantivy has {found}")
        costs = [
            f"{answer['profile']['num_waves']} | {answer['profile']['num_requests']} | "
            f"{answer['profile']['num_bytes'] / 1e6:.2f}"
            for answer in (whole, part)
        ]
        print(f"| {name}: `{query}` | {whole['num_hits']:,} | {costs[0]} | {costs[1]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--canter", type=pathlib.Path, required=True, help="the program of `cargo xtask dist`")
    parser.add_argument("--corpus", type=pathlib.Path, required=True, help="the example `write_corpus`")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where what is built is kept")
    parser.add_argument("--docs", type=int, default=2_000_000, help="lines of the HDFS logs")
    parser.add_argument("--http-docs", type=int, default=2_000_000, help="lines of the web server's logs")
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--again", action="store_true", help="build what is there already")
    parser.add_argument("--without-tantivy", action="store_true", help="it takes its time")
    args = parser.parse_args()
    started = time.time()
    folder, index = tables(args, HDFS, args.docs, args.splits)
    requests(args, folder, index)
    of_the_host(args, folder, index)
    print(f"\nStart to exit, heads answer: {start_to_exit(args, index):.1f} ms of CPU.")
    print(f"The program: {args.canter.stat().st_size / 1e6:.1f} MB.")
    if args.http_docs:
        tables(args, HTTP, args.http_docs, 1)
    print(f"\n{time.time() - started:,.0f} s in all.")


main()
