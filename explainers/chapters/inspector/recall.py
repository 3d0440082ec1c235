"""What a reader should remember of a real model: who gets the weight, and what equality proves."""

from random import Random

from explainers.messages import N_
from explainers.ui.page_parts.check_yourself import Recall


def find_sink(draw: Random) -> Recall:
    """The first token, whatever it is."""
    first, last = draw.sample(["Yesterday", "Oil", "We", "Perhaps", "Trains"], 2)
    answers = N_("the first token"), N_("the rarest token"), N_("the last token")
    return Recall(answers[0], {"first": first, "last": last}, answers)


def read_difference(_draw: Random) -> Recall:
    """Equal numbers say nothing about what they mean."""
    answers = (
        N_("Both compute the same attention."),
        N_("The weights explain the model's answer."),
        N_("The model makes no mistakes."),
    )
    return Recall(answers[0], {}, answers)
