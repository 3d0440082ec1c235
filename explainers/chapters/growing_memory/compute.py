"""Two sentences as pairs of a word and the next, written into a memory one after the other."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from explainers.attention.linear import read_state, write_delta, write_sum
from explainers.attention.scaled_dot_product import attention
from explainers.toys.examples import make_generator
from explainers.toys.grammar import choose_grammar, read_running
from explainers.toys.pair_memory import FADE, OVERWRITE, RULES, SOFTMAX, SUM

DIM = 8
"""Numbers of a key and of a value: few enough to be drawn."""
KEEP = 0.8
"""What a memory that fades keeps of itself at each step."""
SHARPNESS = 4 * DIM
"""How long a query of attention is, where keys have length 1: it looks at little else."""
VERB = 2
"""Among the words that can be asked for: the one that both sentences have, before other words."""
KEYS = RANDOM, ORTHOGONAL = "random", "orthogonal"
SECOND_SENTENCES = {
    "en": ("On", "Monday", "the", "company", "announced", "a", "loss"),
    "vi": ("Vào", "thứ Hai", "vị", "giám đốc", "công bố", "một", "khoản lỗ"),
}
SEEDS = {"en": 54, "vi": 12}
"""Chosen: with them both rules find all pairs of the first sentence, and afterwards disagree on
what followed the verb. Few of the first 60 do: see the tests."""


@dataclass(frozen=True)
class Story:
    """Two sentences with a word in common, and the vectors of their words."""

    sentences: tuple[tuple[str, ...], tuple[str, ...]]
    seed: int
    key_kind: str = RANDOM

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every word once, in the order in which it comes; capitals only where they belong."""
        forms: dict[str, str] = {}
        for sentence in self.sentences:
            for place, word in enumerate(sentence):
                if place or word.casefold() not in forms:
                    forms[word.casefold()] = word
        return tuple(forms.values())

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """A word and the next one in its sentence, as places among the names."""
        folded = [name.casefold() for name in self.names]
        return tuple(
            (folded.index(one.casefold()), folded.index(following.casefold()))
            for sentence in self.sentences
            for one, following in pairwise(sentence)
        )

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The words that another one follows: those that can be asked for."""
        return tuple(dict.fromkeys(key for key, _value in self.pairs))

    @cached_property
    def vectors(self) -> tuple[Tensor, Tensor]:
        """Keys and values of all names (names, dim), each of length 1.

        In `dim` dimensions no more than `dim` keys are at right angles: any further one keeps the
        direction that was drawn for it.
        """
        keys, values = (
            torch.stack([self._draw(what, name) for name in self.names])
            for what in ("key", "value")
        )
        if self.key_kind == ORTHOGONAL:
            firsts = list(self.asked[:DIM])
            keys[firsts] = torch.linalg.qr(keys[firsts].T).Q.T
        return keys, values

    def _draw(self, what: str, name: str) -> Tensor:
        drawn = torch.randn(DIM, generator=make_generator(what, self.seed, name.casefold()))
        return drawn / drawn.norm()

    def find_newest(self, count: int) -> dict[int, int]:
        """What followed each word last, among the first pairs."""
        return dict(self.pairs[:count])


def tell_story(language: str, key_kind: str = RANDOM) -> Story:
    """The course's own sentence, and a second one that says something newer."""
    known = choose_grammar(language)
    first = tuple(read_running(known).tokens)
    return Story((first, SECOND_SENTENCES[known]), SEEDS[known], key_kind)


def write_pair(state: Tensor, key: Tensor, value: Tensor, rule: str) -> Tensor:
    """The state after one more pair (value_dim, head_dim), by one of the three rules."""
    if rule == SUM:
        return write_sum(state, key, value)
    keep = torch.tensor(KEEP if rule == FADE else 1.0)
    return write_delta(state, key, value, torch.tensor(1.0), keep)


def write_story(story: Story, rule: str) -> Tensor:
    """The state after each number of pairs (pairs + 1, value_dim, head_dim), from an empty one."""
    keys, values = story.vectors
    states = [torch.zeros(DIM, DIM)]
    for key, value in story.pairs:
        states.append(write_pair(states[-1], keys[key], values[value], rule))
    return torch.stack(states)


def write_missing(story: Story, rule: str, states: Tensor) -> Tensor:
    """Of each pair, what is written with its key (pairs, value_dim): its value, or by overwriting
    only what the memory does not say yet."""
    keys, values = story.vectors
    rows = torch.tensor(story.pairs)
    if rule == SUM:
        return values[rows[:, 1]]
    keep = KEEP if rule == FADE else 1.0
    return values[rows[:, 1]] - read_state(keep * states[:-1], keys[rows[:, 0]])


def answer_all(story: Story, rule: str) -> tuple[Tensor, Tensor]:
    """Answers (pairs + 1, asked, value_dim) to every word that can be asked for, and attention's
    weights (pairs + 1, asked, pairs), which are 0 for the other rules."""
    keys, values = story.vectors
    queries, count = keys[list(story.asked)], len(story.pairs)
    weights = torch.zeros(count + 1, len(queries), count)
    if rule != SOFTMAX:
        states = write_story(story, rule)
        return read_state(states[:, None], queries), weights
    rows = torch.tensor(story.pairs)
    answers = torch.zeros(count + 1, len(queries), DIM)
    for read in range(1, count + 1):
        seen = torch.ones(len(queries), read, dtype=torch.bool)
        asked = attention(SHARPNESS * queries, keys[rows[:read, 0]], values[rows[:read, 1]], seen)
        answers[read], weights[read, :, :read] = asked.output, asked.weights
    return answers, weights


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


def write_by_all_rules(story: Story) -> dict[str, Tensor]:
    """The memory after the last pair, by each rule, and what it answers to every word."""
    states = {f"memory, {rule}": write_story(story, rule)[-1] for rule in RULES if rule != SOFTMAX}
    return states | {f"answers, {rule}": answer_all(story, rule)[0][-1] for rule in RULES}


def write_once_more(story: Story) -> dict[str, Tensor]:
    """The pair that writes a key again: what was there, what is missing, and what is there then."""
    step = Step.of(story)
    missing = (step.value - step.found)[:, None]
    columns = {"value v": step.value[:, None], "key k": step.key[:, None], "missing": missing}
    return {"memory S": step.before, **columns, "memory afterwards": step.after}
