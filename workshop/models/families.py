"""Every class of language models in transformers, tried with our attention inside."""

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from explainers.folders import ROOT
from explainers.messages import get_message
from explainers.models.attention_hook import find_linear_layers, install_hook, run_model
from explainers.models.changes import Temperature
from explainers.models.comparison import measure_difference, measure_effect
from workshop.models.family_sizes import make_inputs, make_tiny_model

TOLERANCE = 1e-4
"""The largest difference that counts as equal, as a share of the largest number there."""
FLATTER = Temperature(temperature=3.0)
LEAST_EFFECT = 1e-2
"""What a temperature of 3 must change, as a share: else equality would say nothing."""
FAMILIES_FILE = ROOT / "docs" / "families.md"

_DRAFT = "drafts for a larger model and reads that model's keys and values: it never runs alone"
NEVER_ALONE = {"gemma4_assistant": _DRAFT, "gemma4_unified_assistant": _DRAFT}
"""Families that cannot be run on a text, and why."""
NEEDED_PACKAGES = {"gemma3n": "timm"}
"""Families of which a part comes from a package that the app does not have."""


class Family(NamedTuple):
    """A class that transformers lists for language models, under the name of its configuration."""

    model_type: str
    class_name: str


class Trial(NamedTuple):
    """What came of putting our attention into a tiny random model of a family.

    `difference` is relative, the largest of all layers' weights and the output; None if refused,
    and then `reason` is a sentence. `num_layers` counts the layers where our function ran,
    `num_linear` those of linear attention beside them.
    """

    family: Family
    difference: float | None
    num_layers: int
    num_linear: int
    reason: str


def list_families() -> list[Family]:
    """All classes for causal language models of the installed transformers, in its order."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return [Family(*row) for row in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items()]


def try_family(family: Family) -> Trial:
    """Build a tiny model, put our attention into it, and compare with the model's own.

    Raises AssertionError if the two differ, or if attention changes nothing: then the family must
    be refused, and is not.
    """
    package = NEEDED_PACKAGES.get(family.model_type)
    if family.model_type in NEVER_ALONE:
        return refuse_family(family, NEVER_ALONE[family.model_type])
    if package and not importlib.util.find_spec(package):
        return refuse_family(family, f"needs the package {package}, which the app does not have")
    import transformers

    model = make_tiny_model(family.model_type, getattr(transformers, family.class_name))
    inputs = make_inputs(model)
    try:
        install_hook(model)
        num_layers = len(run_model(model, **inputs).layers)
    except ValueError as error:
        return refuse_family(family, str(get_message(error)).partition("\n")[0])
    difference, effect = measure_difference(model, inputs), measure_effect(model, inputs, FLATTER)
    if not difference <= TOLERANCE or effect < LEAST_EFFECT:
        raise AssertionError(f"{family}: {difference:.1e} apart, and a change moves {effect:.1e}")
    num_linear = len(find_linear_layers(model))
    return Trial(family, difference, num_layers, num_linear, "")


def refuse_family(family: Family, reason: str) -> Trial:
    """The trial of a family that cannot have our attention."""
    return Trial(family, None, 0, 0, reason)


def try_families(families: Iterable[Family], report: Callable[[Trial], None]) -> list[Trial]:
    """Try some families one after the other, and report each."""
    trials = []
    for family in families:
        trials.append(try_family(family))
        report(trials[-1])
    return trials


def describe_trial(trial: Trial) -> str:
    """One line of plain text."""
    if trial.difference is None:
        return f"{trial.family.model_type}: refused, {trial.reason}"
    return f"{trial.family.model_type}: equal, {trial.difference:.0e} apart"


def encode_trials(trials: list[Trial]) -> str:
    """The trials as JSON, a list of objects."""
    rows = [trial.family._asdict() | trial._asdict() for trial in trials]
    return json.dumps([row for row in rows if row.pop("family")], indent=1)


def write_families(trials: list[Trial]) -> str:
    """The page of the documentation: what is equal, and what is refused and why."""
    import transformers

    equal = [trial for trial in trials if trial.difference is not None]
    refused = [trial for trial in trials if trial.difference is None]
    classes = Counter(trial.family.class_name for trial in trials)
    rows = [
        f"| {t.family.model_type} | {t.family.class_name} | {t.difference:.0e} | {say_layers(t)} |"
        for t in equal
    ]
    reasons = [f"| {t.family.model_type} | {t.family.class_name} | {t.reason} |" for t in refused]
    lines = [
        "# Model families",
        "",
        f"The causal language models of transformers {transformers.__version__}: {len(trials)} "
        f"families of {len(classes)} classes. In {len(equal)} of them our attention gives what "
        f"the model's own gives; {len(refused)} are refused, and why is said.",
        "",
        "Each was built with a few small layers and random weights, and read two texts of",
        "different lengths. The difference is the largest of all attention weights and outputs,",
        f"divided by the largest number there; up to {TOLERANCE:.0e} counts as equal. As a check,",
        f"a temperature of 3 must move the output by at least {100 * LEAST_EFFECT:.0f} %.",
        "A model of your own: `python -m workshop.models check OWNER/NAME`.",
        "",
        "This page is written by a command:",
        "",
        "    python -m workshop.models families --write",
        "",
        "## Equal",
        "",
        "| Family | Class | Difference | Layers with our attention |",
        "|---|---|---|---|",
        *rows,
        "",
        "## Refused",
        "",
        "| Family | Class | Why |",
        "|---|---|---|",
        *reasons,
    ]
    return "\n".join(lines) + "\n"


def say_layers(trial: Trial) -> str:
    """How many layers ran our function, and how many have no weights to compute."""
    linear = f", beside {trial.num_linear} of linear attention" if trial.num_linear else ""
    return f"{trial.num_layers}{linear}"
