"""What a model reads besides one text: a pair, a chat, its own answer, and what a decoder reads."""

from typing import Any

import numpy as np
import pytest
import torch

from explainers.models.registry import ModelError
from explainers.notebook.look import make_look
from tests.notebook.test_look import (
    TEXT,
    TOKENIZER,
    assert_drawn,
    data_of,
    eager_weights,
    ids_of,
    read_eagerly,
)
from tests.support.tiny_families import tiny
from tests.support.tiny_tokenizer import tokenizer_of

ANSWER = "w8 w7 w30 w12"
CHAT = [{"role": "user", "content": "w7 w9"}, {"role": "assistant", "content": "w8 w30 w12"}]
TEMPLATE = (
    "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}"
    "{% if add_generation_prompt %}assistant {% endif %}"
)


def data_and_picture(family, text=TEXT, tokenizer=TOKENIZER, **options):
    picture = make_look(tiny(family), tokenizer, text, names=False, **options)
    return data_of(picture.page), picture


def read_by_decoder(family, answer):
    """What transformers' own attention says, of an answer as it is taught."""
    model = tiny(family)
    start = torch.tensor([[model.config.decoder_start_token_id]])
    return read_eagerly(model, decoder_input_ids=torch.cat([start, ids_of(answer)[:, :-1]], dim=1))


@pytest.mark.parametrize("family", ["BART", "Marian", "T5 (relative bias)"])
def test_cross_attention_is_the_models_own(family):
    data, picture = data_and_picture(family, answer=ANSWER)
    assert (data["kind"], data["queries"]) == ("cross", ["[BOS]", *ANSWER.split()[:-1]])
    assert data["tokens"] == TEXT.split()
    expected = torch.cat(read_by_decoder(family, ANSWER).cross_attentions)
    assert_drawn(data, expected)
    np.testing.assert_allclose(picture.weights[1, 2], expected[1, 2], atol=1e-6)
    assert picture.summary.endswith("4 queries on 11 keys")


def test_the_decoder_looks_at_itself_and_the_encoder_at_the_text():
    told = read_by_decoder("BART", ANSWER)
    for name, expected in {
        "decoder": told.decoder_attentions,
        "encoder": told.encoder_attentions,
    }.items():
        data, _picture = data_and_picture("BART", answer=ANSWER, attention=name)
        assert data["queries"] is None
        assert_drawn(data, torch.cat(expected))


@pytest.mark.parametrize("answer", [ANSWER, ids_of(ANSWER)[0]], ids=["text", "ids"])
def test_prompt_and_answer_are_one_text_with_a_border(answer):
    data, _picture = data_and_picture("Llama", answer=answer)
    assert data["tokens"] == [*TEXT.split(), *ANSWER.split()]
    assert data["parts"] == [["prompt", 0], ["answer", 11]]
    assert_drawn(data, eager_weights(tiny("Llama"), f"{TEXT} {ANSWER}"))


@pytest.mark.parametrize("family", ["Llama", "BART"])
def test_a_model_writes_the_answer_as_it_would_by_itself(family):
    written = tiny(family).generate(ids_of(TEXT), max_new_tokens=4, do_sample=False, num_beams=1)
    data, _picture = data_and_picture(family, answer=4)
    shown = data["queries"] or data["tokens"]
    assert shown == TOKENIZER.convert_ids_to_tokens(written[0])
    assert len(shown) == (15 if family == "Llama" else 5)


def test_of_a_pair_it_is_said_where_the_second_begins():
    tokenizer = tokenizer_of()
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    data, _picture = data_and_picture("BERT", TEXT, tokenizer, pair=ANSWER)
    assert data["tokens"] == [*TEXT.split(), *ANSWER.split()]
    assert data["parts"] == [["A", 0], ["B", 11]]
    types = torch.tensor([[0] * 11 + [1] * 4])
    told = read_eagerly(tiny("BERT"), f"{TEXT} {ANSWER}", token_type_ids=types)
    assert_drawn(data, torch.cat(told.attentions))


def test_a_chat_is_written_in_the_tokenizers_template():
    tokenizer = tokenizer_of(["user", "assistant", "w7", "w9", "w8", "w30", "w12"])
    tokenizer.chat_template = TEMPLATE
    data, _picture = data_and_picture("Llama", CHAT, tokenizer)
    assert data["tokens"] == ["user", "w7", "w9", "assistant", "w8", "w30", "w12"]
    assert data["parts"] == [["prompt", 0], ["answer", 4]]
    data, _picture = data_and_picture("Llama", CHAT[:1], tokenizer, answer=2)
    assert data["tokens"][:4] == ["user", "w7", "w9", "assistant"]
    assert (len(data["tokens"]), data["parts"]) == (6, [["prompt", 0], ["answer", 4]])
    tokenizer.chat_template = "{{ raise_exception('no') }}"
    with pytest.raises(ModelError, match="template refuses this chat: no"):
        data_and_picture("Llama", CHAT, tokenizer)


def test_words_of_both_texts_are_merged(smollm2):
    """By hand: to a word the sum of its pieces, from a word their mean."""
    options: Any = {"names": False, "answer": " lục"}
    pieces = make_look(smollm2.model, smollm2.tokenizer, "kỷ", **options)
    words = make_look(smollm2.model, smollm2.tokenizer, "kỷ", by_word=True, **options)
    border = pieces.parts[1][1]
    assert (words.tokens[1], words.parts) == (["kỷ", " lục"], [("prompt", 0), ("answer", 1)])
    told = f"270 heads on {len(pieces.tokens[1])} tokens, merged into 2 words"
    assert words.summary.endswith(told)
    one_text = make_look(smollm2.model, smollm2.tokenizer, "kỷ lục", names=False, by_word=True)
    assert one_text.tokens[1] == words.tokens[1]
    to_first = pieces.weights[3, 2][:, :border].sum(axis=1)
    expected = [to_first[:border].mean(), to_first[border:].mean()]
    np.testing.assert_allclose(words.weights[3, 2][:, 0], expected, atol=1e-6)
