"""The reader's text run in a model, what may follow it, and our attention against its own."""

from typing import TYPE_CHECKING

import streamlit as st
import torch

from explainers.chapters.common.recording import (
    MOST_TOKENS,
    Recording,
    cut_text,
    make_inputs,
    record_text,
)
from explainers.charts.matrix import Matrix
from explainers.translations import _, translate_error
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.comparison import Difference
    from explainers.models.load import RealModel


def run_or_explain(loaded: "RealModel", sentence: str) -> Recording | None:
    """One run on the sentence; what cannot be run is told, and the rest of the page stays."""
    try:
        shown = record_text(loaded, sentence)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None
    if shown.num_left_out:
        st.caption(
            _(
                "The first {shown} tokens are shown; {more} more are left out. "
                "For a long text, open the card “A long text” below.",
                shown=len(shown.tokens),
                more=shown.num_left_out,
            )
        )
    return shown


def name_model(shown: Recording, loaded: "RealModel") -> dict[str, object]:
    """Which model it is, and its sizes."""
    layers, heads = shown.shape
    return {
        "which": verbatim(shown.name),
        "tokens": len(shown.tokens),
        "layers": layers,
        "heads": heads,
        "kv_heads": heads // shown.group_size,
        "head_dim": shown.layers[0].query.shape[-1],
        "parameters": f"{loaded.num_parameters:,}",
    }


DECODED = 2
"""So many last tokens are read one by one, from a KV cache."""


def show_next_tokens(text: Prose, shown: Recording) -> None:
    """The likeliest next tokens of a model that writes."""
    if not shown.predictions:
        text("predicts_nothing")
        return
    text("predicted")
    names, chances = zip(*shown.predictions, strict=True)
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
    found = ", ".join(f"{n} {p:.3f}" for n, p in shown.predictions)
    alt = _("Most probable next tokens: {found}", found=found)
    show_figure(Figure([Panel("next", matrix)], alt), shown.origin, "next")


def show_difference(text: Prose, shown: Recording, loaded: "RealModel", sentence: str) -> None:
    """The largest difference in every layer, between ours and transformers' own attention."""
    from explainers.models.token_text import tokenise_text

    ids = tuple(tokenise_text(loaded, cut_text(loaded, sentence, MOST_TOKENS)[0]).ids[0].tolist())
    writes = bool(shown.predictions) and not loaded.model.config.is_encoder_decoder
    decoded = min(DECODED, len(ids) - 1) if writes else 0
    found = compare_with_own(loaded.name, id(loaded), ids, decoded, loaded)
    rows = [
        f"| {_name_place(one)} | {bound_rounding(one.largest)} | {one.magnitude:.4g} |"
        for one in found
    ]
    zeros = sum(one.largest == 0 for one in found)
    text(
        "equal",
        zeros=zeros,
        count=len(found),
        largest=bound_rounding(max(one.largest for one in found)),
        which=verbatim(loaded.name),
        decoded=_describe_decoding(decoded),
    )
    box = st.expander(_("Layer by layer"), key="equal rows", on_change="rerun")
    if box.open:
        with box:
            text("equal_rows", rows="\n".join(rows))


def _describe_decoding(decoded: int) -> str:
    if not decoded:
        return ""
    return _("; the last {decoded} tokens read one by one from a KV cache", decoded=decoded)


@st.cache_data(show_spinner=False, max_entries=12)
def compare_with_own(
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
