"""Every head of a model in one picture, and how much of its weight is parked on the first token."""

from functools import partial

from explainers.lessons.inspector.packing import planes, strongest
from explainers.lessons.inspector.seen import Seen
from explainers.lessons.wording import so_many
from explainers.models.head_scores import SINK
from explainers.phrase import phrase
from explainers.ui import real_controls
from explainers.ui.language import said
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.tiles import Tiles, show_tiles


def ask_most(text: Prose, seen: Seen) -> bool:
    """A guess about the token that all heads together look at most."""
    mass = seen.weights.mean(dim=(0, 1, 2))
    places = dict.fromkeys((0, len(seen.tokens) // 2, len(seen.tokens) - 1, int(mass.argmax())))
    names = {
        place: phrase("{token} (place {place})", token=verbatim(seen.tokens[place]), place=place)
        for place in places
    }
    answer = names[int(mass.argmax())]
    layers, heads = seen.shape
    return revealed(
        text,
        "most",
        list(names.values()),
        answer,
        heads=layers * heads,
        share=f"{100 * mass.max():.0f}",
        even=f"{100 / len(seen.tokens):.0f}",
    )


def show_overview(text: Prose, seen: Seen, chosen: tuple[int, int], is_dimmed: bool) -> None:
    """All heads small; a click chooses the one that is shown large."""
    layers, heads = seen.shape
    hidden = ~seen.masks[:, None].expand_as(seen.weights)
    if is_dimmed:
        hidden = hidden.clone()
        hidden[..., 0] = True
    tiles = Tiles(
        planes(seen.weights.flatten(0, 1), hidden.flatten(0, 1)),
        seen.tokens,
        [str(layer) for layer in range(layers)],
        [said("head {head}", head=head) for head in range(heads)],
        said(
            "Weights of {heads} heads in each of {layers} of {model}, small.",
            heads=heads,
            layers=so_many(layers, "layer"),
            model=seen.name,
        ),
        [said("local: the last {window} tokens", window=w) if w else "" for w in seen.windows],
        seen.group_size,
        (chosen[1], chosen[0]),
    )
    table = partial(strongest, seen.weights, range(layers), seen.tokens)
    show_tiles(tiles, seen.origin, "heads", table, choose)
    _say_what_is_seen(text, seen, is_dimmed)


def chosen_head(seen: Seen) -> tuple[int, int]:
    """(layer, head) to be shown large: the fields where a reader without a mouse says so."""
    layers, heads = seen.shape
    return real_controls.layer(0, layers - 1), real_controls.head(0, heads - 1)


def choose(row: int, column: int) -> None:
    """Show the head of this row and this layer large; a callback."""
    real_controls.layer.put(column)
    real_controls.head.put(row)


def _say_what_is_seen(text: Prose, seen: Seen, is_dimmed: bool) -> None:
    layers, heads = seen.shape
    group = seen.group_size
    text(
        f"families_{'shared' if group > 1 else 'own'}",
        heads=heads,
        groups=heads // group,
        group=group,
    )
    near = [str(layer) for layer, window in enumerate(seen.windows) if window]
    if near:
        text("local", layers=", ".join(near), count=len(near), all=layers)
    first = verbatim(seen.tokens[0])
    parked = int((seen.on_first > SINK).sum())
    if is_dimmed:
        text("dimmed", share=f"{100 * seen.weights[..., 0].mean():.0f}", first=first)
    text("parked", parked=parked, heads=layers * heads, limit=SINK, first=first)
