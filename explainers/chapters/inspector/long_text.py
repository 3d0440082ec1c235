"""Up to 1,024 tokens: read in the background, every head of one layer as an image."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.common.recording import (
    Recording,
    average_weight_on_key,
    cut_text,
    make_inputs,
    pack_weights,
)
from explainers.job_queue import Job
from explainers.models import token_text
from explainers.models.attention_hook import RecordedAttention
from explainers.translations import TEXTS, _
from explainers.ui.controls import controls
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.page import Prose
from explainers.ui.session import LONG_TEXT_JOB
from explainers.ui.source import show_source

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import RealModel


def words_of(loaded: "RealModel", text: str, count: int) -> list[int]:
    """For each of the first `count` tokens the number of its word; the model's own are by
    themselves."""
    encoded = loaded.tokenizer(text, verbose=False)
    places = encoded.word_ids(0) if encoded.encodings else list(range(count))
    found: list[int] = []
    for n, place in enumerate(places[:count]):
        is_same = n > 0 and place is not None and place == places[n - 1]
        found.append(found[-1] if is_same else len(set(found)))
    return found


def labels_of(tokens: Sequence[str], words: Sequence[int]) -> list[str]:
    """Each word as its pieces spell it; BERT marks pieces that go on with ##."""
    spelled = [""] * (max(words) + 1)
    for token, word in zip(tokens, words, strict=True):
        spelled[word] += token.removeprefix("##") if spelled[word] else token
    return spelled


def merge_weights(weights: Tensor, words: Tensor) -> Tensor:
    """Weights (..., tokens, tokens) between words: added up over keys, averaged over queries.

    So a row still sums to 1. words (tokens,) has the number of each token's word.
    """
    return token_text.merge_weights(weights, words.tolist(), words.tolist())


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
    """Up to its layer."""
    return Job(request, read_long_text, request.layer + 1)


def read_long_text(job: LongTextJob) -> LongReading:
    """Run the model as far as the layer; pack its weights."""
    from explainers.models.attention_hook import run_model
    from explainers.models.load import load_model
    from explainers.models.token_text import tokenise_text

    request, loaded = job.subject, load_model(job.subject.model)
    found: list[tuple[Tensor, Tensor, int]] = []

    def take(layer: RecordedAttention) -> None:
        job.report(layer.layer_index)
        if layer.kind != "cross" and layer.layer_index == request.layer:
            weights, mask = layer.weights[0].float().cpu(), layer.mask[0].cpu()
            found.append((weights, mask, layer.query.shape[1] // layer.key.shape[1]))
            raise LayerFoundError

    ids, tokens = tokenise_text(loaded, cut_text(loaded, request.text, request.length)[0])
    with contextlib.suppress(LayerFoundError):
        run_model(loaded.model, record=take, **make_inputs(loaded.model, ids))
    [(weights, mask, group_size)] = found
    on_first = average_weight_on_key(weights, 0).tolist()
    words = torch.tensor(words_of(loaded, request.text, len(tokens)))
    together, hidden = merge_weights(weights, words), merge_weights(mask.float(), words) == 0
    labels = labels_of(tokens, words.tolist())
    return LongReading(
        len(tokens),
        PackedHeads(
            pack_weights(weights, ~mask.expand_as(weights)), list(tokens), on_first, group_size
        ),
        PackedHeads(
            pack_weights(together, hidden.expand_as(together)), labels, on_first, group_size
        ),
    )


TYPED = "long_text"
MOST_CHARACTERS = 8_000
SHIPPED = ("passages.txt", "corpus.txt")


def shipped_text() -> str:
    """More than 1,024 tokens of prose."""
    texts = [(TEXTS / name).read_text(encoding="utf-8") for name in SHIPPED]
    return " ".join(" ".join(texts).split())


def show_long(text: Prose, shown: Recording, loaded: "RealModel") -> None:
    """A text, how much of it, which layer; and its heads when they have been read."""
    text("long")
    typed = st.text_area(
        _("A long text"), shipped_text(), max_chars=MOST_CHARACTERS, key=TYPED, height=120
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = controls.long_length()
        layer = controls.long_layer(0, shown.shape[0] - 1)
        is_merged = controls.whole_words()
        candidate = make_long_text_job(LongTextRequest(loaded.name, typed, length, layer))
        job = offer_job(LONG_TEXT_JOB, _("Read it"), candidate, icon=":material/grid_view:")
    if job:
        title = _("{length:,} tokens, layer {layer}", length=length, layer=layer)
        show = partial(_show, text, job, shown, is_merged)
        watch_job(LONG_TEXT_JOB, job, title, show, _describe)


def _describe(job: LongTextJob) -> str:
    return _("layer {layer}", layer=max(0, len(job.reports) - 1))


def _show(text: Prose, job: LongTextJob, shown: Recording, is_merged: bool) -> None:
    if not job.result:
        return
    found = job.result.words if is_merged else job.result.pieces
    count, length, layer = job.result.num_tokens, job.subject.length, job.subject.layer
    if count < length:
        text("long_short", count=f"{count:,}", asked=f"{length:,}")
    heads = range(len(found.first_token_weights))
    group = found.group_size
    tiles = Tiles(
        found.planes,
        found.tokens,
        [str(layer)],
        [_named(head, group) for head in heads],
        _(
            "Weights of all heads of layer {layer} between {count:,} tokens.",
            layer=layer,
            count=len(found.tokens),
        ),
        enlarges=True,
        rooted=True,
    )
    show_tiles(tiles, shown.origin, "long", partial(_table, found))
    most = max(heads, key=found.first_token_weights.__getitem__)
    text(
        f"long_seen_{'words' if is_merged else 'pieces'}",
        cells=f"{len(found.tokens) ** 2 * len(heads):,}",
        megabytes=f"{len(found.planes) * 4 / 3 / 1e6:.1f}",
        head=most,
        share=f"{found.first_token_weights[most]:.2f}",
        count=f"{count:,}",
        words=f"{len(found.tokens):,}",
    )
    if is_merged:
        show_source(merge_weights)


def _named(head: int, group: int) -> str:
    """A head, and whose keys and values it reads if it shares them."""
    if group == 1:
        return _("head {head}", head=head)
    return _("head {head} · KV head {kv_head}", head=head, kv_head=head // group)


def _table(found: PackedHeads) -> "pd.DataFrame":
    """Of so many numbers, what each head puts on the first token."""
    import pandas as pd

    return pd.DataFrame(
        list(enumerate(found.first_token_weights)), columns=["head", "weight_on_the_first_token"]
    )
