"""One sentence in a model: what may follow it, ours beside its own, one direction beside both."""

from random import Random
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.recording import (
    MOST_TOKENS,
    Recording,
    cut_text,
    make_inputs,
    merge_tokens,
    record_text,
)
from explainers.chapters.inspector.hero import MOST_DRAWN
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.messages import N_
from explainers.models import token_text
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import shorten, verbatim

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
    offers_words: bool = False
    """Has the reader been asked, because a word of the sentence has several tokens?"""

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

        beginning, _left_out = cut_text(self.loaded, self.sentence, MOST_TOKENS)
        ids: list[int] = tokenise_text(self.loaded, beginning).ids[0].tolist()
        return ids


def run_or_explain(loaded: "RealModel | None", sentence: str) -> View | None:
    """One run on the sentence; what cannot be run is told, and the rest of the page stays.

    Nothing without a model.
    """
    if loaded is None:
        return None
    try:
        seen = record_text(loaded, sentence)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None
    return offer_words(View(loaded, sentence, seen))


def offer_words(view: View) -> View:
    """A switch that merges tokens into words, where a word of the text has several."""
    merged = merge_tokens(view.loaded, view.sentence, view.seen)
    if not merged.words:
        return view
    return view._replace(words=merged if controls.whole_words() else None, offers_words=True)


def describe_cut(view: View) -> dict[str, object]:
    """How much of a long text is drawn, `shown` in the cards; nothing where all of it is."""
    count, left_out = len(view.drawn.tokens), view.seen.num_left_out
    if count <= MOST_DRAWN and not left_out:
        return {}
    unit = _("words") if view.words else _("tokens")
    cut = {"drawn": min(count, MOST_DRAWN), "count": count, "unit": unit}
    if left_out:
        shown, most = len(view.seen.tokens), token_text.MOST_TOKENS
        most = min(most, view.loaded.context_length or most)
        cut |= {"shown": shown, "tokens": shown + left_out, "most": f"{most:,}"}
    return cut


def name_model(view: View) -> dict[str, object]:
    """Which model it is, and its sizes."""
    layers, heads = view.seen.shape
    return {
        "which": verbatim(view.seen.name),
        "tokens": len(view.seen.tokens) + view.seen.num_left_out,
        "merged": _describe_words(view.words) if view.words else "",
        "layers": layers,
        "heads": heads,
        "kv_heads": heads // view.seen.group_size,
        "head_dim": view.seen.layers[0].query.shape[-1],
        "parameters": f"{view.loaded.num_parameters:,}",
    }


def _describe_words(words: Recording) -> str:
    return _(
        "They are merged into {count} words here; *first token* then means the first word.",
        count=len(words.tokens),
    )


def draw_next_tokens(seen: Recording) -> None:
    """The likeliest next tokens of a model that writes; nothing of one that does not."""
    if not seen.predictions:
        return
    names, chances = zip(*seen.predictions, strict=True)
    labels = [name.replace(" ", "␣") or "∅" for name in names]
    matrix = Matrix(
        _("next token"),
        _("probability; all tokens of the vocabulary together have 1"),
        [list(chances)],
        ["p"],
        labels,
        "",
        _("token that may follow"),
        kind="weights",
        decimals=3,
    )
    found = ", ".join(f"{n} {p:.3f}" for n, p in seen.predictions)
    alt = _("Most probable next tokens: {found}", found=found)
    show_figure(Figure([Panel("next", matrix)], alt), seen.origin, "next")


DECODED = 2
"""So many last tokens are read one by one, from a KV cache."""


def compare_with_own(view: View) -> dict[str, object]:
    """The largest difference in every layer, between ours and transformers' own attention."""
    loaded, ids = view.loaded, tuple(view.tokenise())
    writes = bool(view.seen.predictions) and not loaded.model.config.is_encoder_decoder
    decoded = min(DECODED, len(ids) - 1) if writes else 0
    found = _measure_differences(loaded.name, id(loaded), ids, decoded, loaded)
    rows = [
        f"| {_name_place(one)} | {bound_rounding(one.largest)} | {one.magnitude:.4g} |"
        for one in found
    ]
    return {
        "zeros": sum(one.largest == 0 for one in found),
        "count": len(found),
        "largest": bound_rounding(max(one.largest for one in found)),
        "which": verbatim(loaded.name),
        "decoded": _describe_decoding(decoded),
        "rows": "\n".join(rows),
    }


def _describe_decoding(decoded: int) -> str:
    if not decoded:
        return ""
    return _("; the last {decoded} tokens read one by one from a KV cache", decoded=decoded)


@st.cache_data(show_spinner=False, max_entries=12)
def _measure_differences(
    name: str, which: int, ids: tuple[int, ...], decoded: int, _loaded: "RealModel"
) -> "list[Difference]":
    """Computed once for a model (`which` of this name) and a text."""
    from explainers.models.comparison import measure_differences

    given = make_inputs(_loaded.model, torch.tensor([ids], device=_loaded.model.device))
    return measure_differences(_loaded.model, num_decoded=decoded, **given)


def _name_place(one: "Difference") -> str:
    if one.layer_index is None:
        return _("what it predicts (logits)") if one.kind == "logits" else _("its output")
    kind = "" if one.kind == "self" else f" ({one.kind})"
    return _("weights of layer {number}", number=one.layer_index) + kind


class Directions(NamedTuple):
    """Shares of all weight of a model: on tokens before, on the token itself, on those after."""

    before: float
    itself: float
    after: float


LATER_SHARES = "0 %", "25 %", "50 %"


def measure_directions(one: Recording) -> Directions:
    """Averaged over all layers, heads and queries."""
    mean = one.weights.mean(dim=(0, 1)) / len(one.tokens)
    return Directions(
        mean.tril(-1).sum().item(), mean.diagonal().sum().item(), mean.triu(1).sum().item()
    )


def answer_later(seen: Recording) -> tuple[str, dict[str, str]]:
    """How much of all weight falls on later tokens, and of which model."""
    return f"{100 * measure_directions(seen).after:.0f} %", {"which": verbatim(seen.name)}


def draw_other_kind(view: View) -> str:
    """The weights beside those of a model of the other kind, if the reader wants one.

    Returns a row of shares for each of the two; nothing as long as the other one is not there.
    """
    from explainers.models.registry import WHEEL_MODELS

    if not controls.other_model():
        return ""
    kind = "bidirectional" if view.seen.is_causal else "causal"
    named = next(model.id for model in WHEEL_MODELS if model.kind == kind)
    if not (loaded := obtain_model(named, "beside")):
        return ""
    other = record_text(loaded, view.sentence)
    both = view.drawn, merge_tokens(loaded, view.sentence, other) if view.words else other
    panels = [_make_panel(one, view.layer, view.head) for one in both]
    one, other = both
    alt = _(
        "Weights of a head of {one}, and of one of {other}, on the same sentence.",
        one=one.name,
        other=other.name,
    )
    origin = f"{one.origin}; {other.origin}"
    show_figure(Figure(orient_panels(panels, view.queries_down), alt), origin, "beside")
    return "\n".join(map(_write_directions, both))


def _write_directions(one: Recording) -> str:
    shares = (f"{share:.3f}" for share in measure_directions(one))
    return f"| {verbatim(one.name)} | {' | '.join(shares)} |"


def _make_panel(one: Recording, layer: int, head: int) -> Panel:
    """The head of that number, or the last one that this model has."""
    layers, heads = one.shape
    layer, head = min(layer, layers - 1), min(head, heads - 1)
    short = one.name.split("/")[-1]
    name = _("{model}: layer {layer}, head {head}", model=short, layer=layer, head=head)
    way = _("bidirectional: every token sees later ones")
    if one.is_causal:
        way = _("causal: no token sees later ones")
    values = blank_forbidden(one.weights[layer, head].tolist(), one.masks[layer].tolist())
    return Panel(one.name, make_pair_matrix(name, way, values, one.tokens, kind="weights"))


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
