"""The picture of serving: its numbers are those of the code, its sentences those of its numbers."""

import pytest
import torch

from explainers.attention.serving.draft_tree import tree_mask
from explainers.attention.serving.shared_prefix import count_shared, count_shared_blocks
from explainers.chapters.serving.hero import (
    LEAST_GAP,
    NOTHING,
    REAL,
    ROUNDING,
    compute_numbers,
    describe_pages,
    write_gap,
)
from explainers.chapters.serving.measured_serving import BLOCK, PLAIN, REPEATING, read_shipped
from explainers.chapters.serving.page_story import OTHERS, tell_pages
from explainers.chapters.serving.reused_rows import find_repeats, name_lookup
from explainers.models.registry import locate_folder
from explainers.models.served_prompts import CAUSAL, COUNTED, TREE, Prompts
from tests.support import saved_models
from tests.support.opening import ROOT, opened
from tests.support.reading import hero

PAGE = ROOT / "pages" / "15_serving.py"
GPT2 = "openai-community/gpt2"
SERVING = read_shipped()
EVERY = range(-1, len(SERVING.prompts.others))


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """What a machine without any model shows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_MODELS", str(tmp_path_factory.mktemp("no models")))
        visit = opened(PAGE, {"trick": "chunks", "changed": "3"})
        assert not visit.exception
        return hero(visit)


def test_what_is_shared_is_counted_and_red_squares_are_those_behind_the_change():
    """In the first layer where the token is another one; in all others also behind it."""
    first = SERVING.prompts.ids[0]
    for changed in EVERY:
        second, found = SERVING.prompts.change(changed), SERVING.reuse(changed)
        both = torch.tensor(first), torch.tensor(second)
        numbers = compute_numbers(SERVING, "prefix", -1)["changes"][f"{changed}"]
        start = changed if changed >= 0 else len(SERVING.prompts.others)
        assert numbers["shared"] == count_shared(*both) == start
        assert numbers["blocks"] == count_shared_blocks(*both, BLOCK)
        differs = [at >= len(first) or first[at] != token for at, token in enumerate(second)]
        assert found.moved[0] == "".join("01"[one] for one in differs)
        behind = "".join("01"[at >= start] for at in range(len(second)))
        assert set(found.moved[1:]) == {behind}
        assert len(found.moved) == 30
        assert found.is_rounding
        assert found.logits_limit < 1e-3
        assert found.next_tokens[0] == found.next_tokens[1]


def test_a_difference_is_called_rounding_only_where_it_can_be():
    sent = compute_numbers(SERVING, "prefix", -1)
    assert {one["kind"] for one in sent["changes"].values()} <= {NOTHING, ROUNDING}
    ways = sent["drafts"]["ways"]
    assert {name: way["kind"] for name, way in ways.items()} == {
        TREE: ROUNDING,
        CAUSAL: REAL,
        COUNTED: REAL,
    }
    assert ways[TREE]["wrong"] == [False] * 9
    assert any(ways[CAUSAL]["wrong"])
    sizes, largest = SERVING.chunks()
    wrong = [*sizes[:2], sizes[2]._replace(gap=1.5 * sizes[2].limit), sizes[3]]
    broken = SERVING._replace(chunks=lambda: (wrong, largest))
    kinds = [
        one["kind"] for one in compute_numbers(broken, "chunks", -1)["chunks"]["sizes"].values()
    ]
    assert kinds == [NOTHING, ROUNDING, REAL, ROUNDING]


def test_texts_about_lookups_are_chosen_by_their_numbers():
    assert [find_repeats(SERVING, text) for text in (REPEATING, PLAIN)] == ["some", "none"]
    told = name_lookup(SERVING)
    written, _said = SERVING.write(REPEATING, 8)
    assert int(told["right"]) + written.passes == 24
    assert (told["rows"], told["plain_rows"]) == (f"{written.rows}", f"{24 - 1 + 20}")


def test_a_difference_is_written_with_two_digits():
    for gap, written in [
        (0, "0"),
        (3.94e-5, "0.000039"),
        (0.0001, "0.00010"),
        (15.34, "15.3"),
        (LEAST_GAP / 2, "< 0.000000001"),
    ]:
        assert write_gap(gap) == written


def test_numbers_are_sent_at_once_without_a_model(sent):
    assert sent["elsewhere"] == []
    assert sent["choices"]["changed"] == 3
    assert set(sent["changes"]) == {f"{at}" for at in EVERY}
    assert set(sent["chunks"]["sizes"]) == {"all", "8", "4", "1"}
    tree = SERVING.drafts()
    cells = {name: way["cells"] for name, way in sent["drafts"]["ways"].items()}
    own = ["".join("01"[c] for c in row) for row in tree_mask(7, tree.parents).tolist()]
    assert cells[TREE] == cells[COUNTED] == own
    assert cells[CAUSAL] == ["1" * (n + 1) + "0" * (15 - n) for n in range(16)]


def told(visit):
    return "\n".join(one.value for one in visit.error)


def test_a_model_reads_the_readers_prompt_when_it_is_loaded(monkeypatch, tmp_path):
    """Only what is chosen is computed; the answer to a click comes from the server."""
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    saved_models.llama(locate_folder(GPT2), longest=64)
    link = {"real_model": GPT2, "beginning": "the CEO announced record", "changed": "2"}
    visit = opened(PAGE, link)
    assert not visit.exception
    assert not told(visit)
    live = hero(visit)
    assert live["elsewhere"] == ["trick", "changed"]
    assert live["tokens"][0][:4] == ["the", "CEO", "announced", "record"]
    assert set(live["changes"]) == {"-1", "2"}
    assert live["changes"]["2"]["shared"] == 2
    assert (live["chunks"], live["drafts"]) == (None, None)
    assert hero(opened(PAGE, link | {"trick": "chunks"}))["chunks"]
    assert hero(opened(PAGE, link | {"trick": "drafts"}))["drafts"]


def test_the_kept_numbers_are_shown_where_no_model_can_serve(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"beginning": "Something else."})
    words = "\n".join(one.value for one in visit.main.markdown)
    assert "weights rounded to 4 bits; not the published bf16 · measured beforehand" in words
    assert hero(visit)["tokens"][0][0] == "You"
    saved_models.llama(locate_folder(GPT2), longest=4)
    short = opened(PAGE, {"real_model": GPT2})
    assert "Not with this model" in told(short)
    assert hero(short)["changes"]["-1"]["shared"] == len(EVERY) - 1


@pytest.mark.parametrize("lengths", [(24, 25, 19), (8, 9, 8), (8, 8, 8), (5, 12, 0), (7, 30, 3)])
def test_pages_hold_each_prompt_in_its_order(lengths):
    first, second, shared = lengths
    ids = [[*range(first)], [*range(shared), *range(100, 100 + second - shared)]]
    tokens = [[f"w{one}" for one in prompt] for prompt in ids]
    story = describe_pages(Prompts(tokens, ids, []))
    assert len(story) == 5
    for step, moment in enumerate(story):
        read = [
            [word for page in table for word in moment["slots"][page]][:filled]
            for table, filled in zip(moment["tables"], moment["filled"], strict=True)
        ]
        known = (min(shared, second - 1), min(shared, second - 1) + 1, second, second)
        assert read[0] == (tokens[0] if step < 4 else [])
        assert read[1] == (tokens[1][: known[step - 1]] if step else [])
        used = [page for table in moment["tables"] for page in table] + [*OTHERS]
        assert moment["users"] == [used.count(page) for page in range(len(moment["users"]))]
    copied = min(shared, second - 1) % BLOCK
    assert story[2]["copied"] == copied


def test_nothing_is_copied_where_a_page_is_full():
    story = tell_pages(8, 12, 8, 4)
    assert story[2].copied == 0
    assert story[2].tables[1].pages[:2] == story[0].tables[0].pages
