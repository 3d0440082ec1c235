"""The course as files, behind nginx with readers on it: until all of a first view has come.

A reader fetches a page and what it names, with nothing in the cache, over one connection that stays
open until all have read. Files are compressed beforehand: `gzip_static`.
"""

import asyncio
import gzip
import re
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import psutil

from benchmarks import report
from explainers.export.__main__ import LIVE
from explainers.export.site import Site
from explainers.export.visit import PAGES

READERS, SPREADS, LIMIT = 1000, (60, 30, 10), 60
"""How many; the seconds over which they come; the seconds that one waits at the most."""
LETTERS = "assets/source-sans.woff2"
"""Named by the style of every page."""
NAMED = re.compile(rb"\.\./(assets/[\w.-]+)")
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
CONF = """daemon off; pid nginx.pid; worker_processes 2; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; gzip_static on;
  server {{ listen 127.0.0.1:{port} backlog=2048; root {root}; }}
}}"""


@contextmanager
def serve(root: Path) -> Iterator[tuple[int, psutil.Popen]]:
    """nginx with two workers before a folder: its port, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    conf = root / "nginx.conf"
    conf.write_text(CONF.format(port=port, root=root), encoding="utf-8")
    nginx = psutil.Popen(["nginx", "-p", str(root), "-c", str(conf)])
    try:
        while nginx.poll() is None and not nginx.children():
            time.sleep(0.05)
        yield port, nginx
    finally:
        nginx.terminate()
        nginx.wait()


async def read(port: int, page: str, due: float) -> tuple[float, int, asyncio.StreamWriter]:
    """Seconds from when a reader wanted a page until all had come, its bytes, the connection."""
    await asyncio.sleep(max(0.0, due - time.perf_counter()))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def fetch(name: str) -> bytes:
        writer.write(f"GET /{name} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not head.startswith(b"HTTP/1.1 200") or not length:
            raise ConnectionError(f"{name}: {head[:60]!r}")
        return await reader.readexactly(int(length[1]))

    async with asyncio.timeout(LIMIT):
        body = await fetch(page)
        named = [one.decode() for one in dict.fromkeys(NAMED.findall(gzip.decompress(body)))]
        sent = len(body) + sum([len(await fetch(name)) for name in (*named, LETTERS)])
    return time.perf_counter() - due, sent, writer


async def measure_readers(port: int, pages: list[str], nginx: psutil.Popen, spread: int) -> str:
    """A row of the table: all readers, who come over so many seconds."""
    before, begin = [sum(one.cpu_times()[:2]) for one in nginx.children()], time.perf_counter()
    dues = [begin + spread * place / READERS for place in range(READERS)]
    come = (read(port, page, due) for page, due in zip(cycle(pages), dues, strict=False))
    told = await asyncio.gather(*come, return_exceptions=True)
    cpu = sum(sum(one.cpu_times()[:2]) for one in nginx.children()) - sum(before)
    views = [one for one in told if not isinstance(one, BaseException)]
    for _seconds, _sent, writer in views:
        writer.close()
    return (
        f" {READERS:,} over {spread} s | {report.quantiles((one[0] for one in views), 0.5, 0.95)} "
        f"| {READERS - len(views)} | {1000 * cpu / READERS:.1f} ms "
        f"| {sum(one[1] for one in views) / READERS / 1000:.0f} kB | {report.load():.1f} "
    )


def measure(turns: int) -> str:
    """The report's section."""
    with tempfile.TemporaryDirectory() as folder:
        root, rows = Path(folder), []
        sizes = Site(root, ["en", "vi"], LIVE).write([*PAGES])
        for file in [*root.rglob("*.*")]:
            Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
        root.chmod(0o755)  # workers of an administrator's nginx are nobody
        with serve(root) as (port, nginx):
            for spread in SPREADS * turns:
                pages = [f"{page}.html" for page in sizes]
                rows.append(asyncio.run(measure_readers(port, pages, nginx, spread)))
                print(rows[-1], flush=True)
    return report.section(
        "Files",
        None,
        "Milliseconds from when a reader wants a page until it has come with all that its first "
        "view fetches, letters included: all pages in turn in both languages, an empty cache; "
        "errors; CPU of nginx and bytes, for a view; the load average. nginx and all readers "
        "share the machine. Aim: p95 ≤ 100 ms.",
        " readers | p50 | p95 | errors | CPU | sent | load ",
        rows,
    )


if __name__ == "__main__":
    arguments = report.options(__doc__, 1, "turns")
    report.publish(measure(arguments.turns), arguments.write)
