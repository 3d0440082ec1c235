"""Exercises over all sections: predict a number, reach a goal, write a function."""

from explainers.lessons.exercise_list import choose_exercise, show_done
from explainers.lessons.exercises import show_exercise
from explainers.ui import common
from explainers.ui.lecturing import screen

text = common.page_text(__file__)
text("question")
with screen("choose", "exercise"):
    exercise = choose_exercise(text)
show_exercise(text, exercise)
with screen("nothing", "done"):
    show_done(text)
text("notice")
