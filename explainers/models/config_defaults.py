"""What transformers fills in where a config.json says nothing: its configuration classes.

Only the classes of the installed package are used, never code that a model brings along.
"""

import functools
import json
from collections.abc import Mapping
from typing import Any

MAX_LAYERS, LAYERS = 1_000, ("layer", "layers")
MAX_NUMBER = 2_000_000
"""Classes make lists as long as some of their numbers say: no number may be larger."""
OF_LAYERS = "per_layer_config"
"""What a class may say of single layers, such as Gemma 4's global ones."""
UNSEEN_FIELDS = {"num_labels", "torch_dtype", "name_or_path", "_name_or_path", OF_LAYERS}
"""Besides those that every class has: none of them says anything about layers."""
MAX_LENGTH = 1_000
"""Entries of a list, letters of a text."""


def find_class_defaults(
    config: Mapping[str, Any], outer_type: str = ""
) -> tuple[str, dict[str, Any]]:
    """The name of the class that reads a text model's fields, and all fields as it fills them in.

    `outer_type` is the `model_type` around a nested text model. Nothing where transformers knows
    no such class or the class refuses the fields.
    """
    own_type = config.get("model_type")
    plain = {name: value for name, value in config.items() if _is_plain(value)}
    counts = [value for name, value in plain.items() if name.endswith(LAYERS)]
    if any(type(count) is int and count > MAX_LAYERS for count in counts):
        return "", {}
    names = tuple(name[:80] for name in (own_type, outer_type) if isinstance(name, str) and name)
    class_name, filled = _fill(names, json.dumps(plain, sort_keys=True))
    return class_name, json.loads(filled)


def _is_plain(value: object) -> bool:
    """Whether a class may see it: nothing large, nothing nested."""
    if isinstance(value, list):
        return len(value) <= MAX_LENGTH and all(map(_is_scalar, value))
    return _is_scalar(value)


def _is_scalar(value: object) -> bool:
    if isinstance(value, int | float):
        return -MAX_NUMBER <= value <= MAX_NUMBER
    return isinstance(value, str) and len(value) <= MAX_LENGTH


@functools.lru_cache(maxsize=64)
def _fill(names: tuple[str, ...], plain: str) -> tuple[str, str]:
    """The class's name and its fields; kept, as a page reads the same file at every rerun."""
    try:  # the first paint needs no transformers, nor does a command line without it
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES
    except ImportError:
        return "", "{}"

    for name in names:
        if name in CONFIG_MAPPING_NAMES:
            config_class: Any = CONFIG_MAPPING[name]
            nested = getattr(config_class, "sub_configs", {}).get("text_config")
            config_class = nested if nested and hasattr(nested, "model_type") else config_class
            if fields := _read_with(config_class, json.loads(plain)):
                return config_class.__name__, json.dumps(fields)
    return "", "{}"


def _read_with(config_class: Any, plain: dict[str, Any]) -> dict[str, Any]:
    """The fields as the class has them; nothing where it refuses what the file says."""
    from transformers import PreTrainedConfig, logging

    unseen = UNSEEN_FIELDS | {*PreTrainedConfig.__dataclass_fields__}
    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)  # what a reader pastes belongs in no log
    try:
        filled = config_class(**{name: plain[name] for name in plain.keys() - unseen})
        fields = {**filled.to_dict(), "layer_types": getattr(filled, "layer_types", None)}
    except Exception:  # each class refuses in its own way, and the file alone must do then
        return {}
    finally:
        logging.set_verbosity(verbosity)
    changes = fields.get(OF_LAYERS)
    plain_fields = {name: value for name, value in fields.items() if _is_plain(value)}
    if isinstance(changes, dict) and all(
        isinstance(one, dict) and all(map(_is_scalar, one.values())) for one in changes.values()
    ):
        plain_fields[OF_LAYERS] = changes
    return plain_fields
