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
    SENTENCES,
    compute_numbers,
    count_moved,
    describe_pages,
    find_places,
    write_gap,
)
from explainers.chapters.serving.kept_drafts import (
    DRAWS,
    RIGHT,
    draw_runs,
    find_limit,
    measure_chi,
    pool_rare,
)
from explainers.chapters.serving.measured_serving import BLOCK, PLAIN, REPEATING, read_shipped
from explainers.chapters.serving.page_story import OTHERS, tell_pages
from explainers.chapters.serving.reused_rows import find_repeats, judge_chunks, name_lookup
from explainers.local_numbers import write_value
from explainers.models.registry import locate_folder
from explainers.models.served_prompts import CAUSAL, COUNTED, TREE, Prompts
from explainers.translations import load_sections, translate_section
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


@pytest.mark.parametrize("changed", EVERY)
def test_what_is_shared_is_counted_by_the_code_of_the_page(changed):
    both = torch.tensor(SERVING.prompts.ids[0]), torch.tensor(SERVING.prompts.change(changed))
    numbers = compute_numbers(SERVING, "prefix", -1)["changes"][f"{changed}"]
    assert numbers["shared"] == count_shared(*both)
    assert numbers["blocks"] == count_shared_blocks(*both, BLOCK)
    assert numbers["shared"] == (changed if changed >= 0 else len(SERVING.prompts.others))


@pytest.mark.parametrize("changed", EVERY)
def test_red_squares_are_those_behind_the_change(changed):
    """In the first layer where the token is another one; in all others also behind it."""
    first, second = SERVING.prompts.ids[0], SERVING.prompts.change(changed)
    moved = SERVING.reuse(changed).moved
    start = count_shared(torch.tensor(first), torch.tensor(second))
    differs = [at >= len(first) or first[at] != token for at, token in enumerate(second)]
    assert moved[0] == "".join("01"[one] for one in differs)
    assert set(moved[1:]) == {"".join("01"[at >= start] for at in range(len(second)))}
    assert len(moved) == 30


def test_reused_rows_differ_by_nothing_or_rounding():
    for changed in EVERY:
        found = SERVING.reuse(changed)
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
    assert [judge_chunks(one) for one in (SERVING, broken)] == [ROUNDING, REAL]


def test_texts_about_lookups_are_chosen_by_their_numbers():
    assert [find_repeats(SERVING, text) for text in (REPEATING, PLAIN)] == ["some", "none"]
    told = name_lookup(SERVING)
    written, _said = SERVING.write(REPEATING, 8)
    assert int(told["right"]) + written.passes == 24
    assert (told["rows"], told["plain_rows"]) == (f"{written.rows}", f"{24 - 1 + 20}")


def test_rare_words_are_counted_together():
    assert pool_rare(torch.tensor([3.0, 60, 30, 2, 4])).tolist() == [2, 0, 1, 2, 2]
    assert pool_rare(torch.tensor([60.0, 30, 2, 1])).tolist() == [0, 1, 1, 1], "2 + 1 is rare"
    assert pool_rare(torch.tensor([90.0, 2, 1])).tolist() == [0, 1, 1], "the first stays alone"
    assert pool_rare(torch.tensor([6.0, 5, 7])).tolist() == [1, 2, 0], "none is rare"


def test_chi_square_of_pooled_bins_is_that_of_a_reference():
    counts, expected = torch.tensor([58.0, 33, 6, 3]), torch.tensor([60.0, 30, 8, 2])
    by_hand = 4 / 60 + 9 / 30 + 1 / 10
    assert measure_chi(counts.double(), expected.double()) == pytest.approx(by_hand)
    ruled_out = measure_chi(torch.tensor([9.0, 1]), torch.tensor([10.0, 0]))
    assert ruled_out > 1e6, "a word that p rules out"


def test_a_very_certain_model_keeps_a_right_rule_right():
    """Words that are expected less than once in all draws would make χ² jump."""
    q = (0.6, 0.3999, 0.00005, 0.00005)
    p = (0.99985, 0.0001, 0.00004, 0.00001)
    chi = draw_runs(q, p, seed=0)[RIGHT].chi
    limit = find_limit(int(pool_rare(torch.tensor(p) * DRAWS).max()))
    assert 0.02 < sum(one > limit for one in chi) / len(chi) < 0.09


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


def test_without_a_model_a_text_of_the_readers_waits(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"beginning": "Something else."})
    words = "\n".join(one.value for one in visit.main.markdown)
    assert "weights rounded to 4 bits; not the published bf16 · measured beforehand" in words
    assert hero(visit)["tokens"][0][0] == "You"


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


def test_a_model_that_cannot_serve_leaves_the_kept_numbers(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    saved_models.llama(locate_folder(GPT2), longest=4)
    visit = opened(PAGE, {"real_model": GPT2})
    assert not visit.exception
    assert "Not with this model" in told(visit)
    assert hero(visit)["changes"]["-1"]["shared"] == len(EVERY) - 1


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


@pytest.mark.parametrize(
    ("gap", "written"),
    [(0, "0"), (3.94e-5, "0.000039"), (0.0001, "0.00010"), (15.34, "15.3"), (0.0123, "0.0123")],
)
def test_small_differences_are_written_in_full(gap, written):
    assert write_gap(gap) == written
    assert write_gap(LEAST_GAP / 2) == "< 0.000000001"


@pytest.mark.parametrize("language", ["en", "vi"])
def test_experiments_say_what_the_picture_will_show(language, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    early, late, blank, causal = hero(opened(PAGE, {"lang": language}))["experiments"]
    for one, at in zip((early, late), find_places(SERVING), strict=True):
        assert one["choices"] == {"trick": "prefix", "changed": at}
        first, later = count_moved(SERVING.reuse(at), len(EVERY) - 1)
        assert (first, later) == (1, len(EVERY) - 1 - at)
        assert f" {later} " in one["text"] or f" {later}." in one["text"]
    assert blank["choices"]["changed"] == 0
    assert SERVING.prompts.others[0][0] == f" {SERVING.prompts.tokens[1][0]}"
    assert causal["choices"] == {"trick": "drafts", "draft_mask": "causal"}
    assert write_value(write_gap(max(SERVING.drafts().gaps[CAUSAL])), language) in causal["text"]


def test_a_link_that_asks_for_nonsense_is_told_so(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"changed": "99", "chunk_size": "7"})
    assert not visit.exception
    assert {"changed", "chunk_size"} <= {word for note in visit.info for word in note.value.split()}


def test_the_sentences_of_the_picture_are_sent_with_it(sent):
    names = {name for name in load_sections("15_serving") if name.startswith("hero_")}
    assert set(sent["texts"]) == set(SENTENCES) == names - {"hero_other_text"}
    assert all(translate_section("15_serving", name) for name in SENTENCES)
