"""Makes the shipped heads that often want nothing, and their report.

`python -m workshop.toys --idle` trains five seeds of each shipped setting and writes the weights,
the film of one seed, what was measured, and IDLE_REPORT.md.
"""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import torch
from torch import Tensor

from explainers import kept
from explainers.kept import Kept
from explainers.toys.idle_head import (
    FIRST,
    IDLE_HEADS,
    IDLE_SEEDS,
    SHIPPED_SETTINGS,
    SHOWN_SEED,
    Stage,
    list_switches,
    name_idle_part,
)
from explainers.toys.idle_training import (
    FILM_PARTS,
    IDLE_BATCH,
    IDLE_RATE,
    IDLE_STEPS,
    STAGES,
    IdleRow,
    learn,
    list_seeds,
    look_after,
    measure_idle_head,
    read_idle_rows,
    round_parts,
)
from workshop.keep import keep
from workshop.toys.tolerance import find_tolerance

IDLE_MARKDOWN = Path(__file__).with_name("IDLE_REPORT.md")


def train_idle_head(setting: str, seed: int) -> tuple[dict[str, Tensor], list[Stage]]:
    """What one seed learns, as it is shipped, and what is seen of it on the way."""
    stages, parts = [], dict[str, Tensor]()
    for batches, parts in enumerate(learn(setting, seed)):
        if seed == SHOWN_SEED and batches in STAGES:
            stages.append(look_after(parts, setting, batches))
    return round_parts(parts), stages


def make_idle_weights() -> None:
    """Train all seeds of all shipped settings; write what they learned and how they did."""
    torch.set_num_threads(1)
    tensors: dict[str, Tensor] = {}
    rows = []
    for setting in SHIPPED_SETTINGS:
        for seed in IDLE_SEEDS:
            print(f"idle head: {setting}, seed {seed}", flush=True)
            parts, stages = train_idle_head(setting, seed)
            rows.append(measure_idle_head(parts, setting, seed))
            named = {name_idle_part(setting, seed, name): part for name, part in parts.items()}
            tensors |= {name: part.half() for name, part in named.items()}
            tensors |= pack_film(setting, stages)
    made = (
        f"{IDLE_STEPS} batches of {IDLE_BATCH}, AdamW {IDLE_RATE}, "
        f"torch {torch.__version__}, one thread"
    )
    command, numbers = "python -m workshop.toys --idle", {"rows": list(map(asdict, rows))}
    keep(Kept(IDLE_HEADS, made, command, find_tolerance(IDLE_HEADS), numbers), tensors)
    read_idle_rows.cache_clear()


def pack_film(setting: str, stages: Sequence[Stage]) -> dict[str, Tensor]:
    """The stages of one training as tensors to ship."""
    if not stages:
        return {}
    size = len(stages[0].weights)
    weights = torch.zeros(len(stages), size, size)
    for place, stage in enumerate(stages):
        for query, row in enumerate(stage.weights):
            weights[place, query, : len(row)] = torch.tensor(row)
    numbers = (
        weights.half(),
        torch.tensor([stage.lengths for stage in stages]).half(),
        torch.tensor([stage.gates for stage in stages]).half(),
        torch.tensor([stage.largest for stage in stages]),
        torch.tensor([stage.loss for stage in stages]),
    )
    return {f"film {setting}: {name}": one for name, one in zip(FILM_PARTS, numbers, strict=True)}


INTRODUCTION = """# What the heads that often want nothing learned

{made}. Made by `python -m workshop.toys --idle`, never by hand.

Letters follow each other as in corpus.txt; behind e, a and r the letter before stands once more
(bigram-backcopy, Guo et al. 2024, "Active-dormant attention heads", section 3). One layer of
attention, one head, and one of thinking. Measured on held-out rows from the third place on; mean
over {seeds} seeds, and in brackets the smallest and the largest. `useful`: weight on the letter to
be copied, at e, a and r. All shares behind it: at other letters, which need nothing. `first` is the
first place of the row: ⟨s⟩ where the setting has it. The film of a training
shows seed {shown}.

| setting | loss | copied right | useful | first | nowhere | itself | letter before | blanks \
| gate, idle | gate, useful | largest \\|score\\| | value of first | of others |
|{lines}|
"""


def format_idle_report() -> str:
    """The report, as Markdown."""
    names = [field.name for field in fields(IdleRow)][2:]
    made = kept.read(IDLE_HEADS).origin
    lines = "---|" * len(names) + "---"
    text = INTRODUCTION.format(made=made, seeds=len(IDLE_SEEDS), shown=SHOWN_SEED, lines=lines)
    for setting in SHIPPED_SETTINGS:
        cells = [
            _format_seeds([getattr(row, name) for row in list_seeds(setting)]) for name in names
        ]
        text += f"| {_name_in_report(setting)} | {' | '.join(cells)} |\n"
    return text


def write_idle_markdown() -> None:
    """Write the report for readers."""
    IDLE_MARKDOWN.write_text(format_idle_report(), encoding="utf-8")


def _name_in_report(setting: str) -> str:
    return ", ".join(list_switches(setting)).replace(FIRST, "⟨s⟩") or "nothing"


def _format_seeds(numbers: Sequence[float]) -> str:
    mean = f"{statistics.mean(numbers):.2f}"
    ends = f"{min(numbers):.2f}–{max(numbers):.2f}"
    return mean if ends == f"{mean}–{mean}" else f"{mean} [{ends}]"
