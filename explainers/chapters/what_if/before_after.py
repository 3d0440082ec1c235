"""Before and after, side by side: what the model expects, and how much it is surprised."""

import functools
import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from explainers import kept
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.recording import describe_live_run, make_head_recipe, record_layer
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.memory.cache_bytes import NumberFormat, find_format
from explainers.models.attention_hook import Change
from explainers.models.changes import MOST_TOKENS, AblatedHeads, Effect, measure_effect
from explainers.models.comparison import compare_runs
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.replaced_methods import find_replacement
from explainers.models.shipped_measurements import holds_for
from explainers.models.token_text import Words, find_words, is_part_of_letter, tokenise_text
from explainers.takeaway.recipe import Recipe
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls.controls import is_tour
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import shipped_run
from explainers.ui.takeaway_files import take
from explainers.ui.text.numbers import NO_WORSE, judge_rise, write_percent
from explainers.ui.untrusted_text import shorten, show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


class Reading(NamedTuple):
    """A text that is read with one change after the other: by a model, or once, beforehand."""

    written: str
    measure: Callable[[Change], Effect | None]
    head_dim: int
    origin: str
    stands_in: str = ""
    """The name of the model, where it is not the one that was asked for."""
    words: Words | None = None
    """Those of the text, where pictures show words in the place of tokens."""
    ahead: Callable[[Change], Effect | None] | None = None
    """What was measured beforehand of the same model and text: drawn until the model has read."""

    def merge(self, effect: Effect) -> Effect:
        """What pictures show of an effect."""
        return merge_effect(effect, self.words) if self.words else effect


def offer_words(loaded: "RealModel", written: str) -> Words | None:
    """A switch that merges tokens into words, where a word of the text has several."""
    try:
        tokens = tokenise_text(loaded, written, MOST_TOKENS).tokens
    except Exception:  # it is told where the text is read
        return None
    found = find_words(loaded, written, tokens)
    return found if found and controls.whole_words() else None


def merge_effect(effect: Effect, words: Words) -> Effect:
    """The same of words: their tokens' losses and divergences, added up; the first word has none.

    The sum of a word's losses is −ln of the probability of the whole word.
    """

    def add_up(numbers: Sequence[float]) -> list[float]:
        sums = [0.0] * len(words.spelled)
        for word, number in zip(words.numbers[1:], numbers, strict=False):
            sums[word] += number
        return sums[1:]

    (before, after), last = effect.losses, effect.divergences[-1]
    return effect._replace(
        tokens=words.spelled,
        losses=(add_up(before), add_up(after)),
        divergences=[*add_up(effect.divergences[:-1]), last],
    )


def read_live(
    loaded: "RealModel", written: str, head_dim: int, words: Words | None = None
) -> Reading:
    """A reading whose effects a loaded model computes when they are asked for."""

    def measure(change: Change) -> Effect | None:
        return measure_or_explain(loaded, written, (change,))

    return Reading(written, measure, head_dim, describe_live_run(loaded), words=words)


def choose_remark(reading: Reading, wanted: str) -> str:
    """The section of the text that says what the picture shows instead of the text wanted."""
    if reading.stands_in:
        return "hero_other_model"
    return "hero_other_text" if reading.written != wanted else "hero_words" if reading.words else ""


def measure_or_explain(
    loaded: "RealModel", written: str, changes: tuple[Change, ...]
) -> Effect | None:
    """What changes do to a text; nothing, and a message, for a text that cannot be read."""
    try:
        with st.spinner(_("The model reads the text twice …")):
            return _measure_once(loaded, written, repr(changes), changes)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None


@st.cache_data(show_spinner=False, max_entries=64, hash_funcs=BY_MODEL)
def _measure_once(
    loaded: "RealModel", written: str, named: str, _changes: tuple[Change, ...]
) -> Effect:
    """Once for a model, a text and changes, which are told apart by what they are `named`."""
    return measure_effect(loaded, written, _changes)


def name_following(effect: Effect) -> dict[str, str]:
    """The most probable next token of both, and how far apart the predictions are."""
    names = [show_spaces(name) for name, _unused, _unused in effect.next_tokens]
    both = [list(chances) for chances in list(zip(*effect.next_tokens, strict=True))[1:]]
    first, second = (verbatim(names[chances.index(max(chances))]) for chances in both)
    return {
        "before": first,
        "before_share": f"{max(both[0]):.2f}",
        "after": second,
        "after_share": f"{max(both[1]):.2f}",
        "divergence": f"{effect.divergences[-1]:.2f}",
    }


def average_losses(effect: Effect) -> dict[str, str | int]:
    """Over all tokens but the first: the mean loss of both, and the mean divergence."""
    (before, after), apart = effect.mean_losses, effect.divergences[:-1]
    return {
        "count": len(effect.losses[0]),
        "before": f"{before:.3f}",
        "after": f"{after:.3f}",
        "divergence": f"{sum(apart) / len(apart):.3f}",
    }


def find_worst_token(effect: Effect) -> dict[str, str] | None:
    """The token whose loss rises most, if that is worth a word."""
    before, after = effect.losses
    worst = max(range(len(before)), key=lambda place: after[place] - before[place])
    if judge_rise(after[worst] - before[worst]) == NO_WORSE:
        return None
    token = verbatim(show_spaces(effect.tokens[worst + 1]))
    return {"token": token, "before": f"{before[worst]:.2f}", "after": f"{after[worst]:.2f}"}


def draw_losses(effect: Effect, shown: Effect, origin: str) -> None:
    """A column for each token that was to be said, or for each word if that is what is `shown`:
    aligned, what was expected before it."""
    (before, after), apart = shown.losses, shown.divergences[:-1]
    rows = _("loss as it is"), _("loss changed"), "KL"
    tokens = [show_spaces(token) for token in shown.tokens[1:]]
    formula = _("nats, of each token but the first; KL between what both expected there")
    if shown.tokens != effect.tokens:
        formula = _("nats, the sum over the tokens of each word; KL between what both expected")
    matrix = Matrix(_("losses"), formula, [before, after, apart], rows, tokens, "", TOKEN_AXIS)
    alt = _(
        "Losses of {count} tokens: mean {before:.2f} as it is, {after:.2f} changed.",
        count=len(effect.tokens) - 1,
        before=effect.mean_losses[0],
        after=effect.mean_losses[1],
    )
    show_figure(Figure([Panel("losses", matrix, dense=True)], alt), origin, "losses")


SCALE_BITS = 32
"""Of the one scale that each head's vector has."""


def name_rounded_shares(head_dim: int) -> dict[str, str]:
    """What a head's vector takes with few bits and its scale, as a part of what float32 takes."""
    whole = find_format("float32").count_vector_bytes(1, head_dim)
    formats = {f"share_{n}": NumberFormat("", n, None, SCALE_BITS, per_head=True) for n in (8, 4)}
    sizes = {name: one.count_vector_bytes(1, head_dim) for name, one in formats.items()}
    shares = {name: write_percent(size / whole, 1) for name, size in sizes.items()}
    return {"d_k": f"{head_dim}", "scale_bits": f"{SCALE_BITS}", **shares}


def recall_loss(draw: Random) -> Recall:
    """The loss of one token."""
    probability = draw.choice([0.9, 0.8, 0.5, 0.25, 0.1, 0.05])
    answer = round(-math.log(probability), 2)
    return Recall(answer, {"probability": f"{probability:g}"}, tolerance=0.01)


def take_outcome(loaded: "RealModel", written: str, changes: tuple[Change, ...]) -> None:
    """All that the page says of these changes; of a model that transformers alone cannot change
    in this way, a head as it is."""
    title = _("Your text, as it is and changed")
    take("outcome", partial(_make_outcome, loaded, written, changes, title))


def _make_outcome(
    loaded: "RealModel", written: str, changes: tuple[Change, ...], title: str
) -> Recipe:
    ids, _unused = tokenise_text(loaded, written, MOST_TOKENS)
    first = record_layer(loaded, min(map(_find_first_layer, changes)), ids)
    own_way = any(find_replacement(module) for module in loaded.model.modules())
    if first.function is not attention or own_way:
        title = _("Layer {layer}, as it is", layer=first.layer_index)
        return make_head_recipe(title, first, 0)
    effect = measure_effect(loaded, written, changes)
    shown: dict[str, Any] = {"KL": effect.divergences}
    for place, end in enumerate(("", ", changed")):
        name, *shares = max(effect.next_tokens, key=lambda one: one[1 + place])
        shown[f"its probability{end}"] = shares[place]
        if not is_part_of_letter(name):  # a page writes its bytes, a file cannot
            shown[f"next token{end}"] = name
        if losses := effect.losses[place]:
            shown |= {f"losses{end}": losses, f"mean loss{end}": effect.mean_losses[place]}
    dtype = str(loaded.model.dtype).removeprefix("torch.")
    given = {"model": loaded.name, "dtype": dtype, "text": written, "changes": [*changes]}
    remark = _(
        "The model here: {model}. With other weights of this model the numbers are others.",
        model=verbatim(loaded.provenance),
    )
    return Recipe(title, compare_runs, given, shown, remark=remark, libraries=("transformers",))


def _find_first_layer(change: Change) -> int:
    """The first layer in which something is changed."""
    if isinstance(change, AblatedHeads):
        return min(layer for layer, _unused in change.heads)
    return 0 if change.layers is None else min(change.layers)


EFFECTS = "scores/what_if"
MODEL = WHEEL_MODELS[0].id


def read_shipped(model: str) -> Reading | None:
    """The text of this page, if the model is the one that was measured."""
    if not holds_for(model, EFFECTS):
        return None
    effects, numbers = _read_effects(), kept.read(EFFECTS).numbers
    origin = shipped_run(describe_package(model))

    def measure(change: Change) -> Effect | None:
        return effects.get(repr(change))

    return Reading(numbers["text"], measure, numbers["head_dim"], origin, ahead=measure)


def read_stand_in() -> Reading | None:
    """The same for a model that cannot be read here: that it is another one is to be said."""
    shipped = read_shipped(MODEL)
    return shipped._replace(stands_in=WHEEL_MODELS[0].name) if shipped else None


def can_skip_run(model: str, written: str) -> bool:
    """In the tour nobody waits for a model to read what it has read before."""
    shipped = read_shipped(model) if is_tour() else None
    return bool(shipped and shipped.written == written)


def look_ahead(reading: Reading, model: str) -> Reading:
    """With what was measured beforehand of the same model, text and tokens."""
    shipped = None if reading.words else read_shipped(model)
    if not shipped or shipped.written != reading.written:
        return reading
    return reading._replace(ahead=shipped.ahead)


@functools.cache
def _read_effects() -> dict[str, Effect]:
    """By the change."""
    return {
        change: Effect(
            tuple(one["tokens"]),
            (one["losses"][0], one["losses"][1]),
            one["divergences"],
            [(token, *chances) for token, *chances in one["next_tokens"]],
        )
        for change, one in kept.read(EFFECTS).numbers["effects"].items()
    }
