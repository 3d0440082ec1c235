"""Sentences of any words: who reads them, and that its numbers are the model's own."""

import re
import unicodedata

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from explainers.attention.multi_head import contributions, multi_head
from explainers.attention.single_head import project
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.own_words import FUNCTION_WORDS, read_with
from explainers.chapters.common.sentence_reading import Reading, drop_end_marks
from explainers.chapters.kv_cache.reading import read_model_text, read_text
from explainers.chapters.relative_positions.compute import shift_words
from explainers.chapters.relative_positions.hero import name_origin, read_with_small_head
from explainers.toys.grammar import GRAMMARS, fold_word
from explainers.toys.layers import Layer
from explainers.toys.rotary_layers import load_finder, load_writer
from explainers.toys.sentence import MOST_DRAWN, SENTENCE, is_word, read_sentence, split_words
from explainers.ui.untrusted_text import verbatim
from tests.support.opening import PAGES, ROOT, opened, press
from tests.support.reading import hero, said
from tests.support.tiers import take_turns

DOG = "My dog chased the red ball."
SENTENCES = [
    *(DOG, f"{SENTENCE}.", "Who ate my sandwich?", "Why", "3 + 4 = 7", "We won 🏆 and danced 💃🏽"),
    *("def f(x): return x", "“Stop,” she said, “now!”", "القطة نامت على السرير"),
    *("John told John that John left", "THE DOG CHASED THE BALL", "x" * 60, "⁂ … !"),
    "Sáng nay tôi đọc một cuốn sách hay về những con tàu cũ đi qua đại dương rất rộng lớn kia",
    " ".join(["The old king of the small island slept"] * 3),
]
READING = (
    *("01_start", "03_query_key_value", "04_scores", "05_masks", "06_many_heads"),
    *("09_shared_heads", "11_long_sequences"),
)
WHOLE = "07_relative_positions", "08_kv_cache"
"""Untrained weights read the marks at the end as well."""


def read_on(stem, **link):
    """(text, page, its picture) for some texts: a real model has read them, nothing is instead."""
    for text in [DOG, *take_turns(SENTENCES[1:])]:
        asked = {"text": text, "reader": "real model", **link}
        visit = opened(ROOT / "pages" / f"{stem}.py", asked)
        assert "A real model reads your words" in said(visit)
        assert not visit.info
        assert not visit.exception
        yield text, visit, hero(visit)


def read(model, text):
    found = read_with(model, read_sentence(text))
    assert found
    return found


def run_own_attention(model, found):
    """The layer's queries, keys and values (heads, tokens, d_k), by the model's own matrices."""
    block = model.model.encoder.layer[found.layer_index].attention
    into, heads = found.x[:, :-1], (len(found.tokens), 12, 32)
    views = [getattr(block.self, name)(into) for name in ("query", "key", "value")]
    return block, [view.view(heads).transpose(0, 1) for view in views]


@pytest.mark.parametrize("text", SENTENCES)
def test_a_head_of_a_real_model_computes_what_the_model_computes(minilm, text):
    found = read(minilm, text)
    block, views = run_own_attention(minilm, found)
    one = project(found.x, found.layer().head())
    for ours, theirs in zip(one, views, strict=True):
        torch.testing.assert_close(ours, theirs[found.number], atol=2e-5, rtol=1e-4)
    for rule in ("full", "causal"):
        query, key, value = views
        expected = scaled_dot_product_attention(query, key, value, is_causal=rule == "causal")
        output = found.attend(rule).output
        torch.testing.assert_close(output, expected[found.number], atol=2e-5, rtol=1e-4)
    every = found.layer_of_all()
    run = multi_head(every.x, every.heads, every.mask)
    joined = scaled_dot_product_attention(*views).transpose(0, 1).flatten(1)
    added = contributions(run.per_head, every.heads.w_output).sum(dim=0)
    expected = block.output.dense(joined) - block.output.dense.bias
    torch.testing.assert_close(added[:, :-1], expected, atol=2e-5, rtol=1e-4)
    assert not added[:, -1].any(), "nothing is written where the 1 stands"


@pytest.mark.parametrize("text", SENTENCES)
def test_any_text_is_read_and_opens_on_a_word(minilm, text):
    found, ids = read(minilm, text), minilm.tokenizer(text)["input_ids"]
    assert len(found.tokens) <= MOST_DRAWN
    assert len(found.tokens) + found.left_out == len(ids)
    opening = found.tokens[found.telling_word]
    words = [token for token in found.tokens[1:-1] if is_word(token)]
    assert opening in words or not words
    content = [word for word in words if word.casefold() not in FUNCTION_WORDS]
    assert opening in content or len(content) < 2
    assert found.is_in_pieces == (text[0] in "Sxا")


def test_twenty_four_words_are_shown_whole_and_as_they_were_written(minilm):
    assert read(minilm, SENTENCES[-1]).tokens == ("[CLS]", *SENTENCES[-1].split(), "[SEP]")
    found = read(minilm, "My grandmother bakes a warm apple cake")
    said_words = ("My", "grandmother", "ba", "…kes", "a", "warm", "apple", "cake")
    assert found.tokens == ("[CLS]", *said_words, "[SEP]")
    assert found.own_positions == (0, 9)
    assert found.score > found.by_distance + 0.1, "it was chosen for something"


def test_marks_at_the_end_are_no_words():
    assert drop_end_marks(("Friday", ".")) == drop_end_marks(("Friday", "!", "?")) == ("Friday",)
    assert drop_end_marks(("“", "Stop", "”")) == ("“", "Stop")
    assert drop_end_marks(("…", "!")) == ("…",)


@pytest.mark.parametrize("language", GRAMMARS)
def test_words_that_were_learned_are_read_by_weights_that_learned_them(language):
    running, word_ids = GRAMMARS[language].running, GRAMMARS[language].word_ids
    tokens, finder, writer = running.tokens, load_finder(language), load_writer(language)
    head, run = read_with_small_head((*tokens, "."), 3), read_text((*tokens, "."), 3)
    assert head.tokens == run.tokens == tokens, "they learned no marks"
    assert head.weights is finder.head
    assert run.layers is writer.layers
    assert torch.equal(run.x, writer.embedding[[word_ids[fold_word(one)] for one in tokens]])
    largest = shift_words(head, (0,))[0][0, running.verb].topk(2).indices
    assert {*largest.tolist()} == {*running.related[running.verb]}
    assert "trained: related words, a head with RoPE" in name_origin(head)
    assert "trained: the next word" in run.origin
    unknown = *tokens, "zebra"
    for origin in (name_origin(read_with_small_head(unknown, 3)), read_text(unknown, 3).origin):
        assert "untrained" in origin


def test_who_reads_is_chosen_by_the_words(minilm):
    """What is drawn, and what is read where words are to be changed."""
    own = read(minilm, DOG)
    known, words = tuple(SENTENCE.split()), tuple(split_words(DOG))
    cases = {
        "small": (Reading(known, None, True), known, known),
        "asked for": (Reading(known, own, True), own.tokens, known),
        "real": (Reading(words, own, False), own.tokens, known),
        "untrained": (Reading(words, None, False, wants_model=True), words, known),
        "untrained, as it was asked for": (Reading(words, None, False), words, words),
    }
    for name, (one, drawn, instead) in cases.items():
        assert (one.tokens, one.known) == (drawn, instead), name
        assert one.is_small == (name == "small")
        assert isinstance(one.layer("causal"), Layer)
        assert one.layer().tokens == one.layer_of_heads().tokens == drawn or name == "small"
        untrained, trained = one.layer(is_trained=False), one.layer()
        assert untrained.heads.w_query.shape == trained.heads.w_query.shape
        assert torch.equal(untrained.heads.w_query, trained.heads.w_query) == ("untrained" in name)
        assert is_word(one.tokens[one.last_word])
    for few in (("Why",), ("Why", "not")):
        assert Reading(few, None, False).opening_word == len(few) - 1


@pytest.mark.parametrize("stem", READING)
def test_a_page_draws_the_models_tokens(stem, minilm):
    """With which weights, the goldens say."""
    for text, _visit, sent in read_on(stem):
        found = read(minilm, text)
        assert sent["tokens"] == list(found.tokens)
        assert sent["choices"].get("word", found.telling_word) == found.telling_word


def test_queries_and_keys_are_rotated_as_the_model_rotates_them(smollm2):
    """The score of two words, at each of their places, by transformers' own rotation."""
    model, config = smollm2.model.model, smollm2.model.config
    for text, visit, sent in read_on("07_relative_positions", shift="5"):
        ids = smollm2.tokenizer(text, return_tensors="pt")["input_ids"][:, : len(sent["tokens"])]
        layer, number = map(int, re.findall(r"head L(\d+)\.H(\d+)", said(visit))[0])
        read = smollm2.model(ids, output_hidden_states=True).hidden_states[layer]
        block = model.layers[layer]
        x = block.input_layernorm(read)
        query, key = (
            one(x).unflatten(-1, (-1, config.head_dim)).transpose(1, 2)
            for one in (block.self_attn.q_proj, block.self_attn.k_proj)
        )
        for shift in (0, 5, 64):
            places = torch.arange(shift, shift + ids.shape[1])[None]
            turned = apply_rotary_pos_emb(query, key, *model.rotary_emb(x, places))
            asking, asked = sent["pair"]
            product = turned[0][0, number, asking] @ turned[1][0, number // 3, asked]
            score = sent["rotary"][-sent["least"]][shift]
            assert score == pytest.approx(product.item() / 8, abs=2e-3)
        parts = torch.tensor(sent["parts"]).sum(dim=-1)
        torch.testing.assert_close(parts, torch.tensor(sent["rotary"]), atol=1e-4, rtol=0)


def test_rows_are_those_that_the_models_own_cache_stores(smollm2):
    """Its `past_key_values`, step by step; what is stored once stays as it is."""
    for text, _visit, sent in read_on("08_kv_cache", deep="broken"):
        ids = smollm2.tokenizer(text, return_tensors="pt")["input_ids"]
        found = read_model_text(smollm2, text)
        assert found
        assert sent["tokens"] == list(found.tokens)
        order, past = torch.arange(64).view(2, -1).T.flatten(), None
        for place, step in enumerate(found.steps):
            past = smollm2.model(ids[:, place, None], past_key_values=past).past_key_values
            for n, done in enumerate(step.reads):
                key, value = past.layers[n].keys[0], past.layers[n].values[0]
                cache, before = done.cache, found.steps[max(0, place - 1)].reads[n].cache
                torch.testing.assert_close(cache.key, key[..., order], atol=1e-3, rtol=0)
                torch.testing.assert_close(cache.value, value, atol=1e-3, rtol=0)
                kept = max(1, place)
                assert torch.equal(cache.key[:, :kept], before.key[:, :kept])
                assert torch.equal(cache.value[:, :kept], before.value[:, :kept])
                for kind, theirs in (("key", key[0][:, order]), ("value", value[0])):
                    drawn = torch.tensor(sent["layers"][n][kind][: place + 1])
                    torch.testing.assert_close(drawn, theirs, atol=2e-3, rtol=0)
        assert sent["steps"][-1]["bytes"] == 2 * key.numel() * 4
        assert 0 <= sent["steps"][-1]["difference"] < 1e-3
        [first, second] = sent["again"]
        assert not any(step["wrong"] for step in first)
        # Of one token again and again any average of the values is the same: nothing can be wrong.
        differ = len(ids.unique()) > 1
        expected = [[*range(n)] if differ else [] for n in range(len(ids[0]))]
        assert [step["wrong"] for step in second] == expected[:24]


def test_the_small_head_and_the_real_one_can_be_exchanged(minilm):
    visit = opened(PAGES[3])
    assert hero(visit)["tokens"] == SENTENCE.split()
    press(visit, "Let a real model read it")
    assert hero(visit)["tokens"][0] == "[CLS]"
    assert visit.query_params["reader"] in ("real model", ["real model"])
    press(visit, "Let the small head read it")
    assert hero(visit)["tokens"] == SENTENCE.split()
    assert "reader" not in visit.query_params


def test_a_link_keeps_its_word_and_known_words_go_back_to_the_small_head(minilm):
    visit = opened(PAGES[0], {"text": DOG, "word": "2"})
    assert hero(visit)["choices"]["word"] == 2
    assert [hero(visit)["tokens"][n] for n in hero(visit)["ownPositions"]] == ["[CLS]", "[SEP]"]
    assert hero(visit)["choices"]["text"] == DOG
    visit.text_input(key="text").set_value(f"{SENTENCE}.").run()
    assert hero(visit)["tokens"] == SENTENCE.split(), "a mark at the end is no word"


def test_the_words_are_swapped_from_inside_of_the_lesson(minilm):
    visit = opened(PAGES[0], {"text": DOG})
    [button] = [one for one in visit.button if one.label.startswith("Swap the words")]
    button.click().run()
    assert f"“{visit.text_input(key='text').value}”" in button.label
    assert " ".join(hero(visit)["tokens"]) in button.label


def test_without_the_model_untrained_weights_read_and_the_model_is_offered(no_models):
    for stem in [*WHOLE, "11_long_sequences", *take_turns(READING[:-1], 2)]:
        page = ROOT / "pages" / f"{stem}.py"
        visit = opened(page, {"text": DOG})
        assert hero(visit)["tokens"] == split_words(DOG)[: None if stem in WHOLE else -1]
        assert "Untrained weights read your words" in said(visit)
        assert not re.search("head learned, with RoPE|layers learned to predict", said(visit))
        assert any("is not on this machine" in one.value for one in visit.warning)
        assert not visit.info
        assert not visit.exception


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_unknown_words_are_named_whatever_signs_they_have(form):
    texts = {
        "Giám đốc công bố lợi nhuận": ["Giám", "đốc"],
        "The CEO's e-mail announced record earnings": ["CEO's", "e-mail"],
    }
    for text, unknown in texts.items():
        visit = opened(PAGES[3], {"text": unicodedata.normalize(form, text)})
        assert f"never learned {', '.join(map(verbatim, unknown))}." in said(visit)


def test_when_the_model_comes_the_pair_is_its_own_unless_a_link_names_one(smollm2, monkeypatch):
    """Untrained weights open on the running sentence's pair, which says nothing of a model."""
    page = ROOT / "pages" / "07_relative_positions.py"
    asked = {"text": DOG, "reader": "real model"}
    told = hero(opened(page, asked))["pair"]
    for link, asking in ((asked, told[0]), (asked | {"word": "3"}, 3)):
        with monkeypatch.context() as absent:
            absent.setattr(sentence_reading, "find_model", lambda _kind: None)
            visit = opened(page, link)
        assert hero(visit)["pair"] != told
        assert hero(visit.run())["pair"][0] == asking
