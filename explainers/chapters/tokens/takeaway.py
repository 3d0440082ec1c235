"""To take away: token ids, vectors with their positions, and the two orders."""

from typing import Any

from torch import Tensor

from explainers.attention.positions import Reordered, reorder, sinusoidal
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.byte_pairs import encode, learn_merges
from explainers.toys.layers import build_mask
from explainers.translations import _
from explainers.ui.takeaway_files import take


def encode_byte_pairs(text: str, corpus: str, merges: int) -> dict[str, list[int]]:
    """The ids of the tokens that cut the text, with as many merges as were learned."""
    return {"ids": encode(text, learn_merges(corpus, merges))}


def add_positions(
    words: tuple[str, ...], d_model: int, longest: int, seed: int, places: int
) -> dict[str, Tensor]:
    """E + P = X, and the waves of more positions than the sentence has."""
    x, waves = examples.draw_embeddings(words, d_model, seed), sinusoidal(places, d_model, longest)
    positions = waves[: len(words)].to(x.device)
    return {"E": x, "P": positions, "X": x + positions, "waves": waves}


def add_position(
    words: tuple[str, ...], word: int, d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """The rows of E, P and X of one word."""
    all_words = add_positions(words, d_model, longest, seed, places=len(words))
    return {f"one row of {name}": all_words[name][word] for name in ("E", "P", "X")}


def read_in_two_orders(
    words: tuple[str, ...], d_model: int, head_dim: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """What each token gets in two orders, without positions and with them."""
    x = examples.draw_embeddings(words, d_model, seed)
    order = examples.shuffle_order(len(words), seed)
    head = examples.random_head(d_model, head_dim, head_dim, seed)
    full = build_mask("full", x)
    positions = sinusoidal(len(words), d_model, longest).to(x.device)
    without = reorder(x, 0 * positions, head, full, order)
    with_places = reorder(x, positions, head, full, order)
    return {
        "without, in order": without.before,
        "without, shuffled": without.after,
        "with, in order": with_places.before,
        "with, shuffled": with_places.after,
    }


def take_tokens(text: str, corpus: str, merges: int, ids: list[int]) -> None:
    """The strip of tokens, where it comes from byte pairs."""
    inputs = {"text": text, "corpus": corpus, "merges": merges}
    take("tokens", Recipe(_("Byte pairs"), encode_byte_pairs, inputs, {"ids": ids}))


def take_sum(choices: Any, word: int) -> None:
    """The sum of one word."""
    inputs = {**_collect_inputs(choices), "word": word}
    shown = add_position(**inputs)
    take("one sum", Recipe(_("Embedding + position"), add_position, inputs, shown))


def take_vectors(part: str, choices: Any, x: Tensor, waves: Tensor) -> None:
    """A picture that positions are in; `choices` are those that it was drawn with."""
    here = waves[: len(x)].to(x.device)
    shown = {"E": x, "P": here, "X": x + here, "waves": waves}
    inputs = {**_collect_inputs(choices), "places": len(waves)}
    take(part, Recipe(_("Embedding + position"), add_positions, inputs, shown))


def take_orders(choices: Any, head_dim: int, without: Reordered, with_places: Reordered) -> None:
    """The four tables of two readings."""
    outputs = {"without": without, "with": with_places}
    shown = {f"{name}, in order": each.before for name, each in outputs.items()}
    shown |= {f"{name}, shuffled": each.after for name, each in outputs.items()}
    inputs = {**_collect_inputs(choices), "head_dim": head_dim}
    take("order", Recipe(_("The same words in two orders"), read_in_two_orders, inputs, shown))


def _collect_inputs(choices: Any) -> dict[str, Any]:
    sizes = {"d_model": choices.d_model, "longest": choices.longest}
    return {"words": choices.tokens, **sizes, "seed": choices.seed}
