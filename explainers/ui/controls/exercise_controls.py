"""The choices among exercises; `controls` counts them with the others."""

from explainers.ui.controls.kinds import Choice, Listed
from explainers.ui.controls.links import Control
from explainers.ui.controls.several import Several

kind = Choice("kind", "Kind", "all", ("all", "predict", "reach", "write"))
exercise = Listed("exercise", "Exercise", None, width=230)
done = Several("done", "Done", [], help="Take one off to do it again.")
only = Several("only", "Only these", [], help="None chosen: all of them.")

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
