"""Results as Markdown: what was measured, on which machine, with which versions."""

import argparse
import datetime
import os
import platform
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
PACKAGES = ("streamlit", "altair", "pandas", "torch", "playwright")


def options(description: str | None, repetitions: int, unit: str) -> argparse.Namespace:
    """What every benchmark can be told: how often to measure, and to keep the result."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(f"--{unit}", type=int, default=repetitions, help="how many to measure")
    parser.add_argument("--write", action="store_true", help=f"replace its part of {RESULTS.name}")
    return parser.parse_args()


def section(title: str, browser: str | None, remarks: str, head: str, rows: Iterable[str]) -> str:
    """One part of the results: `head` and `rows` are cells separated by "|"."""
    line = "|".join([" --- "] + [" ---: "] * head.count("|"))
    table = "\n".join(f"|{row}|" for row in (head, line, *rows))
    return f"## {title}\n\n{conditions(browser)}\n\n{remarks}\n\n{table}\n"


def conditions(browser: str | None) -> str:
    """Date, machine and versions, without which a time says nothing."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    shared = f", Chromium {browser}. Server, browser and driver share the machine"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.date.today():%d %B %Y}. {_processor()}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, {platform.system()}. Python {platform.python_version()}, {packages}"
        f"{shared if browser else ''}."
    )


def quantiles(seconds: Iterable[float], *parts: float) -> str:
    """So many of the times, 0.5 for the median, in milliseconds, as cells of a table."""
    ordered = sorted(seconds)
    late = (ordered[min(len(ordered) - 1, int(part * len(ordered)))] for part in parts)
    return " | ".join(f"{1000 * one:.0f}" for one in late)


def load() -> float:
    """How many programs wanted a core in the last minute: with more than cores, times are long."""
    return os.getloadavg()[0]


def publish(text: str, write: bool) -> None:
    """Print a part and, if asked, put it in the place of the part with the same title."""
    print(text)
    if not write:
        return
    heading = text.partition("\n")[0]
    part = re.compile(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    results = RESULTS.read_text(encoding="utf-8")
    if not part.search(results):
        results += f"\n{heading}\n"
    RESULTS.write_text(part.sub(lambda _: text + "\n", results).rstrip() + "\n", encoding="utf-8")


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        named = re.search(r"^model name\s*: (.+)$", cpuinfo.read_text(), re.MULTILINE)
        if named:
            return named[1]
    return platform.processor() or platform.machine()
