"""Exercises over all sections: predict a number, reach a goal, write a function."""

from explainers.chapters.exercises.one_exercise import choose_exercise, show_done, show_exercise
from explainers.ui import page
from explainers.ui.lecture.screens import screen

text = page.open_prose(__file__)
text("question")
with screen("choose", "exercise"):
    exercise = choose_exercise(text)
show_exercise(text, exercise)
with screen("nothing", "done"):
    show_done(text)
text("notice")
