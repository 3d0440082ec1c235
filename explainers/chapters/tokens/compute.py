"""Token ids, and vectors with their positions."""

from torch import Tensor

from explainers.attention.positions import sinusoidal
from explainers.toys import examples
from explainers.toys.byte_pairs import encode, learn_merges


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
