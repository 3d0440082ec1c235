"""The choices of who compares the heads of a model; `controls` counts them among all choices."""

from explainers.ui.controls.kinds import Choice, Listed
from explainers.ui.controls.links import Control

TWICE, PROSE = "random tokens, twice", "prose"

probe = Choice(
    "probe",
    "Text that the heads read",
    TWICE,
    (TWICE, PROSE),
    help="Random tokens, twice: nothing but the first copy tells what comes. Prose: passages.",
)
score = Listed("head_score", "Score", None, width=280)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
