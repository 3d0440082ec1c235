"""Whether a head finds a word's partner: sentences with known partners, words from subwords."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from explainers.models.grammar_heads import (
    SENTENCES_PER_HALF,
    find_attended_words,
    generate_sentences,
    measure_relations,
    tokenise_sentences,
)

TEXTS = generate_sentences(40)


def test_partners_are_of_the_kind_that_the_relation_names():
    kinds: dict[str, set[str]] = {}
    for one in TEXTS:
        for relation, pairs in one.pairs.items():
            for query, key in pairs:
                for kind, place in zip(relation.split(" → "), (query, key), strict=True):
                    kinds.setdefault(kind, set()).add(one.words[place])
    nouns = kinds["noun"]
    assert kinds["subject"] | kinds["object"] | kinds["its noun"] <= nouns
    assert not nouns & (kinds["verb"] | kinds["adjective"] | kinds["determiner"])
    for one in TEXTS:
        [(verb, subject)], [(_, target)] = one.pairs["verb → subject"], one.pairs["verb → object"]
        assert subject < verb < target
        backwards = [(key, query) for query, key in one.pairs.get("noun → adjective", [])]
        assert backwards == one.pairs.get("adjective → noun", [])
    apart = {key - query for one in TEXTS for query, key in one.pairs["object → verb"]}
    assert len(apart) > 2, "at changing distances"
    assert generate_sentences(3) == TEXTS[:3], "the same every time"


def test_words_are_put_together_from_their_tokens(minilm, smollm2):
    for loaded in (minilm, smollm2):
        ids, real, belongs = tokenise_sentences(loaded, TEXTS)
        assert not belongs[:, :, 0].any()
        for text, one in enumerate(TEXTS):
            for place, word in enumerate(one.words):
                said = loaded.tokenizer.decode(ids[text][belongs[text, place]])
                assert said.strip() == word
            assert int(real[text].sum()) >= int(belongs[text].sum()) + 1
            assert not belongs[text, len(one.words) :].any()


def test_a_word_looks_at_the_other_word_that_gets_most():
    """Words of 1, 2, 1 tokens behind a first token; a third word that this sentence lacks."""
    belongs = torch.tensor([[[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1], [0] * 5]]).bool()
    rows = torch.tensor(
        [
            [1.0, 0, 0, 0, 0],
            [0.9, 0.1, 0, 0, 0],  # the first word has nobody else to look at
            [0.2, 0.5, 0.3, 0, 0],
            [0.9, 0.1, 0, 0, 0],
            [0.1, 0.3, 0.2, 0.2, 0.2],  # 0.3 for the first word, 0.2 + 0.2 for the second
        ]
    )
    layer = SimpleNamespace(weights=rows.expand(1, 1, 5, 5))
    chosen, seen = find_attended_words(cast(Any, layer), belongs)
    assert chosen[0, 0, 1:3].tolist() == [0, 1]
    assert seen[0, :3, :3].tolist() == [[True, False, False], [True] * 2 + [False], [True] * 3]


def test_hits_are_counted_on_sentences_that_chose_nothing(minilm):
    found = measure_relations(minilm)
    one = found["verb → object"]
    assert one.selection_hits.shape == one.held_out_hits.shape == (6, 12)
    assert one.num_pairs == SENTENCES_PER_HALF
    apart = [
        key - query
        for text in generate_sentences(2 * SENTENCES_PER_HALF)[1::2]
        for query, key in text.pairs["verb → object"]
    ]
    assert one.offset_hits == pytest.approx(apart.count(one.offset) / SENTENCES_PER_HALF)
