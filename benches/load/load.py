"""Twenty clients that never pause, beside ten thousand idle connections and a hundred slow ones.

    python benches/load/load.py --canter target/debug/canter --index web=/path/to/web-logs --engine native

The six requests are those of seq-db's own benchmark: pages behind one another, three statuses, one path, a range of sizes in pages
of 100, a count by status, the least size by status. It prints requests a second, latencies, memory over time and errors, and ends
with 1 if there was any error. The index is one of web server logs, as `benches/peers` builds it.
"""

import argparse
import asyncio
import json
import pathlib
import random
import re
import resource
import subprocess
import sys
import time

import aiohttp

CLIENTS = 20
WINDOW_SECONDS = 10


def scenarios(draw):
    """Name and body of each request, drawn anew for each time."""
    size = draw.randrange(100, 20_000)
    return [
        ("pages 1 to 50", {"query": "status:200", "max_hits": 100, "start_offset": 100 * draw.randrange(50)}),
        ("three statuses", {"query": "status: IN [500 400 403]", "max_hits": 20}),
        ("one path", {"query": 'request:"GET /images/hm_bg.jpg HTTP/1.0"', "max_hits": 20}),
        ("a range of sizes", {"query": f"size:[{size} TO {size * 2}]", "max_hits": 100, "start_offset": 100 * draw.randrange(5)}),
        ("count by status", {"query": "*", "max_hits": 0, "aggs": {"s": {"terms": {"field": "status", "size": 50}}}}),
        (
            "least size by status",
            {
                "query": "*",
                "max_hits": 0,
                "aggs": {"s": {"terms": {"field": "status", "size": 50}, "aggs": {"m": {"min": {"field": "size"}}}}},
            },
        ),
    ]


async def client(session, url, number, until, took, errors):
    """Sends one request after the other."""
    draw = random.Random(number)
    while time.monotonic() < until:
        for name, body in scenarios(draw):
            began = time.monotonic()
            try:
                async with session.post(url, json=body) as answer:
                    text = await answer.text()
                    if answer.status != 200 or '"errors":[]' not in text:
                        errors.append(f"{name}: {answer.status} {text[:200]}")
            except (aiohttp.ClientError, asyncio.TimeoutError) as error:
                errors.append(f"{name}: {error!r}")
            took.setdefault(name, []).append(time.monotonic() - began)


async def idle(host, port, num):
    """Connections on which nothing is sent; those that the server closes are counted at the end."""
    opened = []
    for _ in range(num):
        opened.append(await asyncio.open_connection(host, port))
    return opened


async def slow(host, port, until):
    """Sends a request byte by byte, as long as the server lets it."""
    while time.monotonic() < until:
        try:
            _, writer = await asyncio.open_connection(host, port)
            for byte in b"POST /api/v1/web/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n" + b" " * 1000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.2)
                if time.monotonic() > until:
                    break
            writer.close()
        except OSError:
            # It was closed: that is what the server's limits are for.
            await asyncio.sleep(0.2)


def memory_mb(process):
    """What a process holds, in MB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


async def watch(process, until, held):
    while time.monotonic() < until:
        held.append(memory_mb(process))
        await asyncio.sleep(WINDOW_SECONDS)


async def run(options, address, process):
    host, port = address.removeprefix("http://").split(":")
    until = time.monotonic() + options.seconds
    took, errors, held = {}, [], []
    idles = await idle(host, int(port), options.idle)
    others = [asyncio.create_task(slow(host, int(port), until)) for _ in range(options.slow)]
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
        url = f"{address}/api/v1/{options.index.split('=')[0]}/search"
        clients = [client(session, url, number, until, took, errors) for number in range(CLIENTS)]
        await asyncio.gather(watch(process, until, held), *clients)
    await asyncio.gather(*others)
    for _, writer in idles:
        writer.close()
    return took, errors, held


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--canter", required=True)
    parser.add_argument("--index", required=True, help="NAME=URI of an index of web server logs")
    parser.add_argument("--engine", default="wasm")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--slow", type=int, default=100)
    options = parser.parse_args()
    most = options.idle + options.slow + CLIENTS + 500
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * most), hard))
    command = [options.canter, "serve", "--listen", "127.0.0.1:0", "--engine", options.engine, "--index", options.index]
    # Idle connections are closed after this: here they are to stay.
    command += ["--max-connections", str(most), "--header-timeout", f"{options.seconds + 60}s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().split()[-1]
        took, errors, held = asyncio.run(run(options, address, process))
        stands = process.poll() is None
    finally:
        process.terminate()
        process.wait(60)
    total = sum(map(len, took.values()))
    print(f"{options.engine}: {total} requests in {options.seconds} s: {total / options.seconds:.0f} a second, {len(errors)} errors")
    for name, times in took.items():
        shown = ", ".join(f"p{share * 100:.0f} {quantile(times, share):.1f} ms" for share in (0.5, 0.95, 0.99))
        print(f"  {name:22} {len(times):7} requests, {shown}")
    third = max(1, len(held) // 3)
    print(f"  memory: {held[0]:.0f} MB at first, {max(held):.0f} at most, {sum(held[-third:]) / third:.0f} in the last third")
    for error in errors[:5]:
        print(f"  {error}")
    print(json.dumps({"engine": options.engine, "requests": total, "errors": len(errors), "stands": stands}))
    sys.exit(0 if stands and not errors else 1)


if __name__ == "__main__":
    main()
