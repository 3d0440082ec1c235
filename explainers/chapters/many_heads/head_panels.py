"""The pictures of a layer of heads: all, one enlarged, W_O, contributions, two ways compared."""

from dataclasses import replace

import streamlit as st
from torch import Tensor

from explainers.attention.multi_head import ManyHeads, merge_heads, split_heads
from explainers.chapters.many_heads.head_contributions import (
    LAYER,
    SIDE_BY_SIDE,
    W_O,
    enlarge_head,
    head_id,
    plain,
    who_did_it,
)
from explainers.chapters.many_heads.selection import Looked
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell, Panel, Source, orient_panels
from explainers.ui.page import Prose


def panels_of(looked: Looked, queries_down: bool) -> list[Panel]:
    """The whole layer in one picture, in four parts under headings."""
    return [
        *orient_panels(all_heads(looked), queries_down),
        *_enlarged(looked, queries_down),
        *_through_w_o(looked),
        *who_did_it(looked),
    ]


def all_heads(looked: Looked) -> list[Panel]:
    """A miniature per head; the row of the chosen word is framed in all of them."""
    ids = [head_id(head) for head in range(looked.num_heads)]
    heads = [
        Panel(
            own,
            weights_matrix(own, _strongest(looked, head), looked, head),
            small=True,
            marked=head == looked.head,
            muted=head in looked.off,
            followed=looked.word,
        )
        for head, own in enumerate(ids)
    ]
    return [replace(heads[0], heading=_("Every head")), *heads[1:]]


def head_of(panel: str) -> int | None:
    """Which head's miniature a panel is."""
    number = panel.removeprefix("head ")
    return int(number) if panel.startswith("head ") else None


def follow(clicked: Cell) -> None:
    """A click on a head enlarges it, and a click on a word's row follows the word; a callback."""
    head = head_of(clicked.panel)
    if head is not None:
        st.session_state[controls.enlarged_head.key] = head
    if head is not None or clicked.panel in (SIDE_BY_SIDE, LAYER):
        st.session_state[controls.followed_word.key] = clicked.row


def weights_matrix(name: str, formula: str, looked: Looked, head: int) -> Matrix:
    """One head's weights; pairs that the mask forbids are blank."""
    tokens, mask = looked.layer.tokens, looked.layer.mask.tolist()
    values = blank_forbidden(looked.run.weights[head].tolist(), mask)
    return make_pair_matrix(name, formula, values, tokens, "weights")


def _strongest(looked: Looked, head: int) -> str:
    """Where the chosen word looks most in this head."""
    if head in looked.off:
        return _("switched off")
    weight, key = looked.run.weights[head, looked.word].max(dim=-1)
    tokens = looked.layer.tokens
    return f"{tokens[looked.word]} → {tokens[int(key)]} {weight:.2f}"


def _enlarged(looked: Looked, queries_down: bool) -> list[Panel]:
    one = enlarge_head(looked)
    first, *others = one.product("weights", "V", "output", queries_down)
    panels = [replace(first, heading=_("The chosen head, enlarged")), *others]
    return [replace(p, matrix=replace(p.matrix, name=_of_head(p.id, looked))) for p in panels]


def _of_head(panel: str, looked: Looked) -> str:
    """The name of a panel of the enlarged head, Aᵀ where the queries run along the top."""
    matrix = panel.removesuffix("ᵀ")
    turned = panel.removeprefix(matrix)
    return _("{matrix} of head {head}", matrix=_(matrix) + turned, head=looked.head)


def _through_w_o(looked: Looked) -> list[Panel]:
    tokens, heads = looked.layer.tokens, looked.layer.heads
    lanes = [f"{head}.{n}" for head in range(looked.num_heads) for n in range(heads.head_dim)]
    side_by_side = looked.per_head.transpose(0, 1).flatten(1)
    example = _("column 2.0: head 2, dimension 0")
    first = plain(SIDE_BY_SIDE, example, side_by_side, tokens, lanes)
    rows, formula = looked.rows_of_w_output, _("each head has rows of its own")
    if len(rows) < len(lanes):
        formula = _(
            "each head has rows of its own; these are head {head}'s, all would be {all:,}",
            head=looked.head,
            all=len(lanes),
        )
    of_rows = slice(rows.start, rows.stop)
    second = plain(W_O, formula, heads.w_output[of_rows], lanes[of_rows])
    third = plain(LAYER, _("what the layer hands on"), looked.output, tokens)
    sources = Source(SIDE_BY_SIDE, row="row"), Source(W_O, column="column")
    heading = _("All heads side by side, times W_O: the output of the layer")
    return [
        Panel(SIDE_BY_SIDE, first, heading=heading, dense=True),
        Panel(W_O, second, "·", dense=True),
        Panel(LAYER, third, "=", sources=sources),
    ]


def compare(text: Prose, layer: Layer, run: ManyHeads, listed: ManyHeads) -> None:
    """Say how far two implementations are apart, and where numbers were copied, if any were."""
    apart = max((a - b).abs().max().item() for a, b in zip(run, listed, strict=True))
    projected = layer.x @ layer.heads.w_query
    split = split_heads(projected, layer.heads.head_dim)
    merged = merge_heads(run.per_head)
    way = "moved" if _has_moved(run.per_head, merged) else "stayed"
    text(
        f"same_{way}",
        apart=distance_in_words(apart),
        split=_copied(projected, split, layer),
        merge=_copied(run.per_head, merged, layer),
    )


def distance_in_words(apart: float) -> str:
    """How large the largest difference is; float32 leaves some in the seventh digit."""
    if apart == 0:
        return "0"
    if apart < 1e-6:
        return _("less than a millionth")
    if apart < 1e-5:
        return _("less than a hundred-thousandth")
    return f"{apart:.6f}"


def _has_moved(before: Tensor, after: Tensor) -> bool:
    """Do the numbers of `after` lie in memory of their own?"""
    return before.untyped_storage().data_ptr() != after.untyped_storage().data_ptr()


def _copied(before: Tensor, after: Tensor, layer: Layer) -> str:
    """How many numbers had to be copied."""
    if not _has_moved(before, after):
        return _("copied nothing")
    return _(
        "copied {words} words · {heads} heads · d_k {head_dim} = {numbers:,} numbers",
        words=len(layer.tokens),
        heads=layer.heads.num_heads,
        head_dim=layer.heads.head_dim,
        numbers=after.numel(),
    )
