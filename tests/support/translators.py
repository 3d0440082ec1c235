"""A translator to test with."""

from explainers.translation.model import Model
from explainers.translation.translator import Translator
from workshop.translation.train import draw_parameters


def make_untrained_translator(seed: int = 0) -> Translator:
    """The translator before it has learned anything."""
    return Translator(Model.from_parameters(draw_parameters(seed)))
