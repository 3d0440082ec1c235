"""One step of the delta rule with all its numbers, and the same for all words at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.delta_rule import gated_delta_attention
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
