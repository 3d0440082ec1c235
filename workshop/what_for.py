"""What attention is for: the next word that a real model expects, and where words see none but
themselves.

`python -m workshop.what_for` measures again and writes the file.
"""

from typing import TYPE_CHECKING, Any

from explainers.models.changes import Window, measure_effect
from explainers.models.registry import WHEEL_MODELS
from explainers.toys.grammar import read_running
from explainers.translations import ENGLISH
from explainers.ui.page_parts.first_picture import MEASURED
from workshop.keep import keep_of_model

if TYPE_CHECKING:
    from explainers.models.load import RealModel

MODEL = WHEEL_MODELS[0]
WITHOUT_ATTENTION = Window(width=1)
"""Each token sees itself alone, so that nothing comes from another word."""
TOLERANCE = {"probabilities": 1e-3}


def measure(loaded: "RealModel") -> dict[str, Any]:
    """The running sentence up to its last word, read with attention and without."""
    written = " ".join(read_running(ENGLISH).tokens[:-1])
    effect = measure_effect(loaded, written, [WITHOUT_ATTENTION])
    return {"text": written, "next_tokens": effect.next_tokens}


def write() -> None:
    """Measure, and keep it for the page."""
    from explainers.models.load import load_model

    numbers = measure(load_model(MODEL.id))
    keep_of_model(MEASURED, MODEL.id, "python -m workshop.what_for", TOLERANCE, numbers)


if __name__ == "__main__":
    write()
