"""A real translator, if there is one: word pieces, and our attention inside."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
import torch

from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.cross_attention.alignment_view import View
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.device import describe_device
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.encoder_decoder import Translation, translate_text
from explainers.models.load import DOWNLOADS, LoadRequest, bring_model
from explainers.models.registry import ModelError
from explainers.models.token_text import index_words, join_words, merge_weights
from explainers.translation.weights_file import BrokenWeightsError
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.provenance import real_model
from explainers.ui.session import TRANSLATION_JOB
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import shorten, verbatim


def show_pieces(text: Prose, view: View) -> None:
    """How the pieces that were learned from the corpus cut this sentence and its translation."""
    from explainers.translation import word_pieces  # the page needs no sentencepiece to start

    sides = view.translation.words, view.translation.syllables
    try:
        source, target = map(word_pieces.cut_words, sides)
    except BrokenWeightsError as error:
        st.error(verbatim(translate_error(error)), icon=":material/error:")
        return
    text(
        "pieces",
        kinds=word_pieces.NUM_PIECES,
        words=len(source),
        syllables=len(target),
        word_pieces=sum(map(len, source)),
        syllable_pieces=sum(map(len, target)),
        source=spell_pieces(source),
        target=spell_pieces(target),
    )
    show_source(word_pieces.cut_words)


def spell_pieces(words: Sequence[Sequence[str]]) -> str:
    """All pieces, with a plus where a word is cut."""
    return " ".join(" + ".join(map(verbatim, word)) for word in words)


PIECE_AXES = N_("piece written"), N_("piece read")


class TranslationRequest(NamedTuple):
    """Which model shall read what."""

    model: str
    sentence: str


TranslationJob = Job[TranslationRequest, str, tuple[Translation, str]]
"""It reports in words what is under way; its result says where the weights come from."""


def make_translation_job(request: TranslationRequest) -> TranslationJob:
    """A model brought into memory, and then one sentence through it."""
    return Job(
        request,
        translate_sentence,
        total=3,  # to fetch, to load and to translate: nobody knows how fast a network is
        queue=DOWNLOADS,
        readable_errors=(ModelError,),
    )


def translate_sentence(job: TranslationJob) -> tuple[Translation, str]:
    """Bring the model; let it translate."""
    loaded = bring_model(job, LoadRequest(job.subject.model))
    job.report(N_("translating"))
    return translate_text(loaded, job.subject.sentence), loaded.provenance


def show_real_translation(text: Prose, sentence: str, queries_down: bool) -> None:
    """A name and a button; then the same sentence, read by that model."""
    text("real")
    request = TranslationRequest(controls.translator(), sentence)
    job = offer_job(
        TRANSLATION_JOB,
        _("Read the sentence with it"),
        make_translation_job(request),
        icon=":material/translate:",
    )
    if not job or job.subject != request:
        return
    if job.state == "failed":
        problem = verbatim(shorten(_(job.problem), 300))
        st.info(_("{problem} Our translator stays.", problem=problem), icon=":material/cloud_off:")
    elif job.result:
        show_translation(text, *job.result, queries_down)
    else:
        watch_job(TRANSLATION_JOB, job, verbatim(request.model), describe=_describe_progress)


def _describe_progress(job: TranslationJob) -> str:
    return verbatim(_(job.reports[-1])) if job.reports else _("beginning")


def show_translation(
    text: Prose, translation: Translation, origin: str, queries_down: bool
) -> None:
    """Pieces, then words: the same weights, summed one way and averaged the other."""
    layers = [str(n + 1) for n in range(len(translation.weights))]
    layer_index = layers.index(controls.translator_layer(layers, layers[max(0, len(layers) - 2)]))
    weights = translation.weights[layer_index].mean(dim=0)
    sides = index_words(translation.target), index_words(translation.source)
    words = merge_weights(weights, *sides)
    written_text = " ".join(
        join_words(translation.target[:-1], index_words(translation.target[:-1]))
    )
    text("real_written", written=verbatim(written_text), difference=f"{translation.difference:.1g}")
    names = join_words(translation.target, sides[0]), join_words(translation.source, sides[1])
    heads = _(
        "decoder layer {layer} of {count}, mean of heads", layer=layer_index + 1, count=len(layers)
    )
    axes = TARGET_AXIS, SOURCE_AXIS
    panels = [
        _make_panel(N_("lines"), words, *names, *axes, heads, "ties"),
        _make_panel(
            N_("words"), words, *names, *axes, _("{heads}; every row sums to 1", heads=heads)
        ),
        _make_panel(
            N_("pieces"), weights, translation.target, translation.source, *PIECE_AXES, heads
        ),
    ]
    alt = _(
        "Cross-attention of a real translator, {heads}: between words, and between their pieces.",
        heads=heads,
    )
    figure = Figure([panels[0], *orient_panels(panels[1:], queries_down)], alt)
    show_figure(
        figure, real_model(f"{origin} · computed live on {describe_device(weights.device)}"), "real"
    )
    count = max(sides[1]) + 1
    cut = sum(sides[1].count(word) > 1 for word in range(count))
    text("real_seen", pieces=len(translation.source), words=count, cut=cut)
    show_source(merge_weights, translate_text)


def _make_panel(
    name: str,
    weights: torch.Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    row_axis: str,
    column_axis: str,
    heads: str,
    kind: str = "weights",
) -> Panel:
    values = weights.tolist()
    return Panel(name, Matrix(name, heads, values, rows, columns, row_axis, column_axis, kind))
