"""A translation, where its decoder looks, and the hero: bundles of lines between two sentences."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.cross_attention.choose_sentence import (
    find_gold,
    translate_once,
    write_variant,
)
from explainers.translation import corpus, translator
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    AlignmentScore,
    Link,
    compute_cross_weights,
    pool_links,
    read_links,
    score_alignment,
)
from explainers.translation.corpus import (
    HELD_OUT,
    RUNNING_PAIR,
    UNSEEN,
    SentencePair,
    capitalise_sentence,
    find_words,
    read_sentences,
)
from explainers.translation.model import NUM_HEADS, NUM_LAYERS
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.controls import MEAN, PREDICTS
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, round_numbers
from explainers.ui.figure.panels import Cell
from explainers.ui.page import Prose
from explainers.ui.provenance import translator as origin_of
from explainers.ui.session import TRANSLATED_WORDS

END = corpus.SPECIAL_TOKENS[corpus.END]
HEADS = (MEAN, *map(str, range(NUM_HEADS)))
LAST_LAYER = NUM_LAYERS - 1
SENTENCES = (
    *("hero_caption", "hero_right", "hero_wrong", "hero_end", "hero_unknown", "hero_end_unknown"),
    *("hero_writing", "hero_writing_end", "hero_read", "hero_read_unknown"),
    *("hero_word", "hero_word_none"),
)
OPENING = "nhuận"
"""The syllable of the running sentence that is asked about at first."""
RECORD = RUNNING_PAIR.source[3]


@dataclass(frozen=True)
class TranslationView:
    """One translation with the reader's choices about its cross-attention."""

    translation: Translation
    gold: SentencePair | None
    """Known, and translated as the corpus does."""
    queries_down: bool
    layer: int = NUM_LAYERS - 1
    head: str = MEAN
    rows: str = PREDICTS

    def select(self, layer: int, head: str, rows: str) -> "TranslationView":
        """The same translation looked at in another place."""
        return replace(self, layer=layer, head=head, rows=rows)

    @property
    def row_side(self) -> str:
        """Which syllable a row belongs to."""
        return PREDICTED if self.rows == PREDICTS else INPUT

    @property
    def first_row(self) -> int:
        """The row that belongs to the first syllable."""
        return 0 if self.row_side == PREDICTED else 1

    @property
    def num_syllables(self) -> int:
        return len(self.translation.syllables)

    @property
    def columns(self) -> list[str]:
        """All that the decoder may look at."""
        return [*self.translation.words, END]

    @cached_property
    def head_weights(self) -> Tensor:
        """Weights of the chosen heads (syllables + 1, words + 1)."""
        return choose_heads(self.translation.cross[self.layer], self.head)

    @cached_property
    def weights(self) -> Tensor:
        """One row for each syllable that was written (syllables, words + 1)."""
        return self.head_weights[self.first_row : self.first_row + self.num_syllables]

    @property
    def head_label(self) -> str:
        """The chosen heads in words."""
        if self.head == MEAN:
            return _("decoder layer {layer}, mean of all heads", layer=self.layer + 1)
        return _("decoder layer {layer}, head {head}", layer=self.layer + 1, head=self.head)

    @property
    def origin(self) -> str:
        return origin_of(self.weights.device)

    def explain_weight(self, cell: Cell) -> Arithmetic:
        """How a weight came to be."""
        row = cell.row + self.first_row
        cross = self.translation.decoder[self.layer].cross
        value = self.weights[cell.row, cell.column]
        if self.head != MEAN:
            scores = cross.scores[int(self.head), row].tolist()
            return arithmetic.explain_softmax(scores, cell.column, value.item(), self.columns)
        heads = cross.weights[:, row, cell.column].tolist()
        shares = [1 / len(heads)] * len(heads)
        name = f"weights[{cell.row}, {cell.column}]"
        return arithmetic.explain_dot_product(heads, shares, value.item(), name)


def find_reordered_syllable(
    translation: Translation, weights: Tensor, links: frozenset[Link] = frozenset()
) -> int:
    """The syllable whose word stands farthest from where it would stand word for word.

    Of several as far, one that turns back; of those, the one that is surest of its word. Where
    `links` are known, one whose word is right.
    """
    words, syllables = len(translation.words), len(translation.syllables)
    largest, peaks = weights[:syllables, :words].max(dim=-1)
    straight = torch.arange(syllables) * words // syllables
    turns_back = peaks.diff(prepend=peaks[:1]) < 0
    is_right = torch.tensor([link in links for link in enumerate(peaks.tolist())])
    distance = 2 * (peaks - straight).abs() + turns_back + largest / 2
    return int((distance + 2 * words * is_right).argmax())


def translate_view(words: tuple[str, ...], queries_down: bool) -> TranslationView:
    """The translation of words that the translator knows, with its gold if that is known."""
    translation, gold = translate_once(words), find_gold(words)
    return TranslationView(
        translation, gold if gold and gold.target == translation.syllables else None, queries_down
    )


def choose_heads(each: Tensor, head: str) -> Tensor:
    """The weights of one head, or the mean of all (heads, …)."""
    return each.mean(dim=0) if head == MEAN else each[int(head)]


def list_pairs() -> list[SentencePair]:
    """The held-out sentences that everything here is measured on."""
    return [*read_sentences(UNSEEN), *read_sentences(HELD_OUT)]


@functools.cache
def compute_weights() -> list[Tensor]:
    """The weights of each sentence (layers, heads, syllables + 1, words + 1)."""
    return list(compute_cross_weights(translator.load_translator().model, list_pairs()))


@functools.cache
def score_side(row_side: str) -> dict[tuple[int, str], AlignmentScore]:
    """Every layer and head, with rows read in one way, which is half the work."""
    return {
        (layer, head): score_links(
            read_links(
                choose_heads(weights[layer], head), len(pair.source), len(pair.target), row_side
            )
            for weights, pair in zip(compute_weights(), list_pairs(), strict=True)
        )
        for layer in range(NUM_LAYERS)
        for head in HEADS
    }


def score_links(links: Iterable[set[Link]]) -> AlignmentScore:
    """The links of all held-out sentences, scored together against gold."""
    sure, possible = (
        pool_links(getattr(pair, kind) for pair in list_pairs()) for kind in ("sure", "possible")
    )
    return score_alignment(pool_links(links), sure, possible)


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
    (layer, worst), errors = find_worst_head()
    worst_head = dict(zip(_HEAD_KEYS, (str(layer + 1), worst, PREDICTS), strict=True))
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
def find_worst_head() -> tuple[tuple[int, str], dict[str, Any]]:
    """The head whose strongest lines are wrong most often, and how often others are."""
    wrong = {place: 1 - score.precision for place, score in score_side(PREDICTED).items()}
    heads = [(layer, head) for layer, head in wrong if head != MEAN]
    worst, best = (find(heads, key=lambda place: wrong[place]) for find in (max, min))
    return worst, {
        "layer": worst[0] + 1,
        "head": worst[1],
        "wrong": f"{100 * wrong[worst]:.0f}",
        "best": f"{100 * wrong[best]:.0f}",
        "mean": f"{100 * wrong[LAST_LAYER, MEAN]:.0f}",
    }
