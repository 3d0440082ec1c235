"""Measures how SmolLM2 serves two prompts; keeps the numbers and a report.

`python -m workshop.serving` measures again; with `--check` it only compares, and fails where
anything differs.
"""

import json
import sys
from pathlib import Path
from typing import Any

from explainers import kept
from explainers.attention.serving.drafts_from_text import Written
from explainers.chapters.serving.cards import (
    DRAFTS,
    MODEL,
    PLAIN,
    REPEATING,
    SERVING,
    make_serving,
    open_kept,
    shared_beginning,
)
from explainers.models import served_prompts
from workshop.keep import keep_of_model

REPORT = Path(__file__).with_name("SERVING_REPORT.md")
DIFFERENCE, PART = "difference", "part of a number"
TOLERANCE = {DIFFERENCE: 1e-3, PART: 1e-3}


def measure_all() -> dict[str, Any]:
    """All that is kept, measured now."""
    from explainers.models.load import load_model

    loaded = load_model(MODEL)

    def ask(what: str, *given: Any) -> Any:
        return getattr(served_prompts, what)(loaded, *given)

    serving = make_serving(shared_beginning.default, ask, "")
    prompts, (sizes, largest) = serving.prompts, serving.chunks()
    changed = range(-1, len(prompts.others))
    texts = REPEATING, PLAIN
    return {
        "beginning": serving.beginning,
        **prompts._asdict(),
        "reuse": {f"{at}": serving.reuse(at)._asdict() for at in changed},
        "chunks": [[*one] for one in sizes],
        "largest": largest,
        "drafts": serving.drafts()._asdict(),
        "guesses": serving.guesses()._asdict(),
        "written": {
            text: {f"{n}": _list_written(*serving.write(text, n)) for n in DRAFTS} for text in texts
        },
    }


def _list_written(written: Written, said: str) -> list[Any]:
    return [written.ids, written.passes, written.rows, said]


def write_report(numbers: dict[str, Any]) -> str:
    """What was measured, in a table a person can read."""
    serving = open_kept(numbers, "")
    _first, second = serving.prompts.tokens
    lines = [
        "# What the page on serving keeps",
        "",
        f"{MODEL}; made by `python -m workshop.serving`.",
        "",
        "| token changed | shared | whole blocks | rows of K that differ, first layer "
        "| second | last | rows reused are off by | logits are off by |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for at in range(-1, len(serving.prompts.others)):
        found = serving.reuse(at)
        name = f"`{second[at]}` → `{serving.prompts.others[at][0]}`" if at >= 0 else "none"
        counts = " | ".join(f"{row.count('1')}" for row in (*found.moved[:2], found.moved[-1]))
        gaps = f"{found.rows_gap:.2g} | {found.logits_gap:.2g}"
        lines.append(f"| {name} | {found.shared} | {found.blocks} | {counts} | {gaps} |")
    limit = serving.chunks()[0][0].limit
    lines += ["", f"Chunks, of {numbers['largest']:.3g}; rounding can make up to {limit:.2g}:", ""]
    lines += [f"- {one.size}: {one.passes} passes, {one.gap:.2g}" for one in serving.chunks()[0]]
    tree = serving.drafts()
    told = f"Drafts, of {tree.largest:.3g}; rounding can make up to {tree.limit:.2g}:"
    lines += ["", told, ""]
    lines += [f"- {name}: {max(gaps):.2g}" for name, gaps in tree.gaps.items()]
    lines += ["", "Drafts from the text itself, passes (rows):", ""]
    for text in (REPEATING, PLAIN):
        ran = [serving.write(text, n)[0] for n in DRAFTS]
        counts = ", ".join(f"{one.passes} ({one.rows})" for one in ran)
        same = "the same tokens" if len({tuple(one.ids) for one in ran}) == 1 else "other tokens"
        lines.append(f"- “{text}”: {counts}; {same}")
    return "\n".join(lines) + "\n"


def find_differences(stored: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Where what is kept differs from what is measured now, rounding aside."""
    return [name for name in now if not is_near(stored.get(name), now[name])]


def is_near(one: Any, other: Any) -> bool:
    """The same texts and counts, and measured numbers that differ by no more than rounding."""
    if isinstance(one, float) or isinstance(other, float):
        allowed = kept.read(SERVING).tolerance
        return bool(abs(one - other) <= allowed[DIFFERENCE] + allowed[PART] * abs(other))
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(is_near(one[key], other[key]) for key in other)
    if isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_near, one, other))
    return bool(one == other)


def main(arguments: list[str]) -> None:
    """Measure; write the numbers and their report, or compare."""
    now = json.loads(json.dumps(measure_all()))
    if arguments != ["--check"]:
        keep_of_model(SERVING, MODEL, "python -m workshop.serving", TOLERANCE, now)
        REPORT.write_text(write_report(now), encoding="utf-8")
        return
    stored = kept.read(SERVING).numbers
    if differing := find_differences(stored, now):
        raise SystemExit(f"measured now, these differ: {', '.join(differing)}")
    if REPORT.read_text(encoding="utf-8") != write_report(stored):
        raise SystemExit(f"{REPORT.name} is not that of {SERVING}")
    print(f"{SERVING}: as measured now")


if __name__ == "__main__":
    main(sys.argv[1:])
