"""Why did it look there: one weight of a real model, split into what earlier parts have written."""

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.why_it_looked import one_cell, own_cell
from explainers.chapters.why_it_looked.hero import make_hero
from explainers.chapters.why_it_looked.role_table import describe_roles, make_role_table
from explainers.chapters.why_it_looked.shipped_cells import read_shipped
from explainers.chapters.why_it_looked.takeaway import take_weight
from explainers.models.removed_sources import predict_weight, remove_into_head, rerun_position
from explainers.models.score_sources import gather_sources, split_score, trace_head
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import why_controls
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_writer() -> None:
    """Without what one head wrote into one key: how much of the weight is left?"""
    first = next(iter(cells.values()))
    told = one_cell.describe_removals(first)
    if revealed(text, "writer", one_cell.ANSWERS, one_cell.answer_first(first), **told):
        one_cell.draw_removals(first, origin, "asked")


def show_pairs() -> None:
    """The first sources of the query against the first ones of the key."""
    text("pairs", **one_cell.describe_pairs(shown, kind))
    one_cell.draw_pairs(shown, kind, origin)


def show_steps() -> None:
    """Two steps back: where the head looked that wrote most of the key."""
    text("steps", **one_cell.describe_trace(shown))
    one_cell.draw_trace(shown, origin)
    show_source(trace_head)


def show_removals() -> None:
    """Predicted, on the way into the head, and in the whole pass."""
    text("removing", **one_cell.describe_removals(shown))
    one_cell.draw_removals(shown, origin)
    show_source(predict_weight, remove_into_head, rerun_position)


def show_roles() -> None:
    """How often it holds, by the role of the head."""
    if told := describe_roles():
        text("roles", **told)
        st.markdown(make_role_table())


def show_own() -> None:
    """Any weight of any text, in a model that is loaded."""
    text("own")
    loaded = obtain_model(choose_name(), "chosen")
    if not loaded:
        return
    written = why_controls.looked_text()
    with st.spinner(_("The model reads the text, part by part …")):
        found = own_cell.explain_or_refuse(loaded, written)
    if found:
        text("own_seen", **one_cell.describe_removals(found.explained))
        one_cell.draw_pairs(found.explained, kind, found.origin, "own")
        one_cell.draw_trace(found.explained, found.origin, "own")
        one_cell.draw_removals(found.explained, found.origin, "own")


text("question")
if shipped := read_shipped():
    cells, origin = shipped
    hero = make_hero(text, cells, origin)
    show_hero(text, hero, "why")
    shown = cells[hero.chosen(why_controls.looked_cell)]
    kind = hero.chosen(why_controls.looked_parts)
    take_weight(shown)
    ask_writer()
    text("how", **one_cell.describe_sum(shown))
    show_source(gather_sources, split_score)
    cards = {"steps": show_steps, "removing": show_removals, "roles": show_roles}
    cards |= {"pairs": show_pairs, "own": show_own, "limits": lambda: text("limits")}
    go_deeper(text, cards)
else:
    text("no_numbers")
show_one_sentence(text)
check_yourself(text, {"rest": one_cell.recall_rest, "alike": one_cell.recall_alike})
