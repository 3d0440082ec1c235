"""Which class of transformers a folder is loaded as: one that transformers itself lists."""

from pathlib import Path
from typing import Any

import torch

from explainers.models.registry import ModelError
from explainers.phrase import phrase

TABLES = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
)
"""Where transformers lists the classes of each kind; last those without an output layer."""


def class_name(named: str, config: dict[str, Any]) -> str:
    """The class that the model was saved from, if transformers lists it for its type."""
    from transformers.models.auto import modeling_auto

    family, saved = config.get("model_type"), config.get("architectures")
    classes: list[str] = []
    for table in TABLES:
        listed = getattr(modeling_auto, table).get(str(family), ())
        classes += [listed] if isinstance(listed, str) else listed
    if not classes:
        raise ModelError(
            phrase(
                "{model} is a “{family}”, which is no model of text that we know.",
                model=named,
                family=family,
            )
        )
    first = saved[0] if isinstance(saved, list) and saved else None
    return first if first in classes else classes[-1]


def described(kind: Any, folder: Path) -> int:
    """How many numbers the configuration asks for, which may be more than the files hold."""
    config = kind.config_class.from_pretrained(folder, local_files_only=True)
    with torch.device("meta"):  # sizes without memory
        return sum(parameter.numel() for parameter in kind(config).parameters())
