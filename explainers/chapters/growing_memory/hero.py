"""The hero of the page: pairs of words, written into a memory of 8 × 8 numbers or onto shelves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from explainers.chapters.growing_memory.compute import (
    DIM,
    KEEP,
    KEYS,
    ORTHOGONAL,
    RANDOM,
    Story,
    answer_all,
    write_missing,
    write_story,
)
from explainers.toys.pair_memory import FADE, OVERWRITE, RULES, SOFTMAX, SUM
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, round_numbers
from explainers.ui.page import Prose
from explainers.ui.text.numbers import bound_rounding, write_decimals, write_percent

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
        """All of it, for the browser."""
        likest = self.likeness.topk(NEAREST, dim=-1)
        named = [
            [list(zip(*both, strict=True)) for both in zip(*of_count, strict=True)]
            for of_count in zip(likest.indices.tolist(), round_numbers(likest.values), strict=True)
        ]
        counts = range(len(self.story.pairs) + 1)
        return {
            "answers": round_numbers(self.vectors, 3),
            "nearest": named,
            "older": [self.compare_oldest(count) for count in counts],
            "found": [self.count_found(count) for count in counts],
            "ties": [self.list_ties(count) for count in counts],
        }


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
    numbers = compute_numbers(stories, answers)
    shown = answers[choices[1].value][choices[0].value], choices[2].value
    return Hero(
        *("state", alt, numbers, choices, SENTENCES),
        list_experiments(text, answers),
        name_origin(story.seed),
        lambda: make_table(*shown),
    )


def name_origin(seed: int) -> str:
    """The badge of every picture whose keys and values were drawn."""
    return _("keys and values at random, seed {seed}: computed live", seed=seed)


def compute_numbers(
    stories: Mapping[str, Story], answers: Mapping[str, Mapping[str, Answers]]
) -> dict[str, Any]:
    """All that the picture shows, whatever is chosen in it."""
    story = stories[RANDOM]
    shown = [[list(both) for both in pairwise(sentence)] for sentence in story.sentences]
    return {
        "names": list(story.names),
        "rows": [row for sentence in shown for row in sentence],
        "pairs": [list(pair) for pair in story.pairs],
        "asked": list(story.asked),
        "breaks": len(shown[0]),
        "keep": write_percent(KEEP),
        "vectors": {kind: [round_numbers(x, 3) for x in stories[kind].vectors] for kind in KEYS},
        "memories": {
            kind: {rule: describe_memory(stories[kind], answers[kind][rule]) for rule in RULES}
            for kind in KEYS
        },
    }


def describe_memory(story: Story, answers: Answers) -> dict[str, Any]:
    """The states and what was written of each pair; or attention's weights."""
    told = answers.describe()
    if answers.rule == SOFTMAX:
        return told | {"weights": round_numbers(answer_all(story, SOFTMAX)[1])}
    states = write_story(story, answers.rule)
    missing = write_missing(story, answers.rule, states)
    return told | {"states": round_numbers(states, 3), "written": round_numbers(missing, 3)}


def list_experiments(text: Prose, answers: Mapping[str, Mapping[str, Answers]]) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    plain, right = answers[RANDOM], answers[ORTHOGONAL][SUM]
    story, verb = plain[SUM].story, controls.memory_question.default
    first, last = len(story.sentences[0]) - 1, len(story.pairs)
    before = story.find_newest(first)[story.asked[verb]]
    keys = {"rule": controls.memory_rule, "pairs": controls.pairs_written}
    keys |= {"keys": controls.memory_keys, "question": controls.memory_question}

    def choose(rule: str, pairs: int, kind: str = RANDOM) -> dict[str, Any]:
        values = {"rule": rule, "pairs": pairs, "keys": kind, "question": verb}
        return {keys[name].key: value for name, value in values.items()}

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
