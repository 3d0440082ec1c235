"""The choices that belong to single pages, for those who need all of them."""

from explainers.ui import (
    claim_controls,
    cross_controls,
    exercise_controls,
    gallery_controls,
    length_controls,
    memory_controls,
    real_controls,
    what_controls,
)

ALL = (
    *cross_controls.ALL,
    *length_controls.ALL,
    *memory_controls.ALL,
    *claim_controls.ALL,
    *exercise_controls.ALL,
    *gallery_controls.ALL,
    *real_controls.ALL,
    *what_controls.ALL,
)
