"""Exercises: a deck of cards; predict a number, reach a goal, write a function."""

import streamlit as st

from explainers.chapters.exercises import one_exercise
from explainers.chapters.exercises.deck import make_hero, read_deck
from explainers.ui import page
from explainers.ui.figure.hero import follows, show_hero
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.go_deeper import go_deeper

text = page.Prose(__file__)
deck = read_deck()


def explain_writing() -> None:
    """How a function is written and checked elsewhere."""
    from explainers.chapters.exercises.write import HOLES, make_template

    text("machine", count=len(HOLES))
    st.code(make_template("my_attention.py"), height=400)


text("question")
if deck.is_set and not is_lecture():
    text("set", count=len(deck.cards))
show_hero(text, make_hero(deck), "deck")
with follows("exercise"):
    one_exercise.show_exercises(text, deck)
cards = {"lecturers": lambda: one_exercise.choose_set(text, deck), "machine": explain_writing}
go_deeper(text, cards)
show_one_sentence(text)
