"""Predict, then reveal (Crouch et al. 2004): a question before a picture, or a veiled number."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.controls import is_tour
from explainers.ui.export_mode import is_whole_export, stand_in
from explainers.ui.lecture.screens import find_question, is_lecture, screen, show_on_screen
from explainers.ui.page import Prose
from explainers.ui.session import (
    ALL_ANSWERS_OFFER,
    GUESS,
    PAGE_NUMBER,
    PREDICTIONS_MARKED,
    SKIPS_IN_A_ROW,
)

SKIP = N_("just show me")
"""How a link says that the reader wanted the answer and did not guess."""
SKIPS_BEFORE_OFFER = 2
LETTERS_IN_A_LINE = 60
"""Answers that are short enough stand beside each other."""
_NUMBER = re.compile(r"(-?[\d,]*\.?\d+)(.*)")


@dataclass(frozen=True)
class Guess(Control):
    """A reader's answer to one question, as the link has it: `guess_<name>`; None before it."""

    def __call__(self, options: Sequence[str]) -> str | None:
        """The guess, read from the link and written to it; the options are drawn elsewhere."""
        guess: str | None = self.resolve_among([*options, SKIP])
        st.session_state[self.key] = guess  # Streamlit forgets what no widget shows
        return guess

    def name(self, value: Any) -> str:
        """What is said of an answer."""
        return value or _("no answer")

    def choose(self, answer: str, right: str = "") -> None:
        """Take over an answer that was clicked, and mark it if the `right` one is told; a callback.

        An answer that came with a link is not marked: somebody else may have given it.
        """
        count_skip(self.key, answer == SKIP)
        if right and not is_lecture():  # the first time: who has seen it predicts no more
            is_right = None if answer == SKIP else answer == right
            marked = st.session_state.setdefault(PREDICTIONS_MARKED, {})
            marked.setdefault(self.key, (st.session_state.get(PAGE_NUMBER, ""), is_right))
        self.put(answer)


def make_guess(asked_of: str) -> Guess:
    """The guess that belongs to a question."""
    return Guess(GUESS + asked_of, N_("Your prediction"), None)


def is_study_mode() -> bool:
    """Does the reader want to be asked before results are shown? The tour asks nothing."""
    return not is_tour() and bool(st.session_state.get(controls.predict_first.key, True))


def revealed(
    text: Prose, name: str, options: Sequence[str], answer: str, **numbers: object
) -> bool:
    """Ask, and tell whether the picture may be shown; `answer` is what our code computed.

    The page's text has the question as `ask_<name>` and the reason as `because_<name>`. The guess
    is in the link, so that a link to a revealed picture shows the picture.

    A class answers by a show of hands: all is drawn, and the answer is on the next screen. Without
    study mode everybody reads what somebody does who wants the answer at once.
    """
    answers = sort_options([*options, answer])
    if is_tour():
        return True
    asked, because = (text.fill(f"{part}_{name}", **numbers) for part in ("ask", "because"))
    if is_lecture():
        guess = None
        if is_study_mode():
            with screen("ask", name):
                st.markdown(asked)
                guess = _ask(name, answers, answer)
        verdict = f"## {find_question(asked)}\n\n{write_verdict(guess or SKIP, answer)}"
        # By its name the votes of a class find the answer.
        right = f"right {answers.index(answer)} {name}"
        show_on_screen("answer", name, f"{verdict} {because}", right)
        return True
    if is_whole_export():
        keep_question(name, asked, because, answers, answer)
        return True
    if not is_study_mode():
        st.markdown(asked)
        st.markdown(write_verdict(SKIP, answer))
        st.markdown(because)
        return True
    with st.container(border=True, key=f"question {name}"):
        st.markdown(asked)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            guess = _ask(name, answers, answer)
            if guess is None:
                st.caption(_("Answer to see the result."), width="content")
        if guess is None:
            return False
        st.markdown(write_verdict(guess, answer))
        st.markdown(because)
        offer_all_answers(name)
    return True


def keep_question(
    name: str,
    asked: str,
    because: str,
    options: Sequence[str],
    answer: str,
    typed: Mapping[str, object] | None = None,
) -> None:
    """Have a file ask, and say what a page says; `typed` is a number, how far off, and its unit."""
    said = {
        "right": write_verdict(answer, answer),
        "wrong": write_verdict(SAID, answer, is_typed=bool(typed)),
    }
    shown = [[option, _(option)] for option in options]
    about = {"text": asked, "because": because, "options": shown, "answer": answer}
    stand_in("question", name, about | said | {"typed": typed})


SAID = "…"
"""In what a file says of a wrong answer, it stands for what was said."""


def _ask(name: str, options: list[str], answer: str) -> str | None:
    """The reader's guess; of a class, what most hands were raised for, if that is clicked."""
    control, is_class = make_guess(name), is_lecture()
    guess = control(options)
    if guess == SKIP and not is_class:
        return guess
    speak = control.speak(options)
    st.radio(
        options=options,
        index=None,
        key=control.key,
        horizontal=not is_class and sum(len(speak(one)) for one in options) <= LETTERS_IN_A_LINE,
        label_visibility="collapsed" if is_class else "visible",
        format_func=speak,
        on_change=lambda: control.choose(st.session_state[control.key], answer),
        **control.label_and_help,
    )
    if guess is None and not is_class:
        st.button(
            _("Show me"),
            key=f"show {control.key}",
            icon=":material/visibility:",
            on_click=control.choose,
            args=(SKIP, answer),
        )
    return guess


def write_verdict(guess: str, answer: str, is_typed: bool = False) -> str:
    """The guess beside the answer, in a line; after a skip the answer alone."""
    guess_text, answer_text = _(guess), _(answer)
    if guess == SKIP:
        return _("Answer: **{answer}**.", answer=answer_text)
    if guess == answer:
        agreement = _("Right: **{answer}**.", answer=answer_text)
        return f":material/check_circle: {agreement}"
    said = N_("You chose **{guess}**. The answer is **{answer}**.")
    if is_typed:
        said = N_("You typed **{guess}**. The answer is **{answer}**.")
    return f":material/cancel: {_(said, guess=guess_text, answer=answer_text)}"


def count_skip(key: str, is_skip: bool) -> None:
    """Notice who skips twice in a row, and make an offer at that question, once in a session."""
    skips = st.session_state.get(SKIPS_IN_A_ROW, 0) + 1 if is_skip else 0
    st.session_state[SKIPS_IN_A_ROW] = skips
    if skips == SKIPS_BEFORE_OFFER:
        st.session_state.setdefault(ALL_ANSWERS_OFFER, key)


def offer_all_answers(asked_of: str) -> None:
    """At the second skip in a row: leave study mode?"""
    if st.session_state.get(ALL_ANSWERS_OFFER) != GUESS + asked_of or is_lecture():
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"offer {asked_of}"):
        st.markdown(_("Show all answers from now on?"), width="content")
        if st.button(_("Yes"), on_click=_close_offer, args=(True,)):
            st.rerun()  # the whole page: the question may be in a fragment
        st.button(_("No"), on_click=_close_offer, args=(False,))


def _close_offer(is_accepted: bool) -> None:
    if is_accepted:
        st.session_state[controls.predict_first.key] = False
    st.session_state[ALL_ANSWERS_OFFER] = ""


def sort_options(options: Sequence[str]) -> list[str]:
    """Each once, and numbers of one unit by size: the answer must not stand out as the last one."""
    answers = list(dict.fromkeys(options))
    numbers = [_NUMBER.fullmatch(option.replace("−", "-")) for option in answers]
    matches = [number for number in numbers if number]
    if len(matches) < len(answers) or len({number[2] for number in matches}) > 1:
        return answers
    sizes = {
        option: float(n[1].replace(",", "")) for option, n in zip(answers, matches, strict=True)
    }
    return sorted(answers, key=lambda option: sizes[option])


HIDDEN = "\ue010"
"""Stands for a veiled number in what a file shows; no text has this sign."""
SLOT = "veil"
"""In a text, `{{veil}}` marks the hidden number."""
MOST_CHIPS = 3
_LETTER_WIDTH, _NARROWEST = 11, 44


def ask_veiled(
    text: Prose, name: str, answer: str, options: Sequence[str] = (), /, **numbers: object
) -> bool:
    """Show `ask_<name>` with its `{{veil}}` hidden under a tile; tell whether the number is seen.

    The tile is a button. Up to two wrong `options` are offered as guesses beside the answer; a
    click on the tile or on a guess shows the number and, if the page has it, the reason
    `because_<name>`. What says the same number, such as a table, is drawn after that.
    """
    if is_whole_export():
        veiled = text.fill(f"ask_{name}", **{SLOT: HIDDEN}, **numbers)
        reason = f"because_{name}"
        because = text.fill(reason, **{SLOT: answer}, **numbers) if text.has(reason) else ""
        stand_in("veil", name, {"text": veiled, "answer": _(answer), "because": because})
        return True
    if not is_study_mode():
        _show_answer(text, name, answer, numbers)
        return True
    guesses = choose_guesses(options, answer)
    control = make_guess(name)
    guess = control(guesses)
    with st.container(key=f"veil {name}", gap="small"):
        if guess is None:
            _draw_tile(text, name, answer, control, numbers)
            if options:
                _draw_chips(guesses, answer, control)
            return False
        _show_answer(text, name, answer, numbers, "" if guess == SKIP else guess)
        offer_all_answers(name)
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
