"""A common beginning of many texts: what pages and sharing save, and what a changed token costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.charts.matrix import Matrix
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.engines import BLOCK_SIZE, count_pages
from explainers.memory.prefix_sharing import (
    count_blocks,
    count_prefix_savings,
    count_reused_tokens,
    list_kept_blocks,
)
from explainers.memory.serving import Deployment
from explainers.memory.sizes import format_size
from explainers.memory.speed import estimate_computing_seconds
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import page_controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel

CODE = count_prefix_savings, count_blocks, list_kept_blocks, count_reused_tokens

MAX_TEXTS, MAX_TOKENS = 100_000, 10**8


def choose_prefix() -> tuple[int, int, int, int]:
    """(texts, tokens of their common beginning, tokens of each alone, token that is changed)."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return (
            page_controls.prefix_texts(2, MAX_TEXTS),
            prefix := page_controls.prefix_tokens(1, MAX_TOKENS),
            page_controls.own_tokens(1, MAX_TOKENS),
            page_controls.changed_place(1, prefix),
        )


def count_savings(
    choice: CacheChoice, deployment: Deployment | None, template: str
) -> tuple[str, dict[str, str]]:
    """Which section to show, and pages and bytes: of each text alone, shared, and with a change.

    Before them is a picture of the pages, with the words of `template` below it.
    """
    texts, prefix, own, changed = choose_prefix()
    block = deployment.block if deployment else BLOCK_SIZE
    tokens, shape = prefix + own, choice.shape
    count = partial(
        count_prefix_savings,
        *(shape, tokens),
        dtype=choice.dtype,
        block=block,
        source_tokens=choice.source_tokens,
    )
    shared = count(prefixes=[prefix] * texts)
    after = count(prefixes=[prefix] * (texts - 1) + [changed - 1])
    reused, left = count_reused_tokens(prefix, block), count_reused_tokens(changed - 1, block)
    told = {
        "texts": f"{texts:,}",
        "prefix": f"{prefix:,}",
        "own": f"{own:,}",
        "tokens": f"{tokens:,}",
        "block": f"{block:,}",
        "common": f"{reused // block:,}",
        "reused": f"{reused:,}",
        "alone": write_amount(shared.blocks_alone, shared.bytes_alone),
        "shared": write_amount(shared.blocks_shared, shared.bytes_shared),
        "after": write_amount(after.blocks_shared, after.bytes_shared),
        "saved": format_size(shared.bytes_alone - shared.bytes_shared),
        "place": f"{changed:,}",
        "left": f"{left:,}",
        "more": f"{after.blocks_shared - shared.blocks_shared:,}",
        "again": f"{reused - left:,}",
        "spared": f"{(texts - 1) * reused:,}",
        "reserved": reserve(choice, texts, tokens),
        "computing": tell_computing(deployment, (texts - 1) * reused),
    }
    if not shared.bytes_alone:
        return "nothing", told
    amounts = (
        (shared.blocks_alone, shared.bytes_alone),
        (shared.blocks_shared, shared.bytes_shared),
        (after.blocks_shared, after.bytes_shared),
    )
    pages = StoredPages(texts, count_pages(tokens, block), reused // block, left // block, changed)
    show_picture(pages, amounts, template)
    return "shared", told


def write_amount(blocks: int, size: int) -> str:
    """Pages and bytes as two cells of a table."""
    return f"{blocks:,} | {format_size(size)}"


def reserve(choice: CacheChoice, texts: int, tokens: int) -> str:
    """What `texts` texts take if each is given room for the longest that the model can read."""
    longest = max(choice.shape.context or tokens, tokens)
    size = count_cache_bytes(choice.shape, longest, texts, **choice.options)
    return f"{longest:,} | – | {format_size(size)}"


def tell_computing(deployment: Deployment | None, tokens: int) -> str:
    """How long the GPUs would compute so many tokens at the least, where that is known."""
    if not tokens or not deployment or not deployment.shape.parameters:
        return ""
    seconds = float(estimate_computing_seconds(deployment, tokens))
    gpus = f"{deployment.gpus} × {deployment.gpu.name}"
    told = _("That is at least {seconds} s of {gpus}.", gpus=gpus, seconds=f"{seconds:.3g}")
    return f" {told}"


MOST_DRAWN = 3
"""Texts with a bar of their own; one more bar stands for all others."""
COLUMNS = (
    *(N_("read from another text"), N_("of the beginning, stored")),
    *(N_("computed and stored again"), N_("of its own, stored")),
)
ALT = N_(
    "Bars of pages, one for each text: stored by each alone, with the common beginning once, and "
    "after one token of one text was changed."
)
Amount = tuple[int, int]
"""Pages in a layer, and bytes in all."""


@dataclass(frozen=True)
class StoredPages:
    """Pages of texts in a layer with full attention.

    Each of `texts` has `pages`, of which `common` are shared, and after a change of the token
    `changed` of one text only `left` by that one.
    """

    texts: int
    pages: int
    common: int
    left: int
    changed: int

    @property
    def alone(self) -> int:
        """Pages that no other text can have."""
        return self.pages - self.common

    def list_alone(self) -> list[list[int]]:
        """Pages of each kind, a row for each text, if nothing is shared."""
        return [[0, self.common, 0, self.alone]] * self.texts

    def list_shared(self) -> list[list[int]]:
        """The same if the beginning is stored once."""
        first, other = [0, self.common, 0, self.alone], [self.common, 0, 0, self.alone]
        return [first, *[other] * (self.texts - 1)]

    def list_changed(self) -> list[list[int]]:
        """The same if a token of the second text is another one."""
        first, _unused, *others = self.list_shared()
        return [first, [self.left, 0, self.common - self.left, self.alone], *others]


def show_picture(pages: StoredPages, amounts: Sequence[Amount], template: str) -> None:
    """Three groups of bars, on one scale, with the pages and bytes of each."""
    names = (
        *(_("each text alone"), _("the beginning once")),
        _("token {place} of one text changed", place=f"{pages.changed:,}"),
    )
    stored = pages.list_alone(), pages.list_shared(), pages.list_changed()
    panels = [
        Panel(f"stored {place}", make_matrix(pages, name, *amount, rows))
        for place, (name, amount, rows) in enumerate(zip(names, amounts, stored, strict=True))
    ]
    named = {
        "common": f"{pages.common:,}",
        "alone": f"{pages.alone:,}",
        "texts": f"{pages.texts:,}",
        "again": f"{pages.common - pages.left:,}",
    }
    origin = _("formula: whole pages of a layer with full attention")
    show_figure(Figure(panels, ALT, template=template, named=[named]), origin, "prefix")


def make_matrix(
    pages: StoredPages, name: str, blocks: int, size: int, rows: list[list[int]]
) -> Matrix:
    """The bars of a group; the texts that have none stand in one row, each of them like it."""
    drawn = rows[:MOST_DRAWN]
    labels = [_("text {number}", number=place + 1) for place in range(len(drawn))]
    if (more := len(rows) - len(drawn)) > 0:
        drawn, labels = [*drawn, rows[-1]], [*labels, _("{count:,} more, each", count=more)]
    formula = _("{pages} pages in a layer, {size}", pages=f"{blocks:,}", size=format_size(size))
    columns = [_(column) for column in COLUMNS]
    limit = float(pages.pages)
    return Matrix(name, formula, drawn, labels, columns, "", "", kind="stored", limit=limit)
