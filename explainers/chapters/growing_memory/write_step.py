"""One step of the delta rule with all its numbers, and the same for all words at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.delta_rule import gated_delta_attention
from explainers.attention.gated_delta_layer import GatedDelta, find_gates, gated_delta_layer
from explainers.attention.linear import linear_attention, read_state
from explainers.chapters.growing_memory.written_pairs import (
    DIM,
    VERB,
    Story,
    write_pair,
    write_story,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS
from explainers.toys.examples import draw_embeddings, make_generator
from explainers.toys.pair_memory import OVERWRITE, SUM
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.text.numbers import bound_rounding, write_decimals


@dataclass(frozen=True)
class Step:
    """The pair that writes the verb's key a second time: all that the rule computes then."""

    story: Story
    place: int
    """Of the pair."""
    before: Tensor
    """(value_dim, head_dim)"""
    key: Tensor
    value: Tensor
    found: Tensor
    """What the key reads before (value_dim,)."""
    after: Tensor
    """(value_dim, head_dim)"""

    @classmethod
    def of(cls, story: Story) -> "Step":
        """Take the last pair with the verb's key."""
        asked = story.asked[VERB]
        place = max(at for at, (key, _value) in enumerate(story.pairs) if key == asked)
        keys, values = story.vectors
        key, value = keys[asked], values[story.pairs[place][1]]
        before = write_story(story, OVERWRITE)[place]
        after = write_pair(before, key, value, OVERWRITE)
        return cls(story, place, before, key, value, read_state(before, key), after)


def write_origin(story: Story) -> str:
    """Where the numbers of a step come from."""
    return _("keys and values at random, seed {seed}: computed live", seed=story.seed)


def name_numbers(step: Step) -> dict[str, str]:
    """The words nearest to what is read before and after, for a text."""
    story = step.story
    values, answers = story.vectors[1], (step.found, read_state(step.after, step.key))
    (old, old_score), (new, new_score) = (
        (story.names[int(like.argmax())], like.max().item())
        for like in (values @ answer for answer in answers)
    )
    word, following = story.pairs[step.place]
    return {
        "word": story.names[word],
        "following": story.names[following],
        "old": old,
        "old_score": write_decimals(old_score),
        "new": new,
        "new_score": write_decimals(new_score),
    }


def compare_forms(story: Story) -> dict[str, str]:
    """How far the answers of all words at once are from those of one pair after another."""
    rows = torch.tensor(story.pairs)
    keys, values = story.vectors[0][rows[:, 0]], story.vectors[1][rows[:, 1]]
    count = len(keys)
    mask, one = masks.build(masks.causal, count, count), torch.ones(count)
    at_once = {
        SUM: linear_attention(keys, keys, values, mask),
        OVERWRITE: gated_delta_attention(keys, keys, values, one, one),
    }
    apart = {
        rule: (read_state(write_story(story, rule)[1:], keys) - output).abs().max().item()
        for rule, output in at_once.items()
    }
    return {rule: bound_rounding(difference) for rule, difference in apart.items()}


ROUNDING = 1e-5
"""Sums in another order differ by less."""
LAYER = {"d_model": 32, "key_heads": 1, "heads": 2, "head_dim": 16, "taps": 4}
"""Sizes of the layer that is run as a whole."""


def draw_layer_weights(seed: int) -> GatedDelta:
    """An untrained layer, which forgets slowly at first."""
    generator = make_generator("gated delta", seed)
    d_model, key_heads, heads, head_dim, taps = LAYER.values()

    def draw(*size: int) -> Tensor:
        return torch.randn(*size, generator=generator) * size[0] ** -0.5

    narrow, wide = key_heads * head_dim, heads * head_dim
    return GatedDelta(
        w_query=draw(d_model, narrow),
        w_key=draw(d_model, narrow),
        w_value=draw(d_model, wide),
        w_gate=draw(d_model, wide),
        w_beta=draw(d_model, heads),
        w_fade=draw(d_model, heads),
        kernels=(draw(taps, narrow), draw(taps, narrow), draw(taps, wide)),
        rate=torch.full((heads,), 0.1),
        bias=torch.zeros(heads),
        gain=torch.ones(head_dim),
        w_output=draw(wide, d_model),
        head_dim=head_dim,
    )


def run_layer(story: Story, seed: int) -> dict[str, str]:
    """What a whole layer does with the first sentence: its gates and its sizes, for a text."""
    layer, words = draw_layer_weights(seed), story.sentences[0]
    x = draw_embeddings(words, LAYER["d_model"], seed).cpu()
    output, (beta, keep) = gated_delta_layer(x, layer), find_gates(x, layer)
    changed = x.clone()
    changed[-1] += 1
    moved = (gated_delta_layer(changed, layer) - output).abs().amax(dim=-1)
    return {
        "words": f"{len(words)}",
        "taps": f"{LAYER['taps']}",
        "heads": f"{LAYER['heads']}",
        "state": f"{LAYER['head_dim']} × {LAYER['head_dim']}",
        "least_beta": f"{beta.min().item():.2f}",
        "most_beta": f"{beta.max().item():.2f}",
        "least_keep": f"{keep.min().item():.2f}",
        "most_keep": f"{keep.max().item():.2f}",
        "moved": f"{int((moved > ROUNDING).sum())}",
    }


def draw_step(step: Step) -> Figure:
    """What is missing: the value, without what the memory says for its key."""
    numbers = [str(n) for n in range(1, DIM + 1)]
    word, following = (step.story.names[at] for at in step.story.pairs[step.place])

    def draw_column(name: str, formula: str, vector: Tensor, role: str) -> Matrix:
        column = [[number] for number in vector.tolist()]
        # Without names of its axes it is narrow: all four stand in one line on a small screen.
        return Matrix(name, formula, column, numbers, [""], "", "", role=role, limit=1.0)

    state = Matrix(
        _("memory S"),
        _("before this pair"),
        step.before.tolist(),
        numbers,
        numbers,
        FEATURE_AXIS,
        FEATURE_AXIS,
        limit=1.0,
    )
    missing = step.value - step.found
    panels = [
        Panel("value", draw_column(_("value v"), following, step.value, "value")),
        Panel("memory", state, "−"),
        Panel("key", draw_column(_("key k"), word, step.key, "key"), "·"),
        Panel("missing", draw_column(_("missing"), "v − S · k", missing, "value"), "="),
    ]
    return Figure(panels, _("A value, minus the memory times a key: what is missing."))
