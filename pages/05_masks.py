"""Who may look at whom: one matrix under many masks, what each lets through and what it costs."""

from explainers.chapters.common.choose_layer import choose_layer, offer_training
from explainers.chapters.common.score_matrix import FEWEST, Lab, of_words
from explainers.chapters.masks import takeaway as taken
from explainers.chapters.masks.drawn_mask import show_drawing, show_empty_row
from explainers.chapters.masks.growing_text import show_growing, show_one_pass
from explainers.chapters.masks.leaking_mask import show_leak
from explainers.chapters.masks.mask_numbers import choose_numbers
from explainers.chapters.masks.masks_compared import foretold, show_costs, show_masks, show_moved
from explainers.chapters.masks.padded_batch import show_batch
from explainers.chapters.masks.window_reach import show_reach
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

text = page.page_text(__file__)


@fragment
def side_by_side(lab: Lab) -> None:
    """One matrix under every mask, where the probability went, and what each mask costs."""
    text("cells")
    words = len(lab.tokens)
    if words >= FEWEST and not foretold(text, lab):
        return
    text("masks_seen")
    numbers = choose_numbers(words)
    show_masks(text, lab, numbers)
    taken.side_by_side(lab, numbers)
    offer_training(lab.layer)
    if words >= FEWEST:
        show_moved(text, lab, numbers)
        show_costs(text, words, numbers)


@fragment
def by_hand(lab: Lab) -> None:
    """A mask of the reader's own, and one that is refused."""
    show_drawing(text, lab)


@fragment
def in_layers(lab: Lab) -> None:
    """How far windows reach when they are stacked."""
    text("reach")
    show_reach(text, lab, int(controls.reach_window()))


@fragment
def before_or_after(lab: Lab) -> None:
    """What is hidden too late, and what is hidden altogether."""
    show_leak(text, lab)
    show_empty_row(text, lab)


@fragment
def one_way(lab: Lab) -> None:
    """What a model gains that never looks ahead."""
    show_one_pass(text, lab.tokens)
    show_growing(text, lab.tokens, page.seed())


text("question")
layer = choose_layer(choose_text().tokens, has_mask=False, has_sizes=False)
choices = Lab(layer, page.queries_down())
is_short = len(choices.tokens) < FEWEST
if is_short:
    text("too_short", words=of_words(len(choices.tokens)), fewest=FEWEST)
side_by_side(choices)
by_hand(choices)
show_batch(text, choices)
if not is_short:
    before_or_after(choices)
    in_layers(choices)
    one_way(choices)
    text("notice")
