"""Head gallery: what every head of a real model does, measured on texts that are known."""

from explainers.chapters.common.choose_real_model import choose_model
from explainers.chapters.common.measured_heads import Gallery, obtain_gallery
from explainers.chapters.head_gallery.head_card import ask_keeps, show_labels, show_patterns
from explainers.chapters.head_gallery.layer_entropy import show_layers
from explainers.chapters.head_gallery.partner_heads import show_partners
from explainers.chapters.head_gallery.score_mosaic import ask_induction, chosen_head, show_map
from explainers.models.probes import NUM_TEXTS, REPEATED_LENGTH
from explainers.ui import page
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def looking(gallery: Gallery, sentence: str) -> None:
    """All heads by a score, one of them with its names, and those that find partners."""
    text("looking", texts=NUM_TEXTS, length=REPEATED_LENGTH)
    if ask_induction(text, gallery):
        chosen = chosen_head(gallery)
        show_map(text, gallery, chosen)
        text("head")
        if ask_keeps(text, gallery):
            show_labels(text, gallery, chosen)
            show_patterns(text, gallery, chosen, sentence, page.has_queries_down())
    show_partners(text, gallery)


@fragment
def layers(gallery: Gallery) -> None:
    """A sentence about layers, put to the test."""
    show_layers(text, gallery)


text("question")
loaded = choose_model()
sentence = choose_text(is_english=True).text
gallery = obtain_gallery(text, loaded) if loaded else None
if gallery:
    looking(gallery, sentence)
    layers(gallery)
text("notice")
