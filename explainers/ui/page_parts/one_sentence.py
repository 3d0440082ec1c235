"""The page in one sentence, in a tinted box: what a reader should remember of it."""

import streamlit as st

from explainers.ui.lecture.screens import screen
from explainers.ui.page import Prose, split_title

SECTION = "one_sentence"
MOST_WORDS = 30
"""Of the sentence, without the bold words before it that say what it is."""


def show_one_sentence(text: Prose, **numbers: object) -> None:
    """Show the page's text `one_sentence`."""
    with screen("end", SECTION), st.container(key="one sentence"):
        text(SECTION, **numbers)


def count_words(sentence: str) -> int:
    """How long a page's sentence is."""
    return len(split_title(sentence)[1].split())
