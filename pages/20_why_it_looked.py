"""Why did it look there: one weight of a real model, split into what earlier parts have written."""

from collections.abc import Mapping

from explainers.chapters.common.measured_heads import CODE_ROLE
from explainers.chapters.why_it_looked import cards
from explainers.chapters.why_it_looked.hero import (
    Explained,
    Found,
    make_hero,
    make_own_hero,
    read_shipped,
)
from explainers.models.score_sources import gather_sources, split_score
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson(
    cells: Mapping[str, Explained], shipped_origin: str, whose: str, own: Found | None
) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    if own:
        hero, origin = make_own_hero(own), own.origin
    else:
        hero, origin = make_hero(text, cells, shipped_origin, whose), shipped_origin

    def find_shown() -> Explained:
        return own.explained if own else cells[hero.chosen(controls.looked_cell)]

    show_hero(text, hero, "why")
    code_role = "just ran" if own else CODE_ROLE
    cards.hand_over_weight(find_shown())
    cards.ask_writer(text, next(iter(cells.values())), shipped_origin)
    show_chosen("sum", lambda: cards.show_sum(text, find_shown()), controls.looked_cell)
    show_source(gather_sources, split_score, that=code_role)
    go_deeper(
        text,
        {
            "removing": lambda: cards.show_removals(text, find_shown(), origin, code_role),
            "roles": lambda: cards.show_roles(text),
        },
    )


text("question")
if shipped := read_shipped():
    whose = controls.looked_whose.resolve_among(controls.looked_whose.options)
    own = None
    if whose == controls.OWN_TEXT:
        text("own")
        own = cards.choose_own()
    show_lesson(*shipped, whose, own)
else:
    text("no_numbers")
show_one_sentence(text)
check_yourself(text, {"rest": cards.recall_rest, "alike": cards.recall_alike})
