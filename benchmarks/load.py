"""Many visitors at once: from a change to the last message of its run, and what the server takes.

Sessions without a browser (`sessions.py`) are spread over pages. Each changes one thing of its page
every two seconds, and a change counts from when it was due, also where the one before came late.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import time
import urllib.request
from contextlib import AsyncExitStack, ExitStack
from typing import Any, NamedTuple

from benchmarks import report
from benchmarks.browser import ROOT, find_server, server, wait_until_healthy
from benchmarks.readers import ACTS, CHOSEN_FIRST, CHOSEN_LATER, OPENS, Message, record, replay
from benchmarks.readers import EVERY as BETWEEN_ACTS
from benchmarks.sessions import Run, RunError, Session, connect

EVERY, SECONDS = 2.0, 20.0
"""Between two changes of a session, and of a measurement."""
SETTLED = 0.3
"""Seconds in which the thread of a run ends, after its last message."""
LATE = 0.25
"""Seconds: where p95 passes them, the server is full."""
STEPS = 1, 5, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200


class Target(NamedTuple):
    """A page, and what is changed there: the name of a widget, and its values in turn.

    Choices of a picture are told late, where what shows them below it is looked at; of a choice
    that nothing there shows, a server hears nothing.
    """

    page: str
    query: str
    widget: str
    values: tuple[Any, ...]


class Found(NamedTuple):
    """What a number of sessions met."""

    seconds: list[float]
    sent: list[int]
    errors: list[str]


def pick(name: str) -> str:
    """What a list of names tells it."""
    return json.dumps({"names": [name]})


STEPS_READ = tuple({"words_read": f"{count}"} for count in (3, 5, 7, 4))
SYLLABLES = tuple({"syllable": f"{place}"} for place in (2, 4, 3, 1))
WORDS = tuple({"word": f"{place}"} for place in (2, 4, 6, 3))
WEIGHTS = tuple({"weights": name} for name in ("untrained", "trained"))
RULES = tuple({"rule": name} for name in ("window", "full", "causal"))
TARGETS = {
    "query_key_value: weights": Target("query_key_value", "", "views", WEIGHTS),
    "scores: word": Target("scores", "", "four steps", WORDS),
    "masks: mask": Target("masks", "", "masked", RULES),
    "many_heads: heads": Target(
        "many_heads", "", "many heads", tuple({"heads": count} for count in ("2", "8", "4"))
    ),
    "relative_positions: move": Target(
        "relative_positions", "", "dials", tuple({"shift": f"{by}"} for by in (3, 5, 9))
    ),
    "kv_cache: step": Target("kv_cache", "", "shelves", STEPS_READ),
    "shared_heads: word": Target("shared_heads", "", "shared heads", WORDS),
    "cache_memory: model": Target(
        *("cache_memory", "", "pick model"),
        tuple(map(pick, ("gpt-oss-20b", "gemma-3-4b", "gpt-oss-120b"))),
    ),
    "cross_attention: syllable": Target("cross_attention", "", "translation", SYLLABLES),
    "head_gallery: head": Target(
        "head_gallery", "", "gallery", tuple({"gallery_head": f"{head}"} for head in (3, 5, 0))
    ),
    "why_it_looked: weight": Target(
        "why_it_looked", "", "why", tuple({"why_cell": cell} for cell in ("16.0", "17.3"))
    ),
}


async def change(session: Session, widget: str, value: Any) -> Run:
    """Change one thing once."""
    ask = session.look_below if isinstance(value, dict) else session.choose
    return await ask(widget, value)


async def visit(session: Session, target: Target, begin: float, found: Found) -> None:
    """Change one thing again and again."""
    due = begin
    for value in itertools.cycle(target.values):
        if due > begin + SECONDS:
            return
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            run = await change(session, target.widget, value)
        except RunError as error:
            found.errors.append(str(error))
        else:
            found.seconds.append(time.perf_counter() - due)
            found.sent.append(run.sent)
        due += EVERY


def count_cpu(addresses: list[str]) -> float:
    """Seconds of a core that the servers took since they began."""
    return sum(sum(find_server(address).cpu_times()[:2]) for address in addresses)


async def measure_sessions(
    addresses: list[str], count: int, targets: dict[str, Target]
) -> tuple[Found, str]:
    """What so many sessions met, and a row of the table."""
    found = Found([], [], [])
    async with AsyncExitStack() as stack:
        visits = []
        for place, target in zip(range(count), itertools.cycle(targets.values()), strict=False):
            address = addresses[place % len(addresses)]
            session = await stack.enter_async_context(connect(address))
            await session.open(target.page, target.query)
            visits.append((session, target))
        cpu, begin = count_cpu(addresses), time.perf_counter()
        await asyncio.gather(
            *(
                visit(session, target, begin + EVERY * place / count, found)
                for place, (session, target) in enumerate(visits)
            )
        )
        taken = count_cpu(addresses) - cpu
        wall = time.perf_counter() - begin
        memory = sum(find_server(address).memory_info().rss for address in addresses)
    changes = max(1, len(found.seconds))
    row = (
        f" {count} | {report.quantiles(found.seconds, 0.5, 0.95, 0.99)} "
        f"| {len(found.errors)} | {1000 * taken / changes:.0f} | {taken / wall:.0%} "
        f"| {sum(found.sent) / changes / 1000:.0f} kB | {memory / 2**20:.0f} MiB "
    )
    return found, row


async def count_calls(address: str, target: Target) -> tuple[float, float]:
    """How many functions a change calls, and how many bytes it sends, on average."""

    def ask() -> int:
        with urllib.request.urlopen(f"{address}/calls") as answer:
            return int(answer.read())

    sent, values = 0, target.values * 2
    async with connect(address) as session:
        await session.open(target.page, target.query)
        for value in values:  # fills caches
            await change(session, target.widget, value)
        await asyncio.sleep(SETTLED)
        await asyncio.to_thread(ask)
        for value in values:
            sent += (await change(session, target.widget, value)).sent
        await asyncio.sleep(SETTLED)
        return await asyncio.to_thread(ask) / len(values), sent / len(values)


def measure_calls(targets: dict[str, Target]) -> str:
    """The report's section: what costs as much on every machine, whatever else it does."""
    rows = []
    with server(ROOT / "benchmarks" / "watched_app.py", ROOT, ATTENTION_COUNTED="1") as address:
        wait_until_healthy(address)
        for name, target in targets.items():
            calls, sent = asyncio.run(count_calls(address, target))
            rows.append(f" {name} | {calls:,.0f} | {sent / 1000:.1f} kB ")
            print(rows[-1], flush=True)
    return report.section(
        "What a change costs",
        None,
        "Functions that Python calls in the thread of a run, from a change to the end of its run, "
        "Streamlit's own among them, and bytes that are sent: averages of one session, caches "
        "filled. They say the same on a machine where others work.",
        " change | calls | sent ",
        rows,
    )


async def measure_minutes(address: str, count: int, minutes: list[list[Message]]) -> str:
    """A row of the table: what so many readers met, each of whom plays the script once."""
    found = Found([], [], [])

    def note(seconds: float, run: Run) -> None:
        found.seconds.append(seconds)
        found.sent.append(run.sent)

    async def play(session: Session, messages: list[Message], begin: float) -> None:
        try:
            await replay(session, messages, begin, note)
        except RunError as error:
            found.errors.append(str(error))

    async with AsyncExitStack() as stack:
        players = []
        for minute in itertools.islice(itertools.cycle(minutes), count):
            session = await stack.enter_async_context(connect(address))
            for message in (one for one in minute if one.act == OPENS):
                await session.say(message.content)
            players.append((session, [one for one in minute if one.act > OPENS]))
        cpu, begin = count_cpu([address]), time.perf_counter()
        length = len(ACTS) * BETWEEN_ACTS
        # They do not come together: the last one begins when the first one has ended.
        starts = (begin + length * place / count for place in range(count))
        await asyncio.gather(
            *(play(*player, start) for player, start in zip(players, starts, strict=True))
        )
        taken = count_cpu([address]) - cpu
        memory = find_server(address).memory_info().rss
    minutes_played = count * length / 60
    return (
        f" {count} | {len(found.seconds) / minutes_played:.1f} "
        f"| {report.quantiles(found.seconds, 0.5, 0.95, 0.99)} | {len(found.errors)} "
        f"| {1000 * taken / minutes_played:.0f} | {count * taken / minutes_played / 60:.0%} "
        f"| {sum(found.sent) / minutes_played / 1000:.0f} kB | {memory / 2**20:.0f} MiB "
    )


def measure_readers(readers: int) -> str:
    """The report's section: those who read, as a browser was seen to ask."""
    rows = []
    with server(ROOT / "app.py", ROOT) as address:
        wait_until_healthy(address)
        minutes = list(record(address).values())  # fills its caches as well
        for count in sorted({1, 10, 30, 100, readers} & set(range(1, readers + 1))):
            rows.append(asyncio.run(measure_minutes(address, count, minutes)))
            print(rows[-1], flush=True)
    asked = sum(one.act > OPENS for minute in minutes for one in minute) / len(minutes)
    return report.section(
        "Readers of 1 process",
        None,
        f"A script was played in a browser on {len(minutes)} pages: {CHOSEN_FIRST} words are "
        f"chosen in the picture, the reader looks below, opens a card, goes back up, chooses "
        f"{CHOSEN_LATER} more, looks below and goes to the next page; {len(ACTS)} acts, one every "
        f"{BETWEEN_ACTS:.0f} s. What it sent, {asked:.1f} messages without the opening, is sent "
        "again by sessions without a browser, which begin one after the other within the length "
        "of the script: messages of a reader in a minute; milliseconds from when a message was due "
        "to the end of its run; errors; the server's CPU, milliseconds for a reader's minute, and "
        "the share of a core when so many read at once; bytes in a minute; what is held. Server "
        "and sessions share the machine. Aim: 100 readers, p95 ≤ 100 ms, 35% of a core. The script "
        "is ours and no count of readers. The CPU says the same on a machine where others work, "
        f"the times do not. Load of the machine at the end: {report.load():.1f}.",
        " readers | messages | p50 | p95 | p99 | errors | CPU | core | sent | memory ",
        rows,
    )


def measure(sessions: int, targets: dict[str, Target], replicas: int) -> str:
    """The report's section."""
    rows, full = [], 0
    with ExitStack() as stack:
        addresses = [stack.enter_context(server(ROOT / "app.py", ROOT)) for _one in range(replicas)]
        for address in addresses:
            wait_until_healthy(address)
            asyncio.run(measure_sessions([address], len(targets), targets))  # fills its caches
        for count in [step for step in STEPS if step < sessions] + [sessions]:
            found, row = asyncio.run(measure_sessions(addresses, count, targets))
            rows.append(row)
            print(row, flush=True)
            late = report.quantiles(found.seconds, 0.95)
            full = full or (count if float(late) > 1000 * LATE else 0)
    stop = f"p95 passes 250 ms with {full} sessions" if full else "p95 stayed below 250 ms"
    return report.section(
        f"Load of {replicas} {'process' if replicas == 1 else 'processes'}",
        None,
        f"Sessions without a browser, each of which changes one thing every {EVERY:.0f} s for "
        f"{SECONDS:.0f} s ({', '.join(targets)}): milliseconds from when the change was due to the "
        f"last message of its run; errors; the server's CPU, milliseconds for a change and share "
        f"of one core; bytes for a change; what is held. Servers and sessions share the "
        f"machine. Aim: 100 sessions, p95 ≤ 100 ms, 0 errors. {stop}.",
        " sessions | p50 | p95 | p99 | errors | CPU | core | sent | memory ",
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100, help="how many at the most")
    parser.add_argument("--only", default="", help="one of: " + ", ".join(TARGETS))
    parser.add_argument("--write", action="store_true", help="replace its part of RESULTS.md")
    parser.add_argument("--processes", type=int, default=1, help="among which they are shared out")
    parser.add_argument("--readers", type=int, default=0, help="so many who read a page instead")
    parser.add_argument("--calls", action="store_true", help="count calls and bytes, not time")
    arguments = parser.parse_args()
    chosen = {arguments.only: TARGETS[arguments.only]} if arguments.only else TARGETS
    if arguments.calls:
        text = measure_calls(chosen)
    elif arguments.readers:
        text = measure_readers(arguments.readers)
    else:
        text = measure(arguments.sessions, chosen, arguments.processes)
    report.publish(text, arguments.write)
