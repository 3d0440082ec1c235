"""From what the reader chose to the changes that are made."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from explainers.lessons.what_if.heads import chosen_heads
from explainers.models.call import Change
from explainers.models.changes import (
    FewerKVHeads,
    FirstHidden,
    Hard,
    HeadsOff,
    NotCausal,
    Quantised,
    Temperature,
    Uniform,
    Unscaled,
    Window,
)
from explainers.models.effect import Shape
from explainers.ui import what_controls as what
from explainers.ui.language import said

Layers = frozenset[int] | None


class Place(NamedTuple):
    """Where a change is made: in which model, of what shape, in which layers."""

    named: str
    shape: Shape
    layers: Layers


def chosen_changes(named: str, shape: Shape) -> dict[str, Change]:
    """The changes by name, in the order in which they are made, with a control for each number."""
    picked = what.changes(what.CHANGES)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = Place(named, shape, _layers(len(shape.heads)))
        made = {name: MAKE[name](place) for name in what.CHANGES if name in picked}
    return {name: change for name, change in made.items() if change}


def _layers(count: int) -> Layers:
    """Which layers are changed."""
    half, where = count // 2, what.where()
    if where == what.ONE_LAYER:
        return frozenset({what.layer(0, count - 1)})
    parts = {what.FIRST_HALF: range(half), what.SECOND_HALF: range(half, count)}
    return frozenset(parts[where]) if where in parts else None


def _window(place: Place) -> Change:
    return Window(width=what.width(), sinks=int(what.kept()), layers=place.layers)


def _heads_off(place: Place) -> Change | None:
    found = chosen_heads(place.named, place.shape)
    return HeadsOff(heads=frozenset(found)) if found else None


def _fewer_kv_heads(place: Place) -> Change | None:
    """Numbers that divide those of every layer, the largest being all that there are."""
    have = place.shape.kv_heads
    left = [str(n) for n in range(1, max(have) + 1) if all(kv_heads % n == 0 for kv_heads in have)]
    if len(left) == 1:
        st.caption(said("The KV heads of this model cannot be dealt to fewer in equal groups."))
        return None
    return FewerKVHeads(num_kv_heads=int(what.kv_heads(left, left[0])), layers=place.layers)


MAKE: dict[str, Callable[[Place], Change | None]] = {
    what.UNSCALED: lambda place: Unscaled(place.layers),
    what.TEMPERATURE: lambda place: Temperature(
        temperature=float(what.temperature()), layers=place.layers
    ),
    what.WINDOW: _window,
    what.NOT_CAUSAL: lambda place: NotCausal(place.layers),
    what.FIRST_HIDDEN: lambda place: FirstHidden(place.layers),
    what.HEADS_OFF: _heads_off,
    what.FEWER_KV_HEADS: _fewer_kv_heads,
    what.UNIFORM: lambda place: Uniform(place.layers),
    what.HARD: lambda place: Hard(place.layers),
    what.QUANTISED: lambda place: Quantised(bits=int(what.bits()), layers=place.layers),
}
