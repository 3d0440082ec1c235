"""The choices of who looks at two sequences; `controls` counts them among all choices."""

from explainers.ui.controls.kinds import Choice, Listed, Switch
from explainers.ui.controls.links import Control
from explainers.ui.controls.live import Live
from explainers.ui.controls.named import Named

MEAN = "mean"
PREDICTS, READS = "predicts", "reads"
GREEDY, BEAM = "greedy", "beam of 4"
LEARNED, UNIFORM, PERMUTED, PEAK, WITHOUT = (
    "learned",
    "uniform",
    "permuted",
    "only the peak",
    "a word less",
)

search = Choice(
    "search",
    "Search",
    GREEDY,
    (GREEDY, BEAM),
    help="Greedy: the likeliest next syllable, each time. Beam: the four likeliest beginnings are "
    "continued side by side.",
)
layer = Choice("cross_layer", "Decoder layer", "2", ("1", "2"))
block = Choice("block_layer", "Layer of the block", "2", ("1", "2"))
head = Choice("cross_head", "Head", MEAN, (MEAN, "0", "1", "2", "3"))
rows = Choice(
    "cross_rows",
    "A row is named by the syllable that it",
    PREDICTS,
    (PREDICTS, READS),
    help="A row is computed from the syllable that the decoder reads, and decides which one comes "
    "next.",
)
gold = Switch("gold", "Ring what gold says", True)
written = Live("written", "Syllables written", 48, tuple(range(1, 49)))
instead = Choice(
    "instead", "Weights of cross-attention", LEARNED, (LEARNED, UNIFORM, PERMUTED, PEAK, WITHOUT)
)
everywhere = Switch("everywhere", "In both layers", False, help="Off: in the last layer alone.")
left_out = Listed("left_out", "Word to leave out", None)

translator = Named("translator", "Model", "Helsinki-NLP/opus-mt-en-vi", 300)
translator_layer = Listed("translator_layer", "Its decoder layer", None)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
