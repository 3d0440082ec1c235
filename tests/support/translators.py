"""A translator to test with."""

from explainers.translation.corpus import encode_sources, vietnamese_vocabulary
from explainers.translation.model import PLAIN_ATTENTION, Model
from explainers.translation.translator import Translator
from workshop.translation.train import draw_parameters


def make_untrained_translator(seed: int = 0) -> Translator:
    """The translator before it has learned anything."""
    return Translator(Model.from_parameters(draw_parameters(seed)))


def force(translator, words, syllables, attend=PLAIN_ATTENTION):
    """What a translator computes while these syllables are forced on it (teacher forcing)."""
    source = translator.model.encode(encode_sources([words]))
    return translator.record(words, source, vietnamese_vocabulary().encode(syllables), attend)
