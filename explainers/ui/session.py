"""What the session of a visitor keeps besides the values of controls: each key by its name.

Parts of pages make keys of their own from their places; those are written here with a slot.
"""

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

VISITOR = "visitor"
PAGE_DRAWN = "page that was drawn"
LANGUAGE_SPOKEN = "language that is spoken"
WAS_OTHER_LANGUAGE = "another language was spoken"
PRESET = "preset"
USUAL_SENTENCE = "the sentence without a choice"
TAKEAWAY = "what this page recomputes"
UNKNOWN_SHORT_LINK = "short link that is not known"
LECTURE = "lecture component"
TAKES_PART = "takes part in a lecture that is followed"
SCREENS_LEFT = "screens that a follower's run still draws"
"""None: all of them."""
LECTURE_LINK = "link that a class is to open"
LECTURE_CARDS = "cards that can be added to a lecture"
"""Names of the cards of the page, in the order in which the browser counts them."""
GUESS = "guess_"
"""Keys of the answers to questions begin with this."""
SKIPS_IN_A_ROW = "answers that were only looked up"
ALL_ANSWERS_OFFER = "question at which all answers are offered"
OPEN_CARD, CARDS_DRAWN = "card that is open: {} {}", "cards that were drawn"
"""Of "Go deeper": the state of one card, and the page and card for which all were set."""
CARDS_LEFT_OPEN = "cards that were left open"
"""By page: who comes back finds the page as it was."""
RECALLS_ANSWERED = "recall questions that were answered"
RECALLS_MARKED = "first answers to recall questions"
"""By number of the page and name of the question: was it right, and how it is asked again."""
REPEATS_MARKED = "first answers to questions that were asked again"
"""By number of the question's page and its name: was it right?"""
PREDICTIONS_MARKED = "first answers to predictions"
"""By key of the guess: the number of its page, and was it right? None: it was only looked up."""
TOUR_STOP = "stop at which the tour was left for another page"
GOES_TO = "page that a button opens"
PAGE_NUMBER = "number of the page's file"
PAGES_OPENED = "pages that were opened"
SIZE = "size_"
"""Keys of what one claim or exercise speaks of begin with this: each has sizes of its own."""
TYPED = "typed_"
"""Keys of what is typed for an exercise begin with this; no link has it."""
CLICKED = "clicked in {}"
OPENED_WITH = "{} opened with"
MENU_DRAWN = "menu drawn"
"""The visit in which the menu of the calculator was opened last, and whether it is open."""
ASKED_WITH = "query with which this run was asked for"
PICTURED = "choices of the pictures that are drawn"

PLAN, PLAN_BELOW = "plan of a cache", "what is drawn below the plan"
JOB_REFUSED = "{}: refused"
TRAINING_JOB, TRAINING_FRAME = "training of this visitor", "snapshot looked at"
UPTRAINING_JOB = "uptraining of this visitor"
MEMORY_JOB = "training of a memory"
INDEXER_JOB = "training of an indexer"
MEASUREMENT_JOB = "measurement of this visitor"
TRANSLATION_JOB = "real translator of this visitor"
MODEL_JOB, MODEL_WEIGHED = "model that comes: {}", "{}: weighed"
HEAD_SCORES_JOB = "measurement of all heads"
IDLE_JOB = "training of a head that wants nothing"

TRANSLATED_WORDS = "words that were translated last"
WRITTEN_SHOWN = "written text that was shown last"
WRITER_SHOWN = "head whose writing was shown last"
INSPECTED = "model and tokens that were shown last"
ROOT_SHOWN = "the square root of d_k that was shown last"
USUAL_UNIT = "what a text was cut into as long as nobody chose"
ROTATED = "head and tokens whose pair was rotated last"
OWN_WORDS = "tokens of a reader's own sentence that were shown last"
EXERCISES_COUNTED = "exercises that were counted as done"


@dataclass
class Visitor:
    """What is remembered of choices, by the names of their controls.

    Under one key: Streamlit takes long to find one, and a page asks a hundred times.
    """

    visit: int = 0
    """Counts the pages that were opened."""
    notices: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """What a link asked for in vain, and what is shown instead."""
    kept: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """The visit in which it was made or shown, and the choice."""
    out_of_range: dict[str, tuple[int, int]] = field(default_factory=dict)
    """A number for which there is no room, and what stands in for it."""
    put: dict[str, int] = field(default_factory=dict)
    """The visit in which it was put, until it is read."""
    written: dict[str, tuple[int, Any, Any]] = field(default_factory=dict)
    """The visit, what stands in the URL, and what is left out there."""
    drawn: dict[str, int] = field(default_factory=dict)
    """The visit in which its widget was drawn last."""

    def forget(self) -> None:
        """Every choice is the usual one again."""
        for choices in (self.notices, self.kept, self.out_of_range):
            choices.clear()


def visitor() -> Visitor:
    """That of this session."""
    try:
        found: Visitor = st.session_state[VISITOR]
    except KeyError:
        found = st.session_state[VISITOR] = Visitor()
    return found
