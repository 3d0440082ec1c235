"""Find the head: one table of all heads by all scores, and those that fulfil some conditions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import streamlit as st
from torch import Tensor

from explainers.chapters.common.measured_heads import Gallery, name_head
from explainers.chapters.head_gallery.hero import (
    gallery_head,
    gallery_layer,
    list_names,
    list_places,
)
from explainers.messages import N_, get_message
from explainers.models.head_ablation import KINDS, MEAN, RESAMPLE, ZERO
from explainers.models.head_roles import ROLES
from explainers.models.head_table import (
    ERROR,
    ESTIMATE,
    MOST_CHARACTERS,
    RISE,
    SCORES,
    find_column,
    make_columns,
    read_conditions,
    select_heads,
)
from explainers.models.registry import ModelError
from explainers.models.shipped_ablations import MODEL, read_shipped_ablations
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import SearchableMultiChoice, TextLine
from explainers.ui.figure.chart import offer_files
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    import pandas as pd

wanted_heads = TextLine("heads_where", N_("Heads with"), "", MOST_CHARACTERS)
pinned_heads = SearchableMultiChoice("pinned", N_("Pinned heads, always on top"), (), 20)
controls.register(wanted_heads, pinned_heads)
HELP = {
    ZERO: N_("What the mean loss of prose rises by if the head writes zeros, in nats per token"),
    MEAN: N_("The same if the head always writes its mean"),
    RESAMPLE: N_("The same if the head writes what it writes on another passage"),
}
OF_ESTIMATE = N_("To first order: gradient times change, in nats per token")
OF_ERROR = N_("Standard error over eight passages: below two of them, nothing was found")
MOST_ROWS = 12
"""Of the table that are seen at once."""
ROW_HEIGHT = 35

Place = tuple[int, int]


class Found(NamedTuple):
    """What the reader asks for: by label every column, and the heads in the order of the table."""

    columns: dict[str, Tensor]
    places: list[Place]
    pinned: list[Place]
    problem: str


def find_heads(gallery: Gallery) -> Found:
    """Two fields, and the heads that they choose."""
    shipped = read_shipped_ablations(gallery.name)
    english = make_columns(gallery.scores, shipped.ablations if shipped else None)
    columns = {label_column(name): values for name, values in english.items()}
    every = {name_head(*place): place for place in list_places(gallery.scores)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        written = wanted_heads()
        pinned = [every[name] for name in pinned_heads(list(every))]
    aliases = {label.casefold(): values for label, values in columns.items()}
    aliases |= {name.casefold(): english[on] for name, on in list_short_names(english).items()}
    try:
        conditions = read_conditions(written, english | aliases)
    except ModelError as error:
        return Found(columns, [], pinned, _(get_message(error)))
    chosen = select_heads(english | aliases, conditions)
    places = [place for place in every.values() if chosen[place] and place not in pinned]
    if conditions:
        by = (english | aliases)[conditions[0].column]
        asked = [id((english | aliases)[one.column]) for one in conditions]
        for kind in KINDS:
            if RISE.format(kind=kind) in english and id(english[RISE.format(kind=kind)]) in asked:
                asked.append(id(english[ERROR.format(kind=kind)]))  # no loss without its error
        columns = dict(sorted(columns.items(), key=lambda one: id(one[1]) not in asked))
        places.sort(key=lambda place: -float(by[place].nan_to_num(-1)))
    return Found(columns, places, pinned, "")


def label_column(name: str) -> str:
    """A column's name in the visitor's language."""
    score, comma, probe = name.rpartition(", ")
    if comma:
        return ", ".join((_(score), _(probe)))
    for form in (ESTIMATE, RISE, ERROR):
        for kind in KINDS:
            if name == form.format(kind=kind):
                return _(form, kind=_(kind))
    return name


def list_short_names(columns: dict[str, Tensor]) -> dict[str, str]:
    """What a score is called without its text, in the visitor's language: its usual column."""
    found = {_(score): find_column(score, columns) for score in SCORES}
    return {name: column for name, column in found.items() if column}


def describe_found(found: Found, gallery: Gallery) -> dict[str, object]:
    """How many heads there are, and what one could ask for; for the text."""
    role = next(one for one in ROLES if one.name == "induction")
    sharp, far, copying = _("entropy"), _("distance"), _(role.score_name)
    loss = label_column(RISE.format(kind=MEAN))
    other = f"{loss} > 0.02" if loss in found.columns else f"{far} > 5"
    return {
        "found": len(found.places),
        "all": gallery.layers * gallery.heads,
        "example": f"{copying} > {role.threshold:g}",
        "other": f"{sharp} < 0.2 and {other}",
    }


def show_table(found: Found, gallery: Gallery) -> None:
    """Pinned heads first; a click on a column's name sorts, links open other pages."""
    if found.problem:
        st.info(verbatim(found.problem), icon=":material/filter_alt_off:")
    places = [*found.pinned, *found.places]
    rows = tabulate_heads(found.columns, places, gallery)
    made = {
        _("Evidence"): link_evidence,
        _("Inspector"): link_inspector,
        _("What if"): link_what_if,
    }
    if gallery.name == MODEL:
        made[_("Does it matter?")] = link_matter
    for at, (title, make) in enumerate(made.items(), start=2):
        rows.insert(at, title, [make(gallery.name, place) for place in places])
    losses = {label_column(RISE.format(kind=kind)): _(HELP[kind]) for kind in KINDS}
    losses |= {label_column(ESTIMATE.format(kind=kind)): _(OF_ESTIMATE) for kind in KINDS}
    losses |= {label_column(ERROR.format(kind=kind)): _(OF_ERROR) for kind in KINDS}
    shown = {
        label: st.column_config.NumberColumn(format="%.3f", help=losses.get(label))
        for label in found.columns
    }
    for title in made:
        shown[title] = st.column_config.LinkColumn(display_text=_("open"))
    shown[_("head")] = st.column_config.TextColumn(pinned=True)
    height = ROW_HEIGHT * (1 + min(MOST_ROWS, max(1, len(rows)))) + 3
    with st.container(key="all heads"):
        st.dataframe(rows, hide_index=True, column_config=shown, height=height)
        table = tabulate_heads(found.columns, places, gallery)
        offer_files("find head", gallery.origin, None, lambda: table)


def tabulate_heads(
    columns: dict[str, Tensor], places: Sequence[Place], gallery: Gallery
) -> "pd.DataFrame":
    """A row for each head: its name, its roles, all numbers."""
    import pandas as pd  # the first paint needs no tables

    rows = [
        [
            name_head(*place),
            ", ".join(_(role) for role in list_names(gallery.scores, place)),
            *(float(values[place]) for values in columns.values()),
        ]
        for place in places
    ]
    return pd.DataFrame(rows, columns=[_("head"), _("names"), *columns])


def link_evidence(model: str, place: Place) -> str:
    """This page, at what speaks for and against the names of this head, tenth by tenth."""
    layer, head = place
    chosen = {controls.real_model.key: model, gallery_layer.key: layer, gallery_head.key: head}
    return f"head_gallery?{urlencode(chosen | {'deep': 'evidence'})}"


def link_inspector(model: str, place: Place) -> str:
    """The inspector with this head."""
    layer, head = place
    chosen = {controls.real_model.key: model, controls.model_layer.key: layer}
    return f"inspector?{urlencode(chosen | {controls.model_head.key: head, 'deep': 'head'})}"


def link_matter(model: str, place: Place) -> str:
    """What changes if this head's output comes from another prompt?"""
    layer, head = place
    chosen = {controls.real_model.key: model, "matter_layer": layer, "matter_head": head}
    return f"does_it_matter?{urlencode(chosen)}"


def link_what_if(model: str, place: Place) -> str:
    """What if this head is off?"""
    chosen = {
        controls.real_model.key: model,
        controls.changes.key: controls.HEADS_OFF,
        controls.heads_off.key: name_head(*place),
        "deep": "changing",
    }
    return f"what_if?{urlencode(chosen)}"
