"""Shared prefixes, pages, chunks, trees of drafts, and drafts that are kept or drawn again."""

import itertools
from collections import Counter
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM
from transformers.generation.candidate_generator import PromptLookupCandidateGenerator

from explainers.attention import masks
from explainers.attention.cache.decoding import list_chunks, most_weights, read_in_chunks, through
from explainers.attention.cache.kv_cache import Cache, empty_cache, read
from explainers.attention.serving import drafts_from_text, kept_drafts, shared_prefix
from explainers.attention.serving.drafts_from_text import look_up_draft, write_with_drafts
from explainers.attention.serving.kept_drafts import (
    find_depths,
    find_right,
    tree_mask,
    tree_positions,
)
from explainers.attention.serving.paged_cache import Table, empty_pages, gather, point_at, write_row
from explainers.attention.serving.shared_prefix import changed_rows, name_blocks
from explainers.toys.examples import make_generator, random_heads

CAUSAL = partial(read, rule=masks.causal)
IDS = st.lists(st.integers(0, 2), max_size=24)


STACK = [random_heads(12, 6, 2, 4, seed) for seed in range(3)]


def read_all(x):
    return through(x, STACK, [empty_cache(x, layer) for layer in STACK], CAUSAL)


@given(IDS, IDS, st.integers(1, 5))
def test_what_is_shared_is_the_common_beginning(one, two, size):
    pairs = zip(one, two, strict=False)
    by_hand = len([*itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)])
    both = torch.tensor(one, dtype=torch.long), torch.tensor(two, dtype=torch.long)
    assert shared_prefix.count_shared(*both) == by_hand
    assert shared_prefix.count_shared_blocks(*both, size) == by_hand // size
    assert len(name_blocks(both[0], size)) == len(one) // size


def test_the_same_block_has_another_name_behind_another_beginning():
    one, two = torch.tensor([1, 2, 3, 4]), torch.tensor([9, 2, 3, 4])
    assert one[2:].equal(two[2:])
    assert name_blocks(one, 2)[1] != name_blocks(two, 2)[1]
    assert name_blocks(one[2:], 2)[0] == name_blocks(two[2:], 2)[0]


@pytest.mark.parametrize("at", [0, 4, 8])
def test_a_changed_token_changes_its_row_and_later_ones_of_deeper_layers(at):
    x = torch.randn(9, 12, generator=make_generator("serving"))
    other = x.clone()
    other[at] += 1
    pairs = zip(read_all(x).reads, read_all(other).reads, strict=True)
    first, *deeper = [changed_rows(a.cache.key, b.cache.key, 1e-5).tolist() for a, b in pairs]
    assert first == [place == at for place in range(9)]
    assert deeper == [[place >= at for place in range(9)]] * 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("wfd"), st.integers(0, 2)), max_size=40))
@example([("w", 1), ("f", 0), ("w", 0), ("w", 1)])  # both go on where the copied text ended
def test_pages_hold_what_a_plain_list_holds(steps):
    """w writes a row into a text, f begins a text as a copy of the next one, d ends it."""
    memory = empty_pages(60, 2, 3, 1)
    tables = [Table((), 0)] * 3
    rows: list[list[int]] = [[], [], []]
    for number, (step, text) in enumerate(steps, start=1):
        other = (text + 1) % 3
        if step == "w":
            row = torch.full((2, 1), float(number))
            memory, tables[text] = write_row(memory, tables[text], row, -row)
            rows[text] = [*rows[text], number]
        else:
            memory = point_at(memory, tables[text], -1)
            tables[text], rows[text] = Table((), 0), []
        if step == "f":
            memory = point_at(memory, tables[other], 1)
            tables[text], rows[text] = tables[other], rows[other]
        for table, kept in zip(tables, rows, strict=True):
            nothing = torch.zeros(2, 0, 1)
            found = gather(memory, table) if table.pages else Cache(nothing, nothing, 0)
            assert found.key[0, :, 0].tolist() == found.key[1, :, 0].tolist() == kept
            assert found.value[0, :, 0].tolist() == [-row for row in kept]
            assert found.seen == len(kept)
            assert len(table.pages) == -(-len(kept) // 3)
        used = Counter(page for table in tables for page in table.pages)
        assert memory.users.tolist() == [used[page] for page in range(60)]


def test_a_full_memory_is_refused():
    memory, table = empty_pages(1, 1, 1, 1), Table((), 0)
    memory, table = write_row(memory, table, torch.zeros(1, 1), torch.zeros(1, 1))
    with pytest.raises(ValueError, match="all 1 pages"):
        write_row(memory, table, torch.zeros(1, 1), torch.zeros(1, 1))


@pytest.mark.parametrize("size", [1, 3, 9, 20])
def test_chunks_give_what_one_pass_gives(size):
    x = torch.randn(2, 9, 12, generator=make_generator("serving chunks"))
    caches = [empty_cache(x, layer) for layer in STACK]
    assert_close(read_in_chunks(x, STACK, caches, CAUSAL, size), read_all(x).output)


@given(st.integers(1, 40), st.integers(1, 50))
def test_chunks_are_all_tokens_once_and_their_weights_are_counted(tokens, size):
    chunks = list_chunks(tokens, size)
    assert [place for start, end in chunks for place in range(start, end)] == [*range(tokens)]
    shapes = [masks.build(masks.causal, end - start, end).numel() for start, end in chunks]
    assert most_weights(tokens, size) == max(shapes)


PARENTS = st.integers(0, 8).flatmap(
    lambda count: st.tuples(*(st.integers(-1, draft - 1) for draft in range(count)))
)


def list_path(parents, draft):
    return [*list_path(parents, parents[draft]), draft] if draft >= 0 else []


@given(st.integers(1, 5), PARENTS)
def test_a_draft_sees_the_text_and_its_own_branch(length, parents):
    mask, positions = (tree_mask(length, parents), tree_positions(length, parents))
    assert mask[:length, :length].equal(masks.build(masks.causal, length, length))
    assert not mask[:length, length:].any()
    for draft in range(len(parents)):
        path = [length + one for one in list_path(parents, draft)]
        seen = mask[length + draft].nonzero().flatten().tolist()
        assert seen == [*range(length), *path]
        assert positions[seen].tolist() == [*range(len(seen))], "as in a text of its own"
        assert find_depths(parents)[draft] == len(path) - 1


def test_right_drafts_are_followed_along_their_branch():
    parents, drafts = [-1, -1, 0, 0, 1, 2], [5, 9, 2, 6, 5, 3]
    assert find_right(parents, drafts, [5, 6, 0, 0, 1, 0, 0]) == [0, 3]
    assert find_right(parents, drafts, [5, 2, 0, 3, 0, 0, 0]) == [0, 2, 5]
    assert find_right(parents, drafts, [9, 2, 4, 0, 0, 0, 0]) == [1]
    assert find_right(parents, drafts, [7, 2, 5, 0, 0, 0, 0]) == []


@given(st.lists(st.integers(0, 3), min_size=2, max_size=20), st.integers(1, 4), st.integers(1, 5))
def test_drafts_are_those_of_transformers(ids, longest, count):
    theirs: Any = PromptLookupCandidateGenerator(
        num_output_tokens=count, max_matching_ngram_size=longest, max_length=1_000
    )
    found, _scores = theirs.get_candidates(torch.tensor([ids]))
    assert found[0, len(ids) :].tolist() == look_up_draft(ids, longest, count)


@pytest.mark.parametrize("drafts", [0, 1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_with_drafts_is_transformers_greedy_text(seed, drafts):
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"vocab_size": 7, "hidden_size": 24, "intermediate_size": 32}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2}
    model: Any = LlamaForCausalLM(LlamaConfig(**sizes)).eval()
    prompt, cache, computed = [1, 2, 3, 1, 2], DynamicCache(), list[int]()

    def predict(known, new):
        if more := cache.get_seq_length() - known:
            cache.crop(-more)
        computed.append(len(new))
        with torch.no_grad():
            logits = model(torch.tensor([[*new]]), past_key_values=cache).logits[0]
        return logits.argmax(dim=-1).tolist()

    written = write_with_drafts(
        prompt, 16, predict, lambda ids: look_up_draft(ids, 2, drafts) if drafts else []
    )
    given = torch.tensor([prompt])
    greedy = {"max_new_tokens": 16, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    looked_up = {"prompt_lookup_num_tokens": drafts} if drafts else {}
    for how in ({}, looked_up):
        assert written.ids == model.generate(given, **greedy, **how)[0].tolist()
    assert (written.passes, written.rows) == (len(computed), sum(computed))
    assert (written.passes == 16) == (drafts == 0), "untrained models repeat themselves"


@given(st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), min_size=7))
def test_right_drafts_end_at_the_first_wrong_one(drafts, after):
    right = drafts_from_text.count_right(drafts, after)
    assert drafts[:right] == after[:right]
    assert right == len(drafts) or drafts[right] != after[right]


@given(st.data())
def test_what_is_written_has_the_targets_distribution(data):
    """All ways counted: a draft is kept, or one that was rejected is replaced."""
    numbers = st.lists(st.integers(0, 99), min_size=5, max_size=5).filter(any)
    draft, target = (torch.tensor(data.draw(numbers)).double() for _ in range(2))
    draft, target = draft / draft.sum(), target / target.sum()
    rest = kept_drafts.left_over(draft, target)
    assert_close(kept_drafts.written_distribution(draft, target, rest), target)
    kept = (draft * kept_drafts.keep_probability(draft, target)).sum()
    assert_close(kept, 1 - (draft - target).abs().sum() / 2)
    apart = (draft - target).abs().max().item()
    assert rest.sum().item() == pytest.approx(1) or apart < 1e-12
