"""A memory that does not grow: linear attention, the delta rule, and what a fixed matrix holds."""

from explainers.attention import linear
from explainers.chapters.growing_memory import cards, hero
from explainers.chapters.growing_memory.hero import Story
from explainers.translations import _, get_language
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_how(story: Story) -> None:
    """One pair is written: what its key finds before, what is missing, and what it finds then."""
    title = _("A key is written again")
    step = run_and_hand_over("step", title, hero.write_once_more, story=story)
    text("how", **cards.name_numbers(story, step))
    show_figure(cards.draw_step(story, step), hero.name_origin(story.seed), "step")
    show_source(linear.write_sum, linear.read_state, linear.write_delta)
    text("at_once", **cards.compare_forms(story))
    show_source(linear.linear_attention, linear.find_news, linear.gated_delta_attention)


@fragment
def show_lesson(story: Story) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    show_hero(text, hero.make_hero(text, story), "state")
    hand_over("story", _("Two sentences in one matrix"), hero.write_by_all_rules, story=story)
    cards.ask_trained(text)
    show_how(story)
    shown_below = {
        "fits": lambda: cards.show_fits(text, page.read_seed()),
        "trained": lambda: cards.show_training(text, page.read_seed()),
        "hybrid": lambda: text("hybrid", **cards.name_hybrids()),
        "costs": lambda: cards.show_costs(text),
    }
    go_deeper(text, shown_below)


text("question")
show_lesson(hero.tell_story(get_language()))
show_one_sentence(text)
check_yourself(text, {"size": cards.recall_size, "second": cards.recall_second_value})
