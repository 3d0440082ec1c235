"""Multi-head attention: each head has a row of weights of its own, and what they find is added."""

from explainers.chapters import many_heads as cards
from explainers.chapters.common.sentence_reading import Reading, ask_about, show_reader
from explainers.translations import _
from explainers.ui import page
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero = cards.make_hero(text, reading)
    layer = cards.find_layer(hero, reading)
    show_hero(text, hero, "many heads")
    about = {"heads": layer.heads.num_heads, "d_k": layer.heads.head_dim}
    text("learned_here" if reading.is_small else "other_heads", **about)
    end_stop(text)
    show_reader(reading, has_all_heads=True)
    cards.ask_contrast(text)
    show_chosen("steps", lambda: cards.show_steps(text, hero, cards.find_layer(hero, reading)))
    off = cards.list_off(hero, layer)
    hand_over("heads", _("All heads of a layer"), cards.compute_heads, layer=layer, off=off)
    go_deeper(text, {"costs": lambda: cards.show_costs(text)})


_sentence, reading = ask_about(text, "question", "question_own", has_all_heads=True)
show_lesson(reading)
show_one_sentence(text)
check_yourself(text, {"share": cards.recall_remaining_share, "numbers": cards.recall_layer_numbers})
