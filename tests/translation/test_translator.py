"""The translator: torch's own layers as reference, limiting cases, and files that are broken."""

import math
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.testing import assert_close

from explainers.attention.scaled_dot_product import attention
from explainers.translation import translator
from explainers.translation.corpus import (
    BEGIN,
    END,
    PAD,
    RUNNING_PAIR,
    encode_sources,
    vietnamese_vocabulary,
)
from explainers.translation.model import D_MODEL, HIDDEN_DIM, NUM_HEADS, uniform_attention
from explainers.translation.translator import BrokenWeightsError, greedy_search, load_translator
from tests.attention.test_blocks import take
from tests.support.translators import force, make_untrained_translator
from workshop.translation.sentences import draw_sentences
from workshop.translation.train import draw_parameters, save_seed, train_pieces

UNTRAINED = make_untrained_translator(3)
MODEL = UNTRAINED.model
WORDS, SYLLABLES = RUNNING_PAIR.source, RUNNING_PAIR.target
SHORT, LONGER = ("sales", "rose"), WORDS
NUMBERS = torch.tensor([[BEGIN, *vietnamese_vocabulary().encode(SYLLABLES)]])


def read(*sentences):
    return MODEL.encode(encode_sources(sentences))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_agrees_with_torchs_own_encoder_and_decoder():
    """The same weights in `nn.Transformer`, norms first; its projections have no bias here."""
    sizes = D_MODEL, NUM_HEADS, len(MODEL.encoder), len(MODEL.decoder), HIDDEN_DIM
    torchs = nn.Transformer(*sizes, 0.0, batch_first=True, norm_first=True).eval()
    with torch.no_grad():
        for layer, block in zip(torchs.encoder.layers, MODEL.encoder, strict=True):
            take(layer, {"self_attn": block.own}, block.feed, block.norms)
        for layer, decoding in zip(torchs.decoder.layers, MODEL.decoder, strict=True):
            both = {"self_attn": decoding.own, "multihead_attn": decoding.cross}
            take(layer, both, decoding.feed, decoding.norms)
        for side, norm in zip((torchs.encoder, torchs.decoder), MODEL.norms, strict=True):
            side.norm.weight.copy_(norm.gain)
            side.norm.bias.copy_(norm.shift)
    source = read(WORDS)
    found = MODEL.predict(NUMBERS, source)
    causal = nn.Transformer.generate_square_subsequent_mask(NUMBERS.shape[-1])
    with torch.no_grad():
        memory = torchs.encoder(source.x)
        output = torchs.decoder(found.x, memory, tgt_mask=causal)
    assert_close(source.output, memory)
    assert_close(found.logits, output @ MODEL.syllables.T)


def test_embedding_and_position_of_what_is_read():
    x = read(WORDS).x[0]
    number = encode_sources([["record"]]).ids[0, 0]
    first = math.sin(3) + MODEL.words[number, 0] * math.sqrt(D_MODEL)
    assert x[3, 0].item() == pytest.approx(first.item(), abs=1e-5)
    nothing = MODEL.predict(torch.tensor([[BEGIN, PAD]]), read(WORDS)).x[0, 1]
    assert nothing[0].item() == pytest.approx(math.sin(1), abs=1e-6), "hidden: its place is left"


def test_another_attention_in_one_layer_alone():
    plain = force(UNTRAINED, WORDS, SYLLABLES)
    last = force(UNTRAINED, WORDS, SYLLABLES, attend=(attention, uniform_attention))
    assert_close(last.cross[0], plain.cross[0])
    assert_close(last.cross[1], torch.full_like(last.cross[1], 1 / (len(WORDS) + 1)))
    assert not torch.equal(last.probabilities, plain.probabilities)
    written = UNTRAINED.translate(WORDS, attend=(attention, uniform_attention))
    assert_close(written.cross[1], torch.full_like(written.cross[1], 1 / (len(WORDS) + 1)))
    with pytest.raises(ValueError, match="shorter"):
        force(UNTRAINED, WORDS, SYLLABLES, attend=(uniform_attention,))


def test_a_batch_is_translated_as_each_sentence_alone():
    for one in (UNTRAINED, make_untrained_translator(5)):
        both = one.model.encode(encode_sources((SHORT, LONGER)))
        for row, words in zip(greedy_search(one.model, both), (SHORT, LONGER), strict=True):
            decode = vietnamese_vocabulary().decode
            assert decode(row.tolist()) == one.translate(words).syllables


def test_nothing_stands_behind_the_end():
    """A model made to end at once in one of two sentences."""
    source, logits = read(SHORT, LONGER), torch.zeros(2, 1, len(MODEL.syllables))
    logits[0, 0, END], logits[1, 0, 7] = 1.0, 1.0

    class Scripted:
        def predict(self, numbers, source, attend):
            return MODEL.predict(numbers, source)._replace(logits=logits)

    scripted: Any = Scripted()
    most = translator.MAX_SYLLABLES
    assert greedy_search(scripted, source).tolist() == [[END, *[PAD] * (most - 1)], [7] * most]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: UNTRAINED.translate(()), "no word"),
        (
            lambda: UNTRAINED.translate(("the", "cat", "cat")),
            r"know: cat \(known: cut, car, can\)$",
        ),
        (lambda: UNTRAINED.translate(("earning",)), "known: earnings"),
        (lambda: UNTRAINED.translate(("<eos>",)), "does not know: <eos>"),
        (lambda: UNTRAINED.translate(("the",) * 23), "23 words: .* no sentence had more than 22"),
        (lambda: load_translator(3), "seed 3: trained are 0, 1, 2"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_what_is_kept_is_what_is_loaded(folder):
    """A seed that is trained again replaces itself alone, and pieces lie beside the first."""
    for seed, drawn_by in ((0, 7), (1, 8), (2, 8), (1, 9)):
        save_seed(seed, draw_parameters(drawn_by))
    for seed, drawn_by in ((0, 7), (1, 9), (2, 8)):
        other = make_untrained_translator(drawn_by).model
        assert torch.equal(load_translator(seed).model.words, other.words.half().float())
        last = load_translator(seed).model.decoder[-1].cross.w_output
        assert torch.equal(last, other.decoder[-1].cross.w_output.half().float())
    with pytest.raises(BrokenWeightsError, match="no model of pieces"):
        translator.cut_words(WORDS)
    drawn = draw_sentences("pieces", 400, False, ())
    lines = [" ".join(side) for pair in drawn for side in pair[:2]]
    save_seed(0, draw_parameters(7), train_pieces(lines))
    translator.load_pieces.cache_clear()
    cut_up = translator.cut_words(WORDS)
    assert ["".join(one) for one in cut_up] == [f"▁{word}" for word in WORDS]
    assert max(map(len, cut_up)) > 1, "some words are cut"
    assert len(list(folder.iterdir())) == 2


def save_another_seed(file):
    save_seed(0, draw_parameters(0))
    tensors = {
        name.replace("0.", "1.", 1): part for name, part in translator.read_tensors(file).items()
    }
    save_file(tensors, file, {"words": translator.join_words()})


def save_changed(name, changed):
    """A part has other numbers, or is not there."""
    parts = draw_parameters(0) | {name: changed}
    save_seed(0, {name: part for name, part in parts.items() if part is not None})


NO_NUMBERS = torch.full_like(MODEL.words, torch.nan)
ONE_PART = {"0.words": torch.zeros(2)}
IN_WORDS = "there is no translator.safetensors: python -m workshop.translation train"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: None, IN_WORDS),
        (lambda file: file.write_text("not weights"), "is broken"),
        (lambda file: file.mkdir(), "is broken"),
        (lambda file: file.write_bytes(bytes(translator.MAX_BYTES + 1)), "larger than"),
        (lambda file: save_file(ONE_PART, file, {"words": "the cat"}), "other words"),
        (lambda file: save_changed("decoder.0.w_in", torch.ones(3)), "model: decoder.0.w_in"),
        (lambda file: save_changed("decoder.1.w_out", None), "model: decoder.1.w_out"),
        (save_another_seed, "another model"),
        (lambda file: save_changed("words", NO_NUMBERS), "not finite"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(folder, damage, message):
    damage(translator.FIRST_FILE)
    load_translator.cache_clear()
    with pytest.raises(BrokenWeightsError, match=message):
        load_translator(0)
