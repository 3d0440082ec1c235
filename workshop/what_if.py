"""Lets SmolLM2 read a text with every change that the picture offers, and keeps the effects."""

from explainers.chapters.what_if.hero import CHANGES, EFFECTS, MODEL, WINDOWS, read_live
from explainers.models.changes import count_heads
from explainers.ui.controls import controls
from workshop.keep import keep_of_model

EVERY_CHANGE = {repr(change): change for _text, change in CHANGES.values()}
EVERY_CHANGE |= {repr(window): window for window in WINDOWS}
TOLERANCE = {"losses": 0.1, "mean loss with a rounded cache": 0.15}
"""Nats; another processor's last bit decides which level a number of the cache goes to."""


def write_shipped() -> None:
    """Let the model read the text with every change that the picture offers."""
    from explainers.models.load import load_model

    loaded = load_model(MODEL)
    reading = read_live(loaded, controls.CAPITALS, count_heads(loaded).head_dim)
    effects = {}
    for name, change in EVERY_CHANGE.items():
        effect = reading.measure(change)
        if effect is None:
            raise SystemExit(f"{MODEL} cannot be read with {name}")
        effects[name] = effect._asdict()
    numbers = {"text": reading.written, "head_dim": reading.head_dim, "effects": effects}
    keep_of_model(EFFECTS, MODEL, "python -m workshop.what_if", TOLERANCE, numbers)


if __name__ == "__main__":
    write_shipped()
