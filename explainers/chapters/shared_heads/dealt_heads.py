"""KV heads that are dealt out to query heads: as it should be, and by the classic mistake."""

from dataclasses import replace
from typing import NamedTuple

from torch import Tensor

from explainers.attention.grouped_query import grouped_query, share, share_wrongly
from explainers.attention.multi_head import ManyHeads, merge_heads
from explainers.attention.scaled_dot_product import Attention
from explainers.chapters.common.score_matrix import make_head_matrices, make_miniatures
from explainers.chapters.shared_heads.kv_sharing import draw_links, list_readers
from explainers.chapters.shared_heads.takeaway import D_MODEL, HEAD_DIM, NUM_HEADS, repeat_wrongly
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, KEY_AXIS
from explainers.messages import ngettext
from explainers.toys import examples
from explainers.toys.layers import Layer, draw_layer
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.untrusted_text import verbatim

NUM_KV_HEADS = 2


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


class Mistake(NamedTuple):
    """KV heads that are dealt out in turn: the layer, what was right, and what became of it."""

    reader: Layer
    run: ManyHeads
    wrong: Attention
    output: Tensor

    @classmethod
    def make(cls, tokens: tuple[str, ...], seed: int) -> "Mistake":
        """Untrained heads of the page's own sizes, under the causal mask."""
        reader = draw_layer(tokens, D_MODEL, NUM_HEADS, HEAD_DIM, "causal", seed)
        layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, seed)
        run = grouped_query(reader.x, layer, reader.mask)
        wrong = repeat_wrongly(run, reader.mask)
        return cls(reader, run, wrong, merge_heads(wrong.output) @ layer.w_output)

    @property
    def changed(self) -> Tensor:
        """By head: how much each weight differs (heads, q_len, kv_len)."""
        return self.wrong.weights - self.run.weights

    def name_changes(self) -> dict[str, str]:
        """The largest differences, for a text."""
        return {
            "change": f"{self.changed.abs().max().item():.2f}",
            "moved": f"{(self.output - self.run.output).abs().max().item():.2f}",
            "size": f"{self.run.output.abs().max().item():.2f}",
        }


def draw_mistake(mistake: Mistake, queries_down: bool) -> Figure:
    """Who reads whom, rightly and wrongly, and what it does to every weight."""
    reader, run = mistake.reader, mistake.run
    ways = {
        "repeat_interleave": list_readers(share, run),
        "repeat": list_readers(share_wrongly, run),
    }
    pairs = zip(*ways.values(), strict=True)
    formulas = [
        _("reads KV head {now}, as it should: all 0", now=now)
        if now == right
        else _("reads KV head {now}, not {right}", now=now, right=right)
        for right, now in pairs
    ]
    name = _("with repeat, head {head}")
    heads = [
        replace(matrix, kind="signed", limit=1.0)
        for matrix in make_head_matrices(
            name, formulas, mistake.changed, reader.tokens, reader.mask
        )
    ]
    first, second = (Panel(name, draw_links(name, read)) for name, read in ways.items())
    heading = _("Weights with repeat − weights with repeat_interleave")
    changes = orient_panels(make_miniatures(heads, "with repeat, head", heading), queries_down)
    panels = [replace(first, heading=_("Who reads whom")), second, *changes]
    alt = _(
        "Who reads whom with repeat_interleave and with repeat, and what it does to each weight."
    )
    return Figure(panels, alt)
