"""Are the indexers' numbers measured again the same, but for rounding? And all of them, to read.

What is allowed is chosen by what a number does when its inputs are off by a last bit.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from explainers.models.chosen_keys import KEYS_BY_CHANNEL, KEYS_BY_TOKEN, RUNS
from explainers.models.shipped_indexers import KEPT, POLICIES, PROSE, USUAL

REPORT_FILE = Path(__file__).with_name("INDEXER_REPORT.md")
LOSSES = 0.003
ALLOWED = {"moved": 1e-5, "trainings": 5e-4}
"""By the kind of number, where it is not a loss or a share of weight: see the report."""
ERRORS = 4
"""Standard errors by which two means of runs with few bits may differ."""
SECTION = """# What indexers learned, and what reading few keys costs

{model}, made by `python -m explainers.models.measure_indexers`, never by hand. Losses are of the
second half of a text, in nats; weight is a part of what the oracle keeps with {usual} keys.

## Trainings

| trained on | size | tokens | weight | worst layer | loss | repeated | start |
|---|---|---:|---:|---:|---:|---:|---|
{trainings}

`repeated` is the loss where the text comes again. `start` is how far the first seed of layer
{layer} is from its heads (KL) before the first step, and after {steps} steps.

## Losses by keys kept

| text | policy | {kept} | all keys |
|---|---|{rule}---:|
{losses}

Each head its own keys: {own}. Least read rows evicted: {evicted}.
Few rows of the first half kept for all that follows: {prompts}.
Blocks, with the first one always read, or free to go: {blocks}.

## Fewer bits

| rounded | bits | rows move by | loss | of one run | allowed |
|---|---:|---:|---:|---:|---:|
{rounded}

"""
HOW_EQUAL = """## How equal is equal

On one processor, everything comes out equal. Another adds up in another order, so a last bit
differs. What that does to a number decides how it can be compared:

- *Losses and shares of weight* are off by at most .0018 on another machine, and by .0008 with
  torch's oldest instruction set. Pages call a loss worse from .01 on. {losses} is allowed.
- *Losses with few bits* jump: a last bit decides to which level a number goes, that moves what the
  next layer reads, and so on through 30 layers. The table says by how much (±, the standard
  deviation of single runs). So each loss is the mean of {runs} runs, whose embeddings are off by
  about a millionth. Two such means may differ by {errors} standard errors of their difference, as
  the table says, but at least by {losses}. That is less than the page shows between both ways to
  round keys: {apart}. The deviations may be off by as much as they are.
- *How far rows move* is compared as well, and strictly: by the same function, on the same text, but
  each layer reads what it reads without rounding. A number halfway between two levels is equally
  far from both, so this has no jumps: embeddings that are off by a millionth change it by less
  than .0000001, and one bit more by over .01. {moved} is allowed: this half is strict.
- *Trainings* end where the processor leads them: the weight kept in a layer differs by .01 with
  the same texts and seeds. Their first {steps} steps are compared instead. Torch's oldest
  instruction set moves those of the shipped one by .0000005 nats, another processor those of the
  largest by .00018, and {start} are allowed.
  Another text, size or seed is farther off than that (a test tries it). What a training comes
  to is measured by the functions that measure the shipped indexers again.
- Whole numbers and texts are equal.
"""


def find_allowed(name: str, shipped: Mapping[str, Any]) -> float:
    """How far a number of that name may be from what is shipped."""
    kind, _space, way = name.partition(" ")
    spread = shipped.get("spread", {}).get(way)
    if kind == "rounded" and spread:
        return max(LOSSES, ERRORS * spread * math.sqrt(2 / RUNS))
    if kind == "spread" and spread:
        return float(spread)
    return ALLOWED.get(kind, LOSSES)


def list_differences(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """How far a measurement is from what is shipped, which may hold more, number by number.

    Whole numbers and texts are equal, or infinitely far; so is what one of both lacks.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in one:
            yield from list_differences(one[key], other.get(key), f"{name} {key}".strip())
    elif isinstance(one, list) and isinstance(other, list):
        for place, both in enumerate(zip_longest(one, other)):
            yield from list_differences(*both, f"{name} {place}")
    elif isinstance(one, float) and isinstance(other, float):
        yield name, abs(one - other)
    else:
        yield name, 0.0 if one == other else math.inf


def compare_numbers(measured: Mapping[str, Any], shipped: Mapping[str, Any]) -> bool:
    """Are they the same but for rounding? Tells those that are farthest from it."""
    found = list_differences(measured, shipped)
    apart = [(name, far / find_allowed(name, shipped)) for name, far in found]
    apart.sort(key=lambda found: found[1])
    for name, far in apart[-5:]:
        print(f"{name}: {far:.2f} of what is allowed")
    return apart[-1][1] <= 1


def compare_ways(losses: Mapping[str, float]) -> list[tuple[str, float]]:
    """By the number of bits: how far apart the losses of both ways to round keys are."""
    bits = [name[-1] for name in losses if name.startswith(KEYS_BY_CHANNEL)]
    ways = KEYS_BY_TOKEN, KEYS_BY_CHANNEL
    pairs = [[losses[f"{way} {count}"] for way in ways] for count in bits]
    return [(count, one - other) for count, (one, other) in zip(bits, pairs, strict=True)]


def format_report(numbers: Mapping[str, Any]) -> str:
    """All numbers of the file, as Markdown."""
    passages, found = numbers["texts"], {name: numbers[name] for name in ("own", "evicted")}
    first, free = (
        {size.split()[0]: f"{loss:.3f}" for size, loss in numbers["blocks"].items() if way in size}
        for way in ("first", "free")
    )
    written = {
        name: ", ".join(f"{kept}: {loss:.3f}" for kept, loss in losses.items())
        for name, losses in found.items()
    }
    start = numbers["trainings"]["shipped"]["start"]
    report = SECTION.format(
        model=numbers["model"],
        usual=USUAL,
        trainings="\n".join(_list_trainings(numbers)),
        layer=passages[PROSE]["layer"],
        steps=len(start) - 1,
        kept=" | ".join(map(str, KEPT)),
        rule="---:|" * len(KEPT),
        losses="\n".join(_list_losses(passages)),
        blocks=", ".join(f"{size}: {first.get(size, '–')} or {free[size]}" for size in free),
        rounded="\n".join(
            f"| {name[:-2]} | {name[-1]} | {numbers['moved'][name]:.4f} | {loss:.3f} | "
            f"± {numbers['spread'][name]:.3f} | {find_allowed(f'rounded {name}', numbers):.3f} |"
            for name, loss in numbers["rounded"].items()
        ),
        prompts=", ".join(f"{name}: {loss:.3f}" for name, loss in numbers["prompts"].items()),
        **written,
    )
    return report + HOW_EQUAL.format(
        losses=LOSSES,
        moved=f"{ALLOWED['moved']:.5f}",
        runs=RUNS,
        errors=ERRORS,
        apart=", ".join(
            f"{apart:.3f} with {bits} bits" for bits, apart in compare_ways(numbers["rounded"])
        ),
        start=ALLOWED["trainings"],
        steps=len(start) - 1,
    )


def _list_trainings(numbers: Mapping[str, Any]) -> Iterator[str]:
    for name, one in numbers["trainings"].items():
        whole = numbers["variants"].get(name, numbers["indexer"])
        heads, dim = one["size"]
        cells = [f"{heads} × {dim}", f"{one['tokens']:,}"]
        cells += [f"{whole[what]:.3f}" for what in ("share", "worst", "loss", "twice")]
        cells.append(f"{one['start'][0]:.3f}, {one['start'][-1]:.3f}")
        yield f"| {name} | {' | '.join(cells)} |"


def _list_losses(passages: Mapping[str, Any]) -> Iterator[str]:
    for text, passage in passages.items():
        for policy in POLICIES:
            losses = " | ".join(f"{loss:.3f}" for loss in passage["losses"][policy])
            yield f"| {text} | {policy} | {losses} | {passage['full']:.3f} |"


def write_report(numbers: Mapping[str, Any]) -> None:
    """Beside this module."""
    REPORT_FILE.write_text(format_report(numbers), encoding="utf-8")
