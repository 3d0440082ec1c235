"""Scores that know distances, and their pictures: RoPE's while all words move, and ALiBi's."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.multi_head import multi_head
from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import SingleHead, project
from explainers.chapters.common.score_matrix import choose_pair, make_head_matrices, name_by_head
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.sentence import SENTENCE
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import random_weights
from explainers.ui.takeaway_files import take

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer that ALiBi acts on; the reader does not choose another."""
TURNED_DIM = 8
"""Numbers of a query and a key: four pairs, few enough to be drawn."""
ANSWERS = (
    N_("no score changes"),
    N_("all scores grow"),
    N_("the scores change, some up, some down"),
)
SHIFTS = 0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64
"""Moves of all words for which all scores are compared."""
ROUNDING = 1e-4
"""Angles of float32 are off by about 1e-7 of themselves, and the largest shift is large."""


@dataclass(frozen=True, eq=False)
class RotaryHead:
    """A head whose queries and keys are rotated, and the words that it reads."""

    tokens: tuple[str, ...]
    x: Tensor
    """(tokens, d_model)"""
    weights: SingleHead
    base: float
    """Of the speeds: the slowest pair turns nearly so many times slower than the first."""
    seed: int | None = None
    """Of random numbers."""
    name: str = ""
    """Of the head, if it is a model's."""
    model: str = ""
    provenance: str = ""

    @property
    def head_dim(self) -> int:
        """Numbers of a query."""
        return self.weights.w_query.shape[-1]

    def as_call(self) -> tuple[Callable[..., "RotaryHead"], dict[str, Any]]:
        """What makes it again: its seed, or its numbers."""
        if self.seed is not None:
            return draw_rotary_head, {"tokens": self.tokens, "seed": self.seed}
        names = "tokens", "x", "weights", "base"
        return RotaryHead, {name: getattr(self, name) for name in names}


def name_origin(head: RotaryHead) -> str:
    """The badge of the pictures."""
    if not head.provenance:
        return random_weights(head.seed or 0, head.x.device)
    from explainers.chapters.common.recording import describe_live_numbers

    return describe_live_numbers(head.provenance, head.x.device)


def name_head(head: RotaryHead) -> str:
    """Of a model: which head of which model."""
    return _("head {head} of {model}", head=head.name, model=head.model) if head.name else ""


@functools.lru_cache(maxsize=64)
def draw_rotary_head(tokens: tuple[str, ...], seed: int) -> RotaryHead:
    """Random words and a random head."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    head = examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)
    return RotaryHead(tuple(tokens), x, head, examples.LONGEST, seed)


@dataclass(frozen=True)
class ShiftedScores:
    """Scores of one head for each shift of all words (shifts, words, words)."""

    tokens: tuple[str, ...]
    shifts: tuple[int, ...]
    rotary: Tensor
    added: Tensor

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, rotary_head: RotaryHead, shifts: tuple[float, ...]) -> "ShiftedScores":
        """Let every word stand `shift` positions further on, and compute the scores again."""
        tokens, x, head = rotary_head.tokens, rotary_head.x, rotary_head.weights
        full = masks.build(masks.full, len(tokens), len(tokens)).to(x.device)
        views = project(x, head)
        rotary, added = [], []
        for shift in map(int, shifts):
            position = torch.arange(shift, shift + len(tokens), device=x.device)
            angle = angles(position, rotary_head.head_dim, rotary_head.base)
            rotary.append(rotary_attention(*views, full, angle).scores)
            waves = sinusoidal(shift + len(tokens), x.shape[-1], examples.LONGEST)[shift:]
            moved = project(x + waves.to(x.device), head)
            added.append(attention(*moved, full).scores)
        return cls(tokens, tuple(map(int, shifts)), torch.stack(rotary), torch.stack(added))

    def find_answer(self) -> str:
        """What moving all words does to RoPE's scores, in words."""
        changes = self.rotary - self.rotary[0]
        if changes.abs().max() < ROUNDING:
            return ANSWERS[0]
        return ANSWERS[1] if (changes[1:] > 0).all() else ANSWERS[2]

    def measure_changes(self) -> tuple[float, float]:
        """How far any score is from the one at the first shift, with RoPE and with added ones."""
        rotary, added = ((s - s[0]).abs().max().item() for s in (self.rotary, self.added))
        return rotary, added


class AlibiWeights(NamedTuple):
    """Weights of every head (heads, q_len, kv_len), without and with ALiBi."""

    mask: Tensor
    slopes: Tensor
    without: Tensor
    weights: Tensor


def compute_alibi(tokens: Sequence[str], seed: int) -> AlibiWeights:
    """Untrained heads under the causal mask; nothing else tells them where a word stands."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_HEADS, HEAD_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    run = multi_head(x, layer, mask)
    slopes = alibi_slopes(NUM_HEADS).to(x.device)
    bias = alibi_bias(slopes, len(tokens), len(tokens))
    weights = biased_attention(run.query, run.key, run.value, mask, bias).weights
    return AlibiWeights(mask, slopes, run.weights, weights)


KEYS = (
    "scores with RoPE",
    "change with RoPE",
    "scores with added positions",
    "change with added positions",
)


def draw_all_pairs(moved: ShiftedScores, place: int, queries_down: bool) -> Figure:
    """The scores of all words after one shift, and what it changed, rotated and added."""
    rotary, added = moved.rotary, moved.added
    limit = max(rotary.abs().max().item(), added.abs().max().item())
    since = _("new − old, since all words moved")
    shown = [
        (rotary[place], _("scores with RoPE"), _("q · k ÷ √d_k, both rotated")),
        (rotary[place] - rotary[0], _("change with RoPE"), since),
        (added[place], _("scores with added positions"), _("q · k ÷ √d_k, from x + positions")),
        (added[place] - added[0], _("change with added positions"), since),
    ]
    panels = [
        _make_score_panel(moved, key, *one, limit) for key, one in zip(KEYS, shown, strict=True)
    ]
    rope, rope_moved, waves, waves_moved = orient_panels(panels, queries_down)
    alt = _("The scores of all words with RoPE and with added positions, and how they changed.")
    heading = _("Positions added to x, as on the page Tokens and positions")
    panels = [
        replace(rope, heading=_("RoPE rotates queries and keys")),
        rope_moved,
        replace(waves, heading=heading),
        waves_moved,
    ]
    return Figure(panels, alt)


def _make_score_panel(
    moved: ShiftedScores, key: str, numbers: Tensor, name: str, formula: str, limit: float
) -> Panel:
    axes = QUERY_AXIS, KEY_AXIS
    tokens = moved.tokens
    return Panel(key, Matrix(name, formula, numbers.tolist(), tokens, tokens, *axes, limit=limit))


def name_slopes(slopes: Tensor) -> list[str]:
    """Powers of two as fractions: exact."""
    return [str(Fraction(slope)) for slope in slopes.tolist()]


def draw_penalties(shown: AlibiWeights, tokens: Sequence[str], queries_down: bool) -> Figure:
    """The penalty of each head for each distance, and one head's weights without it and with it."""
    slopes = name_slopes(shown.slopes)
    distances = torch.arange(len(tokens), device=shown.slopes.device)
    penalties = Matrix(
        _("penalty"),
        _("− slope · distance, added to the score"),
        (-shown.slopes[:, None] * distances).tolist(),
        [f"{head}: {slope}" for head, slope in enumerate(slopes)],
        [str(n) for n in distances.tolist()],
        HEAD_AXIS,
        _("distance"),
    )
    [without], [penalised] = (
        make_head_matrices(name, [formula], weights[:1], tokens, shown.mask)
        for name, formula, weights in (
            (_("without, head {head}"), "", shown.without),
            (_("with ALiBi, head {head}"), _("slope {slope}", slope=slopes[0]), shown.weights),
        )
    )
    names = "without, head 0", "with ALiBi, head 0"  # as a file names them
    pair = zip(names, (without, penalised), strict=True)
    weights = [Panel(name, one, small=True) for name, one in pair]
    panels = [Panel("penalty", penalties), *orient_panels(weights, queries_down)]
    alt = _("What each head takes off for distance, and the first head's weights without and with.")
    return Figure(panels, alt)


def recall_far_score(draw: Random) -> Recall:
    """One score at the beginning of a text, and the same two words much further on."""
    start, far = draw.randint(0, 9), 100 * draw.randint(1, 9)
    words = tuple(SENTENCE.split())
    moved = ShiftedScores.of(draw_rotary_head(words, draw.randint(0, 99)), (start, start + far))
    before, after = moved.rotary[:, *choose_pair(words)].tolist()
    asking, asked = (start + at for at in choose_pair(words))
    places = {
        "asking": asking,
        "asked": asked,
        "now_asking": asking + far,
        "now_asked": asked + far,
    }
    given = {name: f"{place}" for name, place in places.items()}
    return Recall(round(after, 2), {**given, "score": f"{before:.2f}"}, tolerance=0.005)


def compute_moved_text(head: RotaryHead, shift: int) -> dict[str, Tensor]:
    """Scores with RoPE and with added positions, and how they changed since all words moved."""
    return compute_shift(ShiftedScores.of(head, (0, shift)), 1)


def compute_shift(moved: ShiftedScores, place: int) -> dict[str, Tensor]:
    """Both kinds of scores after one of the shifts, and their change since none."""
    rotary, added = moved.rotary, moved.added
    return {
        "scores with RoPE": rotary[place],
        "change with RoPE": rotary[place] - rotary[0],
        "scores with added positions": added[place],
        "change with added positions": added[place] - added[0],
    }


def compute_with_alibi(tokens: tuple[str, ...], seed: int) -> dict[str, Tensor]:
    """The slopes, and every head's weights without ALiBi and with it."""
    found = compute_alibi(tokens, seed)
    without = name_by_head("without, head", found.without)
    return {"slopes": found.slopes, **without, **name_by_head("with ALiBi, head", found.weights)}


def take_turning(moved: ShiftedScores, place: int, head: RotaryHead) -> None:
    """All words moved along: what is drawn, with other shifts beside it, and this one alone."""
    inputs = {"head": head, "shift": moved.shifts[place]}
    recipe = Recipe(
        _("All words moved along"), compute_moved_text, inputs, compute_shift(moved, place)
    )
    take("turning", recipe)
