"""The choices of who looks at long texts or takes times; `controls` counts them with the others."""

from explainers.ui.controls.counter import Counter
from explainers.ui.controls.kinds import Choice, Ladder
from explainers.ui.controls.links import Control
from explainers.ui.controls.live import Live

reader = Counter("reader", "Word that reads, from 0", 6)
kv_block = Choice("kv_block", "Keys per block", "2", ("1", "2", "3", "4"))
blocks_read = Live("read", "Blocks read", 3, tuple(range(1, 25)))
tile_mask = Choice("tile_mask", "Mask of the tiles", "causal")
tile_rows = Choice("tile_rows", "Queries per tile", "2", ("2", "3", "4", "6"))
tile_columns = Choice("tile_columns", "Keys per tile", "3", ("2", "3", "4", "6"))
tile = Live("tile", "Tiles read", 4, tuple(range(1, 37)))
longest_measured = Ladder(
    "up_to",
    "Measure up to so many tokens",
    4_096,
    (1_024, 2_048, 4_096, 8_192, 16_384, 32_768),
    help="Twice the tokens take about four times as long. What would not fit into a quarter of the "
    "free memory is left out.",
)
timed = Choice("timed", "Layers that are timed", "trained toy", ("trained toy", "random layers"))
cross_q = Ladder("cross_q", "Queries", 128, tuple(2**n for n in range(4, 15)))
cross_kv = Ladder(
    "cross_kv", "Keys of the other sequence", 4_096, tuple(2**n for n in range(4, 18))
)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
