"""The switch for a lecture room; `controls` counts it with the others."""

from explainers.ui.controls.kinds import Switch
from explainers.ui.controls.links import Control

lecture = Switch(
    "lecture",
    "Lecture mode",
    False,
    help="For a projector: large, one idea per screen, steps by → ← and space. The key L turns it "
    "on and off.",
)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
