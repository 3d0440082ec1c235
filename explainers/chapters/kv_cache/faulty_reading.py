"""The sentence read with caches that have a mistake each, against what would be right."""

from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.faults import append_after, drop_row, forget_offset
from explainers.chapters.kv_cache.reading import CAUSAL, Reading, reading
from explainers.messages import N_

WINDOW = 3
"""Of the mistake with a window: this wide it should be."""
FORGOTTEN, DROPPED = N_("no offset"), N_("row lost")
AFTER, SMALL = N_("too late"), N_("window − 1")


def differences(run: Reading) -> dict[str, Tensor]:
    """Of each mistake, by word, the largest difference from what would be right (tokens,)."""
    right, windowed = run.outputs(CAUSAL), run.outputs(reading(masks.sliding_window(WINDOW)))
    wrong = {
        FORGOTTEN: (run.outputs(forget_offset), right),
        DROPPED: (run.outputs(drop_row), right),
        AFTER: (run.outputs(append_after), right),
        SMALL: (run.ring_outputs(WINDOW - 1, sinks=0), windowed),
    }
    return {name: (a - b).abs().amax(dim=-1) for name, (a, b) in wrong.items()}
