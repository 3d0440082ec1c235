"""How many numbers of a text are kept for later words."""

from collections.abc import Mapping

import torch

from explainers.attention.grouped_query import cache_elements
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import HEAD_DIM, NUM_HEADS
from explainers.chapters.shared_heads.kv_sharing import divisors, pattern
from explainers.messages import ngettext
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

CPU = torch.device("cpu")


def by_pattern(tokens: int) -> dict[str, int]:
    """Cached numbers for each number of KV heads, the most first."""
    found = {}
    for number in map(int, reversed(divisors(NUM_HEADS))):
        heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", number))
        found[f"{pattern(NUM_HEADS, number)}, {heads}"] = cache_elements(tokens, number, HEAD_DIM)
    return found


def show_cache(text: Prose, tokens: tuple[str, ...]) -> None:
    """Guess what one KV head keeps, then see all patterns."""
    text(
        "cache",
        heads=NUM_HEADS,
        d_k=HEAD_DIM,
        words=_(ngettext("{count:,} word", "{count:,} words", len(tokens))),
    )
    amounts = by_pattern(len(tokens))
    full, *_unused, least = amounts.values()
    options = [f"{full:,}", f"{full // 2:,}", f"{least:,}"]
    if revealed(text, "cache", options, f"{least:,}", heads=NUM_HEADS, full=f"{full:,}"):
        taken.cached(len(tokens), HEAD_DIM, [*map(int, reversed(divisors(NUM_HEADS)))])
        show_amounts(amounts, _("2 · words · KV heads · d_k"), "cache")
        show_source(cache_elements)


def show_amounts(amounts: Mapping[str, int], rule: str, key: str) -> None:
    """A bar for each way to cache a text."""
    from explainers.charts.bars import (  # the page needs no altair to start
        draw_bars,
        make_amount_rows,
    )

    listed = ", ".join(f"{n} {a:,}" for n, a in amounts.items())
    alt = _("Numbers kept of the text: {listed}", listed=listed)
    rows, title, origin = (
        make_amount_rows(amounts.items()),
        _("numbers kept of this text"),
        formula(rule, CPU),
    )
    show_chart(draw_bars, rows, alt, key, origin, length=len(amounts), x_title=title)
