"""Which head did it: what each adds to a word's output, and to the words that are named from it."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, TOKEN_AXIS
from explainers.lessons.many_heads import Looked
from explainers.trained import Learned
from explainers.ui.panels import Panel

SIDE_BY_SIDE, W_O, LAYER, PARTS = "heads", "W_O", "layer", "parts"
SHARES, LOGITS, NAMED = "shares", "logits", "named"
AXES = {
    SIDE_BY_SIDE: (TOKEN_AXIS, FEATURE_AXIS),
    W_O: (FEATURE_AXIS, FEATURE_AXIS),
    LAYER: (TOKEN_AXIS, FEATURE_AXIS),
    PARTS: (HEAD_AXIS, FEATURE_AXIS),
    SHARES: (HEAD_AXIS, ""),
    LOGITS: (HEAD_AXIS, "word"),
    NAMED: ("", "word"),
}


def head_id(head: int) -> str:
    """What a head's pictures are called."""
    return f"head {head}"


def who_did_it(looked: Looked) -> list[Panel]:
    """Each head's part of the chosen word's output, and its votes for what is named from it."""
    word, heads = looked.layer.tokens[looked.word], range(looked.num_heads)
    rows = [head_id(head) for head in heads]
    parts = plain(PARTS, f"what each head adds to the output of {word}", looked.parts, rows)
    shares = plain(SHARES, f"of the output of {word}", looked.shares[:, None], rows, ["share"])
    panels = [
        Panel(
            PARTS, parts, heading="Which head did it? A row of the output is the sum of these parts"
        ),
        Panel(SHARES, replace(shares, limit=1.0), "→"),
    ]
    if looked.layer.known is None or not looked.candidates:
        return panels
    return [*panels, *_named(looked, looked.layer.known, rows)]


def _named(looked: Looked, known: Learned, rows: list[str]) -> list[Panel]:
    word, places = looked.layer.tokens[looked.word], list(looked.candidates)
    words = list(looked.candidates.values())
    outputs = torch.stack([looked.run.output, looked.output])[:, looked.word]
    totals = known.named(outputs)[:, places]
    votes = (known.named(looked.parts) - known.bias)[:, places]
    logits = torch.cat([votes, known.bias[None, places], totals[1:]])
    formula, rows = f"for {word}: ← before it, → after it", [*rows, "bias", "sum"]
    voted = plain(LOGITS, formula, logits, rows, words)
    formula, rows = f"for {word}: sigmoid of the sum", ["all heads", "heads on"]
    told = plain(NAMED, formula, totals.sigmoid(), rows, words)
    return [
        Panel(LOGITS, voted, heading="What the layer names for the word: a sum of votes"),
        Panel(NAMED, replace(told, kind="weights"), "→"),
    ]


def plain(
    name: str, formula: str, values: Tensor, rows: Sequence[str], columns: Sequence[str] = ()
) -> Matrix:
    """A matrix of the layer with the axes that it has."""
    columns = columns or [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), rows, columns, *AXES[name])
