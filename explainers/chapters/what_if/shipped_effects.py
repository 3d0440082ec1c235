"""What changes do to one text, measured beforehand: seen while the model is loaded."""

import functools
import json
from typing import Any

from explainers.chapters.what_if.before_after import Reading
from explainers.models.changes import Effect
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.shipped_scores import FOLDER, has_other_weights
from explainers.ui.provenance import shipped_run
from explainers.ui.tour_mode import is_tour

FILE = FOLDER / "what_if.json"
MODEL = WHEEL_MODELS[0].id


def read_shipped(model: str) -> Reading | None:
    """The text of this page, if the model is the one that was measured."""
    if model != MODEL or not FILE.is_file():
        return None
    kept = _read_file()
    if has_other_weights(model, kept["fingerprint"]):
        return None
    effects: dict[str, Effect] = kept["effects"]
    measure, origin = (
        (lambda change: effects.get(repr(change))),
        shipped_run(describe_package(model)),
    )
    return Reading(kept["text"], measure, kept["head_dim"], origin, ahead=measure)


def read_stand_in() -> Reading | None:
    """The same for a model that cannot be read here: that it is another one is to be said."""
    shipped = read_shipped(MODEL)
    return shipped._replace(stands_in=WHEEL_MODELS[0].name) if shipped else None


def can_skip_run(model: str, written: str) -> bool:
    """In the tour nobody waits for a model to read what it has read before."""
    shipped = read_shipped(model) if is_tour() else None
    return bool(shipped and shipped.written == written)


def look_ahead(reading: Reading, model: str) -> Reading:
    """With what was measured beforehand of the same model, text and tokens."""
    shipped = None if reading.words else read_shipped(model)
    if not shipped or shipped.written != reading.written:
        return reading
    return reading._replace(ahead=shipped.ahead)


@functools.cache
def _read_file() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    effects = {name: _parse_effect(one) for name, one in kept["effects"].items()}
    return {**kept, "effects": effects}


def _parse_effect(kept: dict[str, Any]) -> Effect:
    before, after = kept["losses"]
    following = [(token, *chances) for token, *chances in kept["next_tokens"]]
    return Effect(tuple(kept["tokens"]), (before, after), kept["divergences"], following)
