"""KV heads that are dealt out to query heads, which share them in groups."""

from dataclasses import replace
from typing import NamedTuple

from explainers.attention.grouped_query import grouped_query, share
from explainers.attention.multi_head import ManyHeads
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, KEY_AXIS
from explainers.messages import ngettext
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.untrusted_text import verbatim

MOST_COLUMNS = 8
"""Of a key, so many numbers are drawn."""


class Dealing(NamedTuple):
    """One word's keys in every KV head, and who looks at that word."""

    layer: Layer
    run: ManyHeads
    asker: int
    asked: int

    @classmethod
    def of(cls, layer: Layer, asker: int) -> "Dealing":
        """The word is the one at which any head looks most."""
        run = grouped_query(layer.x, layer.heads, layer.mask)
        return cls(layer, run, asker, int(run.weights[:, asker].amax(dim=0).argmax()))

    def name_words(self) -> dict[str, object]:
        """Both words and the sizes, for a text."""
        heads = self.layer.heads
        return {
            "word": verbatim(self.layer.tokens[self.asker]),
            "asked": verbatim(self.layer.tokens[self.asked]),
            "heads": _(ngettext("{count:,} query head", "{count:,} query heads", heads.num_heads)),
            "kv_heads": _(ngettext("{count:,} KV head", "{count:,} KV heads", heads.num_kv_heads)),
            "group": heads.group_size,
        }


def draw_dealing(dealing: Dealing) -> Figure:
    """Keys of the KV heads, the same dealt out to the query heads, and these heads' weights."""
    layer, run = dealing.layer, dealing.run
    heads, tokens = layer.heads, layer.tokens
    shown = min(MOST_COLUMNS, heads.head_dim)
    columns = [str(n) for n in range(shown)]
    keys = run.key[:, dealing.asked, :shown]
    dealt = share(run.key, heads.group_size)[:, dealing.asked, :shown]
    limit = keys.abs().max().item()
    stored_in = _(ngettext("{count:,} KV head", "{count:,} KV heads", heads.num_kv_heads))
    kv_heads, query_heads = ([str(n) for n in range(len(rows))] for rows in (keys, dealt))
    stored = Matrix(
        _(
            "stored: K of {word}, {shown} of {all} numbers",
            word=tokens[dealing.asked],
            shown=shown,
            all=heads.head_dim,
        ),
        stored_in,
        keys.tolist(),
        kv_heads,
        columns,
        _("KV head"),
        FEATURE_AXIS,
        role="key",
        limit=limit,
    )
    read = replace(
        stored,
        name=_("as the query heads read it"),
        formula="repeat_interleave",
        values=dealt.tolist(),
        rows=query_heads,
        row_axis=HEAD_AXIS,
    )
    weights = Matrix(
        _("weights of {word}", word=tokens[dealing.asker]),
        _("every row sums to 1"),
        run.weights[:, dealing.asker].tolist(),
        query_heads,
        tokens,
        HEAD_AXIS,
        KEY_AXIS,
        kind="weights",
    )
    alt = _("One word's keys in each KV head, as the query heads read them, and their weights.")
    return Figure([Panel("stored", stored), Panel("dealt", read), Panel("of word", weights)], alt)
