"""A translator to test with."""

from explainers.translation.model import Model, draw_parameters
from explainers.translation.translator import Translator


def make_untrained_translator(seed: int = 0) -> Translator:
    """The translator before it has learned anything."""
    return Translator(Model.from_parameters(draw_parameters(seed)))
