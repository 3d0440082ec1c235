"""Exercises over all sections: predict a number, reach a goal, write a function."""

from explainers.lessons.exercises import choose_exercise, show_done, show_exercise
from explainers.ui import common

text = common.page_text(__file__)
text("question")
show_exercise(text, choose_exercise(text))
show_done(text)
text("notice")
