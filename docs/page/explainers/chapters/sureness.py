"""How sure a word is of where it looks: the entropy of its row of weights, in bits."""

from random import Random

from torch import Tensor, zeros

from explainers.attention.scaling import with_temperature
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.one_head import attend
from explainers.chapters.common.sentence_reading import Reading
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, HeroChoice, make_weight_table, round_numbers
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.takeaway_files import run_and_hand_over

DIVISORS = 1, 2, 4, 8, 16


def measure_bits(products: Tensor, divisor: float) -> dict[str, Tensor]:
    """Each word's weights, and their entropy (Shannon 1948); a weight of 0 adds nothing to it."""
    weights = with_temperature(products, divisor)
    return {"weights": weights, "bits": (weights * (1 / weights).log2()).nansum(dim=-1)}


def make_hero(text: Prose, reading: Reading) -> Hero:
    """The four steps of a head with a divisor to drag."""
    layer, word = reading.layer(), reading.choose_word()
    divisor = HeroChoice.read(controls.divided_by, DIVISORS, opening=DIVISORS[1])
    views, steps = attend(layer)
    products, value = round_numbers(steps.products), round_numbers(views.value)
    numbers = {"tokens": list(layer.tokens), "products": products, "value": value}
    return Hero(
        "four_steps",
        _("Four steps from the products of one word's query to its output."),
        numbers | {"temperatures": list(DIVISORS), "root": DIVISORS[1]} | reading.marks,
        [word, divisor, *reading.choose_marks()],
        ("hero_caption", "hero_two", "hero_one", "hero_spread", "hero_only", *reading.sentences),
        origin=name_layer_origin(layer),
        table=lambda: make_weight_table(layer.tokens, steps.weights.tolist()),
    )


def name_bits(hero: Hero, reading: Reading) -> dict[str, str]:
    """The bits of the followed word, under the divisor that is chosen."""
    layer, word = reading.layer(), hero.chosen(controls.followed_word)
    inputs = {"products": attend(layer)[1].products, "divisor": hero.chosen(controls.divided_by)}
    found = run_and_hand_over("bits", _("Bits of every word"), measure_bits, **inputs)
    bits = found["bits"][word].item()
    return {"word": layer.tokens[word], "bits": f"{bits:.2f}", "equal": f"{2**bits:.1f}"}


def recall_even(draw: Random) -> Recall:
    """The bits of equal weights."""
    count = draw.choice([2, 4, 8, 16])
    return Recall(measure_bits(zeros(count), 1)["bits"].item(), {"count": f"{count}"})
