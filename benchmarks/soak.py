"""Visitors come and go for hours: does the server hold more and more?

Sessions without a browser open pages, change what they find there and leave; some close the tab in
the middle of a run. After a warm-up, in which caches fill, what the server holds is a straight line
over the interactions: its slope is printed, and the types that grew most where it is not flat.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
import urllib.request
from collections import Counter
from typing import Any

from benchmarks import report
from benchmarks.browser import ROOT, server, wait_until_healthy
from benchmarks.load import TARGETS, Target, change
from benchmarks.sessions import RunError, connect

AT_ONCE, VISIT = 4, 8
"""Sessions at the same time, and interactions of one before it leaves."""
WATCHED = ROOT / "benchmarks" / "watched_app.py"
SAMPLES = 24
"""How often is looked, the first third of which is the warm-up."""
PAGES = (
    *("", "tokens", "query_key_value", "scores", "masks", "many_heads", "relative_positions"),
    *("kv_cache", "shared_heads", "cache_memory", "long_sequences"),
    *("growing_memory", "choosing", "idle_heads", "serving", "cross_attention"),
    *("inspector", "head_gallery", "what_if", "why_it_looked", "does_it_matter", "writing"),
    *("exercises", "claims"),
)
QUERIES = "", "lang=vi", "predict=false", "seed=7", "lecture=true", "word=3", "text=Our+own+words"
HELD = "heap", "memory", "threads", "files", "temporary"
UNITS = {"memory": 2**20}
NAMES = {
    "heap": "blocks of Python's heap",
    "memory": "memory, MiB",
    "threads": "threads",
    "files": "open files",
    "temporary": "temporary files",
}


def ask_held(address: str) -> dict[str, Any]:
    """What the server holds now."""
    with urllib.request.urlopen(f"{address}/held") as answer:
        found: dict[str, Any] = json.load(answer)
    return found


async def visit(address: str, drawn: random.Random, interactions: int) -> list[str]:
    """One visitor: some pages, on some of them some changes; what went wrong."""
    errors = []
    async with connect(address) as session:
        target: Target | None = None
        for _ in range(interactions):
            try:
                is_there = target and target.widget in session.widgets  # not for every own text
                if target and is_there and drawn.random() < 0.6:
                    await change(session, target.widget, drawn.choice(target.values))
                    continue
                target = drawn.choice([*TARGETS.values(), None])
                page = target.page if target else drawn.choice(PAGES)
                await session.open(page, target.query if target else drawn.choice(QUERIES), True)
            except RunError as error:
                errors.append(f"{session.page}?{session.query}: {error}")
    return errors


async def drive(address: str, drawn: random.Random, interactions: int) -> list[str]:
    """So many interactions, by visitors who come and go."""
    errors: list[str] = []

    async def come_and_go() -> None:
        for _ in range(interactions // AT_ONCE // VISIT):
            errors.extend(await visit(address, drawn, VISIT))

    await asyncio.gather(*(come_and_go() for _ in range(AT_ONCE)))
    return errors


def measure(interactions: int) -> str:
    """The report's section."""
    drawn, errors, held = random.Random(0), list[str](), list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as own, server(WATCHED, ROOT, TMPDIR=own) as address:
        wait_until_healthy(address)
        for sample in range(SAMPLES):
            errors += asyncio.run(drive(address, drawn, interactions // SAMPLES))
            held.append(ask_held(address))
            print(sample, {name: held[-1][name] for name in HELD}, len(errors), flush=True)
    later = held[SAMPLES // 3 :]
    rows = [write_row(name, [one[name] / UNITS.get(name, 1) for one in later]) for name in HELD]
    before, after = (Counter(dict(one["types"])) for one in (later[0], later[-1]))
    grown = ", ".join(f"{name} +{count:,}" for name, count in (after - before).most_common(6))
    told = f", such as {errors[0]}" if errors else ""
    return report.section(
        "Soak",
        None,
        f"{interactions:,} interactions over all pages by {AT_ONCE} visitors at a time, each of "
        f"whom leaves after {VISIT}; the first third is the warm-up. A visit that has left is kept "
        f"for some minutes (`disconnectedSessionTTL`), so a plateau comes late. "
        f"{len(errors)} errors{told}. Types that grew most: {grown or 'none'}.",
        " held | after the warm-up | at the end | most | slope for 1,000 interactions ",
        rows,
    )


def write_row(name: str, values: list[float]) -> str:
    """First, last, most, and the slope of the line through them."""
    places = list(range(len(values)))
    slope = statistics.linear_regression(places, values).slope * 1000 * SAMPLES
    return (
        f" {NAMES[name]} | {values[0]:,.0f} | {values[-1]:,.0f} | {max(values):,.0f} "
        f"| {slope / arguments.interactions:+,.1f} "
    )


if __name__ == "__main__":
    arguments = report.options(__doc__, 10_000, "interactions")
    report.publish(measure(arguments.interactions), arguments.write)
