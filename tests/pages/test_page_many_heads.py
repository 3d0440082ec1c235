"""Many heads: what the page computes, and what it makes of links that ask too much."""

import contextlib
import dataclasses
import io
import json
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from explainers.attention.multi_head import multi_head, multi_head_one_by_one
from explainers.chapters.many_heads import heads_at_equal_parameters
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
    parse_head,
    write_distance,
)
from explainers.chapters.many_heads.selection import Selection
from explainers.toys import examples, layers
from explainers.toys.layers import Configuration, draw_layer, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell
from explainers.ui.text.numbers import write_percent
from tests.support.opening import PAGES, opened, pictures, unfolded, widgets
from tests.support.reading import sizes

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")
UNTRAINED = {"weights": "untrained"}
LAYER_OPEN, COSTS_OPEN, DROPOUT_OPEN = ({"deep": name} for name in ("layer", "costs", "dropout"))
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


def test_the_enlarged_head_is_the_one_that_was_chosen():
    one = looked(LAYER, head=2)
    for name, tensor in (("weights", one.run.weights), ("V", one.run.value)):
        torch.testing.assert_close(torch.tensor(enlarge_head(one).numbers[name]), tensor[2].cpu())


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


def test_the_trained_layer_names_who_and_what_until_its_heads_are_off():
    for off, are_named in (((), True), (range(4), False)):
        one = some_trained(off=off)
        named = one.layer.learned.score_words(one.output[2]) > 0
        assert [bool(named[trained_place(one, *place)]) for place in PLACES] == [are_named] * 2


@pytest.mark.parametrize("down", [True, False], ids=["down", "across"])
@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
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


def test_no_share_is_divided_by_nothing():
    none = some_trained(off=range(4))
    for head in range(4):
        asked = make_heads_explainer(none)(Cell("shares", head, 0))
        assert asked.lines == (f"shares[{head}, 0] = 0: no head takes part.",)


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


def test_the_card_says_in_which_way_the_numbers_moved():
    for link, said in (({}, "lie far apart in memory"), ({"heads": "1"}, "already lie together")):
        assert said in written(opened(PAGE, {"deep": "same"} | link))


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        (0.0, "0"),
        (9e-7, "less than a millionth"),
        (1e-6, "less than a hundred-thousandth"),
        (1e-5, "0.000010"),
        (0.25, "0.250000"),
    ],
)
def test_a_distance_in_words(apart, said):
    assert write_distance(apart) == said


def test_operations_are_those_that_torch_counts():
    layer = examples.random_heads(13, 3, 3, 5, seed=0)
    x, mask = torch.randn(7, 13, device=layer.w_query.device), torch.ones(7, 7, dtype=torch.bool)
    with FlopCounterMode(display=False) as counted:
        multi_head(x, layer, mask.to(x.device))
    assert heads_at_equal_parameters.count_operations(7, 13, 3, 5) == counted.get_total_flops()


def test_equal_parameters_cost_the_same():
    sizes = [
        (one.num_heads, one.head_dim)
        for one in map(heads_at_equal_parameters.make_equal_heads, layers.NUM_HEADS)
    ]
    assert {heads * head_dim for heads, head_dim in sizes} == {layers.D_MODEL}
    assert len({heads_at_equal_parameters.count_operations(7, 64, *size) for size in sizes}) == 1


def test_the_table_says_what_was_measured():
    text = written(opened(PAGE, COSTS_OPEN))
    for heads in layers.NUM_HEADS:
        row = heads_at_equal_parameters.read_report("en")[
            heads_at_equal_parameters.make_equal_heads(heads)
        ]
        accuracies = map(
            heads_at_equal_parameters.format_mean_and_spread, (row.accuracy, row.verb_accuracy)
        )
        assert f"| {heads} | {64 // heads} | {' | '.join(accuracies)} |" in text
    for number in ("16,384", "1,048,576", "49, 98, 196, 392"):
        assert number in text
    [(formula, total)] = re.findall(r"2 · \((.*)\) = ([\d,]+)\.", text)
    counted = eval(formula.replace("·", "*").replace("²", "**2"))
    assert (
        f"{2 * counted:,}"
        == total
        == f"{heads_at_equal_parameters.count_operations(7, 64, 1, 64):,}"
    )


def test_one_head_cannot_fetch_what_four_fetch():
    one, four = (
        heads_at_equal_parameters.read_report("en")[
            heads_at_equal_parameters.make_equal_heads(heads)
        ].verb_accuracy
        for heads in (1, 4)
    )
    assert max(one) < min(four)
    shown = drawn_with(opened(PAGE, COSTS_OPEN), "contrast of 1")
    panels = {panel["name"]: panel["values"] for panel in shown.values()}
    subject, target = TOKENS.index("CEO"), TOKENS.index("earnings")
    best = [max(line[column] for line in panels["4 heads"]) for column in (subject, target)]
    assert panels["1 head"][0][subject] + panels["1 head"][0][target] <= 1
    assert sum(best) > 1.5, "more than one row has to give away"


def test_more_numbers_do_not_help_a_single_head():
    """What the answer says of it is what was measured."""
    alone, four = (
        heads_at_equal_parameters.score_single_heads(),
        heads_at_equal_parameters.read_report("en")[
            heads_at_equal_parameters.make_equal_heads(4)
        ].verb_accuracy,
    )
    assert list(alone) == [4, 8, 16, 32, 64]
    assert max(alone.values()) < min(four) / 2
    answered = opened(
        PAGE, {"predict": "true", "guess_contrast": heads_at_equal_parameters.ANSWERS[2]}
    )
    assert f"five sizes reaches {write_percent(max(alone.values()))}" in written(answered)
    listed = ", ".join(f"{write_percent(right)} with {size}" for size, right in alone.items())
    assert listed in written(opened(PAGE, COSTS_OPEN))


@pytest.mark.parametrize(
    ("right", "answer"), [(0.9, 0), (0.751, 0), (0.5, 1), (0.25, 1), (0.249, 2), (0.0, 2)]
)
def test_an_accuracy_in_words(right, answer):
    assert (
        heads_at_equal_parameters.classify_accuracy(right)
        == heads_at_equal_parameters.ANSWERS[answer]
    )


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


def test_each_probability_has_its_sums_and_its_error():
    panels = drawn_with(opened(PAGE, DROPOUT_OPEN), "one draw")
    drawn = torch.tensor(panels["one draw"]["frames"])
    sums, far = (torch.tensor(panels[name]["frames"]) for name in ("sums", "error"))
    torch.testing.assert_close(sums, drawn.sum(dim=-1, keepdim=True), atol=1e-5, rtol=1e-5)
    averages = torch.stack([drawn, *(torch.tensor(panels[f"{n} draws"]["frames"]) for n in MORE)])
    largest = (averages - torch.tensor(panels["weights"]["values"])).abs().amax(dim=(-2, -1))
    torch.testing.assert_close(far[..., 0], largest.T, atol=1e-5, rtol=1e-5)


MORE = ("10", "100", "1,000")


def test_the_seed_draws_what_is_dropped():
    assert draw_dropout(TOKENS, seed=3).weights == draw_dropout(TOKENS, seed=4).weights
    assert (
        draw_dropout(TOKENS, seed=3).averages[5][0] != draw_dropout(TOKENS, seed=4).averages[5][0]
    )


def test_the_picture_of_dropout_opens_with_what_was_asked_about():
    """And with one draw, whose rows do not sum to 1."""
    panels = drawn_with(opened(PAGE, DROPOUT_OPEN), "one draw")
    assert ASKED == 0.5
    assert panels["one draw"]["values"] == panels["one draw"]["frames"][5]
    assert classify_row_sums(panels["one draw"]["values"]) == ANSWERS[2]
    assert panels["error"]["rows"] == ["1 draw", "10 draws", "100 draws", "1,000 draws"]


def test_what_rows_sum_to_in_words():
    one_draw = draw_dropout(TOKENS, seed=0).averages[controls.dropout.steps.index(ASKED)][0]
    assert classify_row_sums(one_draw) == ANSWERS[2]
    assert classify_row_sums([[0.25, 0.75], [1.0, 0.0]]) == ANSWERS[0]
    assert classify_row_sums([[0.25, 0.25], [0.5, 0.0]]) == ANSWERS[1]


def panels_in(picture):
    """What one linked picture was sent."""
    sent = json.loads(picture) if picture.startswith("[") else [{}]
    return sent[0].get("panels", [])


def drawn_with(visit, name):
    """The panels by id of the picture that has a panel of this name."""
    every = [{panel["id"]: panel for panel in panels_in(one)} for one in pictures(visit)]
    [panels] = [panels for panels in every if name in panels]
    return panels


def written(visit):
    """All remarks of the page."""
    return "\n".join(markdown.value for markdown in visit.main.markdown)


def heads_picture(**link):
    """The panels of the layer by id."""
    visit = opened(PAGE, UNTRAINED | LAYER_OPEN | link)
    assert not visit.exception
    return drawn_with(visit, "parts"), visit


@pytest.mark.parametrize("weights", ["untrained", "trained"])
def test_switching_heads_off_changes_the_output_and_no_weights(weights):
    on, _ = heads_picture(weights=weights)
    off, _ = heads_picture(weights=weights, off="2")
    assert {panel for panel in on if on[panel]["values"] != off[panel]["values"]} == {
        *("heads", "layer", "parts", "shares"),
        *(("votes", "named") if weights == "trained" else ()),
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


def test_a_number_of_one_heads_rows_of_w_output_is_found():
    one = looked(draw_layer(TOKENS, 64, 8, 128, "full", seed=4), head=5)
    [drawn] = [panel.matrix for panel in make_layer_panels(one, True) if panel.id == "W_O"]
    assert drawn.shape == (128, 64)
    expected = one.layer.heads.w_output[5 * 128 + 3, 7].item()
    assert drawn.values[3][7] == pytest.approx(expected)
    asked = make_heads_explainer(one)(Cell("W_O", 3, 7))
    assert float(asked.value) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("heads", ["1", "2", "4", "8"])
def test_every_head_has_a_picture_and_one_is_marked(heads):
    panels, _ = heads_picture(heads=heads, head=str(int(heads) - 1))
    marked = [panel["marked"] for name, panel in panels.items() if parse_head(name) is not None]
    assert marked == [False] * (int(heads) - 1) + [True]


def test_each_head_says_where_the_followed_word_looks():
    panels, _ = heads_picture(weights="trained", word="4")
    for head in range(4):
        row = panels[f"head {head}"]["values"][4]
        strongest = f"{TOKENS[row.index(max(row))]} {max(row):.2f}"
        assert panels[f"head {head}"]["formula"] == f"earnings → {strongest}"


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ({"heads": "3"}, "heads = ` 3 `"),
        ({"heads": "0"}, "heads = ` 0 `"),
        ({"heads": "many"}, "heads = ` many `"),
        ({"heads": "2", "head": "2"}, "head = ` 2 `"),
        ({"head": "-1"}, "head = ` -1 `"),
        ({"head": "inf"}, "head = ` inf `"),
        ({"word": "99"}, "word = ` 99 `"),
        ({"word": "CEO"}, "word = ` CEO `"),
        ({"off": "9"}, "off = ` 9 `"),
        ({"off": ["1", "x"]}, "off = ` 1, x `"),
        ({"dropout": "1"}, "dropout = ` 1 `"),
    ],
    ids=str,
)
def test_what_a_link_cannot_have_is_told(link, told):
    visit = opened(PAGE, UNTRAINED | (DROPOUT_OPEN if "dropout" in link else LAYER_OPEN) | link)
    assert not visit.exception
    assert [told in info.value for info in visit.info] == [True]
    assert len(pictures(visit)) == 4, "hero, trainings, steps, card"


def test_untrained_sizes_are_told_and_the_next_one_is_shown():
    visit = opened(PAGE, LAYER_OPEN | {"heads": "8", "d_k": "21"})
    assert ["Use one of 4, 8; the page shows ` 8 `" in info.value for info in visit.info] == [True]
    assert sizes(visit) == (8, [4, 8])


def test_trained_heads_open_with_the_sizes_of_the_first_picture():
    """As long as the reader has not chosen a d_k, they are as wide together as d_model."""
    visit = opened(PAGE, UNTRAINED | LAYER_OPEN)
    assert sizes(visit)[0] == 4
    widgets(visit)["weights"].set_value("trained")
    for heads in (1, 2, 4, 8):
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


def test_other_pages_open_with_their_own_size():
    visit = opened(PAGE, LAYER_OPEN)
    assert sizes(visit)[0] == 16
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


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (
            {"mask": "prefix of 3"},
            "no mask prefix of 3 among them, only full, causal, window of 3; this is full.",
        ),
        ({"seed": "7"}, "no seed 7 among them, only 0, 1; this is 0."),
    ],
    ids=str,
)
def test_untrained_masks_and_seeds_are_told(link, said):
    visit = opened(PAGE, {**TRAINED, **LAYER_OPEN, **link})
    assert not visit.exception
    assert [said in caption.value for caption in visit.caption] == [True]
    expected = drawn_with(opened(PAGE, TRAINED | LAYER_OPEN), "parts")
    assert drawn_with(visit, "parts") == expected


def test_all_heads_off_gives_zeros_and_says_so():
    panels, visit = heads_picture(off=["0", "1", "2", "3"])
    assert not any(map(any, panels["layer"]["values"]))
    assert any("All heads are switched off" in m.value for m in visit.main.markdown)


@pytest.mark.parametrize("weights", ["untrained", "trained"])
def test_a_text_of_one_word(weights):
    panels, visit = heads_picture(text="CEO", weights=weights)
    assert panels["head 0"]["values"] == [[1]]
    assert not unfolded(visit).exception


def test_fewer_heads_keep_what_is_still_there():
    visit = opened(PAGE, {**UNTRAINED, **LAYER_OPEN, "heads": "8", "off": ["1", "7"], "head": "7"})
    visit.session_state["heads"] = "2"
    visit.run()
    assert not visit.exception
    muted = [panel["muted"] for panel in drawn_with(visit, "parts").values()][:2]
    assert muted == [False, True]
    assert list(visit.query_params["off"]) == ["1"]
    assert widgets(visit)["head"].value == 1


def test_in_every_language_the_same_head_is_named_by_the_same_link():
    link = TRAINED | {"text": SENTENCE, "matrix": "votes", "row": "1", "column": "3", "off": "2"}
    english, _ = heads_picture(**link)
    other, visit = heads_picture(lang="vi", **link)
    assert {key: panel["values"] for key, panel in other.items()} == {
        key: panel["values"] for key, panel in english.items()
    }
    assert [other["head 2"][word] for word in ("name", "formula")] == ["đầu 2", "đã tắt"]
    assert other["votes"]["rows"][:2] == ["đầu 0", "đầu 1"]
    [title] = [text.value for text in unfolded(visit).text if "earnings" in text.value]
    assert title.startswith("phiếu: đầu 1,")


def test_a_layer_of_gpt_3_is_counted_with_its_output_matrix():
    said = written(opened(PAGE, {"deep": "costs"}))
    assert f"{4 * 12_288**2:,} in one layer of GPT-3" in said
    assert "The often quoted 453 million per layer of GPT-3 leave out W_O: 3 · 12,288² = " in said
    assert f"**{3 * 12_288**2:,}**" in said
