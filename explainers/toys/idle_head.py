"""A head that often wants nothing: one layer of attention on letters, with five switches.

The letters follow each other as in corpus.txt; behind e, a or r the letter before it stands once
more (bigram-backcopy, Guo et al. 2024, "Active-dormant attention heads", section 3). Only there the
head has something to look for. How it was trained stands in `idle_training`, how it does in
workshop/toys/IDLE_REPORT.md.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm

from explainers import kept
from explainers.attention import masks
from explainers.attention.bounded_scores import rms_norm, soft_cap
from explainers.attention.sinks_and_gates import apply_gate, open_gate, softmax_with_sinks

IDLE_HEADS = "weights/idle_heads"
ALPHABET = " ,.abcdefghijklmnopqrstuvwxyz"
TRIGGERS = "ear"
"""Behind these the letter before them stands once more."""
BEGIN = "⟨s⟩"
IDLE_D_MODEL, IDLE_HIDDEN, LONGEST_ROW = 32, 64, 32
CAP = 5.0
SHOWN_TEXT = "the ceo announced"
FIRST, SINK, GATE, SOFT_CAP, NORM = "first", "sink", "gate", "cap", "norm"
SWITCHES = FIRST, SINK, GATE, SOFT_CAP, NORM
IDLE_SEEDS = (0, 1, 2, 3, 4)
SHOWN_SEED = IDLE_SEEDS[0]
NOTHING = "none"


def name_setting(*switches: str) -> str:
    """The name of a setting, in links and in the file: its switches in their order."""
    return "-".join(one for one in SWITCHES if one in switches) or NOTHING


def list_switches(setting: str) -> tuple[str, ...]:
    """The switches that are on in a setting."""
    return () if setting == NOTHING else tuple(setting.split("-"))


SETTINGS = tuple(
    name_setting(*some)
    for count in range(len(SWITCHES) + 1)
    for some in combinations(SWITCHES, count)
)
"""All 32."""
SHIPPED_SETTINGS = (
    *(name_setting(FIRST), name_setting(), name_setting(SINK), name_setting(GATE)),
    *(name_setting(FIRST, one) for one in (SINK, GATE, SOFT_CAP, NORM)),
)
"""Those that the page tells of: their weights come with the app."""
Parts = Mapping[str, Tensor]


def copy_back(text: str) -> str:
    """A text in which each trigger has the letter before it once more behind it."""
    row = ""
    for letter in text:
        row += letter
        if letter in TRIGGERS and len(row) > 1:
            row += row[-2]
    return row


def spell(setting: str, text: str = SHOWN_TEXT) -> tuple[str, ...]:
    """What the head reads of a text: its letters with the copies, behind a first token or not."""
    begin = (BEGIN,) if FIRST in list_switches(setting) else ()
    return (*begin, *copy_back(text))


def encode(letters: tuple[str, ...]) -> Tensor:
    """The numbers of letters (length,); the first token's is the last."""
    return torch.tensor([len(ALPHABET) if one == BEGIN else ALPHABET.index(one) for one in letters])


def find_triggers(rows: Tensor) -> Tensor:
    """Where a head has something to look for: at a trigger with a letter before it."""
    is_trigger = torch.isin(rows, encode(tuple(TRIGGERS)))
    is_behind_letter = torch.zeros_like(is_trigger)
    is_behind_letter[..., 1:] = rows[..., :-1] < len(ALPHABET)
    return is_trigger & is_behind_letter


class Reading(NamedTuple):
    """What the model computed of some rows of letters."""

    scores: Tensor
    """(..., length, length), 0 where the mask forbids"""
    weights: Tensor
    """(..., length, length)"""
    value: Tensor
    """(..., length, d_model)"""
    gate: Tensor
    """(..., length): how far it is open on average; 1 without one"""
    logits: Tensor
    """(..., length, letters): which one comes next"""


def read_rows(parts: Parts, setting: str, rows: Tensor) -> Reading:
    """One layer of attention and one of thinking, with the pages' own functions."""
    switches = list_switches(setting)
    x = parts["letters"][rows] + parts["places"][: rows.shape[-1]]
    read = layer_norm(x, x.shape[-1:], parts["norm gain"], parts["norm bias"])
    query, key, value = (read @ parts[name] for name in ("query", "key", "value"))
    if NORM in switches:
        query, key = rms_norm(query, parts["query gain"]), rms_norm(key, parts["key gain"])
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if SOFT_CAP in switches:
        scores = soft_cap(scores, CAP)
    mask = masks.build(masks.causal, rows.shape[-1], rows.shape[-1])
    masked = scores.masked_fill(~mask, -torch.inf)[..., None, :, :]  # of one head
    sink = parts["sink"] if SINK in switches else torch.full((1,), -torch.inf)
    weights = softmax_with_sinks(masked, sink)[..., 0, :, :]
    output = weights @ value
    gate = torch.ones(rows.shape)
    if GATE in switches:
        gate = open_gate(read, parts["gate"]).mean(dim=-1)
        output = apply_gate(output, read, parts["gate"])
    x = x + output @ parts["output"]
    read = layer_norm(x, x.shape[-1:], parts["second norm gain"], parts["second norm bias"])
    x = x + gelu(read @ parts["up"] + parts["up bias"]) @ parts["down"] + parts["down bias"]
    logits = x @ parts["next"] + parts["next bias"]
    return Reading(scores.masked_fill(~mask, 0), weights, value, gate, logits)


@dataclass(frozen=True)
class Stage:
    """What is seen of a head after so many batches, on the text of the picture."""

    batches: int
    weights: list[list[float]]
    """A row for each letter, as long as what it may look at."""
    lengths: list[float]
    """Of the letters' values."""
    gates: list[float]
    largest: float
    """|score|."""
    loss: float
    """On held-out rows."""


@torch.no_grad()
def look_at(parts: Parts, setting: str, batches: int, loss: float) -> Stage:
    """How the head divides its attention over the text of the picture."""
    reading = read_rows(parts, setting, encode(spell(setting)))
    rows = [row[: place + 1] for place, row in enumerate(reading.weights.tolist())]
    lengths, gates = reading.value.norm(dim=-1).tolist(), reading.gate.tolist()
    return Stage(batches, rows, lengths, gates, reading.scores.abs().max().item(), loss)


def name_idle_part(setting: str, seed: int, part: str) -> str:
    """The name of one tensor in the file."""
    return f"{setting} {seed}: {part}"


@functools.lru_cache(maxsize=len(SHIPPED_SETTINGS) * len(IDLE_SEEDS))
def load_idle_head(setting: str, seed: int = SHOWN_SEED) -> dict[str, Tensor]:
    """The shipped weights of a setting."""
    parts = kept.read(IDLE_HEADS).read_tensors(name_idle_part(setting, seed, ""))
    if not parts:
        raise ValueError(f"{setting}, seed {seed}: not among the shipped heads")
    return {name: part.float() for name, part in parts.items()}
