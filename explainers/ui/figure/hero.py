"""The hero of a page: one picture that changes in the browser, and a sentence of its numbers.

The server computes what every choice of the picture would show, and sends it all at once. The
browser writes a choice into the address by itself; the server hears of it when what stands below
the picture shows it and is about to be seen, or with whatever else is asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.charts.theme import THEMES
from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.browser_files import translate_scripts
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.controls import is_tour
from explainers.ui.controls.late_choices import (
    ANY_CHOICE,
    HeroChoice,
    is_among,
    note_choices,
    note_part,
)
from explainers.ui.export_mode import note
from explainers.ui.figure.chart import offer_files, tabulate
from explainers.ui.lecture.screens import (
    CARD_KEY,
    end_after_last_screen,
    is_last_screen,
    is_lecture,
    screen,
)
from explainers.ui.page import Prose, split_title
from explainers.ui.text.language import fragment
from explainers.ui.told_events import read_event
from explainers.ui.turns import first_pictures, fragments

if TYPE_CHECKING:
    from torch import Tensor  # a picture of sizes alone needs none

_SCRIPTS = browser_files.list_scripts("picture", "common")
_component = browser_files.make_component("picture/picture.js", "hero")


@dataclass(frozen=True)
class Experiment:
    """A button below the picture: what it chooses, and the text that says what happens then."""

    name: str
    text: str
    """**Title.** What happens, with its numbers."""
    choices: Mapping[str, Any]
    """By the controls' names in the link."""
    is_slow: bool = False
    """A class does not wait for it unasked: see `show_slow_experiment`."""
    by: str = ""
    """A choice with which the text changes, by its name; the browser chooses."""
    each: Mapping[Any, "Experiment"] = field(default_factory=dict)
    """By the value of that choice: the text, and what is chosen then."""


@dataclass(frozen=True)
class Hero:
    """A picture of a kind that `browser/picture/heroes` can draw."""

    kind: str
    alt: str
    numbers: Mapping[str, Any]
    """What a picture of this kind shows; its script says what it reads."""
    choices: Sequence[HeroChoice]
    sentences: Sequence[str]
    """The sections of the page's text that its sentence is chosen from; they have slots."""
    experiments: Sequence[Experiment] = ()
    origin: str | Callable[[], str] = ""
    """Where the numbers come from."""
    table: Callable[[], Any] | None = None
    """The numbers that are seen, as a table (pandas)."""
    origin_follows: Sequence[Control] = ()
    """The choices with which `origin` changes."""

    def chosen(self, control: Control) -> Any:
        """What is chosen now, which may be later than the picture was drawn."""
        choice = next(one for one in self.choices if one.control.key == control.key)
        value = st.session_state.get(control.key, choice.value)
        return value if choice.accepts(value) else choice.value

    def accepts(self, choice: HeroChoice, value: object) -> bool:
        """May a browser ask for this? For what is offered, and for what a button below chooses.

        A button may bring a sentence and a word of it, which the present sentence has not.
        """
        name = choice.control.key
        chosen = [one.choices[name] for one in self.experiments if name in one.choices]
        return choice.accepts(value) or is_among(value, chosen)

    def take(self, told: Mapping[str, Any]) -> None:
        """Take over what the browser says was chosen, as far as it may be; a callback.

        The picture's fragment is drawn again, or the whole page for a choice that is elsewhere.
        """
        is_elsewhere = False
        for choice in self.choices:
            name = choice.control.key
            if name not in told or not self.accepts(choice, told[name]):
                continue
            # Not `choice.value`: a choice may be taken back before it has been drawn.
            if told[name] != st.session_state.get(name, choice.value):
                choice.control.put(told[name])
                is_elsewhere |= choice.is_elsewhere
        context = get_script_run_ctx()
        if is_elsewhere and context and context.fragment_ids_this_run:
            st.rerun()


def list_for_each(
    choice: HeroChoice, list_some: Callable[[Any], Sequence[Experiment]]
) -> list[Experiment]:
    """The experiments as they are now, each with what it says for every value of a choice."""
    of_value = {value: list_some(value) for value in choice.values}
    return [
        replace(now, by=choice.control.key, each={v: some[at] for v, some in of_value.items()})
        for at, now in enumerate(of_value[choice.value])
    ]


def begin_again(kept: str, shown: object, *followed: Control) -> None:
    """In another text or model, or after a reset, follow what is followed there at first.

    `kept` is where the session has what was shown before.
    """
    is_reset = any(st.session_state.get(control.key, shown) is None for control in followed)
    if is_reset or st.session_state.get(kept, shown) != shown:
        for control in followed:
            Control.put(control, None)
    st.session_state[kept] = shown


def choose_word(count: int, opening: int | None = None) -> HeroChoice:
    """The word that is followed, of so many; at first the running sentence's verb or `opening`."""
    control, places = controls.followed_word, tuple(range(count))
    first = control.default if opening is None else opening
    return HeroChoice.read(control, places, opening=min(first, count - 1))


def show_hero(text: Prose, hero: Hero, key: str, place: str = "hero") -> None:
    """Draw the picture with its sentence and its experiments, its origin and its numbers.

    `place` is what the style of the page knows it by.
    """
    experiments = () if is_tour() else hero.experiments
    with st.container(key=place):
        with screen("hero", key):
            _draw_picture(text, hero, key, experiments)
        if not is_last_screen():  # else the run ends in a moment
            first_pictures.give_way(fragments)
        if not is_tour():
            _offer_table(hero, key)
    if is_lecture():
        _show_experiments(experiments, {one.control.key for one in hero.choices})
        end_after_last_screen()  # before anything is computed for the next one


@contextmanager
def follows(part: str, *choices: Control) -> Iterator[None]:
    """What is drawn inside shows these choices of the picture above; without any, all of them.

    The browser asks for it anew before it is seen (`picture/below.js`). The fragment that this is
    in runs then, and nothing else of the page.
    """
    names = [one.key for one in choices] or [ANY_CHOICE]
    note_part(part, names)
    with st.container(key=f"follows {part} of {' '.join(names)}"):
        yield


@fragment
def show_chosen(part: str, draw: Callable[[], object], *choices: Control) -> None:
    """Draw what `follows` choices, and runs by itself when they change.

    So `draw` reads what is chosen from the controls, or by `Hero.chosen`.
    """
    with follows(part, *choices):
        draw()


def show_picture(text: Prose, hero: Hero, key: str) -> None:
    """Draw it inside a card, where it is no screen of its own and nothing is tried below it."""
    _draw_picture(text, hero, key, ())
    _offer_table(hero, key)


def _offer_table(hero: Hero, key: str) -> None:
    origin, table = hero.origin, hero.table
    if not table:
        return
    if isinstance(origin, str):
        offer_files(key, origin, table, drawn=key)
    else:
        shows = hero.origin_follows
        show_chosen("origin", lambda: offer_files(key, origin(), table, drawn=key), *shows)


def _draw_picture(text: Prose, hero: Hero, key: str, experiments: Sequence[Experiment]) -> None:
    choices = {choice.control.key: choice for choice in hero.choices}
    note("picture", key, hero)

    def hear() -> None:
        # One run may answer this and a link that was followed: then the picture is gone already.
        told = st.session_state.get(key)
        hero.take((told.choices if told else read_event(key, "choices")) or {})

    _component(
        key=key,
        data={
            "kind": hero.kind,
            "alt": hero.alt,
            "words": translate_scripts(_SCRIPTS),
            "choices": {name: choice.value for name, choice in choices.items()},
            "usual": {name: choice.usual for name, choice in choices.items()},
            "elsewhere": [name for name, one in choices.items() if one.is_elsewhere],
            "link": note_choices([one for one in hero.choices if not one.is_elsewhere]),
            "controls": [_describe(choice) for choice in hero.choices if choice.labels],
            "texts": {name: text.template(name) for name in hero.sentences},
            "experiments": [_describe_experiment(one) for one in experiments],
            "looks": _LOOKS,
            **hero.numbers,
        },
        on_choices_change=hear,
    )


def _show_experiments(experiments: Sequence[Experiment], choices: set[str]) -> None:
    """A screen for each that changes the picture: its title, and what happens, in a sentence.

    One that opens a card below has nothing to show in the picture.
    """
    for one in experiments:
        if one.choices.keys() <= choices and CARD_KEY not in one.choices and not one.is_slow:
            title, remark = split_title(one.text)
            with screen("try", one.name):
                st.markdown(f"## {title}")
                st.markdown(remark)


def show_slow_experiment(
    text: Prose, one: Experiment, obtain: Callable[[bool], Hero | None], label: str
) -> None:
    """A screen for what takes time: a button begins it there, and there its progress is told.

    `obtain` returns the picture if it can be drawn; once it is wanted, it sets out for it.
    """
    title, remark = split_title(one.text)
    is_wanted = controls.started.resolve_among((one.name,)) == one.name
    with screen("slow", one.name):
        st.markdown(f"## {title}")
        st.markdown(remark)
        picture = obtain(is_wanted)
        if not picture and not is_wanted:
            begin = partial(controls.started.put, one.name)
            icon = ":material/play_arrow:"
            st.button(label, key=f"begin {one.name}", icon=icon, on_click=begin)
    if picture:
        with screen("picture", one.name):
            _draw_picture(text, picture, f"slow {one.name}", ())
        _offer_table(picture, f"slow {one.name}")


def _describe(choice: HeroChoice) -> dict[str, Any]:
    options = [
        {"value": str(value), "label": label}
        for value, label in zip(choice.values, choice.labels, strict=True)
    ]
    return {"key": choice.control.key, "label": _(choice.control.label), "options": options}


def _describe_experiment(experiment: Experiment) -> dict[str, Any]:
    """Nothing in it is of what is chosen now, which the server may hear of late."""
    described = []
    for one in experiment.each.values() or [experiment]:
        title, remark = split_title(one.text)
        told = {"name": one.name, "title": title, "text": remark, "choices": dict(one.choices)}
        described.append(told)
    if all(one == described[0] for one in described):
        return described[0]
    each = dict(zip(map(str, experiment.each), described, strict=True))
    return {**described[0], "by": experiment.by, "each": each}


def make_weight_table(tokens: Sequence[str], weights: Sequence[Sequence[float]]) -> Any:
    """How each word divides its attention, a row for each."""
    words = [f"{place} {token}" for place, token in enumerate(tokens)]
    return tabulate(weights, words, words, _("query"))


def round_numbers(numbers: "Tensor", digits: int = 4) -> Any:
    """A tensor as lists of numbers, with as many digits as a picture can tell."""
    return numbers.double().round(decimals=digits).tolist()


_LOOKS = {name: theme.describe_look() for name, theme in THEMES.items()}
