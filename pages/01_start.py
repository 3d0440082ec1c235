"""Attention in one picture: whom each word looks at, and how that comes about."""

from collections.abc import Callable

from explainers.attention.single_head import project
from explainers.attention.steps import OPERATIONS, attention_steps
from explainers.chapters.common.choose_layer import choose_sizes, name_layer_origin
from explainers.chapters.common.one_head import make_explainer, read_head, take_head
from explainers.chapters.common.sentence_reading import Reading, ask_about, show_reader
from explainers.chapters.exercises.predict import a_mixture
from explainers.chapters.start.changed_ending import draw_both_endings, replace_ending
from explainers.chapters.start.doors import show_doors
from explainers.chapters.start.hero import make_hero, recall_remaining_weight
from explainers.toys.layers import Layer
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.training import POOL_SENTENCES
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import explore_figure, show_clickable_figure
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.panels import Cell, View, orient_panels
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop
from explainers.ui.untrusted_text import verbatim

text = page.Prose(__file__)
SCORES, AFTER = "pages/04_scores.py", ("products", "scores", "masked", "weights", "output")
PAGES = {"X": "pages/02_tokens.py", **dict.fromkeys("QKV", "pages/03_query_key_value.py")}
SEVEN = ("X", "Q", "K", "V", "scores", "weights", "output")
Draw = Callable[..., tuple[str, Cell | None]]
NINE = ("X", "Q", "K", "V", *AFTER)


@fragment
def show_all_words(layer: Layer, names: tuple[str, ...], draw: Draw) -> None:
    """The computation for all words, a matrix per step."""
    one_head = read_head(layer)
    panels = [one_head.panel(name, "→" if name in {"Q", *AFTER} else "", True) for name in names]
    panels, working = orient_panels(panels, page.has_queries_down()), make_explainer(one_head)
    alt = _("One head of attention, a matrix per step, from the tokens to the output.")
    opened, _unused = draw(panels, working, name_layer_origin(layer), f"{len(names)} matrices", alt)
    take_all_words(layer)
    page.open_page(opened and PAGES.get(opened, SCORES), step=opened)


def take_all_words(layer: Layer) -> None:
    """Every matrix of the head, for the page's files."""
    take_head(_("One head, every matrix"), layer, read_head(layer).numbers)


def show_seven_steps(layer: Layer, mask: str) -> None:
    """The computation that the picture at the top follows for one word."""
    text("steps")
    names = tuple("masked" if name == "scores" and mask != "full" else name for name in SEVEN)
    show_all_words(layer, names, show_clickable_figure)


def show_other_ending(layer: Layer) -> None:
    """What the other words get when the last word is another one, under the causal mask."""
    endings, words = replace_ending(layer), len(layer.tokens)
    last, new = (verbatim(one.tokens[-1]) for one in endings)
    changed = f"{endings.count_changed_rows()}"
    ask_veiled(text, "ending", changed, ["0", f"{words}"], words=words, last=last, new=new)
    draw_both_endings(endings, name_layer_origin(layer))


def show_sizes(reading: Reading, mask: str) -> None:
    """One head of any size, in nine matrices, under the mask that was chosen above."""
    sizes = choose_sizes(reading, mask)
    queries_down = page.has_queries_down()

    def look(layer: Layer) -> View:
        one_head = read_head(layer)
        panels = [one_head.panel(name, "→" if name in {"Q", *AFTER} else "", True) for name in NINE]
        return View(orient_panels(panels, queries_down), make_explainer(one_head))

    slider = sizes.make_slider(look)
    alt = _("One head of attention, a matrix per step, from the tokens to the output.")
    origin = name_layer_origin(sizes.layer)
    opened, _unused = explore_figure(*slider.view, origin, "9 matrices", alt, view_slider=slider)
    take_head(_("One head, every matrix"), sizes.layer, read_head(sizes.layer).numbers)
    page.open_page(opened and PAGES.get(opened, SCORES), step=opened)


@fragment
def show_lesson(reading: Reading, written: str) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero = make_hero(text, reading, written)
    show_hero(text, hero, "journey")
    end_stop(text)
    if reading.is_small:
        text("learned_here", sentences=f"{POOL_SENTENCES:,}")
    show_reader(reading)
    rule = hero.chosen(controls.mask)
    layer = reading.layer(rule)
    show_doors(text)
    text("promise")
    show_source(project, attention_steps, *sum(OPERATIONS.values(), ()))
    take_all_words(layer)
    go_deeper(
        text,
        {
            "all_words": lambda: show_seven_steps(layer, rule),
            "ending": lambda: show_other_ending(
                load_readable_layer(reading.known, rule, FILM_SEED)
            ),
            "sizes": lambda: show_sizes(reading, rule),
        },
    )


sentence, reading = ask_about(text, "question", "question_own")
show_lesson(reading, sentence.text)
show_one_sentence(text)
check_yourself(text, {"weights": recall_remaining_weight, "output": a_mixture})
