"""The two real models that come with the tests are what they are said to be."""

import pytest

from explainers.memory.model_shapes import find_shape
from explainers.models import token_text
from explainers.models.attention_hook import install_hook
from explainers.models.comparison import measure_differences
from explainers.models.registry import WHEEL_MODELS, find_offered_model
from explainers.toys.sentence import SENTENCE

TRICKY = "naïve 🙂 日本語 unbelievable CEO\n x"


@pytest.mark.parametrize(("name", "row"), [("smollm2", 0), ("minilm", 1)])
def test_a_row_of_the_registry_describes_its_model_and_our_attention_is_its_own(request, name, row):
    loaded = request.getfixturevalue(name)
    assert loaded.name == WHEEL_MODELS[row].id
    assert sum(p.numel() for p in loaded.model.parameters()) == WHEEL_MODELS[row].num_parameters
    kinds = {True: "causal", False: "bidirectional"}
    assert kinds[hasattr(loaded.model, "lm_head")] == WHEEL_MODELS[row].kind
    assert WHEEL_MODELS[row] in token_text.list_models_with_tokenizer()
    tokenizer = token_text.read_tokenizer(loaded.name)
    for text in (SENTENCE, TRICKY, "word " * 300):  # cut as with its model
        ids = loaded.tokenizer(text, verbose=False)["input_ids"]
        encoded = tokenizer.encode(text)
        assert encoded.ids == ids
        labels = token_text.label_ids(loaded.tokenizer, ids)
        assert token_text.label_tokens(encoded, tokenizer) == labels
    install_hook(loaded.model)
    ids = token_text.tokenise_text(loaded, SENTENCE).ids
    rows = measure_differences(loaded.model, input_ids=ids)
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


def test_parts_of_a_letter_are_labelled_by_their_bytes_and_unknown_letters_as_such(smollm2, minilm):
    ids, labels = token_text.tokenise_text(smollm2, TRICKY)
    assert labels[3:6] == ("⟨20 e6⟩", "⟨97⟩", "⟨a5⟩")
    assert [token_text.spell_token(smollm2.tokenizer, one) for one in ids[0].tolist()] == [*labels]
    read = token_text.tokenise_text(minilm, TRICKY).tokens
    assert read == ("[CLS]", "naive", "[UNK]", *"日本語", "unbelievable", "ceo", "x", "[SEP]")
