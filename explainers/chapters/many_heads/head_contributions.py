"""Which head did it: what each adds to a word's output, and to the words that are named from it."""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from explainers.attention.single_head import Projections
from explainers.attention.steps import attention_steps
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.many_heads.selection import Looked
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys.layers import TrainedHeads
from explainers.translations import _
from explainers.ui.figure.panels import Panel

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


def head_id(head: int) -> str:
    """What a head's pictures are called."""
    return N_("head {head}", head=head)


def who_did_it(looked: Looked) -> list[Panel]:
    """Each head's part of the chosen word's output, and its votes for what is named from it."""
    word, heads = looked.layer.tokens[looked.word], range(looked.num_heads)
    rows = [head_id(head) for head in heads]
    formula = _("what each head adds to the output of {word}", word=word)
    parts = plain(PARTS, formula, looked.parts, rows)
    formula, column = _("of the output of {word}", word=word), _("share")
    shares = plain(SHARES, formula, looked.shares[:, None], rows, [column])
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
    if looked.layer.learned is None or not looked.candidates:
        return panels
    return [*panels, *_named(looked, looked.layer.learned, rows)]


def _named(looked: Looked, known: TrainedHeads, rows: list[str]) -> list[Panel]:
    word, words = looked.layer.tokens[looked.word], list(looked.candidates.values())
    logits, totals = looked.votes(*looked.directions(known))
    formula = _("for {word}; bias: learned, the same for all", word=word)
    rows = [*rows, _("bias"), _("sum")]
    voted = plain(VOTES, formula, logits, rows, words)
    formula = _("for {word}: above 0.50 where the sum is above 0", word=word)
    rows = [_("all heads"), _("heads on")]
    told = plain(NAMED, formula, totals.sigmoid(), rows, words)
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


def enlarge_head(looked: Looked) -> OneHead:
    """The chosen head by itself."""
    views = Projections(*(view[looked.head] for view in looked.run[:3]))
    steps = attention_steps(*views, looked.layer.mask)
    return OneHead.of(looked.layer, views, steps, looked.head)


def plain(
    name: str, formula: str, values: Tensor, rows: Sequence[str], columns: Sequence[str] = ()
) -> Matrix:
    """A matrix of the layer with the axes that it has."""
    columns = columns or [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), rows, columns, *AXES[name])
