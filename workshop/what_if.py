"""Lets SmolLM2 read a text with every change that the picture offers, and keeps the effects."""

import json

from explainers.chapters.what_if.before_after import FILE, MODEL, read_live
from explainers.chapters.what_if.hero import CHANGES, WINDOWS
from explainers.models.changes import count_heads
from explainers.models.registry import resolve_folder
from explainers.models.shipped_scores import compute_fingerprint
from explainers.ui.controls import controls

EVERY_CHANGE = {repr(change): change for _text, change in CHANGES.values()}
EVERY_CHANGE |= {repr(window): window for window in WINDOWS}


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
    kept = {
        "model": MODEL,
        "fingerprint": compute_fingerprint(resolve_folder(MODEL)),
        "text": reading.written,
        "head_dim": reading.head_dim,
        "effects": effects,
    }
    FILE.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    write_shipped()
