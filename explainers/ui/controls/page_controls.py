"""The choices that belong to single pages, for those who need all of them."""

from explainers.ui.controls import (
    claim_controls,
    cross_controls,
    exercise_controls,
    gallery_controls,
    lecture_controls,
    length_controls,
    memory_controls,
    real_controls,
    what_controls,
)

MODULES = (
    cross_controls,
    length_controls,
    memory_controls,
    claim_controls,
    exercise_controls,
    gallery_controls,
    lecture_controls,
    real_controls,
    what_controls,
)
ALL = sum((module.ALL for module in MODULES), ())
