"""The hero of cross-attention: two sentences, and bundles of lines from syllables to words."""

import functools
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from explainers.chapters.cross_attention import alignment_view
from explainers.chapters.cross_attention.alignment_view import (
    LAST_LAYER,
    LinkReading,
    TranslationView,
    find_reordered_syllable,
)
from explainers.chapters.cross_attention.choose_sentence import translate_once, write_variant
from explainers.translation.alignment import PREDICTED
from explainers.translation.corpus import RUNNING_PAIR, capitalise_sentence, find_words
from explainers.translation.model import NUM_LAYERS
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.controls import MEAN, PREDICTS
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, round_numbers
from explainers.ui.page import Prose
from explainers.ui.session import TRANSLATED_WORDS

SENTENCES = (
    *("hero_caption", "hero_right", "hero_wrong", "hero_end", "hero_unknown", "hero_end_unknown"),
    *("hero_writing", "hero_writing_end", "hero_read", "hero_read_unknown"),
    *("hero_word", "hero_word_none"),
)
OPENING = "nhuận"
"""The syllable of the running sentence that is asked about at first."""
RECORD = RUNNING_PAIR.source[3]


def read_link_reading() -> tuple[int, str, str]:
    """The layer, the head, and which syllable a row belongs to, as they are chosen."""
    layer = _read(controls.cross_layer)
    return int(layer.value) - 1, _read(controls.cross_head).value, _read(controls.cross_rows).value


def make_hero(text: Prose, view: TranslationView, sentence: str) -> Hero:
    """All weights of a translation, and which of them is looked at."""
    translation = view.translation
    begin_again(TRANSLATED_WORDS, translation.words, controls.followed_syllable)
    syllables = tuple(range(view.num_syllables))
    opening = find_opening(view)
    written, sides = controls.written_syllables, (True, False)
    frames = tuple(map(int, written.steps))
    choices = [
        _read(controls.cross_layer, controls.cross_layer.options),
        _read(controls.cross_head, [_(name) for name in controls.cross_head.options]),
        _read(controls.cross_view, [_(name) for name in controls.cross_view.options]),
        _read(controls.cross_rows, [_(name) for name in controls.cross_rows.options]),
        HeroChoice.read(controls.followed_syllable, syllables, opening=opening),
        HeroChoice.read(written, frames),
        HeroChoice.read(controls.gold_rings, sides),
        HeroChoice(controls.sentence, (), sentence, is_elsewhere=True),
    ]
    alt = _("An English sentence, its Vietnamese translation, and lines from syllables to words.")
    return Hero(
        "translation",
        alt,
        compute_numbers(view),
        choices,
        SENTENCES,
        list_experiments(text),
        view.origin,
        lambda: make_weight_table(view),
    )


def _read(control: Any, labels: Sequence[str] = ()) -> HeroChoice:
    return HeroChoice.read(control, control.options, labels)


def find_opening(view: TranslationView) -> int:
    """The syllable that is asked about at first: a right one that looks back or far ahead."""
    translation = view.translation
    if translation.words == RUNNING_PAIR.source and OPENING in translation.syllables:
        return translation.syllables.index(OPENING)
    links = view.gold.sure if view.gold else frozenset()
    return find_reordered_syllable(translation, translation.cross[LAST_LAYER].mean(dim=0), links)


def compute_numbers(view: TranslationView) -> dict[str, Any]:
    """The weights of every head and their mean, in each layer: rows × words and the end.

    Row t decides syllable t and reads the one before; one more row than there are syllables.
    """
    weights = view.translation.cross.cpu()
    layers = [
        {MEAN: round_numbers(heads.mean(dim=0), 5)}
        | {str(n): round_numbers(head, 5) for n, head in enumerate(heads)}
        for heads in weights
    ]
    *words, end = view.columns
    return {
        "source": [*capitalise_sentence(words), end],
        "target": capitalise_sentence(view.translation.syllables),
        "weights": layers,
        "gold": sorted(view.gold.sure) if view.gold else None,
        "complete": controls.written_syllables.default,
    }


def make_weight_table(view: TranslationView) -> Any:
    """Where each syllable looks, a row for each."""
    rows, columns = (
        [f"{place} {word}" for place, word in enumerate(line)]
        for line in (view.translation.syllables, view.columns)
    )
    return tabulate(view.weights.tolist(), columns, rows, _("syllable"))


def list_experiments(text: Prose) -> list[Experiment]:
    """What a reader can try with the running sentence, each with the numbers it will show."""
    head = dict(zip(_HEAD_KEYS, (str(NUM_LAYERS), MEAN, PREDICTS), strict=True))
    worst, errors = find_worst_head()
    worst_head = dict(zip(_HEAD_KEYS, (str(worst.layer + 1), worst.head, PREDICTS), strict=True))
    passive, without = write_variant(is_passive=True), write_variant(kind="")
    return [
        Experiment(
            "passive",
            text.fill("try_passive", **compare_passive()),
            {"text": passive, "cross_view": controls.cross_view.default, **head},
        ),
        Experiment(
            "without", text.fill("try_without", **compare_without()), {"text": without, **head}
        ),
        Experiment("worst", text.fill("try_worst_head", **errors), worst_head),
    ]


_HEAD_KEYS = tuple(
    one.key for one in (controls.cross_layer, controls.cross_head, controls.cross_rows)
)


@functools.cache
def compare_passive() -> dict[str, Any]:
    """How many pairs of strongest lines cross, in the running sentence and in its passive."""
    return {
        "crossings": count_crossings(_translate(write_variant(is_passive=True))),
        "before": count_crossings(_translate(" ".join(RUNNING_PAIR.source))),
    }


def count_crossings(translation: Translation) -> int:
    """Pairs of syllables whose words stand the other way round."""
    weights = translation.cross[LAST_LAYER].mean(dim=0)
    peaks = weights[: len(translation.syllables), : len(translation.words)].argmax(dim=-1)
    return sum(first > second for first, second in combinations(peaks.tolist(), 2))


@functools.cache
def compare_without() -> dict[str, Any]:
    """What is written without the modifier, and which syllables are gone."""
    before, after = _translate(" ".join(RUNNING_PAIR.source)), _translate(write_variant(kind=""))
    gone = [syllable for syllable in before.syllables if syllable not in after.syllables]
    return {
        "word": RECORD,
        "new": " ".join(capitalise_sentence(after.syllables)),
        "gone": " ".join(gone),
        "left": len(after.syllables),
        "count": len(before.syllables),
    }


def _translate(sentence: str) -> Translation:
    return translate_once(find_words(sentence))


@functools.cache
def find_worst_head() -> tuple[LinkReading, dict[str, Any]]:
    """The head whose strongest lines are wrong most often, and how often others are."""
    scores = alignment_view.score_side(PREDICTED)
    wrong = {reading: 1 - score.precision for reading, score in scores.items()}
    heads = {reading: rate for reading, rate in wrong.items() if reading.head != MEAN}
    worst, best = (find(heads, key=lambda one: heads[one]) for find in (max, min))
    mean = wrong[LinkReading(LAST_LAYER, MEAN, PREDICTED)]
    return worst, {
        "layer": worst.layer + 1,
        "head": worst.head,
        "wrong": f"{100 * heads[worst]:.0f}",
        "best": f"{100 * heads[best]:.0f}",
        "mean": f"{100 * mean:.0f}",
    }
