"""Layer by layer: which hold the whole text, which a window, and how much each."""

from dataclasses import replace

from explainers.chapters.cache_memory.choose_cache import Chosen
from explainers.memory.cache_bytes import (
    GroupCache,
    count_beam_copies,
    list_group_caches,
    list_layer_caches,
)
from explainers.memory.cache_formula import KIND_NAMES
from explainers.memory.sizes import format_both_sizes
from explainers.messages import N_, ngettext
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.untrusted_text import verbatim

ORIGIN = N_("formula: bytes that each layer must keep, exact")
# A sentence that changed with the model would have the browser build the picture anew.
ALT = N_("What each layer holds, a bar for each; the text below says it for every kind of layer.")
MOST_LISTED = 6
SHARES = (
    N_("under 25 %"),
    N_("25 to 50 %"),
    N_("50 to 75 %"),
    N_("75 % and more"),
)


def show_layers(text: Prose, chosen: Chosen) -> None:
    """A bar for each layer, if they are not all alike; a question first."""
    found = tuple(
        replace(one, size=one.size * count_beam_copies(one.group, chosen.beams))
        for one in list_group_caches(chosen.shape, chosen.tokens, **chosen.of)
    )
    if len(found) < 2:
        text("layers_alike", alike=alike(found), model=verbatim(chosen.shape.id))
        return
    most = max(found, key=lambda part: part.size)
    total = sum(part.size for part in found)
    layers = sum(part.group.count for part in found)
    names = dict(zip(found, names_of(found), strict=True))
    text("layers", model=verbatim(chosen.shape.id), groups=listed(names))
    if revealed(
        text,
        "layers",
        SHARES,
        SHARES[min(4 * most.size // total, 3)],
        kind=names[most],
        count=_(ngettext("{count:,} layer", "{count:,} layers", most.group.count)),
        layers=layers,
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", chosen.tokens)),
        share=f"{100 * most.size / total:.1f} %",
    ):
        draw(names, chosen)
        known = list_layer_caches(chosen.shape, found)[1]
        each = [told(part, name) for part, name in names.items()]
        kept = "; ".join(each[:MOST_LISTED])
        text(
            f"layers_in_{'order' if known else 'groups'}",
            most=format_both_sizes(most.size),
            each=kept,
        )


def alike(found: tuple[GroupCache, ...]) -> str:
    """One sentence for a model whose layers all keep the same."""
    return told(found[0], *names_of(found)) if found else _("no layer keeps anything")


def listed(names: dict[GroupCache, str]) -> str:
    """The groups of layers, without what they hold: that is the question."""
    counted = [
        _(
            "{layers} of {kind}",
            layers=_(ngettext("{count:,} layer", "{count:,} layers", part.group.count)),
            kind=name,
        )
        for part, name in names.items()
    ]
    if (rest := len(counted) - MOST_LISTED) > 0:
        counted[MOST_LISTED:] = [_("{count:,} other kinds", count=rest)]
    return "; ".join(counted)


def told(part: GroupCache, name: str) -> str:
    """A group of layers and what it holds."""
    return _(
        "{layers} of {kind}: {tokens}, {size} each",
        layers=_(ngettext("{count:,} layer", "{count:,} layers", part.group.count)),
        kind=name,
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", part.tokens)),
        size=format_both_sizes(part.size // part.group.count),
    )


def names_of(found: tuple[GroupCache, ...]) -> list[str]:
    """The kind of each group with its window, and with its heads where these tell two apart."""
    names = [_(KIND_NAMES[part.group.kind]) + windowed(part.group.window) for part in found]
    if len(set(names)) == len(names):
        return names
    heads = [
        _(ngettext("{count:,} KV head", "{count:,} KV heads", part.group.num_kv_heads))
        for part in found
    ]
    return [
        f"{name}, {each} × {p.group.head_dim}"
        for name, each, p in zip(names, heads, found, strict=True)
    ]


def windowed(window: int | None) -> str:
    """The window of a local layer."""
    tokens = _(ngettext("{count:,} token", "{count:,} tokens", window or 0))
    return f" ({tokens})" if window else ""


def draw(names: dict[GroupCache, str], chosen: Chosen) -> None:
    """The picture."""
    from explainers.charts.bars import draw_layer_bars, make_layer_rows  # after the number

    ordered, _unused = list_layer_caches(chosen.shape, tuple(names))
    rows = make_layer_rows([(names[p], p.tokens, p.size // p.group.count) for p in ordered])
    show_chart(draw_layer_bars, rows, ALT, "layers", ORIGIN)
