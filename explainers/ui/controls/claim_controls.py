"""The choices among claims; `controls` counts them with the others."""

from explainers.ui.controls.described import Described
from explainers.ui.controls.kinds import Choice
from explainers.ui.controls.links import Control

SIZE = "size_"
"""Keys of what one claim speaks of begin with this: each has sizes of its own."""

about = Choice("about", "Claims about", "scores")
claim = Described("claim", "What people write", None)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
