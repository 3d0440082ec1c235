"""Up to 1,024 tokens: read in the background, every head of one layer as an image."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from explainers.models import token_text
from explainers.ui.session import LONG_TEXT_JOB

if TYPE_CHECKING:
    from explainers.models.load import RealModel
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from explainers.chapters.common.recording import cut, inputs, on_key, planes
from explainers.job_queue import Work
from explainers.models.attention_hook import RecordedAttention

if TYPE_CHECKING:
    from explainers.models.load import RealModel
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.background_job import button, start, watch
from explainers.chapters.common.recording import Seen
from explainers.translations import TEXTS, _
from explainers.ui.controls import controls
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.page import Prose
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


def merged(weights: Tensor, words: Tensor) -> Tensor:
    """Weights (..., tokens, tokens) between words: added up over keys, averaged over queries.

    So a row still sums to 1. words (tokens,) has the number of each token's word.
    """
    return token_text.merge_weights(weights, words.tolist(), words.tolist())


class Enough(Exception):  # noqa: N818 - nothing went wrong
    """The layer that was asked for has been read, or nobody wants it any more."""


@dataclass(frozen=True)
class Read:
    """All heads of a layer on one text, in pieces or in words."""

    planes: bytes
    tokens: list[str]
    on_first: list[float]
    group_size: int


@dataclass(eq=False)
class LongRead(Work):
    """The first `length` tokens of a text, as far as `layer`; the layers behind are not run."""

    loaded: "RealModel | None"
    """Given back when it is over: a visitor keeps this work, and should not keep the model."""
    text: str
    length: int
    layer: int
    done: int = 0
    count: int = 0
    pieces: Read | None = None
    words: Read | None = None
    _taken: tuple[Tensor, Tensor] | None = None
    _group_size: int = 1

    @property
    def share(self) -> float:
        return self.done / (self.layer + 1)

    @property
    def is_complete(self) -> bool:
        return self.words is not None

    def _work(self) -> None:
        loaded, self.loaded = self.loaded, None
        if loaded:
            self._read(loaded)

    def _read(self, loaded: "RealModel") -> None:
        from explainers.models.attention_hook import run_model
        from explainers.models.token_text import tokenise_text

        ids, tokens = tokenise_text(loaded, cut(loaded, self.text, self.length)[0])
        self.count = len(tokens)
        with contextlib.suppress(Enough):
            run_model(loaded.model, read=self._take, **inputs(loaded.model, ids))
        if self._taken is None:
            return
        weights, mask = self._taken
        self._taken = None  # the matrices are large, and their packed bytes are all that is drawn
        group = self._group_size
        on_first = on_key(weights, 0).tolist()
        self.pieces = Read(planes(weights, ~mask.expand_as(weights)), list(tokens), on_first, group)
        words = torch.tensor(words_of(loaded, self.text, len(tokens)))
        together = merged(weights, words)
        unseen = merged(mask.float(), words) == 0
        named = labels_of(tokens, words.tolist())
        self.words = Read(planes(together, unseen.expand_as(together)), named, on_first, group)

    def _take(self, layer: RecordedAttention) -> None:
        self.done += 1
        if self.is_stopped:
            raise Enough
        if layer.kind != "cross" and layer.layer_index == self.layer:
            self._taken = layer.weights[0].float().cpu(), layer.mask[0].cpu()
            self._group_size = layer.query.shape[1] // layer.key.shape[1]
            raise Enough


TYPED = "long_text"
MOST_CHARACTERS = 8_000
SHIPPED = ("passages.txt", "corpus.txt")


def shipped_text() -> str:
    """More than 1,024 tokens of prose."""
    texts = [(TEXTS / name).read_text(encoding="utf-8") for name in SHIPPED]
    return " ".join(" ".join(texts).split())


def show_long(text: Prose, shown: Seen, loaded: "RealModel") -> None:
    """A text, how much of it, which layer; and its heads when they have been read."""
    text("long")
    typed = st.text_area(
        _("A long text"), shipped_text(), max_chars=MOST_CHARACTERS, key=TYPED, height=120
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = controls.long_length()
        layer = controls.long_layer(0, shown.shape[0] - 1)
        is_merged = controls.as_words()
        asked = (loaded.name, typed, length, layer)
        is_running = button(
            LONG_TEXT_JOB, _("Read it"), _start, asked, loaded, icon=":material/grid_view:"
        )
    job: LongRead | None = st.session_state.get(LONG_TEXT_JOB)
    if job and (is_running or job.asked == asked):
        what = _("{length:,} tokens, layer {layer}", length=length, layer=layer)
        show = partial(_show, text, job, shown, is_merged)
        watch(
            LONG_TEXT_JOB, job, what, lambda: _("layer {layer}", layer=max(0, job.done - 1)), show
        )


def _start(asked: tuple[str, str, int, int], loaded: "RealModel") -> None:
    _unused, typed, length, layer = asked
    start(LONG_TEXT_JOB, asked, lambda: LongRead(loaded, typed, length, layer))


def _show(text: Prose, job: LongRead, shown: Seen, is_merged: bool) -> None:
    found = job.words if is_merged else job.pieces
    if not found or not job.is_over:
        return
    if job.count < job.length:
        text("long_short", count=f"{job.count:,}", asked=f"{job.length:,}")
    heads = range(len(found.on_first))
    group = found.group_size
    tiles = Tiles(
        found.planes,
        found.tokens,
        [str(job.layer)],
        [_named(head, group) for head in heads],
        _(
            "Weights of all heads of layer {layer} between {count:,} tokens.",
            layer=job.layer,
            count=len(found.tokens),
        ),
        enlarges=True,
        rooted=True,
    )
    show_tiles(tiles, shown.origin, "long", partial(_table, found))
    most = max(heads, key=found.on_first.__getitem__)
    text(
        f"long_seen_{'words' if is_merged else 'pieces'}",
        cells=f"{len(found.tokens) ** 2 * len(heads):,}",
        megabytes=f"{len(found.planes) * 4 / 3 / 1e6:.1f}",
        head=most,
        share=f"{found.on_first[most]:.2f}",
        count=f"{job.count:,}",
        words=f"{len(found.tokens):,}",
    )
    if is_merged:
        show_source(merged)


def _named(head: int, group: int) -> str:
    """A head, and whose keys and values it reads if it shares them."""
    if group == 1:
        return _("head {head}", head=head)
    return _("head {head} · KV head {kv_head}", head=head, kv_head=head // group)


def _table(found: Read) -> "pd.DataFrame":
    """Of so many numbers, what each head puts on the first token."""
    import pandas as pd

    return pd.DataFrame(
        list(enumerate(found.on_first)), columns=["head", "weight_on_the_first_token"]
    )
