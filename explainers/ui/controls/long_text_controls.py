"""Choices of the card that maps all weights of a long text: how long it is, and one block of it.

By default the block is the one in which the rare word of the text finds itself.
"""

from explainers.messages import N_
from explainers.ui.controls.controls import POWERS, register
from explainers.ui.controls.number_controls import Counter, StepSlider

BLOCKS = 64
"""Blocks on a side of the map, whatever the length: the same link opens the same part of it."""

map_length = StepSlider("map_words", N_("Words of the long text"), 8192, POWERS[6:12])
"""From a text whose weights would fit into memory to one whose weights take 4 GiB."""
map_row = Counter("map_row", N_("Block of queries, from 0"), 48)
map_column = Counter("map_column", N_("Block of keys, from 0"), 16)
"""Counted from the first words on. A click on the map sets both, and so does a link; of a map
with fewer blocks the nearest one is shown."""

register(map_length, map_row, map_column)
