"""The choices of who changes a real model; `controls` counts them among all choices."""

from explainers.phrase import phrase
from explainers.ui.controls.counter import Counter
from explainers.ui.controls.kinds import Choice, Ladder, Listed, Switch, Whole
from explainers.ui.controls.links import Control
from explainers.ui.controls.named import Named
from explainers.ui.controls.several import Listing, Several

UNSCALED, TEMPERATURE, WINDOW = phrase("no √d_k"), phrase("temperature"), phrase("window")
NOT_CAUSAL, FIRST_HIDDEN = phrase("no causal mask"), phrase("first token hidden")
HEADS_OFF, FEWER_KV_HEADS = phrase("heads off"), phrase("fewer KV heads")
UNIFORM, HARD, QUANTISED = phrase("uniform"), phrase("argmax"), phrase("few bits")
CHANGES = (
    *(UNSCALED, TEMPERATURE, WINDOW, NOT_CAUSAL, FIRST_HIDDEN),
    *(HEADS_OFF, FEWER_KV_HEADS, UNIFORM, HARD, QUANTISED),
)
ALL_LAYERS, FIRST_HALF, SECOND_HALF, ONE_LAYER = "all", "first half", "second half", "one"
NAMED, BY_ROLE, DRAWN = "named", "by role", "drawn at random"
CAPITALS = (
    "The capital of France is Paris. The capital of Italy is Rome. The capital of Spain is Madrid. "
    "The capital of Japan is"
)

text = Named(
    "what_text",
    "Text for the model",
    CAPITALS,
    2_000,
    help="The model reads it and says what comes next. Every token but the first counts for the "
    "loss. An empty text stands for the one about capitals.",
)
changes = Several(
    "changes",
    "Changes",
    (FIRST_HIDDEN,),
    help="Choose one or several: they are made in this order, in this run, and for nobody else.",
)
temperature = Ladder(
    "what_temperature",
    "Temperature",
    4,
    (0.125, 0.25, 0.5, 1, 2, 4, 8, 16),
    help="Scores are divided by it: above 1 all weights become more alike.",
)
width = Whole("what_window", "Tokens that each token sees, itself included", 4, 1, 64)
kept = Choice("what_sinks", "First tokens kept in sight", "0", ("0", "1", "2", "4"))
heads_by = Choice("heads_by", "Heads that are off", NAMED, (NAMED, BY_ROLE, DRAWN))
heads = Listing("heads_off", "Their names: L for the layer, H for the head", ("L0.H0",), 40)
role = Listed("heads_role", "Role", None, width=200)
drawn = Counter("heads_drawn", "How many", 8)
kv_heads = Listed("what_kv_heads", "KV heads left", None)
bits = Choice("what_bits", "Bits of each kept number", "4", ("8", "4", "3", "2"))
where = Choice(
    "what_layers",
    "Layers",
    ALL_LAYERS,
    (ALL_LAYERS, FIRST_HALF, SECOND_HALF, ONE_LAYER),
    help="Heads that are off have a layer of their own, whatever is chosen here.",
)
layer = Counter("what_layer", "Layer, from 0", 0)
silence = Switch("silence", "Switch off all induction heads", False)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
