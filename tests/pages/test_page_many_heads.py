"""Many heads: what the page computes, and what it makes of links that ask too much."""

import contextlib
import dataclasses
import io
import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from explainers.attention.multi_head import multi_head, multi_head_one_by_one
from explainers.chapters.many_heads import heads_at_equal_parameters as costs
from explainers.chapters.many_heads.dropout_draws import (
    ANSWERS,
    ASKED,
    DRAWS,
    classify_row_sums,
    draw_dropout,
)
from explainers.chapters.many_heads.head_arithmetic import make_heads_explainer
from explainers.chapters.many_heads.head_panels import (
    compare_ways,
    enlarge_head,
    make_layer_panels,
    write_distance,
)
from explainers.chapters.many_heads.selection import Selection
from explainers.toys import examples, layers
from explainers.toys.layers import Configuration, draw_layer, load_layer
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell
from explainers.ui.text.numbers import write_percent
from tests.support.opening import PAGES, opened, pictures, widgets
from tests.support.reading import sizes

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")
UNTRAINED = {"weights": "untrained"}
LAYER_OPEN, DROPOUT_OPEN = {"deep": "layer"}, {"deep": "dropout"}
TOKENS = ("The", "CEO", "announced", "record", "earnings", "on", "Friday")
LAYER = draw_layer(TOKENS[:5], 11, 3, 2, "causal", seed=4)
TRAINED = {"weights": "trained", "d_k": "16"}


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


def test_votes_and_bias_are_what_the_layer_names():
    one = some_trained(off=[3])
    panels = {panel.id: panel.matrix for panel in make_layer_panels(one, queries_down=True)}
    votes = torch.tensor(panels["votes"].values)
    assert list(panels["votes"].rows)[-2:] == ["bias", "sum"]
    own = ["← the", "← CEO", "→ record", "→ earnings", "→ on", "→ Friday"]
    assert list(panels["votes"].columns)[: len(own)] == own
    torch.testing.assert_close(votes[:-1].sum(dim=0), votes[-1], rtol=1e-4, atol=1e-4)
    assert not votes[3].any(), "a head that is off does not vote"
    known = one.layer.learned.score_words(one.output[2]).tolist()
    shown = dict(zip(panels["votes"].columns, votes[-1].tolist(), strict=True))
    ceo, earnings = (known[trained_place(one, word, side)] for word, side in PLACES)
    assert shown["← CEO"] == pytest.approx(ceo, rel=1e-4)
    assert shown["→ earnings"] == pytest.approx(earnings, rel=1e-4)


PLACES = (("CEO", 0), ("earnings", 1))


def trained_place(one, word, side):
    known = one.layer.learned
    return known.words.index(word) + side * len(known.words)


@pytest.mark.parametrize(("is_trained", "down"), [(False, True), (True, False)])
def test_every_number_has_its_arithmetic(is_trained, down):
    one = some_trained(off=[0]) if is_trained else looked(LAYER, 1, off=[2])
    working = make_heads_explainer(one)
    for panel in make_layer_panels(one, down):
        rows, columns = panel.matrix.shape
        for row, column in {(0, 0), (rows - 1, columns - 1), (rows // 2, columns // 2)}:
            run = working(Cell(panel.id, row, column))
            value = panel.matrix.values[row][column] or 0.0
            assert float(run.value) == pytest.approx(value, abs=6e-4 * max(1, abs(value)))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(run.snippet, {})
            assert printed.getvalue().strip() == run.value


def test_what_all_heads_name_has_its_arithmetic_while_heads_are_off():
    one = some_trained(off=[0, 2])
    working = make_heads_explainer(one)
    [named] = [panel.matrix.values for panel in make_layer_panels(one, True) if panel.id == "named"]
    assert named[0] != named[1]
    for row, line in enumerate(named):
        shown = [float(working(Cell("named", row, column)).value) for column in range(len(line))]
        assert shown == pytest.approx(line, abs=1e-4)


@pytest.mark.parametrize(
    ("heads", "words", "moves"),
    [
        (1, 5, "copied nothing"),
        (3, 1, "copied nothing"),
        (3, 5, "copied 5 words · 3 heads · d_k 2 = 30 numbers"),
    ],
)
def test_what_is_copied_is_measured(heads, words, moves):
    layer = draw_layer(TOKENS[:words], 11, heads, 2, "causal", seed=4)
    run = multi_head(layer.x, layer.heads, layer.mask)
    listed = multi_head_one_by_one(layer.x, layer.heads, layer.mask)
    found = compare_ways(layer, run, listed)
    assert (found["split"], found["merge"]) == ("copied nothing", moves)
    assert found["way"] == ("stayed" if moves == "copied nothing" else "moved")
    assert found["apart"] in ("0", "less than a millionth")
    spoiled = listed._replace(scores=listed.scores + 1)
    assert float(compare_ways(layer, run, spoiled)["apart"]) == pytest.approx(1)


def test_numbers_of_w_output_and_of_the_enlarged_head_are_the_layers():
    one = looked(draw_layer(TOKENS, 64, 8, 128, "full", seed=4), head=5)
    [drawn] = [panel.matrix for panel in make_layer_panels(one, True) if panel.id == "W_O"]
    assert drawn.shape == (128, 64)
    expected = one.layer.heads.w_output[5 * 128 + 3, 7].item()
    assert drawn.values[3][7] == pytest.approx(expected)
    asked = make_heads_explainer(one)(Cell("W_O", 3, 7))
    assert float(asked.value) == pytest.approx(expected, abs=1e-4)
    for name, tensor in (("weights", one.run.weights), ("V", one.run.value)):
        torch.testing.assert_close(torch.tensor(enlarge_head(one).numbers[name]), tensor[5].cpu())


def test_numbers_in_words():
    for apart, said in [
        (0.0, "0"),
        (9e-7, "less than a millionth"),
        (1e-6, "less than a hundred-thousandth"),
        (1e-5, "0.000010"),
        (0.25, "0.250000"),
    ]:
        assert write_distance(apart) == said
    for right, answer in [(0.751, 0), (0.75, 1), (0.25, 1), (0.249, 2)]:
        assert costs.classify_accuracy(right) == costs.ANSWERS[answer], right
    one_draw = draw_dropout(TOKENS, seed=0).averages[controls.dropout.steps.index(ASKED)][0]
    for rows, answer in [
        ([[0.25, 0.75], [1.0, 0.0]], 0),
        ([[0.25, 0.25], [0.5, 0.0]], 1),
        (one_draw, 2),
    ]:
        assert classify_row_sums(rows) == ANSWERS[answer]


def test_operations_are_those_that_torch_counts_and_alike_for_equal_parameters():
    layer = examples.random_heads(13, 3, 3, 5, seed=0)
    x, mask = torch.randn(7, 13, device=layer.w_query.device), torch.ones(7, 7, dtype=torch.bool)
    with FlopCounterMode(display=False) as counted:
        multi_head(x, layer, mask.to(x.device))
    assert costs.count_operations(7, 13, 3, 5) == counted.get_total_flops()
    sizes = [(one.num_heads, one.head_dim) for one in map(costs.make_equal_heads, layers.NUM_HEADS)]
    assert len({costs.count_operations(7, layers.D_MODEL, *size) for size in sizes}) == 1


def test_one_head_cannot_fetch_what_four_fetch_whatever_its_size():
    report, alone = costs.read_report("en"), costs.score_single_heads()
    one, four = (report[costs.make_equal_heads(heads)].verb_accuracy for heads in (1, 4))
    assert max(one) < min(four)
    assert list(alone) == [4, 8, 16, 32, 64]
    assert max(alone.values()) < min(four) / 2
    shown = "\n".join(one.value for one in opened(PAGE, {"deep": "costs"}).main.markdown)
    assert ", ".join(f"{write_percent(right)} with {d_k}" for d_k, right in alone.items()) in shown


def test_averages_of_dropout_come_back_to_the_weights():
    dropped = draw_dropout(TOKENS, seed=3)
    exact = torch.tensor(dropped.weights)
    for probability, averages in zip(controls.dropout.steps, dropped.averages, strict=True):
        far = [(torch.tensor(average) - exact).abs().max().item() for average in averages]
        assert len(far) == len(DRAWS)
        if probability == 0:
            assert max(far) < 1e-6
        else:
            # Five standard deviations of an average of independent draws.
            spread = (probability / (1 - probability) / DRAWS[-1]) ** 0.5
            assert far[-1] < 5 * spread < far[0] + 5 * spread
            assert far[-1] < far[0]
    other = draw_dropout(TOKENS, seed=4)
    assert other.weights == dropped.weights
    assert other.averages[5][0] != dropped.averages[5][0]


def panels_in(picture):
    """What one linked picture was sent."""
    sent = json.loads(picture) if picture.startswith("[") else [{}]
    return sent[0].get("panels", [])


def drawn_with(visit, name):
    """The panels by id of the picture that has a panel of this name."""
    every = [{panel["id"]: panel for panel in panels_in(one)} for one in pictures(visit)]
    [panels] = [panels for panels in every if name in panels]
    return panels


def heads_picture(**link):
    """The panels of the layer by id."""
    visit = opened(PAGE, UNTRAINED | LAYER_OPEN | link)
    assert not visit.exception
    return drawn_with(visit, "parts"), visit


def test_switching_heads_off_changes_the_output_and_no_weights():
    on, _ = heads_picture(weights="trained")
    off, _ = heads_picture(weights="trained", off="2")
    assert {panel for panel in on if on[panel]["values"] != off[panel]["values"]} == {
        *("heads", "layer", "parts", "shares", "votes", "named")
    }
    assert off["head 2"]["muted"]
    assert off["head 2"]["formula"] == "switched off"


LARGE = {"heads": "8", "d_k": "128", "d_model": "128", "text": " ".join(f"w{n}" for n in range(24))}


def test_the_largest_layer_is_no_long_message():
    """Every click sends the picture again; of W_O it has the rows of the enlarged head."""
    panels, visit = heads_picture(**LARGE, head="5")
    assert sum(map(len, pictures(visit))) < 310_000
    lanes = [f"5.{n}" for n in range(128)]
    assert (panels["W_O"]["rows"], len(panels["heads"]["columns"])) == (lanes, 1024)
    assert "head 5's, all would be 1,024" in panels["W_O"]["formula"]


def test_what_a_link_cannot_have_is_told():
    asked: list[tuple[dict[str, str | list[str]], list[str]]] = [
        ({"heads": "3", "off": ["1", "x"], "word": "CEO"}, ["heads = ` 3 `", "off = ` 1, x `"]),
        ({"heads": "2", "head": "2", "word": "99"}, ["head = ` 2 `", "word = ` 99 `"]),
        ({"head": "-1", "off": "9"}, ["head = ` -1 `", "off = ` 9 `"]),
        (
            {"weights": "trained", "heads": "8", "d_k": "21"},
            ["Use one of 4, 8; the page shows ` 8 `"],
        ),
    ]
    for link, notices in asked:
        visit = opened(PAGE, UNTRAINED | LAYER_OPEN | link)
        told = "\n".join(info.value for info in visit.info)
        assert all(notice in told for notice in notices), told
        assert len(pictures(visit)) == 4, "hero, trainings, steps, card"
    usual = drawn_with(opened(PAGE, TRAINED | LAYER_OPEN), "parts")
    for other, said in [
        ({"mask": "prefix of 3"}, "only full, causal, window of 3; this is full."),
        ({"seed": "7"}, "no seed 7 among them, only 0, 1; this is 0."),
    ]:
        visit = opened(PAGE, TRAINED | LAYER_OPEN | other)
        assert [said in caption.value for caption in visit.caption] == [True]
        assert drawn_with(visit, "parts") == usual


def test_without_heads_nothing_is_divided_and_it_is_said():
    asked = make_heads_explainer(some_trained(off=range(4)))(Cell("shares", 3, 0))
    assert asked.lines == ("shares[3, 0] = 0: no head takes part.",)
    panels, visit = heads_picture(off=["0", "1", "2", "3"])
    assert not any(map(any, panels["layer"]["values"]))
    assert any("All heads are switched off" in m.value for m in visit.main.markdown)


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
        assert drawn_with(visit, "parts") == drawn_with(linked, "parts")
    visit.session_state["d_k"] = 4
    visit.run().session_state["heads"] = "2"
    assert sizes(visit.run())[0] == 4, "chosen"
    visit.switch_page("pages/01_start.py").query_params["deep"] = "sizes"
    assert sizes(visit.run())[0] == 4


def test_what_to_try_is_true():
    """One head fetches earnings; several fetch CEO, and none of these alone loses it."""
    everything = some_trained()
    looks = [TOKENS[int(row.argmax())] for row in everything.run.weights[:, 2]]
    assert looks.count("earnings") == 1
    assert looks.count("CEO") > 1
    for head, looked_at in enumerate(looks):
        one = some_trained(off=[head])
        named = one.layer.learned.score_words(one.output[2]) > 0
        ceo, earnings = (bool(named[trained_place(one, *place)]) for place in PLACES)
        assert earnings == (looked_at != "earnings")
        assert ceo


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
    others = [times[place] for place in list(shown)[6:]]
    assert others == sorted(others, reverse=True)
    left = [n for place, n in enumerate(times) if place not in shown]
    assert min(others) >= max(left)


def test_what_is_named_is_shown_however_many_own_words_there_are(monkeypatch):
    """Also if another of the sentence's words is named more often while heads are off."""
    tokens = (*TOKENS, "and", "the", "board", "reported", "weak", "sales", "on", "Monday")
    one = looked(load_layer(tokens, Configuration(4, 4, 16, "full"), 0), word=2)
    named = (one.layer.learned.score_words(one.run.output[2]) > 0).nonzero()[:, 0].tolist()
    never = [0] * (2 * len(one.layer.learned.words))
    often = [7 * (place not in named) for place, _ in enumerate(never)]
    monkeypatch.setattr(Selection, "_often_named", lambda *_: often)
    assert named
    assert set(named) <= set(one.candidates)


def test_a_long_sentence_keeps_room_for_words_named_wrongly():
    tokens = (*TOKENS[:6], "Monday", "and", *TOKENS[:6], "Friday")
    one = looked(load_layer(tokens, Configuration(4, 4, 16, "full"), 0), word=2)
    own = {token.casefold() for token in tokens}
    shown = [name[2:].casefold() in own for name in one.candidates.values()]
    assert shown == [True] * 8 + [False] * 4


def test_fewer_heads_keep_what_is_still_there():
    visit = opened(PAGE, {**UNTRAINED, **LAYER_OPEN, "heads": "8", "off": ["1", "7"], "head": "7"})
    visit.session_state["heads"] = "2"
    visit.run()
    assert not visit.exception
    muted = [panel["muted"] for panel in drawn_with(visit, "parts").values()][:2]
    assert muted == [False, True]
    assert list(visit.query_params["off"]) == ["1"]
    assert widgets(visit)["head"].value == 1
