"""Many heads: what the page computes, and what it makes of links that ask too much."""

import dataclasses

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from explainers.attention.multi_head import multi_head
from explainers.chapters.many_heads import cards
from explainers.chapters.many_heads.cards import Selection
from explainers.toys import examples, layers
from explainers.toys.layers import draw_layer
from tests.support.opening import PAGES, opened, pictures
from tests.support.reading import figures

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")
TOKENS = ("The", "CEO", "announced", "record", "earnings", "on", "Friday")
LAYER = draw_layer(TOKENS[:5], 11, 3, 2, "causal", seed=4)


@settings(max_examples=20, deadline=None)
@given(st.sets(st.integers(0, 2)), st.integers(0, 9))
def test_a_head_that_is_off_adds_nothing(off, seed):
    """The output is that of a layer whose W_O has zeros in the head's rows."""
    layer = draw_layer(TOKENS[:5], 11, 3, 2, "causal", seed)
    silent = layer.heads.w_output.clone()
    for head in off:
        silent[2 * head : 2 * head + 2] = 0
    without = dataclasses.replace(layer.heads, w_output=silent)
    expected = multi_head(layer.x, without, layer.mask).output
    torch.testing.assert_close(Selection.of(layer, 2, off).output, expected)


def test_operations_are_those_that_torch_counts_and_alike_for_equal_parameters():
    layer = examples.random_heads(13, 3, 3, 5, seed=0)
    x, mask = torch.randn(7, 13, device=layer.w_query.device), torch.ones(7, 7, dtype=torch.bool)
    with FlopCounterMode(display=False) as counted:
        multi_head(x, layer, mask.to(x.device))
    assert cards.count_operations(7, 13, 3, 5) == counted.get_total_flops()
    sizes = [(one.num_heads, one.head_dim) for one in map(cards.make_equal_heads, layers.NUM_HEADS)]
    assert len({cards.count_operations(7, layers.D_MODEL, *size) for size in sizes}) == 1


def test_what_a_link_cannot_have_is_told():
    asked: list[tuple[dict[str, str | list[str]], list[str]]] = [
        ({"heads": "3", "off": ["1", "x"], "word": "CEO"}, ["heads = ` 3 `", "off = ` 1, x `"]),
        ({"heads": "2", "off": "9", "word": "99"}, ["off = ` 9 `", "word = ` 99 `"]),
    ]
    for link, notices in asked:
        visit = opened(PAGE, link)
        told = "\n".join(info.value for info in visit.info)
        assert all(notice in told for notice in notices), told
        assert len(pictures(visit)) == 3, "hero, trainings, steps"


def test_fewer_heads_keep_what_is_still_there():
    visit = opened(PAGE, {"heads": "8", "off": ["1", "7"]})
    visit.session_state["heads"] = "2"
    visit.run()
    assert not visit.exception
    [steps] = figures(visit)
    assert [panel["muted"] for panel in steps["panels"][:2]] == [False, True]
    assert list(visit.query_params["off"]) == ["1"]
