"""A memory that does not grow: linear attention, the delta rule, and what a fixed matrix holds."""

from explainers.chapters.growing_memory import cards, hero
from explainers.chapters.growing_memory.hero import Story
from explainers.translations import _, get_language
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson(story: Story) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    show_hero(text, hero.make_hero(text, story), "state")
    hand_over("story", _("Two sentences in one matrix"), hero.write_by_all_rules, story=story)
    cards.ask_trained(text)
    cards.show_step(text, story)
    shown_below = {
        "fits": lambda: cards.show_fits(text, page.read_seed()),
        "trained": lambda: cards.show_training(text, page.read_seed()),
        "hybrid": lambda: cards.show_hybrid(text),
        "costs": lambda: cards.show_costs(text),
    }
    go_deeper(text, shown_below)


text("question")
show_lesson(hero.tell_story(get_language()))
show_one_sentence(text)
check_yourself(text, {"size": cards.recall_size, "second": cards.recall_second_value})
