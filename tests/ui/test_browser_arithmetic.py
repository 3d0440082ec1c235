"""What pictures compute themselves is what our functions compute; run without a browser.

Of large matrices: pooled to pixels, ticks beside them, square cells, heads that look at a token.
"""

import json
from itertools import product

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from explainers.attention.steps import hide, softmax
from explainers.chapters.common.score_matrix import Lab
from explainers.models.shipped_measurements import USUAL, read_shipped_writing
from explainers.models.written_tokens import TEMPERATURES, TOP_PS
from explainers.toys.layers import FILM_SEED, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.controls.name_controls import read_cells
from tests.support.candidates import restrict_candidates
from tests.support.scripts import SCRIPTS, run_script

TOKENS = tuple(SENTENCE.split())
DRAWINGS = "41.3.6.f.1f.3f.7f", "40.20.10.8.4.2.1", "7f.1.7f.2.7f.4.7f"
BLANK, RULER = 65_535, "tiles/long_text.js"
SETTINGS = [
    *((heat, 0, share) for heat, share in product((0, 0.3, 1.6, 2), (1, 0.9, 0.5))),
    *((1, 5, 1), (1.3, 20, 0.8), (2, 10, 0.5), (0.8, 1, 1), (0.3, 20, 1), (0.3, 10, 1)),
]
"""Temperatures, top-k, top-p."""


def run(file, names, call, **numbers):
    """What a call gives of functions that a script exports; it may name the `numbers`."""
    given = f"const {{ {', '.join(numbers)} }} = {json.dumps(numbers)};"
    imported = f'import {{ {names} }} from "{(SCRIPTS / file).as_uri()}";'
    return json.loads(run_script(f"{imported} {given} console.log(JSON.stringify({call}));"))


def test_the_weights_under_a_mask_of_ones_own_are_torchs():
    lab = Lab(load_readable_layer(TOKENS, "full", FILM_SEED), queries_down=True)
    read = "drawings.map((drawing) => readCells(drawing, side))"
    numbers = {"drawings": DRAWINGS, "side": len(TOKENS)}
    cells = run("picture/heroes/masked_drawing.js", "readCells", read, **numbers)
    call = "cells.map((allowed) => scores.map((row, at) => softmax(row, 1, allowed[at])))"
    numbers = {"scores": lab.scores.tolist(), "cells": cells}
    computed = run("common/numbers.js", "softmax", call, **numbers)
    for drawing, weights in zip(DRAWINGS, computed, strict=True):
        mask = torch.tensor(read_cells(drawing, len(TOKENS)))
        expected = softmax(hide(lab.scores, mask))
        found = torch.tensor(weights, dtype=torch.float)
        torch.testing.assert_close(found, expected.cpu(), atol=1e-6, rtol=1e-5)
    assert run("common/numbers.js", "softmax", "softmax([1, 2], 1, [false, false])") == [0, 0]


def test_the_probabilities_of_the_next_token_are_the_models():
    shipped = read_shipped_writing()
    assert shipped
    steps = shipped.texts[USUAL].steps[::3]
    names = ("candidates", "kept", "place", "logit")
    numbers = {
        "steps": [{name: getattr(step, name) for name in names} for step in steps],
        "settings": [{"temperature": t, "topK": k, "topP": p} for t, k, p in SETTINGS],
        "heats": TEMPERATURES[1:],
        "shares": TOP_PS,
    }
    chances = "computeChances(step, setting, heats, shares)"
    call = f"settings.map((setting) => steps.map((step) => {chances}))"
    computed = run("picture/heroes/writing_chances.js", "computeChances", call, **numbers)
    for (temperature, top_k, top_p), answers in zip(SETTINGS, computed, strict=True):
        for step, found in zip(steps, answers, strict=True):
            expected = restrict_candidates(step, temperature, top_k, top_p)
            assert found["chances"] == pytest.approx(expected, abs=1e-6)
            if temperature and top_k:
                assert found["count"] == sum(chance > 0 for chance in expected)
            if step.place < len(expected):
                assert found["own"] == pytest.approx(expected[step.place], abs=1e-6)


TICKS = [
    ([0, 1024], 6, [0, 200, 400, 600, 800, 1000]),
    ([0, 66], 4, [0, 20, 40, 60]),
    ([805, 815], 12, list(range(805, 815))),
    ([333, 384], 6, [340, 350, 360, 370, 380]),
    ([7, 8], 2, [7]),
]
SQUARED = [
    ([10, 20], [40, 44], {"query": [10, 20], "key": [37, 47]}),
    ([0, 30], [98, 100], {"query": [0, 30], "key": [70, 100]}),
    ([50, 51], [0, 3], {"query": [49, 52], "key": [0, 3]}),
]
FOUND = {"2": [2], " EARN ": [1, 3], "7": [], "812": [0], "": [], "<b>": []}


def test_ticks_are_round_positions_within_the_part():
    found = run(RULER, "ticks", "parts.map(([span, most]) => ticks(span, most))", parts=TICKS)
    assert found == [expected for *_, expected in TICKS]


def test_a_part_that_is_looked_at_has_square_cells():
    call = "parts.map(([query, key]) => squared(query, key, 100))"
    assert run(RULER, "squared", call, parts=SQUARED) == [expected for *_, expected in SQUARED]


def test_a_token_is_found_by_its_position_or_its_text():
    call, tokens = (
        "asked.map((one) => findTokens(tokens, one))",
        ["x812", " earnings", "2", " Earn"],
    )
    assert run(RULER, "findTokens", call, tokens=tokens, asked=[*FOUND]) == [*FOUND.values()]


def planes(steps):
    """Matrices as they are sent: of each number the low byte and the high one."""
    low, high = [n % 256 for n in steps], [n // 256 for n in steps]
    return f"{{ low: Uint8Array.from({low}), high: Uint8Array.from({high}) }}"


def test_heads_that_look_at_a_token_come_with_the_query_that_does():
    steps = torch.randint(0, 4_000, (3, 7, 7), generator=torch.Generator().manual_seed(0))
    steps[:, torch.arange(7)[:, None] < torch.arange(7)] = BLANK
    steps[1, 5, 2], steps[0, 2, 2], steps[2, 6, 2] = 9_000, 9_999, 5_000  # the second is its own
    steps[0, 3:, 2] = BLANK  # hidden: nobody else looks at it there
    call = f"lookingAt({planes(steps.flatten().tolist())}, 7, 3, 2)"
    assert run(RULER, "lookingAt", call) == [
        {"tile": 1, "query": 5, "weight": 0.9},
        {"tile": 2, "query": 6, "weight": 0.5},
    ]


def pool(steps, part, size):
    """The second of two matrices, whose first is blank."""
    side = len(steps)
    numbers = planes([BLANK] * side * side + steps.flatten().tolist())
    call = f"[...poolLargest({numbers}, {side * side}, {side}, {json.dumps(part)}, {size})]"
    return torch.tensor(run(RULER, "poolLargest", call)).reshape(size, size)


@pytest.mark.parametrize("size", [4, 5])
def test_a_pixel_has_the_largest_number_under_it(size):
    drawn = torch.randint(0, 10_000, (12, 12), generator=torch.Generator().manual_seed(size))
    part = {"query": [0, 12], "key": [0, 12]}
    expected = F.adaptive_max_pool2d(drawn[None].float(), size)[0].int()
    assert torch.equal(pool(drawn, part, size), expected)


def test_blanks_count_only_where_nothing_else_is():
    steps = torch.full((12, 12), BLANK)
    steps[7:, 3] = 9000  # a sink: one column, from its own row on
    pooled = pool(steps, {"query": [6, 12], "key": [0, 12]}, 3)
    expected = torch.full((3, 3), BLANK)
    expected[:, 0] = 9000
    assert torch.equal(pooled, expected)


def test_a_map_that_is_as_wide_in_another_window_is_drawn_anew():
    """A phone that is turned: the map may keep its width, and begins further to the right."""
    plan = {"number": "1", "weights": 1, "reach": [8, 4], "turns": [None, None]}
    call = """(() => {
        const stage = { room: 0, width: () => 40, widths: (texts) => texts.map(() => 40) };
        const map = new MemoryMap(stage, () => {});
        map.renew(["1", "2"], { lengths: [1, 2], counts: [1, 2], samples: [1, 2], plans: [plan] });
        const find = (room, wide) => {
            Object.assign(stage, { room });
            const { marks } = map.mark(0, wide, { row: 0, column: 0, number: "1", told: "" });
            return marks.find(({ key }) => key === "map").box;
        };
        return [find(534, 534), find(800, 538)];
    })()"""
    (phone, _, width, _), (desk, _, same, _) = run(
        "picture/heroes/memory_map.js", "MemoryMap", call, plan=plan
    )
    assert width == same
    assert phone < desk


RUN = """
globalThis.DOMParser = class { parseFromString() { return { body: {} }; } };
const named = [];
for (const [name, file, given] of CASES) {
  const view = (await import(file))[name];
  const properties = Object.entries(given).map(([key, value]) => [key, { value }]);
  const told = Object.create(view.prototype, Object.fromEntries(properties)).sentence();
  named.push([told.name, told.classes.gap ?? ""]);
}
console.log(JSON.stringify(named));
"""
FOLDER = SCRIPTS / "picture" / "heroes"


def drafts(mask, kind):
    tree = {"drafts": ["a"], "right": [0], "largest": "37.7"}
    way = {"cells": ["1"], "gap": "15.3", "kind": kind}
    return {"hero": {"data": {"drafts": tree}, "choices": {"draft_mask": mask}}, "way": way}


def chunks(kind):
    chunked = {"size": 8, "passes": 4, "weights": 192, "gap": "2.1", "kind": kind}
    hero = {"data": {"chunks": {"largest": "28.9"}}}
    return {"hero": hero, "chunked": chunked, "whole": {**chunked, "size": 25}}


def shared(kind, is_same):
    change = {"shared": 2, "blocks": 1, "moved": ["001"], "gap": "2.1", "next": "The"}
    change |= {"kind": kind, "isSame": is_same}
    data = {"others": [" a", " b"], "tokens": [["x"], ["x"]], "block": 2}
    hero = {"data": data, "changed": -1, "change": change}
    return {"hero": hero, "texts": {"second": ["a", "b", "c"]}, "reused": 2}


DRAFTS, CHUNKS, PREFIX = (
    (f"{name}View", (FOLDER / f"serving_{name.lower()}.js").as_uri())
    for name in ("Drafts", "Chunks", "Prefix")
)
CASES = [
    (DRAFTS, drafts("tree", "rounding"), ["hero_drafts", ""]),
    (DRAFTS, drafts("tree", "exact"), ["hero_drafts_exact", ""]),
    (DRAFTS, drafts("tree", "real"), ["hero_drafts_real", "wrong"]),
    (DRAFTS, drafts("causal", "real"), ["hero_drafts_causal", "wrong"]),
    (DRAFTS, drafts("counted", "rounding"), ["hero_drafts_counted", ""]),
    (CHUNKS, chunks("rounding"), ["hero_chunks", ""]),
    (CHUNKS, chunks("exact"), ["hero_chunks_exact", ""]),
    (CHUNKS, chunks("real"), ["hero_chunks_real", "wrong"]),
    *((PREFIX, shared(kind, True), ["hero_shared", ""]) for kind in ("exact", "rounding")),
    (PREFIX, shared("rounding", False), ["hero_shared_other", ""]),
    *((PREFIX, shared("real", is_same), ["hero_shared_real", ""]) for is_same in (True, False)),
]


def test_each_kind_of_difference_has_its_sentence():
    given = json.dumps([[*view, given] for view, given, _ in CASES])
    named = json.loads(run_script(RUN.replace("CASES", given)))
    assert named == [expected for *_, expected in CASES]
