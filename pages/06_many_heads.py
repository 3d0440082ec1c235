"""Multi-head attention: each head has a row of weights of its own, and what they find is added."""

from explainers.attention.dropout import drop
from explainers.attention.multi_head import (
    contributions,
    merge_heads,
    multi_head,
    parameters,
    split_heads,
)
from explainers.chapters import many_heads
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.sentence_reading import Reading, ask_about, show_reader
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, show_chosen, show_hero
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


def show_steps(hero: Hero, layer: Layer) -> None:
    """Split, attend, join, mix: the heads side by side, W_O, and the layer's output."""
    looked = many_heads.Selection.of(
        layer, hero.chosen(controls.followed_word), many_heads.list_off(hero, layer)
    )
    heads = looked.layer.heads
    width = looked.num_heads * heads.head_dim
    text("steps", heads=looked.num_heads, d_k=heads.head_dim, width=width)
    panels = many_heads.draw_steps(looked)
    alt = _("The weights of every head, their outputs side by side, and the output of the layer.")
    show_clickable_figure(panels, looked.explain, name_layer_origin(looked.layer), "steps", alt)
    text("dropout", **looked.draw_dropout(page.read_seed()))
    show_source(multi_head, split_heads, merge_heads, contributions, drop)


def show_costs() -> None:
    """What heads cost."""
    text("table", **many_heads.count_costs())
    show_source(parameters, many_heads.count_operations)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero = many_heads.make_hero(text, reading)
    layer = many_heads.find_layer(hero, reading)
    show_hero(text, hero, "many heads")
    about = {"heads": layer.heads.num_heads, "d_k": layer.heads.head_dim}
    text("learned_here" if reading.is_small else "other_heads", **about)
    show_reader(reading, has_all_heads=True)
    end_stop(text)
    named = many_heads.count_named_verbs()
    if revealed(text, "contrast", many_heads.ANSWERS, many_heads.answer_contrast(), **named):
        many_heads.show_trainings()
        text("contrast_shown", **named)
    show_chosen("steps", lambda: show_steps(hero, many_heads.find_layer(hero, reading)))
    off = many_heads.list_off(hero, layer)
    hand_over("heads", _("All heads of a layer"), many_heads.compute_heads, layer=layer, off=off)
    go_deeper(text, {"costs": show_costs})


_sentence, reading = ask_about(text, "question", "question_own", has_all_heads=True)
show_lesson(reading)
show_one_sentence(text)
questions = many_heads.recall_remaining_share, many_heads.recall_layer_numbers
check_yourself(text, dict(zip(("share", "numbers"), questions, strict=True)))
