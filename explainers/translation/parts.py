"""What the translator learns, tensor by tensor: names, shapes, and random starts."""

import torch
from torch import Tensor

from explainers.examples import generator
from explainers.translation.vocabulary import english, vietnamese

D_MODEL, NUM_HEADS, HEAD_DIM, HIDDEN, LAYERS = 96, 4, 24, 192, 2
MATRICES = ("w_query", "w_key", "w_value", "w_output")
FEED = ("w_in", "b_in", "w_out", "b_out")
ENCODER, DECODER = (
    [f"{side}.{layer}" for layer in range(LAYERS)] for side in ("encoder", "decoder")
)


def shapes() -> dict[str, tuple[int, ...]]:
    """The name and the shape of everything that is learned."""
    found: dict[str, tuple[int, ...]] = {
        "words": (len(english().tokens), D_MODEL),
        "syllables": (len(vietnamese().tokens), D_MODEL),
    }
    heads = [f"{block}.own" for block in ENCODER + DECODER] + [
        f"{block}.cross" for block in DECODER
    ]
    width = NUM_HEADS * HEAD_DIM
    for name in heads:
        found |= {f"{name}.{matrix}": (D_MODEL, width) for matrix in MATRICES[:3]}
        found[f"{name}.{MATRICES[3]}"] = (width, D_MODEL)
    for block in ENCODER + DECODER:
        sizes = (D_MODEL, HIDDEN), (HIDDEN,), (HIDDEN, D_MODEL), (D_MODEL,)
        found |= {f"{block}.{part}": size for part, size in zip(FEED, sizes, strict=True)}
    norms = [f"{name}.norm" for name in [*heads, *ENCODER, *DECODER, "encoder", "decoder"]]
    for norm in norms:
        found |= {f"{norm}.gain": (D_MODEL,), f"{norm}.shift": (D_MODEL,)}
    return found


def fresh(seed: int) -> dict[str, Tensor]:
    """Random vectors and matrices (Glorot and Bengio 2010); gains are 1, shifts and biases 0."""
    return {name: _drawn(name, shape, seed) for name, shape in shapes().items()}


def _drawn(name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    if len(shape) == 1:
        return torch.ones(shape) if name.endswith("gain") else torch.zeros(shape)
    seeded = generator("translator", seed, name)
    if "." not in name:
        return torch.randn(shape, generator=seeded) / D_MODEL**0.5
    reach = (6 / sum(shape)) ** 0.5
    return (2 * torch.rand(shape, generator=seeded) - 1) * reach
