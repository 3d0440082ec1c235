"""The hero: a text that a real model reads, as it is and changed; and its window of four tokens."""

import functools
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from explainers import kept
from explainers.attention import masks
from explainers.chapters.common.choose_real_model import BY_MODEL, tell_failure
from explainers.chapters.common.measured_heads import show_token
from explainers.chapters.common.recording import describe_live_run
from explainers.charts.matrix import Matrix, Values
from explainers.messages import N_
from explainers.models import changes
from explainers.models.attention_hook import Change
from explainers.models.changes import MOST_TOKENS, Effect, measure_effect
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.shipped_measurements import holds_for
from explainers.models.token_text import Words, find_words, tokenise_text
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.provenance import shipped_run
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces, verbatim

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
    except Exception as error:
        tell_failure(error)
        return None


@st.cache_data(show_spinner=False, max_entries=64, hash_funcs=BY_MODEL)
def _measure_once(
    loaded: "RealModel", written: str, named: str, _changes: tuple[Change, ...]
) -> Effect:
    """Once for a model, a text and changes, which are told apart by what they are `named`."""
    return measure_effect(loaded, written, _changes)


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


WIDTH = 4
"""Tokens that each token sees, itself included."""
WINDOWS = tuple(changes.Window(width=WIDTH, sinks=sinks) for sinks in (0, 1))
ANSWERS = HARDLY, HALFWAY, BACK = (
    N_("hardly smaller"),
    N_("about halfway back"),
    N_("almost what it was"),
)


def measure_windows(reading: Reading) -> list[Effect]:
    """What a window does to a text, and the same window with the first token.

    Nothing for a text that cannot be read, or has no token for the window to hide.
    """
    found = [reading.measure(window) for window in WINDOWS]
    return [effect for effect in found if effect and len(effect.tokens) > WIDTH]


def tell_first_token(text: Prose, reading: Reading) -> None:
    """What a window of four tokens breaks, and one more token mends."""
    if effects := measure_windows(reading):
        text("two_windows", **name_windows(effects, reading.written))


def ask_first_token(text: Prose, reading: Reading) -> None:
    """Four tokens are not enough: how much of what that broke do four and the first one mend?

    Then the next token as it is, with the window, and with the first token as well.
    """
    if not (effects := measure_windows(reading)):
        return
    (before, broken), (_before, mended) = (effect.mean_losses for effect in effects)
    share = (broken - mended) / (broken - before) if broken != before else 0.0
    answer = HARDLY if share < 1 / 4 else HALFWAY if share < 3 / 4 else BACK
    if not revealed(text, "first", ANSWERS, answer, **name_windows(effects, reading.written)):
        return
    chances = list_chances(effects)
    rows = (
        _("as it is"),
        _("last {width} tokens", width=WIDTH),
        _("last {width} and the first", width=WIDTH),
    )
    names = [show_spaces(token) for token in chances]
    values: Values = [*map(list, zip(*chances.values(), strict=True))]
    formula = _("probability of each; all tokens of the vocabulary together have 1")
    axis = _("token that may follow")
    matrix = Matrix(_("next token"), formula, values, rows, names, "", axis, "weights")
    alt = _("Probabilities of the next token: as it is, with a window, and with the first token.")
    show_figure(Figure([Panel("next", matrix)], alt), reading.origin, "two windows")


def list_chances(effects: list[Effect]) -> dict[str, list[float | None]]:
    """By token: its probability as it is, with the window, and with the first token as well.

    A token that is unlikely in two of them may have been measured in one only.
    """
    chances: dict[str, list[float | None]] = {}
    for place, effect in enumerate(effects, start=1):
        for token, before, after in effect.next_tokens:
            row = chances.setdefault(token, [before, None, None])
            row[place] = after
    return chances


def name_windows(effects: list[Effect], prompt: str) -> dict[str, str]:
    """What the sentence says: the most probable token of each, and the losses."""
    chances = list_chances(effects)
    named = {"width": f"{WIDTH}", "prompt": verbatim(prompt), "word": effects[0].tokens[0]}
    losses = effects[0].mean_losses[0], *(effect.mean_losses[1] for effect in effects)
    for place, name in enumerate(("before", "window", "first")):
        best = max(chances, key=lambda token: chances[token][place] or 0.0)
        named[name] = verbatim(show_spaces(best))
        named[f"{name}_share"] = write_percent(chances[best][place] or 0.0)
        named[f"{name}_loss"] = f"{losses[place]:.2f}"
    return named


def recall_visible(draw: Random) -> Recall:
    """What a window leaves in sight, with some tokens at the beginning."""
    width, sinks = draw.randint(3, 9), draw.randint(2, 4)
    place = draw.randint(width + sinks + 5, 60)
    window = masks.sliding_window(width)
    rule = masks.Rule(lambda query, key: (key < sinks) | window(query, key))
    seen = int(masks.build(rule, place, place)[-1].sum())
    return Recall(seen, {"width": f"{width}", "place": f"{place}", "sinks": f"{sinks}"})


BITS = 4
FIRST_HIDDEN = N_("first hidden")
CHANGES: dict[str, tuple[str, Change]] = {
    controls.NARROW_WINDOW: ("hero_window", WINDOWS[0]),
    controls.UNSCALED: ("hero_unscaled", changes.NoScaling()),
    controls.UNIFORM_WEIGHTS: ("hero_uniform", changes.UniformWeights()),
    controls.QUANTISED: ("hero_bits", changes.QuantisedCache(bits=BITS)),
    FIRST_HIDDEN: ("hero_first", changes.HiddenFirstToken()),
}
"""What can be changed in the picture: by its name, its sentence and the change."""
SENTENCES = "hero_caption", "hero_one_token", "hero_first_alone"
TRIED = {
    "try_unscaled": controls.UNSCALED,
    "try_uniform": controls.UNIFORM_WEIGHTS,
    "try_bits": controls.QUANTISED,
}
"""The experiments: by their texts, the change that each chooses."""


def make_hero(text: Prose, reading: Reading) -> Hero | None:
    """One change at a time; the server reads the text for each that is asked for.

    What was measured of the others beforehand is sent as well, and drawn until the server answers.
    Nothing, and a message, for a text that cannot be read.
    """
    control, names = controls.what_if, tuple(CHANGES)
    chosen = control.resolve_among(names)
    effect = reading.measure(CHANGES[chosen][1])
    if effect is None:
        return None
    shown, ahead = reading.merge(effect), reading.ahead
    kept = {name: ahead(CHANGES[name][1]) for name in names} if ahead else {}
    choice = HeroChoice(control, names, chosen, [*map(_, names)], is_elsewhere=True)
    sizes = {
        "d_k": f"{reading.head_dim}",
        "times": f"{reading.head_dim**0.5:.3g}",
        "bits": f"{BITS}",
        "codes": f"{2**BITS}",
        "levels": f"{2**BITS - 1}",  # as many below 0 as above it
    }
    numbers = describe_effect(chosen, effect, shown, reading.measure)
    numbers["ahead"] = {
        name: describe_effect(name, one, one, ahead) for name, one in kept.items() if one and ahead
    }
    return Hero(
        "what_if",
        _("A text with the loss of each of its tokens, and what the model expects next."),
        numbers,
        [choice],
        (*SENTENCES, *(sentence for sentence, _change in CHANGES.values())),
        [
            Experiment(name, text.fill(name, **sizes), {control.key: to})
            for name, to in TRIED.items()
        ],
        reading.origin,
        lambda: make_table(effect, shown),
    )


def find_likeliest(effect: Effect) -> list[tuple[str, float, float]]:
    """The most probable next token as it is and the one when changed, with both probabilities."""
    return [max(effect.next_tokens, key=lambda one: one[side]) for side in (1, 2)]


def describe_effect(
    name: str, effect: Effect, shown: Effect, measure: Callable[[Change], Effect | None]
) -> dict[str, Any]:
    """The numbers of a change, and its sentence with the slots; `measure` is asked about another.

    The losses are those of words if these are `shown`.
    """
    (before, share, _after), (after, _before, after_share) = find_likeliest(effect)
    losses, section = effect.mean_losses, CHANGES[name][0]
    said = {
        "width": f"{WIDTH}",
        "bits": f"{BITS}",
        "word": show_spaces(effect.tokens[0]),
        "before": show_token(before),
        "before_share": write_percent(share),
        "after": show_token(after),
        "after_share": write_percent(after_share),
        "before_loss": f"{losses[0]:.2f}",
        "after_loss": f"{losses[1]:.2f}",
    }
    has_losses = len(effect.tokens) > 1
    narrow = measure(WINDOWS[0]) if name == FIRST_HIDDEN and has_losses else None
    if narrow and losses[1] < narrow.mean_losses[1]:
        section = "hero_first_alone"
        said["window_loss"] = f"{narrow.mean_losses[1]:.2f}"
    return {
        "tokens": list(shown.tokens),
        "losses": [[round(loss, 4) for loss in side] for side in shown.losses],
        "next": [
            {"token": token, "chances": [round(chance, 6) for chance in chances]}
            for token, *chances in effect.next_tokens
        ],
        "said": said,
        "sentence": section if has_losses else "hero_one_token",
    }


def make_table(effect: Effect, shown: Effect) -> Any:
    """Both losses of each token of the text, and both probabilities of each that may come next."""
    lost = zip(shown.tokens[1:], *shown.losses, strict=True)
    rows = [(_("loss"), *one) for one in lost]
    rows += [(_("next token"), *one) for one in effect.next_tokens]
    return tabulate(rows, [_("kind"), _("token"), _("as it is"), _("changed")])
