"""The hero of the exercises: a deck in three rows, what is done ticked, one card open."""

from dataclasses import dataclass

from explainers.chapters.common.claim_parameters import capitalise
from explainers.chapters.exercises.exercise_table import KINDS, Exercise, read_exercises
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, HeroChoice, read_choice
from explainers.ui.untrusted_text import make_title

EVERY = controls.exercise_kind.default
ASKED_FOR = {"predict": N_("a number"), "reach": N_("a goal"), "write": N_("a function")}
MINUTES = {"predict": 2, "reach": 3, "write": 10}
TOPICS = {
    "01_start": N_("Attention in one picture"),
    "03_query_key_value": N_("Queries, keys, values"),
    "04_scores": N_("From scores to output"),
    "05_masks": N_("Masks"),
    "06_many_heads": N_("Multi-head attention"),
    "07_relative_positions": N_("Relative positions"),
    "08_kv_cache": N_("KV cache"),
    "09_shared_heads": N_("Shared keys and values"),
    "10_cache_memory": N_("Cache calculator"),
    "11_long_sequences": N_("Long sequences"),
    "12_growing_memory": N_("A memory that does not grow"),
    "14_idle_heads": N_("A head that wants nothing"),
    "13_choosing": N_("Choosing what to read"),
    "15_serving": N_("Serving tricks"),
    "16_cross_attention": N_("Cross-attention"),
    "21_does_it_matter": N_("Does it matter?"),
}
"""What the pages with exercises are called; each has a sign in the picture."""
SENTENCES = "hero_next", "hero_done", "hero_all", "hero_caption"


@dataclass(frozen=True)
class Deck:
    """The cards that are offered, by their names, and which of them is open."""

    cards: dict[str, Exercise]
    done: list[str]
    kind: str
    chosen: str
    is_set: bool
    """Did a lecturer choose the cards?"""

    @property
    def exercise(self) -> Exercise:
        """The one whose card is open."""
        return self.cards[self.chosen]

    def has_done(self, exercise: Exercise) -> bool:
        """Here, or before: the link says so."""
        return make_title(exercise.id) in self.done

    @property
    def undone(self) -> list[str]:
        """Cards that are to be done, from the open one on; of the chosen kind first."""
        names = list(self.cards)
        here = names.index(self.chosen)
        later = [name for name in [*names[here + 1 :], *names[:here]] if name not in self.done]
        return sorted(later, key=lambda name: not self.is_lit(name))

    def is_lit(self, name: str) -> bool:
        """Is it of the chosen kind?"""
        return self.kind in (EVERY, self.cards[name].kind)


def sort_cards() -> dict[str, Exercise]:
    """All exercises by name: row by row, each in the order of the pages."""
    return {
        make_title(one.id): one
        for one in sorted(
            read_exercises().values(), key=lambda one: (KINDS.index(one.kind), one.page)
        )
    }


def read_deck() -> Deck:
    """What the link, the session and a lecturer's set make of all exercises."""
    cards = sort_cards()
    names = list(cards)
    chosen_set = controls.exercise_set(names, is_drawn=False)
    done = controls.finished_exercises(names, is_drawn=False)
    offered = {name: cards[name] for name in chosen_set or names}
    kind = read_choice(controls.exercise_kind, controls.exercise_kind.options)
    lit = [name for name in offered if kind in (EVERY, cards[name].kind)] or list(offered)
    following = next((name for name in lit if name not in done), lit[0])
    chosen = read_choice(controls.exercise, list(offered), following)
    return Deck(offered, done, kind, chosen, bool(chosen_set))


def make_hero(deck: Deck) -> Hero:
    """A card for each exercise, with the sign of its page; ticked where it is done."""
    numbers = {
        "cards": [
            {
                "id": name,
                "label": capitalise(name_exercise(one)),
                "kind": one.kind,
                "sign": one.page.partition("_")[2],
                "topic": _(TOPICS[one.page]),
            }
            for name, one in deck.cards.items()
        ],
        "kinds": [
            {
                "id": kind,
                "label": capitalise(kind),
                "asked": _(ASKED_FOR[kind]),
                "minutes": MINUTES[kind],
            }
            for kind in KINDS
        ],
        "every": EVERY,
        "done": [place for place, name in enumerate(deck.cards) if name in deck.done],
    }
    return Hero(
        "deck",
        _("A deck of exercises in three rows: predict a number, reach a goal, write a function."),
        numbers,
        [
            HeroChoice(controls.exercise, list(deck.cards), deck.chosen),
            HeroChoice(controls.exercise_kind, controls.exercise_kind.options, deck.kind),
        ],
        SENTENCES,
    )


def name_exercise(exercise: Exercise) -> str:
    """Functions are called by their names in every language."""
    name = make_title(exercise.id)
    return N_("{function}", function=name) if exercise.kind == "write" else name
