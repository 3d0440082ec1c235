"""How real models read the running sentence, measured beforehand: seen while a model is loaded."""

import functools
import json
from pathlib import Path

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.recording import record_text
from explainers.chapters.inspector.hero import (
    Heads,
    cut_heads,
    load_toy_heads,
    make_still_hero,
    shorten_name,
)
from explainers.chapters.inspector.sentence_run import View
from explainers.models.registry import describe_package
from explainers.models.shipped_scores import (
    has_other_weights,
    is_shipped,
    locate_shipped_scores,
    read_tensors,
)
from explainers.toys.sentence import SENTENCE
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, show_slow_experiment
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.provenance import shipped_run


def find_heads(run: View | None, model: str, sentence: str) -> Heads:
    """The model's heads; before it is loaded, as they were measured, or small ones instead."""
    if run:
        return cut_heads(run.drawn)
    shipped = read_shipped_sentence(model) if sentence == SENTENCE else None
    return shipped or load_toy_heads(model)


def read_shipped_sentence(model: str) -> Heads | None:
    """All heads of a model on the running sentence, if they came with the app."""
    file = locate_shipped_sentence(model)
    if not is_shipped(model, file):
        return None
    heads, fingerprint = _read_file(file)
    if has_other_weights(model, fingerprint):
        return None
    return heads._replace(origin=shipped_run(describe_package(model)), is_shipped=True)


def show_other_model(text: Prose, picture: Hero, sentence: str) -> None:
    """To a class: the heads of a model of the other kind. A sentence of its own takes a run."""
    slow = [one for one in picture.experiments if one.is_slow and is_lecture()]
    for one in slow:
        named = one.choices[controls.real_model.key]

        def obtain(is_wanted: bool, named: str = named) -> Hero | None:
            heads = read_shipped_sentence(named) if sentence == SENTENCE else None
            if not heads and is_wanted and (loaded := obtain_model(named, "other")):
                heads = cut_heads(record_text(loaded, sentence))
            return make_still_hero(heads) if heads else None

        label = _("Load {model} and run it", model=shorten_name(named))
        show_slow_experiment(text, one, obtain, label)


def locate_shipped_sentence(model: str) -> Path:
    """The file of one model."""
    return locate_shipped_scores(model).with_suffix(".sentence.safetensors")


@functools.lru_cache(maxsize=4)
def _read_file(file: Path) -> tuple[Heads, str]:
    tensors, described = read_tensors(file)
    tokens, group_size = tuple(json.loads(described["tokens"])), int(described["group_size"])
    weights, hidden = tensors["weights"].float(), tensors["hidden"]
    heads = Heads(described["name"], "", tokens, weights, hidden, group_size)
    return heads, described["fingerprint"]
