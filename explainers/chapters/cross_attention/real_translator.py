"""A real translator, if there is one: word pieces, and our attention inside."""

from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.background_job import describe_words, offer_job, watch_job
from explainers.chapters.cross_attention.hero import TranslationView
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.device import describe_device
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models import token_text
from explainers.models.attention_hook import run_model
from explainers.models.comparison import measure_differences
from explainers.models.load import DOWNLOADS, LoadRequest, bring_model
from explainers.models.registry import ModelError
from explainers.models.token_text import Words
from explainers.translation import translator
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.provenance import real_model
from explainers.ui.session import TRANSLATION_JOB
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


MOST_PIECES = 96
"""That are read, and that are written: a table of more cannot be looked at."""


class Translation(NamedTuple):
    """A translation piece by piece; row t of the weights predicts piece t of the target.

    `difference` is the largest one between our attention in this model and the model's own.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    source_words: Words
    target_words: Words
    text: str
    """What it wrote."""
    weights: Tensor
    """(layers, heads, target pieces, source pieces)"""
    difference: float


def translate_text(real_model: "RealModel", text: str) -> Translation:
    """Let it write, always the likeliest next piece, and read every cross-attention."""
    model: Any = real_model.model  # torch types the methods of a module as tensors
    if not model.config.is_encoder_decoder or model.main_input_name != "input_ids":
        raise ModelError(
            "{model} is no translator: no decoder of it reads another text.", model=real_model.name
        )
    ids = token_text.tokenise_text(real_model, text, MOST_PIECES).ids
    mask = torch.ones_like(ids)
    with torch.no_grad():
        target_ids = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=False,
            num_beams=1,
            max_new_tokens=MOST_PIECES,
        )
    inputs = {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": target_ids[:, :-1]}
    layers = [layer for layer in run_model(model, **inputs).layers if layer.kind == "cross"]
    tokenizer = real_model.tokenizer
    read, written = ids[0].tolist(), target_ids[0, 1:].tolist()
    source, target = (tuple(tokenizer.convert_ids_to_tokens(one)) for one in (read, written))
    return Translation(
        source,
        target,
        token_text.read_words(real_model, text, source),
        token_text.spell_words(tokenizer, written, target),
        str(tokenizer.decode(written, skip_special_tokens=True)),
        torch.stack([layer.weights[0] for layer in layers]),
        max(one.largest for one in measure_differences(model, **inputs)),
    )


def show_pieces(text: Prose, view: TranslationView) -> None:
    """How subwords that were learned from the corpus cut this sentence and its translation; where
    their file is broken, it is said."""
    sides = view.translation.words, view.translation.syllables
    try:
        source, target = map(translator.cut_words, sides)
    except translator.BrokenWeightsError as error:
        st.error(verbatim(translate_error(error)), icon=":material/error:")
        return
    text(
        "pieces",
        kinds=translator.NUM_PIECES,
        words=len(source),
        syllables=len(target),
        word_pieces=sum(map(len, source)),
        syllable_pieces=sum(map(len, target)),
        # A plus where a word is cut.
        source=" ".join(" + ".join(map(verbatim, word)) for word in source),
        target=" ".join(" + ".join(map(verbatim, word)) for word in target),
    )


TranslationJob = Job[tuple[str, str], str, tuple[Translation, str]]
"""Of a model's name and a sentence. It reports in words what is under way; its result says where
the weights come from."""


def translate_sentence(job: TranslationJob) -> tuple[Translation, str]:
    """Bring the model; let it translate."""
    model, sentence = job.subject
    loaded = bring_model(job, LoadRequest(model))
    job.report(N_("translating"))
    return translate_text(loaded, sentence), loaded.provenance


def show_real(text: Prose, view: TranslationView, sentence: str) -> None:
    """A name and a button; then what that published translator wrote, if it can be had."""
    show_pieces(text, view)
    text("real")
    request = controls.translator(), sentence
    steps = 3  # to fetch, to load and to translate: nobody knows how fast a network is
    wanted = Job(request, translate_sentence, steps, DOWNLOADS, readable_errors=(ModelError,))
    label, icon = _("Read the sentence with it"), ":material/translate:"
    job = offer_job(TRANSLATION_JOB, label, wanted, icon=icon)
    if not job or job.subject != request:
        return
    if job.state == "failed":
        problem = verbatim(shorten(_(job.problem), 300))
        st.info(_("{problem} Our translator stays.", problem=problem), icon=":material/cloud_off:")
    elif job.result:
        show_real_weights(text, *job.result, view.queries_down)
    else:
        watch_job(TRANSLATION_JOB, job, verbatim(request[0]), describe=describe_words)


def show_real_weights(
    text: Prose, translation: Translation, origin: str, queries_down: bool
) -> None:
    """Weights between words and between their subwords."""
    layers = [str(n + 1) for n in range(len(translation.weights))]
    layer_index = layers.index(controls.translator_layer(layers, layers[max(0, len(layers) - 2)]))
    weights = translation.weights[layer_index].mean(dim=0)
    sides = translation.target_words, translation.source_words
    words = token_text.merge_weights(weights, *(side.numbers for side in sides))
    rows, columns = ([word.strip() or word for word in side.spelled] for side in sides)
    heads = _(
        "decoder layer {layer} of {count}, mean of heads", layer=layer_index + 1, count=len(layers)
    )
    rule = _("{heads}; every row sums to 1", heads=heads)
    axes, pieces = (TARGET_AXIS, SOURCE_AXIS), (translation.target, translation.source)
    piece_axes = N_("subword written"), N_("subword read")
    shares, all_shares = words.tolist(), weights.tolist()
    matrices = [
        Matrix(N_("lines"), heads, shares, rows, columns, *axes, kind="ties"),
        Matrix(N_("words"), rule, shares, rows, columns, *axes, kind="weights"),
        Matrix(N_("subwords"), heads, all_shares, *pieces, *piece_axes, kind="weights"),
    ]
    panels = [Panel(matrix.name, matrix) for matrix in matrices]
    alt = _(
        "Cross-attention of a real translator, {heads}: between words, and between their subwords.",
        heads=heads,
    )
    figure = Figure([panels[0], *orient_panels(panels[1:], queries_down)], alt)
    where = real_model(f"{origin} · computed live on {describe_device(weights.device)}")
    show_figure(figure, where, "real")
    numbers = translation.source_words.numbers
    count = numbers[-1] + 1
    text(
        "real_seen",
        written=verbatim(translation.text),
        difference=f"{translation.difference:.1g}",
        pieces=len(numbers),
        words=count,
        cut=sum(numbers.count(word) > 1 for word in range(count)),
    )
    show_source(token_text.merge_weights, translate_text)
