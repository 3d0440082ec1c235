"""Many heads: what the page computes, and what it makes of links that ask too much."""

import contextlib
import dataclasses
import io

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from explainers.attention.multi_head import multi_head
from explainers.chapters.many_heads import heads_at_equal_parameters as costs
from explainers.chapters.many_heads.head_arithmetic import make_heads_explainer
from explainers.chapters.many_heads.head_panels import make_layer_panels
from explainers.chapters.many_heads.selection import Selection
from explainers.toys import examples, layers
from explainers.toys.layers import Configuration, draw_layer, load_layer
from explainers.ui.figure.panels import Cell
from tests.support.opening import PAGES, opened, pictures, widgets
from tests.support.reading import figures, sizes

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")
UNTRAINED = {"weights": "untrained"}
LAYER_OPEN = {"deep": "layer"}
TOKENS = ("The", "CEO", "announced", "record", "earnings", "on", "Friday")
LAYER = draw_layer(TOKENS[:5], 11, 3, 2, "causal", seed=4)


def looked(layer, head=0, word=2, off=()):
    run = multi_head(layer.x, layer.heads, layer.mask)
    return Selection(layer, run, head, word, frozenset(off))


def some_trained(off=(), word=2):
    return looked(load_layer(TOKENS, Configuration(4, 4, 16, "full"), 0), 1, word, off)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 4), st.sets(st.integers(0, 2)), st.integers(0, 9))
def test_the_parts_of_all_heads_are_the_output(word, off, seed):
    """Without a head, the output is that of a layer whose W_O has zeros in the head's rows."""
    layer = draw_layer(TOKENS[:5], 11, 3, 2, "causal", seed)
    one = looked(layer, word=word, off=off)
    silent = layer.heads.w_output.clone()
    for head in off:
        silent[2 * head : 2 * head + 2] = 0
    without = dataclasses.replace(layer.heads, w_output=silent)
    expected = multi_head(layer.x, without, layer.mask).output
    torch.testing.assert_close(one.output, expected)
    torch.testing.assert_close(one.parts.sum(dim=0), expected[word])
    assert one.shares.sum().item() == pytest.approx(1.0 if len(off) < 3 else 0.0, abs=1e-5)
    across = one.parts - one.shares[:, None] * expected[word]  # a share is a projection
    torch.testing.assert_close(
        across @ expected[word], torch.zeros(3).to(across), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize(("is_trained", "down"), [(False, True), (True, False)])
def test_every_number_has_its_arithmetic(is_trained, down):
    one = some_trained(off=[0, 2]) if is_trained else looked(LAYER, 1, off=[2])
    working = make_heads_explainer(one)
    for panel in make_layer_panels(one, down):
        rows, columns = panel.matrix.shape
        cells = {(0, 0), (rows - 1, columns - 1), (rows // 2, columns // 2)}
        if panel.id in ("votes", "named"):
            cells |= {(rows - 1, column) for column in range(columns)}
        for row, column in cells:
            run = working(Cell(panel.id, row, column))
            value = panel.matrix.values[row][column] or 0.0
            assert float(run.value) == pytest.approx(value, abs=6e-4 * max(1, abs(value)))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(run.snippet, {})
            assert printed.getvalue().strip() == run.value
    none = make_heads_explainer(some_trained(off=range(4)))(Cell("shares", 3, 0))
    assert none.lines == ("shares[3, 0] = 0: no head takes part.",)


def test_operations_are_those_that_torch_counts_and_alike_for_equal_parameters():
    layer = examples.random_heads(13, 3, 3, 5, seed=0)
    x, mask = torch.randn(7, 13, device=layer.w_query.device), torch.ones(7, 7, dtype=torch.bool)
    with FlopCounterMode(display=False) as counted:
        multi_head(x, layer, mask.to(x.device))
    assert costs.count_operations(7, 13, 3, 5) == counted.get_total_flops()
    sizes = [(one.num_heads, one.head_dim) for one in map(costs.make_equal_heads, layers.NUM_HEADS)]
    assert len({costs.count_operations(7, layers.D_MODEL, *size) for size in sizes}) == 1


def drawn_heads(visit):
    """The panels of the layer by id."""
    every = [{panel["id"]: panel for panel in one["panels"]} for one in figures(visit)]
    [panels] = [panels for panels in every if "parts" in panels]
    return panels


def test_what_a_link_cannot_have_is_told():
    asked: list[tuple[dict[str, str | list[str]], list[str]]] = [
        ({"heads": "3", "off": ["1", "x"], "word": "CEO"}, ["heads = ` 3 `", "off = ` 1, x `"]),
        ({"heads": "2", "head": "2", "word": "99"}, ["head = ` 2 `", "word = ` 99 `"]),
        ({"head": "-1", "off": "9"}, ["head = ` -1 `", "off = ` 9 `"]),
    ]
    for link, notices in asked:
        visit = opened(PAGE, UNTRAINED | LAYER_OPEN | link)
        told = "\n".join(info.value for info in visit.info)
        assert all(notice in told for notice in notices), told
        assert len(pictures(visit)) == 4, "hero, trainings, steps, card"


def test_trained_heads_open_with_the_sizes_of_the_first_picture():
    """As long as the reader has not chosen a d_k, they are as wide together as d_model."""
    visit = opened(PAGE, UNTRAINED | LAYER_OPEN)
    assert sizes(visit)[0] == 4
    widgets(visit)["weights"].set_value("trained")
    for heads in (1, 8):
        visit.session_state["heads"] = str(heads)
        visit.run()
        offered = list(layers.list_head_dims(heads))
        assert sizes(visit) == (layers.D_MODEL // heads, offered)
        assert not visit.info
        linked = opened(PAGE, LAYER_OPEN | {"heads": str(heads)})
        assert drawn_heads(visit) == drawn_heads(linked)
    visit.session_state["d_k"] = 4
    visit.run().session_state["heads"] = "2"
    assert sizes(visit.run())[0] == 4, "chosen"
    visit.switch_page("pages/04_scores.py").query_params["deep"] = "steps"
    assert sizes(visit.run())[0] == 4


def test_columns_hold_still_while_heads_go_off():
    """The sentence's own words first; then those that are wrongly named most often."""
    choices = [[head for head in range(4) if n >> head & 1] for n in range(16)]
    every = [some_trained(off=off) for off in choices]
    shown = every[0].candidates
    assert all(one.candidates == shown for one in every)
    own = ["← the", "← CEO", "→ record", "→ earnings", "→ on", "→ Friday"]
    assert list(shown.values())[:6] == own
    named = [one.layer.learned.score_words(one.output[2]) > 0 for one in every]
    times = torch.stack(named).sum(dim=0).tolist()
    left = [n for place, n in enumerate(times) if place not in shown]
    assert min(times[place] for place in list(shown)[6:]) >= max(left)
    long = (*TOKENS[:6], "Monday", "and", *TOKENS[:6], "Friday")
    one = looked(load_layer(long, Configuration(4, 4, 16, "full"), 0))
    in_text = {token.casefold() for token in long}
    is_own = [name[2:].casefold() in in_text for name in one.candidates.values()]
    assert is_own == [True] * 8 + [False] * 4, "there is room for words named wrongly"


def test_fewer_heads_keep_what_is_still_there():
    visit = opened(PAGE, {**UNTRAINED, **LAYER_OPEN, "heads": "8", "off": ["1", "7"], "head": "7"})
    visit.session_state["heads"] = "2"
    visit.run()
    assert not visit.exception
    muted = [panel["muted"] for panel in drawn_heads(visit).values()][:2]
    assert muted == [False, True]
    assert list(visit.query_params["off"]) == ["1"]
    assert widgets(visit)["head"].value == 1
