"""Choices of single pages and cards, by page, that stand in no other file."""

from explainers.messages import N_
from explainers.ui.controls.control import Control
from explainers.ui.controls.controls import POWERS, register
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import Counter, StepSlider

# Cache calculator: the card of an engine's flags
flags_engine = Choice(
    "flags_for", N_("Flags for"), "vLLM", ("vLLM", "SGLang", "llama.cpp", "transformers")
)
register(flags_engine)

# Long sequences: the card that maps all weights of a long text
BLOCKS = 64
"""Blocks on a side of the map, whatever the length: the same link opens the same part of it."""
map_length = StepSlider("map_words", N_("Words of the long text"), 8192, POWERS[6:12])
"""From a text whose weights would fit into memory to one whose weights take 4 GiB."""
map_row = Counter("map_row", N_("Block of queries, from 0"), 48)
map_column = Counter("map_column", N_("Block of keys, from 0"), 16)
"""Counted from the first words on: by default the block in which the rare word of the text finds
itself. A click on the map sets both, and so does a link; of a map with fewer blocks the nearest
one is shown."""
register(map_length, map_row, map_column)

# A memory that does not grow: its picture's choices, and what is trained there
RULE_NAMES = N_("sum"), N_("overwrite"), N_("overwrite and fade"), N_("attention")
"""The rules by which a layer remembers, in the order in which models know them."""
memory_rule = Control("writing", N_("Written by"), "overwrite")
memory_keys = Control("keys", N_("Key directions"), "random")
pairs_written = Control("pairs", N_("Pairs written"), 12)
memory_question = Control("question", N_("Word that is asked for, from 0"), 2)
trained_rule = Choice("trained_rule", N_("Layer"), RULE_NAMES[1], RULE_NAMES)
trained_keys = Choice(
    "trained_keys",
    N_("Keys of a text"),
    N_("all different"),
    (N_("all different"), N_("come again")),
)
register(memory_rule, memory_keys, pairs_written, memory_question, trained_rule, trained_keys)
