"""The table of masks as readers meet it: names in every language, with their numbers."""

from explainers.attention.masks import MASKS
from explainers.attention.rules import Mask
from explainers.messages import N_, Message
from explainers.translations import _


def name_mask(mask: Mask, number: int) -> str:
    """What a mask is called with a number: "window of 5"."""
    name = Message(mask.name, {})
    return N_("{mask} of {number}", mask=name, number=number) if mask.parameter else name


MASK_NAMES = {mask.label(): name_mask(mask, mask.usual) for mask in MASKS}
"""By what links and trained weights call it."""


def translate_mask(label: str) -> str:
    """The mask of a link, in the visitor's language."""
    return _(MASK_NAMES[label])
