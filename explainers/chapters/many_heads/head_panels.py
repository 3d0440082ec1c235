"""The panels of a layer's heads: all of them, one enlarged, through W_O, and who did it."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from torch import Tensor

from explainers.attention.multi_head import ManyHeads, merge_heads, split_heads
from explainers.attention.single_head import Projections
from explainers.attention.steps import attention_steps
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.many_heads.selection import Selection
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys.layers import Layer, TrainedHeads
from explainers.translations import _, say_value
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell, Panel, Source, orient_panels

SIDE_BY_SIDE, W_O, LAYER, PARTS = N_("heads"), "W_O", N_("layer"), N_("parts")
SHARES, VOTES, NAMED = N_("shares"), N_("votes"), N_("named")
AXES = {
    SIDE_BY_SIDE: (TOKEN_AXIS, FEATURE_AXIS),
    W_O: (FEATURE_AXIS, FEATURE_AXIS),
    LAYER: (TOKEN_AXIS, FEATURE_AXIS),
    PARTS: (HEAD_AXIS, FEATURE_AXIS),
    SHARES: (HEAD_AXIS, ""),
    VOTES: (HEAD_AXIS, N_("word")),
    NAMED: ("", N_("word")),
}


def name_panel(head: int) -> str:
    """What a head's pictures are called."""
    return N_("head {head}", head=head)


def make_share_panels(looked: Selection) -> list[Panel]:
    """Each head's part of the chosen word's output, and its votes for what is named from it."""
    word, heads = looked.layer.tokens[looked.word], range(looked.num_heads)
    rows = [name_panel(head) for head in heads]
    formula = _("what each head adds to the output of {word}", word=word)
    parts = make_layer_matrix(PARTS, formula, looked.parts, rows)
    formula, column = _("of the output of {word}", word=word), _("share")
    shares = make_layer_matrix(SHARES, formula, looked.shares[:, None], rows, [column])
    panels = [
        Panel(
            PARTS,
            parts,
            heading=_("Which head did it? A row of the output is the sum of these parts"),
            remark=_(
                "A part is the head's output times its rows of W_O. A share compares the part with "
                "the whole output: part · output ÷ output · output. The shares sum to 1; a head "
                "with a negative share works against the sum."
            ),
        ),
        Panel(SHARES, replace(shares, limit=1.0), "→"),
    ]
    if looked.learned is None or not looked.candidates:
        return panels
    return [*panels, *_make_vote_panels(looked, looked.learned, rows)]


def _make_vote_panels(looked: Selection, known: TrainedHeads, rows: list[str]) -> list[Panel]:
    word, words = looked.layer.tokens[looked.word], list(looked.candidates.values())
    logits, totals = looked.votes(*looked.directions(known))
    formula = _("for {word}; bias: learned, the same for all", word=word)
    rows = [*rows, _("bias"), _("sum")]
    voted = make_layer_matrix(VOTES, formula, logits, rows, words)
    formula = _("for {word}: above 0.50 where the sum is above 0", word=word)
    rows = [_("all heads"), _("heads on")]
    told = make_layer_matrix(NAMED, formula, totals.sigmoid(), rows, words)
    heading = _("What the layer names for the word: a sum of votes")
    remark = _(
        "The layer votes on a list of words: each head's part adds to a word's sum, or takes from "
        "it. A sum above 0 means that the word is named. ← is a word before the followed one, → a "
        "word after it. Behind the sentence's own words stand others: those that are named wrongly "
        "most often if every choice of heads is tried."
    )
    return [
        Panel(VOTES, voted, heading=heading, remark=remark),
        Panel(NAMED, replace(told, kind="weights"), "→"),
    ]


def enlarge_head(looked: Selection) -> OneHead:
    """The chosen head by itself."""
    views = Projections(*(view[looked.head] for view in looked.run[:3]))
    steps = attention_steps(*views, looked.layer.mask)
    return OneHead.of(looked.layer, views, steps, looked.head)


def make_layer_matrix(
    name: str, formula: str, values: Tensor, rows: Sequence[str], columns: Sequence[str] = ()
) -> Matrix:
    """A matrix of the layer with the axes that it has."""
    columns = columns or [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), rows, columns, *AXES[name])


def make_layer_panels(looked: Selection, queries_down: bool) -> list[Panel]:
    """The whole layer in one picture, in four parts under headings."""
    return [
        *orient_panels(make_head_panels(looked), queries_down),
        *_enlarge_panels(looked, queries_down),
        *join_heads(looked),
        *make_share_panels(looked),
    ]


def make_head_panels(looked: Selection) -> list[Panel]:
    """A miniature per head; the row of the chosen word is framed in all of them."""
    ids = [name_panel(head) for head in range(looked.num_heads)]
    heads = [
        Panel(
            own,
            make_weight_matrix(own, _describe_strongest(looked, head), looked, head),
            small=True,
            marked=head == looked.head,
            muted=head in looked.off,
            followed=looked.word,
        )
        for head, own in enumerate(ids)
    ]
    return [replace(heads[0], heading=_("Every head")), *heads[1:]]


def parse_head(panel: str) -> int | None:
    """Which head's miniature a panel is."""
    number = panel.removeprefix("head ")
    return int(number) if panel.startswith("head ") else None


def follow(clicked: Cell) -> None:
    """A click on a head enlarges it, and a click on a word's row follows the word; a callback."""
    head = parse_head(clicked.panel)
    if head is not None:
        st.session_state[controls.enlarged_head.key] = head
    if head is not None or clicked.panel in (SIDE_BY_SIDE, LAYER):
        st.session_state[controls.followed_word.key] = clicked.row


def make_weight_matrix(name: str, formula: str, looked: Selection, head: int) -> Matrix:
    """One head's weights; pairs that the mask forbids are blank."""
    tokens, mask = looked.layer.tokens, looked.layer.mask.tolist()
    values = blank_forbidden(looked.run.weights[head].tolist(), mask)
    return make_pair_matrix(name, formula, values, tokens, "weights")


def _describe_strongest(looked: Selection, head: int) -> str:
    """Where the chosen word looks most in this head."""
    if head in looked.off:
        return _("switched off")
    weight, key = looked.run.weights[head, looked.word].max(dim=-1)
    tokens = looked.layer.tokens
    return f"{tokens[looked.word]} → {tokens[int(key)]} {say_value(f'{weight:.2f}')}"


def _enlarge_panels(looked: Selection, queries_down: bool) -> list[Panel]:
    one = enlarge_head(looked)
    first, *others = one.product("weights", "V", "output", queries_down)
    panels = [replace(first, heading=_("The chosen head, enlarged")), *others]
    return [replace(p, matrix=replace(p.matrix, name=_name_matrix(p.id, looked))) for p in panels]


def _name_matrix(panel: str, looked: Selection) -> str:
    """The name of a panel of the enlarged head, Aᵀ where the queries run along the top."""
    matrix = panel.removesuffix("ᵀ")
    turned = panel.removeprefix(matrix)
    return _("{matrix} of head {head}", matrix=_(matrix) + turned, head=looked.head)


def draw_steps(looked: Selection) -> list[Panel]:
    """Every head attends; the outputs are laid side by side, and W_O mixes them."""
    heads = [replace(panel, heading="", marked=False) for panel in make_head_panels(looked)]
    side_by_side, _w_output, output = join_heads(looked)
    return [
        *heads,
        replace(side_by_side, heading="", operator="→", followed=looked.word),
        replace(output, operator=_("· W_O ="), sources=(), followed=looked.word),
    ]


def join_heads(looked: Selection) -> list[Panel]:
    """The heads' outputs side by side, times W_O."""
    tokens, heads = looked.layer.tokens, looked.layer.heads
    lanes = [f"{head}.{n}" for head in range(looked.num_heads) for n in range(heads.head_dim)]
    side_by_side = looked.per_head.transpose(0, 1).flatten(1)
    example = _("column 2.0: head 2, dimension 0")
    first = make_layer_matrix(SIDE_BY_SIDE, example, side_by_side, tokens, lanes)
    rows, formula = looked.rows_of_w_output, _("each head has rows of its own")
    if len(rows) < len(lanes):
        formula = _(
            "each head has rows of its own; these are head {head}'s, all would be {all:,}",
            head=looked.head,
            all=len(lanes),
        )
    of_rows = slice(rows.start, rows.stop)
    second = make_layer_matrix(W_O, formula, heads.w_output[of_rows], lanes[of_rows])
    third = make_layer_matrix(LAYER, _("what the layer hands on"), looked.output, tokens)
    sources = Source(SIDE_BY_SIDE, row="row"), Source(W_O, column="column")
    heading = _("All heads side by side, times W_O: the output of the layer")
    return [
        Panel(SIDE_BY_SIDE, first, heading=heading, dense=True),
        Panel(W_O, second, "·", dense=True),
        Panel(LAYER, third, "=", sources=sources),
    ]


def compare_ways(layer: Layer, run: ManyHeads, listed: ManyHeads) -> dict[str, str]:
    """How far two implementations are apart, and where numbers were copied, if any were."""
    apart = max((a - b).abs().max().item() for a, b in zip(run, listed, strict=True))
    projected = layer.x @ layer.heads.w_query
    split = split_heads(projected, layer.heads.head_dim)
    merged = merge_heads(run.per_head)
    return {
        "way": "moved" if _has_moved(run.per_head, merged) else "stayed",
        "apart": write_distance(apart),
        "split": _describe_copy(projected, split, layer),
        "merge": _describe_copy(run.per_head, merged, layer),
    }


def write_distance(apart: float) -> str:
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


def _describe_copy(before: Tensor, after: Tensor, layer: Layer) -> str:
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
