"""Controls of *Why did it look there?*: which weight, which bars, and what is taken away."""

from explainers.messages import N_
from explainers.ui.controls.controls import register
from explainers.ui.controls.name_controls import Choice, TextLine
from explainers.ui.controls.number_controls import Counter

CENTRED, RAW = N_("compared"), N_("raw")
NOTHING, FIRST, KEY_THREE, QUERY_THREE = "nothing", "first", "three", "query_three"
EXAMPLES, OWN = "examples", "own"
WHOSE = {EXAMPLES: N_("examples"), OWN: N_("your own")}
"""Whose text is read: one that was read beforehand, or the reader's, by a model that is loaded."""
EXAMPLE = "The young judge met Ann Lee. Ann Lee thanked the young judge."

looked_cell = Choice("why_cell", N_("Weight"), "17.3")
looked_parts = Choice("why_parts", N_("Bars"), CENTRED, (CENTRED, RAW))
looked_removed = Choice("why_removed", N_("Remove"), NOTHING)
"""Besides these three, any bar of the picture: its side and its source."""
looked_text = TextLine("why_text", N_("Text for the model"), EXAMPLE, 400)
looked_layer = Counter("why_layer", N_("Layer, from 0"), 17)
looked_head = Counter("why_head", N_("Head, from 0"), 3)
looked_query = Counter("why_query", N_("Query, position from 0"), 7)
looked_key = Counter("why_key", N_("Key; −1 is the largest"), -1)
looked_whose = Choice("why_whose", N_("Text"), EXAMPLES, tuple(WHOSE))

register(
    *(looked_cell, looked_parts, looked_removed, looked_text, looked_layer, looked_head),
    *(looked_query, looked_key, looked_whose),
)
