"""A head that wants nothing: where weight goes that no word needs, and what models do about it."""

from explainers.chapters import idle_heads
from explainers.chapters.common.background_job import POLL_SECONDS
from explainers.toys.idle_training import IDLE_STEPS
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


def show_picture(is_watched: bool) -> None:
    """The letters and their arcs; while a head learns here, drawn again and again."""
    choices = idle_heads.make_choices()
    setting, run = choices[0].value, choices[3].value
    here = idle_heads.follow_training(setting, run, is_watched)
    seed = page.read_seed()
    show_hero(text, idle_heads.make_hero(text, choices, here, seed), "idle")
    idle_heads.hand_over_letters(setting, seed, here)


text("question")
is_watched = idle_heads.is_training()
# Elsewhere the page follows the picture: what it asks below stands in the link that changes above.
look = fragment(show_picture, run_every=POLL_SECONDS) if is_watched else show_picture
look(is_watched)
text("learned_here", batches=IDLE_STEPS)
idle_heads.ask_sink(text)
idle_heads.show_row(text)
go_deeper(
    text,
    {
        "growth": lambda: idle_heads.show_growth(text),
        "models": lambda: idle_heads.show_models(text),
    },
)
show_one_sentence(text)
check_yourself(text, {"sink": idle_heads.recall_sink, "cap": idle_heads.recall_cap})
