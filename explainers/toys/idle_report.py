"""Makes the shipped heads that often want nothing, and measures them on held-out rows.

`python -m explainers.toys --idle` trains five seeds of each shipped setting and writes the weights,
the film of one seed, what was measured, and IDLE_REPORT.md.
"""

import functools
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from explainers.toys.idle_head import (
    FIRST,
    IDLE_FILE,
    IDLE_SEEDS,
    SHIPPED_SETTINGS,
    SHOWN_SEED,
    Parts,
    Stage,
    find_triggers,
    list_switches,
    load_idle_head,
    look_at,
    name_idle_part,
)
from explainers.toys.idle_training import (
    FIRST_QUERY,
    IDLE_BATCH,
    IDLE_RATE,
    IDLE_STEPS,
    STAGES,
    learn,
    look_after,
    read_held_out,
    round_parts,
)

IDLE_MARKDOWN = Path(__file__).with_name("IDLE_REPORT.md")
FILM_PARTS = "weights", "lengths", "gates", "largest", "losses"


@dataclass(frozen=True)
class IdleRow:
    """What one seed of a setting does on held-out rows, from the third place on.

    "Idle" are places where nothing has to be looked for; all others have to find a letter.
    """

    setting: str
    seed: int
    loss: float
    copied: float
    """Copies that are named right."""
    useful: float
    """Weight on the letter to be copied, where there is one."""
    first: float
    """Idle: weight on the first place of the row, whatever stands there."""
    nowhere: float
    itself: float
    before: float
    """Idle: weight on the letter itself and on the one before it."""
    blanks: float
    """Idle: weight on blanks."""
    gate_idle: float
    gate_useful: float
    largest: float
    """|score|."""
    first_length: float
    other_length: float
    """Of the values at the first place and at all others."""


@torch.no_grad()
def measure_idle_head(parts: Parts, setting: str, seed: int) -> IdleRow:
    """Test what one seed learned."""
    reading, rows, loss = read_held_out(parts, setting)
    read, following = rows[:, :-1], rows[:, 1:]
    late = torch.arange(read.shape[1]) >= FIRST_QUERY
    triggers = find_triggers(read)
    wanted, idle = triggers & late, ~triggers & late
    weights, length = reading.weights, read.shape[1]
    places = torch.arange(length)
    itself = weights[:, places, places]
    before = torch.cat([torch.zeros(len(read), 1), weights[:, places[1:], places[:-1]]], dim=-1)
    on_blanks = (weights * (read == 0)[:, None, :]).sum(dim=-1)
    is_right = reading.logits.argmax(dim=-1) == following
    lengths = reading.value.norm(dim=-1)
    measured = (
        loss,
        _mean(is_right[wanted]),
        _mean(before[wanted]),
        weights[..., 0][idle].mean(),
        1 - weights.sum(dim=-1)[idle].mean(),
        itself[idle].mean(),
        before[idle].mean(),
        on_blanks[idle].mean(),
        reading.gate[idle].mean(),
        _mean(reading.gate[wanted]),
        reading.scores.abs().max(),
        lengths[:, 0].mean(),
        lengths[:, 1:].mean(),
    )
    return IdleRow(setting, seed, *(round(float(number), 4) + 0.0 for number in measured))


def _mean(numbers: Tensor) -> float:
    return numbers.float().mean().item() if numbers.numel() else 0.0


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
    save_file(tensors, IDLE_FILE, {"made": made})
    IDLE_FILE.chmod(0o644)  # safetensors leaves it to its owner alone
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    stored = f'{{"made": {json.dumps(made)}, "rows": [\n{lines}\n]}}\n'
    IDLE_FILE.with_suffix(".json").write_text(stored, encoding="utf-8")
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


@functools.lru_cache(maxsize=len(SHIPPED_SETTINGS) * len(IDLE_SEEDS))
def load_film(setting: str, seed: int = SHOWN_SEED) -> tuple[Stage, ...]:
    """The training of the shown seed, stage by stage; of another one only its end.

    The last stage is what the shipped weights do.
    """
    [row] = [one for one in list_seeds(setting) if one.seed == seed]
    last = look_at(load_idle_head(setting, seed), setting, STAGES[-1], row.loss)
    if seed != SHOWN_SEED:
        return (last,)
    with safe_open(IDLE_FILE, "pt") as file:
        packed = [file.get_tensor(f"film {setting}: {name}").tolist() for name in FILM_PARTS]
    weights, lengths, gates, largest, losses = packed
    stages = [
        Stage(
            batches,
            [row[: query + 1] for query, row in enumerate(weights[place])],
            *(numbers[place] for numbers in (lengths, gates, largest, losses)),
        )
        for place, batches in enumerate(STAGES)
    ]
    return (*stages[:-1], last)


@functools.cache
def read_idle_rows() -> tuple[tuple[IdleRow, ...], str]:
    """What was measured of each setting and seed, and how the weights were made."""
    stored = json.loads(IDLE_FILE.with_suffix(".json").read_text(encoding="utf-8"))
    return tuple(IdleRow(**row) for row in stored["rows"]), stored["made"]


def list_seeds(setting: str) -> list[IdleRow]:
    """What was measured of the seeds of one setting."""
    return [row for row in read_idle_rows()[0] if row.setting == setting]


def average(setting: str, name: str) -> float:
    """The mean of a number over the seeds of a setting."""
    return statistics.mean(getattr(row, name) for row in list_seeds(setting))


INTRODUCTION = """# What the heads that often want nothing learned

{made}. Made by `python -m explainers.toys --idle`, never by hand.

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
    made = read_idle_rows()[1]
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
