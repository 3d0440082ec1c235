"""Pairs of words, written one after the other into a memory of 8 × 8 numbers or onto shelves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from explainers.attention.linear import read_state, write_delta, write_sum
from explainers.attention.scaled_dot_product import attention
from explainers.toys.examples import make_generator
from explainers.toys.grammar import choose_grammar, read_running
from explainers.toys.pair_memory import FADE, OVERWRITE, RULES, SOFTMAX, SUM
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, round_numbers
from explainers.ui.page import Prose
from explainers.ui.text.numbers import bound_rounding, write_decimals, write_percent

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

    @property
    def rewritten(self) -> int:
        """The place of the pair that writes the verb's key once more."""
        asked = self.asked[VERB]
        return max(place for place, (key, _value) in enumerate(self.pairs) if key == asked)

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


def write_by_all_rules(story: Story) -> dict[str, Tensor]:
    """The memory after the last pair, by each rule, and what it answers to every word."""
    states = {f"memory, {rule}": write_story(story, rule)[-1] for rule in RULES if rule != SOFTMAX}
    return states | {f"answers, {rule}": answer_all(story, rule)[0][-1] for rule in RULES}


def write_once_more(story: Story) -> dict[str, Tensor]:
    """The pair that writes a key again: what was there, what is missing, and what is there then.

    Vectors are columns.
    """
    keys, values = story.vectors
    word, following = story.pairs[story.rewritten]
    key, value = keys[word], values[following]
    before = write_story(story, OVERWRITE)[story.rewritten]
    columns = {"value v": value, "key k": key, "missing": value - read_state(before, key)}
    return {
        "memory S": before,
        **{name: vector[:, None] for name, vector in columns.items()},
        "memory afterwards": write_pair(before, key, value, OVERWRITE),
    }


NEAREST = 3
"""Words that are named as the answer, the nearest first."""
TIE = 0.005
"""Two words are equally near where two decimals do not tell them apart: nothing is counted that
only rounding decides."""
SENTENCES = (
    *("hero_caption", "hero_empty", "hero_unwritten", "hero_nothing", "hero_both", "hero_newest"),
    *("hero_right", "hero_tie", "hero_wrong", "hero_fade"),
    *("hero_rows_both", "hero_rows_one", "hero_rows_none"),
)


@dataclass(frozen=True)
class Answers:
    """What one rule answers after each number of pairs, to each word that can be asked for."""

    story: Story
    rule: str

    @cached_property
    def vectors(self) -> Tensor:
        """(pairs + 1, asked, value_dim)"""
        return answer_all(self.story, self.rule)[0]

    @cached_property
    def likeness(self) -> Tensor:
        """Dot products with the value of each word (pairs + 1, asked, names)."""
        return self.vectors @ self.story.vectors[1].T

    def measure_leads(self, count: int) -> dict[int, float]:
        """By how much what followed each word last is nearer than any other word, by place."""
        leads = {}
        for key, value in self.story.find_newest(count).items():
            place = self.story.asked.index(key)
            likeness = self.likeness[count, place].clone()
            own, likeness[value] = float(likeness[value]), -torch.inf
            leads[place] = own - float(likeness.max())
        return leads

    def count_found(self, count: int) -> int:
        """How many words find what followed them last, after so many pairs; ties do not count."""
        return sum(lead >= TIE for lead in self.measure_leads(count).values())

    def list_ties(self, count: int) -> list[int]:
        """The places of words to which another word is as near as the right one."""
        return [place for place, lead in self.measure_leads(count).items() if abs(lead) < TIE]

    def compare_oldest(self, count: int) -> list[float]:
        """How like the value that a word was first written with the answer to it is; or 0."""
        first = dict(reversed(self.story.pairs[:count]))
        likeness = self.likeness[count]
        found = [
            likeness[place, first[key]] if key in first else torch.zeros(())
            for place, key in enumerate(self.story.asked)
        ]
        return round_numbers(torch.stack(found))

    def compare(self, count: int, asked: int, name: int) -> str:
        """How like a word's value the answer is, as the picture writes it."""
        return write_decimals(self.likeness[count, asked, name].item())

    def describe(self) -> dict[str, Any]:
        """All of it, for the browser; the states and what was written of each pair, which is by
        overwriting only what the memory does not say yet; or attention's weights."""
        likest = self.likeness.topk(NEAREST, dim=-1)
        named = [
            [list(zip(*both, strict=True)) for both in zip(*of_count, strict=True)]
            for of_count in zip(likest.indices.tolist(), round_numbers(likest.values), strict=True)
        ]
        counts = range(len(self.story.pairs) + 1)
        told = {
            "answers": round_numbers(self.vectors, 3),
            "nearest": named,
            "older": [self.compare_oldest(count) for count in counts],
            "found": [self.count_found(count) for count in counts],
            "ties": [self.list_ties(count) for count in counts],
        }
        if self.rule == SOFTMAX:
            return told | {"weights": round_numbers(answer_all(self.story, SOFTMAX)[1])}
        states, (keys, values) = write_story(self.story, self.rule), self.story.vectors
        asked, following = torch.tensor(self.story.pairs).T
        written = values[following]
        if self.rule != SUM:
            keep = KEEP if self.rule == FADE else 1.0
            written = written - read_state(keep * states[:-1], keys[asked])
        return told | {"states": round_numbers(states, 3), "written": round_numbers(written, 3)}


def make_hero(text: Prose, story: Story) -> Hero:
    """Every rule after every pair, with keys at random and at right angles."""
    count = len(story.pairs)
    rule, pairs, keys = (controls.memory_rule, controls.pairs_written, controls.memory_keys)
    question, counts, places = (controls.memory_question, range(count + 1), range(len(story.asked)))
    choices = [
        HeroChoice.read(rule, RULES, [*map(_, controls.RULE_NAMES)]),
        HeroChoice.read(keys, KEYS),
        HeroChoice.read(pairs, counts),
        HeroChoice.read(question, places),
    ]
    alt = _(
        "Pairs of words, a memory of {dim} × {dim} numbers that they are written into, its answer.",
        dim=DIM,
    )
    stories = {kind: replace(story, key_kind=kind) for kind in KEYS}
    answers = {kind: {one: Answers(stories[kind], one) for one in RULES} for kind in KEYS}
    shown = answers[choices[1].value][choices[0].value], choices[2].value
    return Hero(
        *("state", alt, compute_numbers(story, answers), choices, SENTENCES),
        list_experiments(text, answers),
        name_origin(story.seed),
        lambda: make_table(*shown),
    )


def name_origin(seed: int) -> str:
    """The badge of every picture whose keys and values were drawn."""
    return _("keys and values at random, seed {seed}: computed live", seed=seed)


def compute_numbers(story: Story, answers: Mapping[str, Mapping[str, Answers]]) -> dict[str, Any]:
    """All that the picture shows, whatever is chosen in it."""
    shown = [[list(both) for both in pairwise(sentence)] for sentence in story.sentences]
    return {
        "names": list(story.names),
        "rows": [row for sentence in shown for row in sentence],
        "pairs": [list(pair) for pair in story.pairs],
        "asked": list(story.asked),
        "breaks": len(shown[0]),
        "keep": write_percent(KEEP),
        "vectors": {
            kind: [round_numbers(x, 3) for x in one[SUM].story.vectors]
            for kind, one in answers.items()
        },
        "memories": {
            kind: {rule: memory.describe() for rule, memory in one.items()}
            for kind, one in answers.items()
        },
    }


def list_experiments(text: Prose, answers: Mapping[str, Mapping[str, Answers]]) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    plain, right = answers[RANDOM], answers[ORTHOGONAL][SUM]
    story, verb = plain[SUM].story, controls.memory_question.default
    first, last = len(story.sentences[0]) - 1, len(story.pairs)
    before = story.find_newest(first)[story.asked[verb]]

    def choose(rule: str, pairs: int, kind: str = RANDOM) -> dict[str, Any]:
        return {
            controls.memory_rule.key: rule,
            controls.pairs_written.key: pairs,
            controls.memory_keys.key: kind,
            controls.memory_question.key: verb,
        }

    of_first = {
        "words": len(story.find_newest(first)),
        "sum_found": plain[SUM].count_found(first),
        "overwrite_found": plain[OVERWRITE].count_found(first),
        "word": story.names[story.asked[verb]],
        "answer": story.names[before],
        "sum": plain[SUM].compare(first, verb, before),
        "overwrite": plain[OVERWRITE].compare(first, verb, before),
    }
    values = right.story.vectors[1]
    found = right.story.find_newest(first)
    places = [right.story.asked.index(key) for key in found]
    error = (right.vectors[first, places] - values[list(found.values())]).abs().max().item()
    of_right = {
        "keys": len(found),
        "score": right.compare(first, verb, before),
        "error": bound_rounding(error),
        "dim": DIM,
    }
    of_fading = {
        "keep": write_percent(KEEP),
        "word": story.names[story.asked[verb]],
        "answer": story.names[int(plain[FADE].likeness[last, verb].argmax())],
        "score": write_decimals(plain[FADE].likeness[last, verb].max().item()),
        "found": plain[FADE].count_found(last),
        "words": len(story.find_newest(last)),
        "without": plain[OVERWRITE].count_found(last),
    }
    return [
        Experiment("first", text.fill("try_first", **of_first), choose(OVERWRITE, first)),
        Experiment("right", text.fill("try_right", **of_right), choose(SUM, first, ORTHOGONAL)),
        Experiment("fade", text.fill("try_fade", **of_fading), choose(FADE, last)),
    ]


def make_table(answers: Answers, count: int) -> Any:
    """Every word that can be asked for, the nearest words to its answer, and what is newest."""
    story, newest = answers.story, answers.story.find_newest(count)
    likest = answers.likeness[count].topk(NEAREST, dim=-1)
    rows = []
    for place, key in enumerate(story.asked):
        found = zip(likest.indices[place].tolist(), likest.values[place].tolist(), strict=True)
        named = [f"{story.names[name]} {write_decimals(like)}" for name, like in found]
        wanted = story.names[newest[key]] if key in newest else "–"
        rows.append([story.names[key], wanted, *named])
    nearest = [_("answer {number}", number=number + 1) for number in range(NEAREST)]
    return tabulate(rows, [_("asked for"), _("newest pair"), *nearest])
