"""From what the reader chose to the changes made in a model, or why they cannot be made."""

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.measured_heads import name_head
from explainers.models import changes
from explainers.models.attention_hook import Change
from explainers.models.head_scores import HeadIndex, group_heads_by_role
from explainers.models.shipped_measurements import find_known_scores
from explainers.translations import _, translate_error
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def _choose_heads(model: str, shape: changes.HeadCounts) -> tuple[HeadIndex, ...]:
    """The heads, as the reader chose to choose them."""
    counts = enumerate(shape.num_heads)
    every = {name_head(layer, head): (layer, head) for layer, n in counts for head in range(n)}
    by = controls.heads_off_by()
    if by == controls.BY_NAME:
        return tuple(every[name] for name in controls.heads_off(list(every)))
    if by == controls.AT_RANDOM:
        count = controls.heads_off_count(1, len(every))
        draw = random.Random(page.read_seed())  # noqa: S311
        return tuple(sorted(draw.sample(list(every.values()), count)))
    return _choose_role(model)


def _choose_role(model: str) -> tuple[HeadIndex, ...]:
    """Needs the scores of all heads, which are measured once for a model."""
    scores = find_known_scores(model)
    if not scores:
        st.caption(
            _(
                "The heads of this model have not been measured on this machine yet, so nobody "
                "knows their roles. The Head gallery measures them, once."
            )
        )
        return ()
    found = group_heads_by_role(scores)
    if not found:
        st.caption(_("No head of this model has earned a role."))
        return ()
    return found[controls.heads_off_role(list(found), next(iter(found)))]


def find_shape_or_explain(loaded: "RealModel") -> changes.HeadCounts | None:
    """A model that does not say what comes next has nothing to compare."""
    try:
        return _count_heads(loaded)
    except Exception as error:  # a model from a folder or the hub may raise anything
        st.warning(verbatim(shorten(translate_error(error), 300)), icon=":material/block:")
        return None


@st.cache_data(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def _count_heads(loaded: "RealModel") -> changes.HeadCounts:
    return changes.count_heads(loaded)


Layers = frozenset[int] | None


class Place(NamedTuple):
    """Where a change is made: in which model, of what shape, in which layers."""

    named: str
    shape: changes.HeadCounts
    layers: Layers


def choose_changes(named: str, shape: changes.HeadCounts) -> dict[str, Change]:
    """The changes by name, in the order in which they are made, with a control for each number."""
    picked = controls.changes(controls.CHANGES)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = Place(named, shape, _choose_layers(len(shape.num_heads)))
        made = {name: MAKE[name](place) for name in controls.CHANGES if name in picked}
    return {name: change for name, change in made.items() if change}


def _choose_layers(count: int) -> Layers:
    """Which layers are changed."""
    half, where = count // 2, controls.changed_layers()
    if where == controls.ONE_LAYER:
        return frozenset({controls.changed_layer(0, count - 1)})
    parts = {controls.FIRST_HALF: range(half), controls.SECOND_HALF: range(half, count)}
    return frozenset(parts[where]) if where in parts else None


def _switch_heads_off(place: Place) -> Change | None:
    found = _choose_heads(place.named, place.shape)
    return changes.AblatedHeads(heads=frozenset(found)) if found else None


def _deal_kv_heads(place: Place) -> Change | None:
    """Numbers that divide those of every layer, the largest being all that there are."""
    have = place.shape.num_kv_heads
    left = [str(n) for n in range(1, max(have) + 1) if all(kv_heads % n == 0 for kv_heads in have)]
    if len(left) == 1:
        st.caption(_("The KV heads of this model cannot be dealt to fewer in equal groups."))
        return None
    return changes.FewerKVHeads(
        num_kv_heads=int(controls.kept_kv_heads(left, left[0])), layers=place.layers
    )


MAKE: dict[str, Callable[[Place], Change | None]] = {
    controls.UNSCALED: lambda place: changes.NoScaling(place.layers),
    controls.CHANGED_TEMPERATURE: lambda place: changes.Temperature(
        temperature=float(controls.changed_temperature()), layers=place.layers
    ),
    controls.NARROW_WINDOW: lambda place: changes.Window(
        width=controls.changed_window(), sinks=int(controls.kept_sinks()), layers=place.layers
    ),
    controls.NOT_CAUSAL: lambda place: changes.NoCausalMask(place.layers),
    controls.FIRST_HIDDEN: lambda place: changes.HiddenFirstToken(place.layers),
    controls.HEADS_OFF: _switch_heads_off,
    controls.FEWER_KV_HEADS: _deal_kv_heads,
    controls.UNIFORM_WEIGHTS: lambda place: changes.UniformWeights(place.layers),
    controls.HARD: lambda place: changes.HardAttention(place.layers),
    controls.QUANTISED: lambda place: changes.QuantisedCache(
        bits=int(controls.cache_bits()), layers=place.layers
    ),
}
