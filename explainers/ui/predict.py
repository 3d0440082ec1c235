"""Predict, then reveal: a question before a picture (Crouch et al. 2004)."""

from collections.abc import Sequence

import streamlit as st

from explainers.ui import controls

SKIP = "just show me"


def revealed(
    name: str, question: str, options: Sequence[str], answer: str, explanation: str
) -> bool:
    """Ask, and tell whether the picture may be shown; `answer` is what our code computed.

    The guess is in the link, so that a link to a revealed picture shows the picture.
    """
    if not st.session_state.get(controls.predict_first.key, True):
        return True
    with st.container(border=True):
        guess = st.radio(
            question,
            [*options, SKIP],
            index=None,
            key=controls.GUESS + name,
            bind=controls.URL,
            horizontal=True,
        )
        if guess is None:
            st.caption("The picture comes when you have answered.")
            return False
        if guess == SKIP:
            st.markdown(f"Computed: **{answer}**. {explanation}")
        elif guess == answer:
            st.markdown(f":material/check: You said **{guess}**, and so it is. {explanation}")
        else:
            st.markdown(
                f":material/close: You said **{guess}**; computed: **{answer}**. {explanation}"
            )
    return True
