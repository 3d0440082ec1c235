"""The trained weights as they are shipped: in 16 bits, the word pieces' model beside them."""

import functools
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from explainers.folders import ASSETS
from explainers.translation.model import Model, fresh, shapes
from explainers.translation.translator import Translator
from explainers.translation.vocabulary import english, vietnamese

FOLDER = ASSETS / "weights"
FIRST, OTHERS = (FOLDER / f"translator{name}.safetensors" for name in ("", "_seeds"))
"""The pages' translator, which is seed 0, and two more seeds: how much is luck?"""
SEEDS = (0, 1, 2)
MOST_BYTES = 4_000_000
PIECES = "pieces"


class BrokenWeightsError(RuntimeError):
    """The file of the weights is missing or is not what it should be; the message says what."""


def file_of(seed: int) -> Path:
    """Where the weights of a seed are kept."""
    if seed not in SEEDS:
        raise ValueError(f"seed {seed}: trained are {', '.join(map(str, SEEDS))}")
    return FIRST if seed == SEEDS[0] else OTHERS


@functools.lru_cache(maxsize=len(SEEDS))
def load(seed: int = 0) -> Translator:
    """The trained translator of a seed; raises BrokenWeightsError if its file cannot be used."""
    file, prefix = file_of(seed), f"{seed}."
    kept = stored(file)
    parts = {name: kept.get(prefix + name, torch.empty(0)).float() for name in shapes()}
    wrong = [name for name, shape in shapes().items() if parts[name].shape != shape]
    if wrong:
        raise BrokenWeightsError(f"{file.name} holds another model: {wrong[0]} has another shape")
    if not all(part.isfinite().all() for part in parts.values()):
        raise BrokenWeightsError(f"{file.name} holds numbers that are not finite")
    return Translator(Model.of(parts))


def untrained(seed: int = 0) -> Translator:
    """The translator before it has learned anything."""
    return Translator(Model.of(fresh(seed)))


def stored(file: Path) -> dict[str, Tensor]:
    """All tensors of a file, whose words must be those of the lexicon."""
    if not file.exists():
        made = "python -m explainers.translation train makes it"
        raise BrokenWeightsError(f"there is no {file.name}: {made}")
    if file.stat().st_size > MOST_BYTES:
        raise BrokenWeightsError(
            f"{file.name} is larger than {MOST_BYTES:,} bytes: not our weights"
        )
    try:
        with safe_open(file, framework="pt") as opened:
            if (opened.metadata() or {}).get("words") != _words():
                raise BrokenWeightsError(f"{file.name} was trained with other words: train again")
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise BrokenWeightsError(f"{file.name} is broken: {error}") from error


def keep(seed: int, parts: Mapping[str, Tensor], pieces: bytes = b"") -> None:
    """Put the weights of a seed into its file, in 16 bits; other seeds in it stay."""
    file, prefix = file_of(seed), f"{seed}."
    try:
        others = stored(file)
    except BrokenWeightsError:
        others = {}
    tensors = {name: part for name, part in others.items() if not name.startswith(prefix)}
    tensors |= {prefix + name: part.detach().half() for name, part in parts.items()}
    if pieces:
        tensors[PIECES] = torch.frombuffer(bytearray(pieces), dtype=torch.uint8)
    save_file({name: tensors[name] for name in sorted(tensors)}, file, {"words": _words()})
    file.chmod(0o644)  # safetensors leaves it to its owner alone
    load.cache_clear()


def _words() -> str:
    return " ".join((*english().tokens, *vietnamese().tokens))
