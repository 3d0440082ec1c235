"""The files of the shipped weights, in 16 bits, and of the word pieces."""

import functools
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from explainers.folders import ASSETS
from explainers.translation.model import Model, list_shapes
from explainers.translation.translator import Translator
from explainers.translation.vocabulary import english_vocabulary, vietnamese_vocabulary

WEIGHTS_FOLDER = ASSETS / "weights"
FIRST_FILE, OTHERS_FILE = (
    WEIGHTS_FOLDER / f"translator{name}.safetensors" for name in ("", "_seeds")
)
"""The pages' translator, which is seed 0, and two more seeds: how much is luck?"""
SEEDS = (0, 1, 2)
MAX_BYTES = 4_000_000
PIECES_KEY = "pieces"


class BrokenWeightsError(RuntimeError):
    """The file of the weights is missing or is not what it should be; the message says what."""


def find_file(seed: int) -> Path:
    """The file with the weights of a seed."""
    if seed not in SEEDS:
        raise ValueError(f"seed {seed}: trained are {', '.join(map(str, SEEDS))}")
    return FIRST_FILE if seed == SEEDS[0] else OTHERS_FILE


@functools.lru_cache(maxsize=len(SEEDS))
def load_translator(seed: int = 0) -> Translator:
    """The trained translator of a seed; raises BrokenWeightsError if its file cannot be used."""
    file, prefix = find_file(seed), f"{seed}."
    tensors = read_tensors(file)
    parameters = {
        name: tensors.get(prefix + name, torch.empty(0)).float() for name in list_shapes()
    }
    wrong_names = [name for name, shape in list_shapes().items() if parameters[name].shape != shape]
    if wrong_names:
        raise BrokenWeightsError(
            f"{file.name} holds another model: {wrong_names[0]} has another shape"
        )
    if not all(parameter.isfinite().all() for parameter in parameters.values()):
        raise BrokenWeightsError(f"{file.name} holds numbers that are not finite")
    return Translator(Model.from_parameters(parameters))


def read_tensors(file: Path) -> dict[str, Tensor]:
    """All tensors of a file; raises BrokenWeightsError if its words are not the lexicon's."""
    if not file.exists():
        hint = "python -m workshop.translation train makes it"
        raise BrokenWeightsError(f"there is no {file.name}: {hint}")
    if file.stat().st_size > MAX_BYTES:
        raise BrokenWeightsError(f"{file.name} is larger than {MAX_BYTES:,} bytes: not our weights")
    try:
        with safe_open(file, framework="pt") as tensor_file:
            if (tensor_file.metadata() or {}).get("words") != join_words():
                raise BrokenWeightsError(f"{file.name} was trained with other words: train again")
            return {name: tensor_file.get_tensor(name) for name in tensor_file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise BrokenWeightsError(f"{file.name} is broken: {error}") from error


def join_words() -> str:
    return " ".join((*english_vocabulary().tokens, *vietnamese_vocabulary().tokens))
