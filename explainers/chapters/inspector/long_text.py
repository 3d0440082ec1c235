"""Up to 1,024 tokens: read in the background, every head of one layer as an image."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
from torch import Tensor

from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.common.measured_heads import find_gallery
from explainers.chapters.common.recording import (
    average_weight_on_key,
    cut_text,
    make_inputs,
    pack_weights,
)
from explainers.chapters.inspector.sentence_run import View
from explainers.job_queue import Job
from explainers.models.attention_hook import RecordedAttention
from explainers.models.token_text import merge_weights, read_words, tokenise_text
from explainers.translations import TEXTS, _
from explainers.ui import browser_files
from explainers.ui.controls import controls
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.figure.panels import translate_scripts
from explainers.ui.session import LONG_TEXT_JOB

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import RealModel


class LayerFoundError(Exception):
    """The layer that was asked for has been read: those behind it are not run."""


class LongTextRequest(NamedTuple):
    """Which layer of a model, on how many of a text's first tokens."""

    model: str
    text: str
    length: int
    layer: int


@dataclass(frozen=True)
class PackedHeads:
    """All heads of a layer on one text, in pieces or in words."""

    planes: bytes
    tokens: list[str]
    first_token_weights: list[float]
    group_size: int


class LongReading(NamedTuple):
    """How many tokens were read, and the heads between them and between their words."""

    num_tokens: int
    pieces: PackedHeads
    words: PackedHeads


LongTextJob = Job[LongTextRequest, int, LongReading]
"""It reports the number of each layer that has been read."""


def make_long_text_job(request: LongTextRequest) -> LongTextJob:
    """The job, not yet started, that reads a long text up to the layer that is asked for."""
    return Job(request, read_long_text, request.layer + 1)


def read_long_text(job: LongTextJob) -> LongReading:
    """Run the model as far as the layer; pack its weights."""
    from explainers.models.attention_hook import run_model
    from explainers.models.load import load_model

    request, loaded = job.subject, load_model(job.subject.model)
    found: list[tuple[Tensor, Tensor, int]] = []

    def take(layer: RecordedAttention) -> None:
        job.report(layer.layer_index)
        if layer.kind != "cross" and layer.layer_index == request.layer:
            weights, mask = layer.weights[0].float().cpu(), layer.mask[0].cpu()
            found.append((weights, mask, layer.query.shape[1] // layer.key.shape[1]))
            raise LayerFoundError

    beginning, _left_out = cut_text(loaded, request.text, request.length)
    ids, tokens = tokenise_text(loaded, beginning)
    with contextlib.suppress(LayerFoundError):
        run_model(loaded.model, record=take, **make_inputs(loaded.model, ids))
    [(weights, mask, group_size)] = found
    on_first = average_weight_on_key(weights, 0).tolist()
    words = read_words(loaded, beginning, tokens)
    together, may_attend = (
        merge_weights(one, words.numbers, words.numbers) for one in (weights, mask.float())
    )
    return LongReading(
        len(tokens),
        PackedHeads(
            pack_weights(weights, ~mask.expand_as(weights)), list(tokens), on_first, group_size
        ),
        PackedHeads(
            pack_weights(together, (may_attend == 0).expand_as(together)),
            list(words.spelled),
            on_first,
            group_size,
        ),
    )


TYPED = "long_text"
MOST_CHARACTERS = 8_000
SHIPPED = ("passages.txt", "corpus.txt")


def read_shipped_text() -> str:
    """More than 1,024 tokens of prose."""
    texts = [(TEXTS / name).read_text(encoding="utf-8") for name in SHIPPED]
    return " ".join(" ".join(texts).split())


class Shown(NamedTuple):
    """What was read of a long text, in the pieces or the words that the reader wants."""

    heads: PackedHeads
    num_tokens: int
    request: LongTextRequest
    is_merged: bool

    @property
    def is_short(self) -> bool:
        """Are these fewer tokens than were asked for?"""
        return self.num_tokens < self.request.length

    def describe(self) -> dict[str, object]:
        """How much was asked for, read and sent, and which head looks most at the first token."""
        on_first, size = self.heads.first_token_weights, len(self.heads.tokens)
        most = max(range(len(on_first)), key=on_first.__getitem__)
        return {
            "asked": f"{self.request.length:,}",
            "count": f"{self.num_tokens:,}",
            "words": f"{size:,}",
            "cells": f"{size**2 * len(on_first):,}",
            "megabytes": f"{len(self.heads.planes) * 4 / 3 / 1e6:.1f}",
            "head": most,
            "share": f"{on_first[most]:.2f}",
        }


def offer_reading(view: View) -> Shown | None:
    """A text, how much of it, which layer; and its heads when they have been read."""
    typed = st.text_area(
        _("A long text"), read_shipped_text(), max_chars=MOST_CHARACTERS, key=TYPED, height=120
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = controls.long_length()
        layer = controls.long_layer(0, view.seen.shape[0] - 1)
        # One choice for the page: asked here where the sentence above gave no cause to ask.
        is_merged = bool(view.words) if view.offers_words else controls.whole_words()
        candidate = make_long_text_job(LongTextRequest(view.loaded.name, typed, length, layer))
        job = offer_job(LONG_TEXT_JOB, _("Read it"), candidate, icon=":material/grid_view:")
    if not job:
        return None
    if not job.result:
        title = _("{length:,} tokens, layer {layer}", length=length, layer=layer)
        watch_job(LONG_TEXT_JOB, job, title, describe=_describe_progress)
        return None
    beginning, _left_out = cut_text(view.loaded, job.subject.text, job.subject.length)
    offer_file(view.loaded, beginning, "long", is_merged)
    heads = job.result.words if is_merged else job.result.pieces
    return Shown(heads, job.result.num_tokens, job.subject, is_merged)


def offer_file(loaded: "RealModel", text: str, key: str, by_word: bool) -> None:
    """A button for all heads of a text in one HTML file, which is made when it is asked for."""
    from explainers.notebook.head_names import MEANINGS

    scripts = browser_files.list_scripts("look", "common", "tiles")
    words = translate_scripts(scripts, [*MEANINGS, *MEANINGS.values()])
    st.download_button(
        _("All heads of this text in one HTML file"),
        partial(write_file, loaded, text, words, by_word),
        "heads.html",
        "text/html",
        key=f"all heads {key}",
        on_click="ignore",
        icon=":material/download:",
    )


def write_file(
    loaded: "RealModel", text: str, words: Mapping[str, str], by_word: bool = False
) -> str:
    """What `look` shows in a notebook; heads are named if their scores are known here."""
    from explainers.notebook.look import draw_heads

    gallery = find_gallery(loaded.name)
    names = gallery.scores if gallery else False
    return draw_heads(loaded, text, names=names, by_word=by_word, words=words).page


def _describe_progress(job: LongTextJob) -> str:
    return _("layer {layer}", layer=max(0, len(job.reports) - 1))


def draw_long(shown: Shown, origin: str) -> None:
    """All heads of the layer, as images."""
    heads, layer = shown.heads, shown.request.layer
    tiles = Tiles(
        heads.planes,
        heads.tokens,
        [str(layer)],
        [_name_head(head, heads.group_size) for head in range(len(heads.first_token_weights))],
        _(
            "Weights of all heads of layer {layer} between {count:,} tokens.",
            layer=layer,
            count=len(heads.tokens),
        ),
        enlarges=True,
        rooted=True,
        shares=heads.first_token_weights,
    )
    show_tiles(tiles, origin, "long", partial(_tabulate, heads))


def _name_head(head: int, group: int) -> str:
    """A head, and whose keys and values it reads if it shares them."""
    if group == 1:
        return _("head {head}", head=head)
    return _("head {head} · KV head {kv_head}", head=head, kv_head=head // group)


def _tabulate(heads: PackedHeads) -> "pd.DataFrame":
    """Of so many numbers, what each head puts on the first token."""
    import pandas as pd

    return pd.DataFrame(
        list(enumerate(heads.first_token_weights)), columns=["head", "weight_on_the_first_token"]
    )
