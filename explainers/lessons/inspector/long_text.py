"""Up to 1,024 tokens: every head of one layer as an image, to be looked at closely."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from explainers.lessons.inspector.long_read import LongRead, Read
from explainers.lessons.inspector.seen import Seen
from explainers.lessons.inspector.words import merged
from explainers.lessons.watched import button, start, watch
from explainers.ui import real_controls
from explainers.ui.language import TEXTS, said
from explainers.ui.prose import Prose
from explainers.ui.source import show_source
from explainers.ui.tiles import Tiles, show_tiles

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import Loaded

JOB, TYPED = "long text of this visitor", "long_text"
MOST_CHARACTERS = 8_000
SHIPPED = ("passages.txt", "corpus.txt")


def shipped_text() -> str:
    """More than 1,024 tokens of prose."""
    texts = [(TEXTS / name).read_text(encoding="utf-8") for name in SHIPPED]
    return " ".join(" ".join(texts).split())


def show_long(text: Prose, shown: Seen, loaded: "Loaded") -> None:
    """A text, how much of it, which layer; and its heads when they have been read."""
    text("long")
    typed = st.text_area(
        said("A long text"), shipped_text(), max_chars=MOST_CHARACTERS, key=TYPED, height=120
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = real_controls.length()
        layer = real_controls.long_layer(0, shown.shape[0] - 1)
        is_merged = real_controls.as_words()
        asked = (loaded.name, typed, length, layer)
        is_running = button(
            JOB, said("Read it"), _start, asked, loaded, icon=":material/grid_view:"
        )
    job: LongRead | None = st.session_state.get(JOB)
    if job and (is_running or job.asked == asked):
        what = said("{length:,} tokens, layer {layer}", length=length, layer=layer)
        show = partial(_show, text, job, shown, is_merged)
        watch(JOB, job, what, lambda: said("layer {layer}", layer=max(0, job.done - 1)), show)


def _start(asked: tuple[str, str, int, int], loaded: "Loaded") -> None:
    _, typed, length, layer = asked
    start(JOB, asked, lambda: LongRead(loaded, typed, length, layer))


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
        said(
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
        return said("head {head}", head=head)
    return said("head {head} · KV head {kv_head}", head=head, kv_head=head // group)


def _table(found: Read) -> "pd.DataFrame":
    """Of so many numbers, what each head puts on the first token."""
    import pandas as pd

    return pd.DataFrame(
        list(enumerate(found.on_first)), columns=["head", "weight_on_the_first_token"]
    )
