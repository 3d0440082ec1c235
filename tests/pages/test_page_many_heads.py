"""Many heads: what the page computes, and which heads stay off where there are fewer."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from explainers.attention.multi_head import multi_head
from explainers.chapters import many_heads as cards
from explainers.toys import examples, layers
from tests.support.opening import PAGES, opened
from tests.support.reading import figures

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")


def test_operations_are_those_that_torch_counts_and_alike_for_equal_parameters():
    layer = examples.random_heads(13, 3, 3, 5, seed=0)
    x, mask = torch.randn(7, 13, device=layer.w_query.device), torch.ones(7, 7, dtype=torch.bool)
    with FlopCounterMode(display=False) as counted:
        multi_head(x, layer, mask.to(x.device))
    assert cards.count_operations(7, 13, 3, 5) == counted.get_total_flops()
    sizes = [(one.num_heads, one.head_dim) for one in map(cards.make_equal_heads, layers.NUM_HEADS)]
    assert len({cards.count_operations(7, layers.D_MODEL, *size) for size in sizes}) == 1


def test_fewer_heads_keep_what_is_still_there():
    visit = opened(PAGE, {"heads": "8", "off": ["1", "7"]})
    visit.session_state["heads"] = "2"
    visit.run()
    assert not visit.exception
    [steps] = figures(visit)
    assert [panel["muted"] for panel in steps["panels"][:2]] == [False, True]
    assert list(visit.query_params["off"]) == ["1"]
