"""Predict, then reveal: a question before a picture (Crouch et al. 2004)."""

import re
from collections.abc import Sequence

import streamlit as st

from explainers.phrase import phrase
from explainers.ui import controls
from explainers.ui.language import said, translated
from explainers.ui.links import one_of
from explainers.ui.prose import Prose
from explainers.ui.worded import Worded

SKIP = phrase("just show me")
_NUMBER = re.compile(r"(-?[\d,]*\.?\d+)(.*)")


def revealed(
    text: Prose,
    name: str,
    options: Sequence[str],
    answer: str,
    about: str = "",
    **numbers: object,
) -> bool:
    """Ask, and tell whether the picture may be shown; `answer` is what our code computed.

    The page's text has the question as `ask_<name>` and the reason as `because_<name>`. The guess
    is in the link, so that a link to a revealed picture shows the picture. A question that is asked
    of several things is answered for each of them: `about` tells them apart.
    """
    if not st.session_state.get(controls.predict_first.key, True):
        return True
    offered = in_order([*options, answer])
    with st.container(border=True):
        text(f"ask_{name}", **numbers)
        answered = Worded(controls.GUESS + (about or name), phrase("Your prediction"), None)
        asked, offered = answered.asked(), [*offered, SKIP]
        guess = st.radio(
            options=offered,
            index=None,
            key=answered.key,
            horizontal=True,
            **answered.words,
            **answered.tied(offered, None),
        )
        answered.tie(guess, offered, None)
        answered.told(asked, guess or said("no answer"), one_of(offered))
        if guess is None:
            st.caption(said("The picture comes when you have answered."))
            return False
        st.markdown(_verdict(guess, answer))
        text(f"because_{name}", **numbers)
    return True


def _verdict(guess: str, answer: str) -> str:
    said_so, comes_out = translated(guess), translated(answer)
    if guess == SKIP:
        return said("Computed: **{answer}**.", answer=comes_out)
    if guess == answer:
        right = said("You said **{guess}**, and that is what comes out.", guess=said_so)
        return f":material/check_circle: {right}"
    wrong = said(
        "You said **{guess}**; what comes out is **{answer}**.", guess=said_so, answer=comes_out
    )
    return f":material/cancel: {wrong}"


def in_order(options: Sequence[str]) -> list[str]:
    """Each once, and numbers of one unit by size: the answer must not stand out as the last one."""
    offered = list(dict.fromkeys(options))
    numbers = [_NUMBER.fullmatch(option.replace("−", "-")) for option in offered]
    read = [number for number in numbers if number]
    if len(read) < len(offered) or len({number[2] for number in read}) > 1:
        return offered
    sizes = {option: float(n[1].replace(",", "")) for option, n in zip(offered, read, strict=True)}
    return sorted(offered, key=lambda option: sizes[option])
