"""The choices of who compares the heads of a model; `controls` counts them among all choices."""

from explainers.ui.kinds import Choice, Listed
from explainers.ui.links import Control

TWICE, PROSE = "random tokens, twice", "prose"

probe = Choice(
    "probe",
    "Text that the heads read",
    TWICE,
    (TWICE, PROSE),
    help="Random tokens, twice: eight texts of 50 tokens, each said again. Prose: eight passages.",
)
score = Listed("head_score", "Score", None, width=280)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
