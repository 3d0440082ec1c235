"""Where positions enter: RoPE against positions that are added, while all words move along."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explainers import examples
from explainers.attention import masks
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.single_head import project, single_head
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.lessons.wording import less_than
from explainers.ui import controls
from explainers.ui.figure import show_figure
from explainers.ui.panels import Figure, Panel, Slider, oriented
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source

D_MODEL, HEAD_DIM = 64, 8
ANSWERS = "no score changes", "all scores grow", "the scores change, some up, some down"
HEADINGS = "RoPE turns queries and keys", "Waves added to x, as on the page Tokens and positions"
DRAWN = 1.0, 0.75
"""How long the arrows of the query and of the key are drawn: they turn and never grow."""
ROUNDING = 1e-4
"""Angles of float32 are off by about 1e-7 of themselves, and the largest shift is large."""


@dataclass(frozen=True)
class Moved:
    """Scores of one head, and two of its vectors turned, for each shift (shifts, …)."""

    tokens: tuple[str, ...]
    shifts: tuple[int, ...]
    rotary: Tensor
    added: Tensor
    arrows: Tensor

    @classmethod
    def of(cls, tokens: Sequence[str], shifts: Sequence[float], seed: int) -> "Moved":
        """Let every word stand `shift` places further on, and compute the scores again."""
        x = examples.embeddings(tuple(tokens), D_MODEL, seed)
        head = examples.random_head(D_MODEL, HEAD_DIM, HEAD_DIM, seed)
        full = masks.build(masks.full, len(tokens), len(tokens)).to(x.device)
        views = project(x, head)
        asking, asked = pair(tokens)
        rotary, added, arrows = [], [], []
        for shift in map(int, shifts):
            places = torch.arange(shift, shift + len(tokens), device=x.device)
            angle = angles(places, HEAD_DIM, examples.LONGEST)
            rotary.append(rotary_attention(*views, full, angle).scores)
            waves = sinusoidal(shift + len(tokens), D_MODEL, examples.LONGEST)[shift:]
            added.append(single_head(x + waves.to(x.device), head, full).scores)
            turned = rotate(views.query, angle)[asking], rotate(views.key, angle)[asked]
            arrows.append(torch.stack(turned))
        stacks = (torch.stack(some) for some in (rotary, added, arrows))
        return cls(tuple(tokens), tuple(map(int, shifts)), *stacks)

    def answer(self) -> str:
        """What moving all words does to RoPE's scores, in words."""
        changes = self.rotary - self.rotary[0]
        if changes.abs().max() < ROUNDING:
            return ANSWERS[0]
        return ANSWERS[1] if (changes[1:] > 0).all() else ANSWERS[2]

    def panels(self, place: int, queries_down: bool) -> list[Panel]:
        """Two vectors as they turn, and the scores of all words, a frame per shift."""
        limit = max(self.rotary.abs().max().item(), self.added.abs().max().item())
        formulas = "q · k ÷ √d_k, both turned", "q · k ÷ √d_k, from x + waves"
        panels = [self._dials(place)]
        for way, scores in enumerate((self.rotary, self.added)):
            changes, named = scores - scores[0], ("RoPE", "waves")[way]
            pairs = (
                self._pairs(f"scores with {named}", formulas[way], scores, place, limit),
                self._pairs(
                    f"change with {named}",
                    "new − old, since all words moved",
                    changes,
                    place,
                    limit,
                ),
            )
            first, second = oriented(pairs, queries_down)
            panels += [replace(first, heading=HEADINGS[way]), second]
        return panels

    def _pairs(self, name: str, formula: str, numbers: Tensor, place: int, limit: float) -> Panel:
        frames, axes = numbers.tolist(), (QUERY_AXIS, KEY_AXIS)
        drawn = Matrix(name, formula, frames[place], self.tokens, self.tokens, *axes, limit=limit)
        return Panel(name, drawn, frames=tuple(frames))

    def _dials(self, place: int) -> Panel:
        words = [self.tokens[at] for at in pair(self.tokens)]
        rows = [f"{kind} of {word}" for kind, word in zip(("query", "key"), words, strict=True)]
        speeds = angles(torch.ones(1), HEAD_DIM, examples.LONGEST)[0].tolist()
        columns = [f"one turn in {math.tau / speed:,.1f} places" for speed in speeds for _ in "xy"]
        frames = self.directions().tolist()
        matrix = Matrix(
            "one query and one key",
            "a pair of numbers is an arrow with a speed of its own; only its direction is drawn",
            frames[place],
            rows,
            columns,
            "vector",
            FEATURE_AXIS,
            kind="arrows",
            limit=max(DRAWN),
        )
        return Panel("dials", matrix, frames=tuple(frames))

    def directions(self) -> Tensor:
        """Where the arrows point, all queries' as long as each other, all keys' a bit shorter."""
        pairs = torch.stack(
            [self.arrows[..., 0::2], self.arrows[..., 1::2]], dim=-1
        )  # (shifts, 2, pairs, 2)
        drawn = torch.tensor(DRAWN, device=pairs.device)[:, None, None]
        return (pairs / pairs.norm(dim=-1, keepdim=True) * drawn).flatten(-2)


def pair(tokens: Sequence[str]) -> tuple[int, int]:
    """Which word asks and which is asked: in the running sentence, announced asks CEO."""
    return min(2, len(tokens) - 1), min(1, len(tokens) - 1)


def show_turning(text: Prose, tokens: tuple[str, ...], seed: int, queries_down: bool) -> None:
    """Guess what moving does to the scores, then move all words in the browser."""
    control = controls.shift
    text("rotary", d_k=HEAD_DIM)
    moved = Moved.of(tokens, control.steps, seed)
    if not revealed(text, "rotary", ANSWERS, moved.answer(), shift=moved.shifts[-1]):
        return
    place = control()
    labels = [f"{shift} places" for shift in moved.shifts]
    slider = Slider(control.label, labels, place, lambda n: control.put(moved.shifts[n]))
    alt = (
        "Two vectors turned pair by pair, and scores with RoPE and with waves added, as words move."
    )
    figure = Figure(moved.panels(place, queries_down), alt, slider=slider)
    show_figure(figure, random_weights(seed, moved.rotary.device), "rotary")
    rotary, added = ((s - s[0]).abs().max().item() for s in (moved.rotary, moved.added))
    text("rotary_moved", rotary=less_than(rotary), added=f"{added:.2f}")
    show_source(angles, rotate, rotary_attention)
