"""A veiled number: a sentence whose number is shown by a click, or by guessing it."""

from collections.abc import Sequence

import streamlit as st

from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.prediction import (
    SKIP,
    Guess,
    is_study_mode,
    make_guess,
    offer_all_answers,
    sort_options,
    write_verdict,
)

SLOT = "veil"
"""In a text, `{{veil}}` marks the hidden number."""
MOST_CHIPS = 3
_LETTER_WIDTH, _NARROWEST = 11, 44


def ask_veiled(
    text: Prose,
    name: str,
    answer: str,
    options: Sequence[str] = (),
    about: str = "",
    /,
    **numbers: object,
) -> bool:
    """Show `ask_<name>` with its `{{veil}}` hidden under a tile; tell whether the number is seen.

    The tile is a button. Up to two wrong `options` are offered as guesses beside the answer; a
    click on the tile or on a guess shows the number and, if the page has it, the reason
    `because_<name>`. What says the same number, such as a table, is drawn after that.
    `about` tells apart what one question asks of several things.
    """
    asked_of = about or name
    if not is_study_mode():
        _show_answer(text, name, answer, numbers)
        return True
    guesses = choose_guesses(options, answer)
    control = make_guess(asked_of)
    guess = control(guesses)
    with st.container(key=f"veil {asked_of}", gap="small"):
        if guess is None:
            _draw_tile(text, name, answer, control, numbers)
            if options:
                _draw_chips(guesses, answer, control)
            return False
        _show_answer(text, name, answer, numbers, "" if guess == SKIP else guess)
        offer_all_answers(asked_of)
    return True


def choose_guesses(options: Sequence[str], answer: str) -> list[str]:
    """The answer among the first wrong options, where it stood among them."""
    wrong = [option for option in dict.fromkeys(options) if option != answer][: MOST_CHIPS - 1]
    return sort_options([one for one in [*options, answer] if one in {*wrong, answer}])


def _show_answer(
    text: Prose, name: str, answer: str, numbers: dict[str, object], guess: str = ""
) -> None:
    text(f"ask_{name}", **{SLOT: f":green-background[{_(answer)}]"}, **numbers)
    if guess:
        st.markdown(write_verdict(guess, answer))
    if text.has(f"because_{name}"):
        text(f"because_{name}", **{SLOT: answer}, **numbers)


def _draw_tile(
    text: Prose, name: str, answer: str, control: Guess, numbers: dict[str, object]
) -> None:
    """The text, and in its line the button; the style sheet lets the three flow as one line."""
    before, after = text.split(f"ask_{name}", SLOT, **numbers)
    paragraphs, _break, start = before.rpartition("\n\n")
    end, _break, rest = after.partition("\n\n")
    if paragraphs:
        st.markdown(paragraphs)
    start, end = close_bold(start, end)
    with st.container(key=f"veil line {control.key}"):
        st.markdown(start)
        st.button(
            _("hidden number, show"),
            key=f"show {control.key}",
            on_click=control.choose,
            args=(SKIP, answer),
            width=max(_NARROWEST, _LETTER_WIDTH * len(_(answer))),
        )
        if end:
            st.markdown(end)
    if rest:
        st.markdown(rest)


def close_bold(start: str, end: str) -> tuple[str, str]:
    """Both halves of a line as Markdown of their own: bold that spans the cut is cut as well.

    Markdown drops spaces at the ends, so those beside the cut are written as entities.
    """
    if start.count("**") % 2:
        start = f"{start.rstrip()}**" + ("&nbsp;" if start != start.rstrip() else "")
        end = ("&#32;" if end != end.lstrip() else "") + f"**{end.lstrip()}"
        return start, end.replace("****", "")
    start = start.rstrip() + "&nbsp;" if start != start.rstrip() else start
    return start, f"&#32;{end.lstrip()}" if end != end.lstrip() else end


def _draw_chips(guesses: Sequence[str], answer: str, control: Guess) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"chips {control.key}"
    ):
        st.caption(_("Your guess:"), width="content")
        for guess in guesses:
            st.button(
                _(guess),
                key=f"{control.key}: {guess}",
                on_click=control.choose,
                args=(guess, answer),
            )
