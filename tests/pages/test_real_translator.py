"""A real translator's path, on a tiny Marian of random weights: pieces, words, our attention."""

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.cross_attention.real_translator import MOST_PIECES, translate_text
from explainers.models import load as loading_module
from explainers.models import registry
from explainers.models.load import load_model
from explainers.models.registry import ModelError
from explainers.models.token_text import merge_weights, tokenise_text
from tests.support import saved_marian, saved_models
from tests.support.opening import PAGES, opened, press
from tests.support.waiting import wait

ID = "someone/tiny-marian"
TEXT = "The CEO announced record earnings on Friday"
PAGE = next(page for page in PAGES if page.stem == "16_cross_attention")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_marian.save(tmp_path_factory.mktemp("models") / ID.replace("/", "--"))


@pytest.fixture(autouse=True)
def store(monkeypatch, saved):
    monkeypatch.setenv("ATTENTION_MODELS", str(saved.parent))
    monkeypatch.setattr(loading_module, "_models", {})


def test_the_model_writes_what_it_writes_by_itself_bit_for_bit(saved):
    from transformers import MarianMTModel, MarianTokenizer

    found = translate_text(load_model(ID), TEXT)
    own = MarianMTModel.from_pretrained(saved, attn_implementation="eager").eval()
    tokenizer = MarianTokenizer.from_pretrained(saved)
    given = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        written = own.generate(**given, num_beams=1, do_sample=False, max_new_tokens=MOST_PIECES)
        run = own(**given, decoder_input_ids=written[:, :-1], output_attentions=True)
    assert found.target == tuple(tokenizer.convert_ids_to_tokens(written[0, 1:].tolist()))
    assert found.source == tuple(tokenizer.convert_ids_to_tokens(given["input_ids"][0].tolist()))
    assert torch.equal(found.weights, torch.stack(run.cross_attentions)[:, 0])
    assert found.difference == 0


def test_what_is_too_long_or_no_translator_is_refused(saved):
    with pytest.raises(ModelError, match=f"at most {MOST_PIECES}"):
        translate_text(load_model(ID), "earnings " * 200)
    saved_models.llama(registry.locate_folder("someone/llama"))
    with pytest.raises(ModelError, match="no translator"):
        translate_text(load_model("someone/llama"), TEXT)


def test_its_words_are_those_of_the_text_and_of_what_it_wrote():
    found = translate_text(load_model(ID), TEXT)
    source, target = found.source_words, found.target_words
    assert [word.strip() for word in source.spelled] == [*TEXT.split(), "</s>"]
    assert len(source.numbers) == len(found.source) > len(source.spelled)
    assert len(target.numbers) == len(found.target)
    tokens = tokenise_text(load_model(ID), "the board announced it").tokens
    assert "".join(tokens) == " the board announced it</s>", "pieces with their spaces"


def test_weights_are_summed_over_what_is_read_and_averaged_over_what_is_written():
    #                            record       earnings
    weights = torch.tensor([[0.1, 0.2, 0.3, 0.4, 0.0], [0.5, 0.1, 0.0, 0.2, 0.2]])
    both = merge_weights(weights, [0, 0], [0, 0, 1, 1, 1])
    assert_close(both, torch.tensor([[0.45, 0.55]]))
    apart = merge_weights(weights, [0, 1], [0, 0, 1, 1, 1])
    assert_close(apart, torch.tensor([[0.3, 0.7], [0.6, 0.4]]))
    found = translate_text(load_model(ID), TEXT)
    words = merge_weights(found.weights, found.target_words.numbers, found.source_words.numbers)
    assert_close(words.sum(dim=-1), torch.ones(words.shape[:-1]))


def read_with(visit):
    press(visit, "Read the sentence with it")
    wait(lambda: not any(button.label == "Cancel" for button in visit.run().button))
    return visit.run()


def test_the_page_reads_the_sentence_with_it_or_says_in_one_line_why_not(monkeypatch):
    load_model(ID)  # how one comes is held in test_load
    visit = read_with(opened(PAGE, {"deep": "real", "translator": ID}))
    text = "\n".join(one.value for one in visit.markdown)
    assert "changes no number by more than 0." in text
    assert f"{ID}, from a folder" in text
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name, why in (
        ("someone/nothing", "someone/nothing is not on this machine"),
        ("<b>x</b>", ""),
    ):
        other = read_with(opened(PAGE, {"deep": "real", "translator": name}))
        [info] = other.info
        assert why in info.value
        assert info.value.endswith("Our translator stays.")
        assert not [*visit.exception, *other.exception]
