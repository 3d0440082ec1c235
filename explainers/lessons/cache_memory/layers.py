"""Layer by layer: which hold the whole text, which a window, and how much each."""

from dataclasses import replace

from explainers.lessons.cache_memory.chosen import Chosen
from explainers.memory.cache import Part, copies, parts
from explainers.memory.order import layers_in_order
from explainers.memory.sizes import both
from explainers.memory.working import HOLDS, many
from explainers.ui.picture import show_chart
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose

ORIGIN = "formula: bytes that each layer must keep, exact"
SHARES = ("under 25 %", "25 to 50 %", "50 to 75 %", "75 % and more")


def show_layers(text: Prose, chosen: Chosen) -> None:
    """A bar for each layer, if they are not all alike; a question first."""
    found = tuple(
        replace(one, size=one.size * copies(one.group, chosen.beams))
        for one in parts(chosen.shape, chosen.tokens, **chosen.of)
    )
    if len(found) < 2:
        text("layers_alike", alike=alike(found), model=verbatim(chosen.shape.id))
        return
    most = max(found, key=lambda part: part.size)
    total = sum(part.size for part in found)
    layers = sum(part.group.count for part in found)
    text("layers", model=verbatim(chosen.shape.id), groups="; ".join(map(counted, found)))
    if revealed(
        text,
        "layers",
        SHARES,
        SHARES[min(4 * most.size // total, 3)],
        kind=name_of(most),
        count=many(most.group.count, "layer"),
        layers=layers,
        tokens=many(chosen.tokens, "token"),
        share=f"{100 * most.size / total:.1f} %",
    ):
        draw(found, chosen)
        known = layers_in_order(chosen.shape, found)[1]
        text(f"layers_in_{'order' if known else 'groups'}", most=both(most.size))


def alike(found: tuple[Part, ...]) -> str:
    """One sentence for a model whose layers all keep the same."""
    return said(found[0]) if found else "no layer keeps anything"


def counted(part: Part) -> str:
    """A group of layers, without what it holds: that is the question."""
    return f"{many(part.group.count, 'layer')} of {name_of(part)}"


def said(part: Part) -> str:
    """A group of layers and what it holds."""
    layer = part.size // part.group.count
    return f"{counted(part)}: {many(part.tokens, 'token')}, {both(layer)} each"


def name_of(part: Part) -> str:
    """The kind of a group, with its window."""
    window = part.group.window
    return HOLDS[part.group.kind] + (f" ({window:,} tokens)" if window else "")


def draw(found: tuple[Part, ...], chosen: Chosen) -> None:
    """The picture."""
    from explainers.charts.layer_bars import layer_bars, layer_rows  # after the number

    ordered, _ = layers_in_order(chosen.shape, found)
    rows = layer_rows([(name_of(p), p.tokens, p.size // p.group.count) for p in ordered])
    kinds = tuple(dict.fromkeys(map(name_of, found)))
    alt = "What each layer holds: " + "; ".join(map(said, found))
    show_chart(layer_bars, rows, alt, "layers", ORIGIN, kinds=kinds)
