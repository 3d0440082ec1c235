"""The shapes of published models, and of any model whose config.json a reader has."""

import functools
import json
from decimal import Decimal
from typing import Any

from explainers.folders import ASSETS
from explainers.memory.layer_groups import LayerGroup, ModelShape, State
from explainers.memory.read_config import read_config, read_config_file
from explainers.memory.sizes import shown
from explainers.messages import N_

__all__ = [
    "LayerGroup",
    "ModelShape",
    "model_ids",
    "model_shape",
    "read_config",
    "read_config_file",
]

FILE = ASSETS / "models.json"
TIMES = {"M": 10**6, "B": 10**9, "T": 10**12}


def model_shape(model: str) -> ModelShape:
    """The published model of that id, as in assets/models.json."""
    shapes = published()
    if not isinstance(model, str) or model not in shapes:
        raise ValueError(
            N_(
                "there is no model {model}; there are {models}",
                model=shown(model),
                models=", ".join(shapes),
            )
        )
    return shapes[model]


def model_ids() -> tuple[str, ...]:
    """The ids of all published models, family by family."""
    return tuple(published())


@functools.cache
def published() -> dict[str, ModelShape]:
    """id: shape, read from the file once."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return {entry["id"]: shape_of(entry) for entry in entries}


def shape_of(entry: dict[str, Any]) -> ModelShape:
    """A shape from an entry of the file; what the calculators do not use stays in the file."""
    exact = entry.get("parameters")
    return ModelShape(
        id=entry["id"],
        groups=tuple(map(group_of, entry["groups"])) if "groups" in entry else None,
        num_heads=entry["num_heads"],
        d_model=entry["d_model"],
        family=entry["family"],
        architecture=entry["architecture"],
        attention=entry["attention"],
        context=entry.get("context"),
        encoder_context=entry.get("encoder_context"),
        nope_dim=entry.get("nope_dim", 0),
        value_dim=entry.get("value_dim", 0),
        parameters=exact or stated(entry.get("parameters_stated")),
        parameters_are_exact=exact is not None,
        active_parameters=stated(entry.get("active_parameters_stated")),
        dtype=entry["dtype"],
        full_layers=tuple(entry.get("full_layers", ())),
        verified=entry["verified"],
        sources=tuple(entry["sources"]),
        notes=(entry["notes"],) if "notes" in entry else (),
    )


def group_of(entry: dict[str, Any]) -> LayerGroup:
    """A group of layers from the file."""
    state = tuple(State(**part) for part in entry.get("state", ()))
    return LayerGroup(**{**entry, "state": state})


def stated(number: str | None) -> int | None:
    """`3.88B (text)` as 3,880,000,000: exact as far as it was stated."""
    if number is None:
        return None
    digits, times = number.split()[0][:-1], TIMES[number.split()[0][-1]]
    return int(Decimal(digits) * times)
