"""To take away: token ids, vectors with their positions, and the two orders."""

from typing import Any

from torch import Tensor

from explainers.attention.positions import sinusoidal
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.byte_pairs import encode, learn_merges
from explainers.translations import _
from explainers.ui.takeaway_files import take


def encode_byte_pairs(text: str, corpus: str, merges: int) -> dict[str, list[int]]:
    """The ids of the tokens that cut the text, with as many merges as were learned."""
    return {"ids": encode(text, learn_merges(corpus, merges))}


def add_positions(
    words: tuple[str, ...], d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """E + P = X."""
    x = examples.draw_embeddings(words, d_model, seed)
    positions = sinusoidal(len(words), d_model, longest).to(x.device)
    return {"E": x, "P": positions, "X": x + positions}


def add_position(
    words: tuple[str, ...], word: int, d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """The rows of E, P and X of one word."""
    all_words = add_positions(words, d_model, longest, seed)
    return {f"one row of {name}": all_words[name][word] for name in ("E", "P", "X")}


def take_tokens(text: str, corpus: str, merges: int, ids: list[int]) -> None:
    """The strip of tokens, where it comes from byte pairs."""
    inputs = {"text": text, "corpus": corpus, "merges": merges}
    take("tokens", Recipe(_("Byte pairs"), encode_byte_pairs, inputs, {"ids": ids}))


def take_sum(choices: Any, word: int) -> None:
    """The sum of one word."""
    inputs = {**_collect_inputs(choices), "word": word}
    shown = add_position(**inputs)
    take("one sum", Recipe(_("Embedding + position"), add_position, inputs, shown))


def take_vectors(choices: Any) -> None:
    """The sum of every word, with the choices of the picture of clock hands."""
    inputs = _collect_inputs(choices)
    title = _("Embedding + position")
    take("clock", Recipe(title, add_positions, inputs, add_positions(**inputs)))


def _collect_inputs(choices: Any) -> dict[str, Any]:
    sizes = {"d_model": choices.d_model, "longest": choices.longest}
    return {"words": choices.tokens, **sizes, "seed": choices.seed}
