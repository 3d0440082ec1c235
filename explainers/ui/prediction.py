"""Predict, then reveal: a question before a picture (Crouch et al. 2004)."""

import re
from collections.abc import Sequence
from contextlib import nullcontext

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control, describe_options
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.page import Prose
from explainers.ui.session import GUESS

SKIP = N_("just show me")
_NUMBER = re.compile(r"(-?[\d,]*\.?\d+)(.*)")


def revealed(
    text: Prose, name: str, options: Sequence[str], answer: str, about: str = "", **numbers: object
) -> bool:
    """Ask, and tell whether the picture may be shown; `answer` is what our code computed.

    The page's text has the question as `ask_<name>` and the reason as `because_<name>`. The guess
    is in the link, so that a link to a revealed picture shows the picture. A question that is asked
    of several things is answered for each of them: `about` tells them apart.

    A class answers by a show of hands: all is drawn, and what comes out is on the next screen.
    """
    if not st.session_state.get(controls.predict_first.key, True):
        return True
    answers = sort_options([*options, answer])
    asked_of, is_class = about or name, is_lecture()
    with screen("ask", asked_of):
        box = st.container(border=not is_class)
    with box:
        text(f"ask_{name}", **numbers)
        guess = _ask(asked_of, answers, is_class)
        if guess is None and not is_class:
            st.caption(_("What comes out is shown when you have answered."))
            return False
    with screen("reveal", asked_of), nullcontext() if is_class else box:
        st.markdown(_write_verdict(guess or SKIP, answer))
        text(f"because_{name}", **numbers)
    return True


def _ask(asked_of: str, options: list[str], is_class: bool) -> str | None:
    """The reader's guess; of a class, what most hands were raised for, if that is clicked."""
    control = Control(GUESS + asked_of, N_("Your prediction"), None)
    request, answers = control.read_request(), [*options, SKIP]
    guess = st.radio(
        options=answers,
        index=None,
        key=control.key,
        horizontal=not is_class,
        label_visibility="collapsed" if is_class else "visible",
        **control.label_and_help,
        **control.bind(answers, None),
    )
    control.save(guess, answers, None)
    control.report_bad_link(request, guess or _("no answer"), describe_options(answers))
    # What a link asks for is plain text; the option itself knows how it is said.
    return next((one for one in answers if one == guess), None)


def _write_verdict(guess: str, answer: str) -> str:
    guess_text, answer_text = _(guess), _(answer)
    if guess == SKIP:
        return _("Computed: **{answer}**.", answer=answer_text)
    if guess == answer:
        agreement = _("You said **{guess}**, and that is what comes out.", guess=guess_text)
        return f":material/check_circle: {agreement}"
    disagreement = _(
        "You said **{guess}**; what comes out is **{answer}**.",
        guess=guess_text,
        answer=answer_text,
    )
    return f":material/cancel: {disagreement}"


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
