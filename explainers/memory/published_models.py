"""The shapes of published models, from assets/models.json."""

import functools
import json
from decimal import Decimal
from typing import Any

from explainers.folders import ASSETS
from explainers.memory.field_checks import shorten_value
from explainers.memory.layer_groups import LayerGroup, ModelShape, RecurrentState
from explainers.messages import N_

MODEL_FILE = ASSETS / "models.json"
MULTIPLIERS = {"M": 10**6, "B": 10**9, "T": 10**12}


def model_shape(model: str) -> ModelShape:
    """The shape of the published model with that id; raises ValueError for an unknown one."""
    shapes = read_shapes()
    if not isinstance(model, str) or model not in shapes:
        raise ValueError(
            N_(
                "there is no model {model}; there are {models}",
                model=shorten_value(model),
                models=", ".join(shapes),
            )
        )
    return shapes[model]


def list_model_ids() -> tuple[str, ...]:
    """The ids of all published models, family by family."""
    return tuple(read_shapes())


@functools.cache
def read_shapes() -> dict[str, ModelShape]:
    """All shapes by id, read from the file once."""
    entries = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return {entry["id"]: parse_shape(entry) for entry in entries}


def parse_shape(entry: dict[str, Any]) -> ModelShape:
    """A shape from an entry of the file; what the calculators do not use stays in the file."""
    parameters = entry.get("parameters")
    return ModelShape(
        id=entry["id"],
        groups=tuple(map(parse_group, entry["groups"])) if "groups" in entry else None,
        num_heads=entry["num_heads"],
        d_model=entry["d_model"],
        family=entry["family"],
        architecture=entry["architecture"],
        attention=entry["attention"],
        context=entry.get("context"),
        encoder_context=entry.get("encoder_context"),
        nope_dim=entry.get("nope_dim", 0),
        value_dim=entry.get("value_dim", 0),
        parameters=parameters or parse_stated_number(entry.get("parameters_stated")),
        has_exact_parameters=parameters is not None,
        active_parameters=parse_stated_number(entry.get("active_parameters_stated")),
        dtype=entry["dtype"],
        full_layers=tuple(entry.get("full_layers", ())),
        verified=entry["verified"],
        sources=tuple(entry["sources"]),
        notes=(entry["notes"],) if "notes" in entry else (),
    )


def parse_group(entry: dict[str, Any]) -> LayerGroup:
    """A group of layers from the file."""
    state = tuple(RecurrentState(**state_entry) for state_entry in entry.get("state", ()))
    return LayerGroup(**{**entry, "state": state})


def parse_stated_number(text: str | None) -> int | None:
    """A stated number of parameters such as `3.88B (text)`, as 3,880,000,000."""
    if text is None:
        return None
    digits, multiplier = text.split()[0][:-1], MULTIPLIERS[text.split()[0][-1]]
    return int(Decimal(digits) * multiplier)
