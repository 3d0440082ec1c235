"""One sentence in a model, run here or measured beforehand, and our attention beside its own."""

import functools
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch

from explainers import kept
from explainers.chapters.common import recording
from explainers.chapters.common.choose_real_model import BY_MODEL, obtain_model, tell_failure
from explainers.chapters.common.recording import Recording
from explainers.chapters.inspector import hero
from explainers.chapters.inspector.hero import Heads
from explainers.messages import N_
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.shipped_measurements import holds_for, name_scores
from explainers.toys.sentence import SENTENCE
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, show_slow_experiment
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import shipped_run
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.comparison import Difference
    from explainers.models.load import RealModel


class View(NamedTuple):
    """The reader's sentence in a model, what was recorded there, and the head that is chosen."""

    loaded: "RealModel"
    sentence: str
    seen: Recording
    layer: int = 0
    head: int = 0
    is_dimmed: bool = False
    queries_down: bool = True
    words: Recording | None = None
    """The same between words, if the reader wants that."""

    @property
    def drawn(self) -> Recording:
        """What pictures show: tokens, or the words that they are parts of."""
        return self.words or self.seen

    def select(self, picture: Hero, queries_down: bool) -> "View":
        """With the head that is chosen in the picture, and without the first token or with it."""
        return self._replace(
            layer=picture.chosen(controls.model_layer),
            head=picture.chosen(controls.model_head),
            is_dimmed=picture.chosen(controls.dim_first_token),
            queries_down=queries_down,
        )

    def tokenise(self) -> list[int]:
        """Its ids, as many as were recorded."""
        from explainers.models.token_text import tokenise_text

        beginning, _left_out = recording.cut_text(self.loaded, self.sentence, recording.MOST_TOKENS)
        ids: list[int] = tokenise_text(self.loaded, beginning).ids[0].tolist()
        return ids


def run_or_explain(loaded: "RealModel | None", sentence: str) -> View | None:
    """One run on the sentence; what cannot be run is told, and the rest of the page stays.

    Nothing without a model. Where a word has several tokens, a switch merges them into words.
    """
    if loaded is None:
        return None
    try:
        seen = recording.record_text(loaded, sentence)
    except Exception as error:
        tell_failure(error)
        return None
    merged = recording.merge_tokens(loaded, sentence, seen)
    is_merged = bool(merged.words) and controls.whole_words()
    return View(loaded, sentence, seen, words=merged if is_merged else None)


def show_run(text: Prose, view: View) -> None:
    """How much of a long text is drawn, which model it is, and its sizes."""
    count, left_out = len(view.drawn.tokens), view.seen.num_left_out
    shown, (layers, heads) = len(view.seen.tokens), view.seen.shape
    if left_out or count > hero.MOST_DRAWN:
        unit = _("words") if view.words else _("tokens")
        cut = {"drawn": min(count, hero.MOST_DRAWN), "count": count, "unit": unit}
        text(
            "hero_cut_long" if left_out else "hero_cut", **cut, shown=shown, tokens=shown + left_out
        )
    merged = view.words and _(
        "They are merged into {count} words here; *first token* then means the first word.",
        count=count,
    )
    text(
        "model",
        which=verbatim(view.seen.name),
        tokens=shown + left_out,
        merged=merged or "",
        layers=layers,
        heads=heads,
        kv_heads=heads // view.seen.group_size,
        head_dim=view.seen.layers[0].query.shape[-1],
        parameters=f"{view.loaded.num_parameters:,}",
    )


DECODED = 2
"""So many last tokens are read one by one, from a KV cache."""


@fragment
def show_how(text: Prose, view: View, function: Callable[..., object]) -> None:
    """Is it really the model? Ours against its own: the largest difference in every layer."""
    loaded, ids = view.loaded, tuple(view.tokenise())
    writes = view.seen.writes and not loaded.model.config.is_encoder_decoder
    decoded = min(DECODED, len(ids) - 1) if writes else 0
    found = _measure_differences(loaded, ids, decoded)
    rows = [
        f"| {_name_place(one)} | {bound_rounding(one.largest)} | {one.magnitude:.4g} |"
        for one in found
    ]
    told = _("; the last tokens ({decoded}) read one by one from a KV cache", decoded=decoded)
    compared = {
        "zeros": sum(one.largest == 0 for one in found),
        "count": len(found),
        "largest": bound_rounding(max(one.largest for one in found)),
        "which": verbatim(loaded.name),
        "decoded": told if decoded else "",
        "rows": "\n".join(rows),
    }
    text("equal", **compared)
    show_source(function)
    with st.expander(_("Layer by layer"), key="equal rows", on_change="rerun") as box:
        if box.open:
            text("equal_rows", **compared)


@st.cache_data(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def _measure_differences(
    loaded: "RealModel", ids: tuple[int, ...], decoded: int
) -> "list[Difference]":
    from explainers.models.comparison import measure_differences

    given = recording.make_inputs(loaded.model, torch.tensor([ids], device=loaded.model.device))
    return measure_differences(loaded.model, num_decoded=decoded, **given)


def _name_place(one: "Difference") -> str:
    if one.layer_index is None:
        return _("what it predicts (logits)") if one.kind == "logits" else _("its output")
    kind = "" if one.kind == "self" else f" ({one.kind})"
    return _("weights of layer {number}", number=one.layer_index) + kind


def recall_difference(draw: Random) -> Recall:
    """Equal numbers say nothing about what they mean, and others that something is wrong."""
    difference = draw.choice([0, 0.3, 0.8, 1.7])
    answers = (
        N_("Both compute the same attention."),
        N_("Our attention is not the model's own."),
        N_("The weights explain the model's answer."),
        N_("The model makes no mistakes."),
    )
    return Recall(answers[bool(difference)], {"difference": f"{difference}"}, answers)


def find_heads(run: View | None, model: str, sentence: str) -> Heads:
    """The model's heads; before it is loaded, as they were measured, or small ones instead."""
    if run:
        return hero.cut_heads(run.drawn)
    shipped = read_shipped_sentence(model) if sentence == SENTENCE else None
    return shipped or hero.load_toy_heads(model)


def read_shipped_sentence(model: str) -> Heads | None:
    """All heads of a model on the running sentence, if they came with the app."""
    if model not in {one.id for one in WHEEL_MODELS} or not holds_for(model, name_sentence(model)):
        return None
    origin = shipped_run(describe_package(model))
    return _read_sentence(model)._replace(origin=origin, is_shipped=True)


def show_other_model(text: Prose, picture: Hero, sentence: str) -> None:
    """To a class: the heads of a model of the other kind. A sentence of its own takes a run."""
    slow = [one for one in picture.experiments if one.is_slow and is_lecture()]
    for one in slow:
        named = one.choices[controls.real_model.key]

        def obtain(is_wanted: bool, named: str = named) -> Hero | None:
            heads = read_shipped_sentence(named) if sentence == SENTENCE else None
            if not heads and is_wanted and (loaded := obtain_model(named, "other")):
                heads = hero.cut_heads(recording.record_text(loaded, sentence))
            return hero.make_still_hero(heads) if heads else None

        label = _("Load {model} and run it", model=hero.shorten_name(named))
        show_slow_experiment(text, one, obtain, label)


def name_sentence(model: str) -> str:
    """What its heads on the running sentence are kept under."""
    return f"{name_scores(model)}.sentence"


@functools.lru_cache(maxsize=4)
def _read_sentence(model: str) -> Heads:
    measured = kept.read(name_sentence(model))
    numbers, tensors = measured.numbers, measured.read_tensors()
    weights, hidden = tensors["weights"].float(), tensors["hidden"]
    tokens, group_size = tuple(numbers["tokens"]), numbers["group_size"]
    return Heads(numbers["name"], "", tokens, weights, hidden, group_size)
