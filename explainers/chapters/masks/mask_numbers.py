"""The numbers of masks that have one: one is dragged in the picture, the others are counted."""

from explainers.attention.masks import MASKS
from explainers.toys.sentence import MAX_TOKENS
from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import BrowserSlider, Counter

WINDOW = next(mask for mask in MASKS if mask.name == "window")
COUNTED = {
    mask.name: Counter(mask.name, mask.parameter, mask.usual)
    for mask in MASKS
    if mask.parameter and mask is not WINDOW
}
DRAGGED = BrowserSlider(
    WINDOW.name, WINDOW.parameter, WINDOW.usual, tuple(range(WINDOW.least, MAX_TOKENS + 1))
)
controls.register(DRAGGED, *COUNTED.values())


def choose_numbers(words: int) -> dict[str, int]:
    """Each mask's number, by the mask's name; no more than there are words but for the window."""
    least = {mask.name: mask.least for mask in MASKS}
    chosen = {name: control(least[name], words) for name, control in COUNTED.items()}
    return chosen | {WINDOW.name: DRAGGED() + WINDOW.least}
