"""The two real models that come with the tests are what they are said to be."""

import pytest
import torch

from explainers.memory.model_shapes import find_shape
from explainers.models.attention_hook import install_hook
from explainers.models.comparison import measure_differences
from explainers.models.registry import WHEEL_MODELS, find_offered_model
from explainers.models.token_text import (
    label_ids,
    label_tokens,
    list_models_with_tokenizer,
    read_tokenizer,
    spell_token,
    tokenise_text,
)
from explainers.toys.sentence import SENTENCE

TRICKY = "naïve 🙂 日本語 unbelievable CEO\n x"


@pytest.mark.parametrize(("name", "row"), [("smollm2", 0), ("minilm", 1)])
def test_a_row_of_the_registry_describes_its_model_and_our_attention_is_its_own(request, name, row):
    loaded = request.getfixturevalue(name)
    assert loaded.name == WHEEL_MODELS[row].id
    assert sum(p.numel() for p in loaded.model.parameters()) == WHEEL_MODELS[row].num_parameters
    kinds = {True: "causal", False: "bidirectional"}
    assert kinds[hasattr(loaded.model, "lm_head")] == WHEEL_MODELS[row].kind
    assert WHEEL_MODELS[row] in list_models_with_tokenizer()
    tokenizer = read_tokenizer(loaded.name)
    for text in (SENTENCE, TRICKY, "word " * 300):  # cut as with its model
        ids = loaded.tokenizer(text, verbose=False)["input_ids"]
        encoded = tokenizer.encode(text)
        assert encoded.ids == ids
        assert label_tokens(encoded, tokenizer) == label_ids(loaded.tokenizer, ids)
    install_hook(loaded.model)
    rows = measure_differences(loaded.model, input_ids=tokenise_text(loaded, SENTENCE).ids)
    assert len(rows) == loaded.model.config.num_hidden_layers + 1
    assert not [row for row in rows if not row.largest <= 1e-5 * row.magnitude]


def test_models_have_the_size_that_another_page_gives_them():
    for model_id, on_page_09 in {
        "openai-community/gpt2": "gpt2",
        "Qwen/Qwen3-0.6B": "qwen3-0.6b",
        "HuggingFaceTB/SmolLM2-135M-Instruct": "smollm2-135m",
    }.items():
        model = find_offered_model(model_id)
        assert model
        assert model.num_parameters == find_shape(on_page_09).parameters


def test_smollm2_knows_the_capital_of_france(smollm2):
    ids, tokens = tokenise_text(smollm2, "The capital of France is")
    assert tokens == ("The", " capital", " of", " France", " is")
    ours = ("The", " CEO", " announced", " record", " earnings", " on", " Friday")
    assert tokenise_text(smollm2, SENTENCE).tokens == ours
    with torch.no_grad():
        next_id = smollm2.model(ids).logits[0, -1].argmax()
    assert smollm2.tokenizer.decode(next_id) == " Paris"


def test_minilm_finds_similar_sentences_similar(minilm):
    texts = ["The firm reported high profits.", "Earnings were excellent.", "It rained in Spain."]
    with torch.no_grad():
        read = [minilm.model(tokenise_text(minilm, text).ids) for text in texts]
    means = [one.last_hidden_state.mean(1) for one in read]
    near, far = (torch.cosine_similarity(means[0], means[n]).item() for n in (1, 2))
    assert near > far + 0.2


def test_parts_of_a_letter_are_labelled_by_their_bytes_and_unknown_letters_as_such(smollm2, minilm):
    ids, labels = tokenise_text(smollm2, TRICKY)
    assert labels[3:6] == ("⟨20 e6⟩", "⟨97⟩", "⟨a5⟩")
    assert [spell_token(smollm2.tokenizer, one) for one in ids[0].tolist()] == [*labels]
    read = tokenise_text(minilm, TRICKY).tokens
    assert read == ("[CLS]", "naive", "[UNK]", *"日本語", "unbelievable", "ceo", "x", "[SEP]")
