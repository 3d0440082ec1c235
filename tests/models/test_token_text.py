"""The words of a text and the bytes of a letter, whatever tokenizer has cut it."""

import unicodedata
from types import SimpleNamespace
from typing import Any

import pytest
import regex
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from explainers.models import token_text

LETTERS = [chr(n) for n in range(33, 127)]
BYTE_PIECES = [f"<0x{n:02X}>" for n in range(256)]
TEXT = "The CEO's e-mail: café, 3.14!"
WORDS = ["The", "CEO's", "e-mail", ":", "café", ",", "3.14", "!"]


def number(pieces):
    return {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}


def fast(made, **special):
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special)


def sentencepiece(kind):
    """No rule cuts the text before its pieces are put together; other letters are bytes."""
    pieces = ["<pad>", "<unk>", "<s>", "</s>", *BYTE_PIECES, "▁", *LETTERS, "ar", "on"]
    return getattr(transformers, kind)(vocab=number(pieces), merges=[("a", "r"), ("o", "n")])


def byte_level(is_within=False):
    made = Tokenizer(models.BPE(number(sorted(pre_tokenizers.ByteLevel.alphabet())), []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    if is_within:
        made.decoder = decoders.Sequence([decoders.Fuse(), decoders.ByteLevel()])
    return fast(made)


def word_piece():
    """Lowercase, without accents, between [CLS] and [SEP]."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{one}" for one in LETTERS)]
    made = Tokenizer(models.WordPiece(number(pieces), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.decoder = decoders.WordPiece()
    return fast(made, cls_token="[CLS]", sep_token="[SEP]")


def unigram():
    """As T5's: normalised by NFKC, a mark in front of each word, `</s>` at the end."""
    pieces = ["<pad>", "</s>", "<unk>", "▁", *LETTERS, "é", "▁The"]
    made = Tokenizer(models.Unigram([(one, -2.0) for one in pieces], unk_id=2))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    return fast(made, eos_token="</s>")


def clip():
    """A mark behind the last piece of a word, and bytes."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    ends = [f"{one}</w>" for one in letters]
    pieces = ["<|startoftext|>", "<|endoftext|>", *letters, *ends, "ce", "ceo</w>"]
    merges: Any = [("c", "e"), ("ce", "o</w>")]
    return transformers.CLIPTokenizer(vocab=number(pieces), merges=merges)


TOKENIZERS = {
    "Llama": lambda: sentencepiece("LlamaTokenizer"),
    "Gemma": lambda: sentencepiece("GemmaTokenizer"),
    "GPT-2": byte_level,
    "BERT": word_piece,
    "T5": unigram,
    "CLIP": clip,
    "ByT5": transformers.ByT5Tokenizer,
    "Perceiver": transformers.PerceiverTokenizer,
    "CANINE": transformers.CanineTokenizer,
}
LOSSLESS = ["Llama", "Gemma", "GPT-2", "ByT5", "CANINE"]


def loaded_with(tokenizer):
    """As much of a model as a tokenizer needs."""
    return SimpleNamespace(
        name="made here",
        tokenizer=tokenizer,
        context_length=None,
        model=SimpleNamespace(device=torch.device("cpu")),
    )


@pytest.fixture(scope="module", params=LOSSLESS)
def lossless(request):
    return loaded_with(TOKENIZERS[request.param]())


def words_of(loaded, text):
    """Its words without white space and without the model's own tokens."""
    tokens = token_text.tokenise_text(loaded, text).tokens
    words = token_text.read_words(loaded, text, tokens)
    own = set(loaded.tokenizer.all_special_tokens) | {"\ue000", "\ue001"}
    assert len(words.numbers) == len(tokens)
    assert sorted(set(words.numbers)) == list(range(len(words.spelled)))
    assert list(words.numbers) == sorted(words.numbers)
    shown = [word.strip() for word in words.spelled]
    return [word for word in shown if word and word not in own]


@pytest.mark.parametrize("make", TOKENIZERS.values(), ids=TOKENIZERS)
def test_each_tokenizer_has_the_words_of_the_text(make):
    tokenizer = make()
    assert words_of(loaded_with(tokenizer), TEXT) == WORDS
    own = tokenizer.all_special_ids[:1]
    ids = [*own, *tokenizer("the bank raised", add_special_tokens=False)["input_ids"]]
    words = token_text.spell_words(tokenizer, ids, token_text.label_ids(tokenizer, ids))
    assert [word.strip() for word in words.spelled][bool(own) :] == ["the", "bank", "raised"]


SCRIPTS = {
    "Hindi": "नमस्ते दुनिया",
    "Tamil": "வணக்கம் உலகம்",
    "Arabic with vowels": "السَّلَامُ عَلَيْكُمْ",
    "Hebrew with vowels": "שָׁלוֹם עוֹלָם",
    "Persian with a joiner": "می\u200cخواهم بروم",
    "Vietnamese": "Giám đốc công bố lợi nhuận",
    "Vietnamese, accents apart": unicodedata.normalize("NFD", "Giám đốc công bố lợi nhuận"),
    "Korean": "한국어 문장",
    "emoji": "ok 👩\u200d👩\u200d👧 💃🏽 🏳️\u200d🌈",
    "apostrophes and hyphens": "don’t rock'n'roll state-of-the-art l'été",
    "numbers": "1,000 3.14 2026",
}


def test_a_word_is_what_its_script_writes_between_spaces(lossless):
    for script, text in SCRIPTS.items():
        assert words_of(lossless, text) == text.split(), script


@pytest.mark.parametrize("text", ["日本語を勉強する", "中文句子", "สวัสดีชาวโลก"])
def test_without_spaces_a_word_is_a_token_and_no_letter_is_cut(text):
    letters = regex.findall(r"\X", text)
    assert words_of(loaded_with(transformers.ByT5Tokenizer()), text) == letters
    made = Tokenizer(models.BPE(number(text), []))
    made.add_tokens([text[:4]])
    assert words_of(loaded_with(fast(made)), text)[0] == text[:4]


ANY_TEXT = st.lists(
    st.sampled_from(
        [*SCRIPTS.values(), *WORDS, " ", "\n", "\xa0", "日本", "e\u0301", "-", "½", "ﬁ"]
    )
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=4),
    min_size=1,
    max_size=8,
).map("".join)


@settings(max_examples=40, deadline=None)
@given(ANY_TEXT.filter(str.strip))
def test_words_are_the_text_without_its_white_space(lossless, text):
    text = text.replace("\ue000", "").replace("\ue001", "") + "."
    assert "".join("".join(words_of(lossless, text)).split()) == "".join(text.split())


def test_marks_line_breaks_tokens_of_several_words_and_tokens_that_are_not_in_the_text():
    loaded = loaded_with(byte_level())
    tokens = token_text.tokenise_text(loaded, "So, no.\n\nYes").tokens
    told = ("So", ",", " no", ".", "\n", "\n", "Yes")
    assert token_text.read_words(loaded, "So, no.\n\nYes", tokens).spelled == told
    made = Tokenizer(models.WordLevel(number(["of the", " bank", "?"]), unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Split("of the", "isolated")
    assert words_of(loaded_with(fast(made)), "of the bank") == ["of the", "bank"]
    words = token_text.match_words("bank", [(0, 2), None, (2, 4)], ["ba", "<unk>", "nk"])
    assert words == ((0, 1, 2), ("ba", "<unk>", "nk"))


PARTS = ["⟨c3⟩", "⟨a9⟩"]


@pytest.mark.parametrize(
    ("make", "text", "labels"),
    [
        (transformers.ByT5Tokenizer, "cé", ["c", *PARTS, "</s>"]),
        (transformers.PerceiverTokenizer, "cé", ["[CLS]", "c", *PARTS, "[SEP]"]),
        (TOKENIZERS["Llama"], "cé", [" ", "c", *PARTS]),
        (lambda: byte_level(is_within=True), "cé the", ["c", *PARTS, " ", *"the"]),
        (clip, "cé ceo", ["<|startoftext|>", "c", *PARTS, "ceo ", "<|endoftext|>"]),
    ],
)
def test_a_part_of_a_letter_is_shown_as_its_bytes(make, text, labels):
    """Also where its token stands alone."""
    tokenizer = make()
    ids, tokens = token_text.tokenise_text(loaded_with(tokenizer), text)
    assert list(tokens) == labels
    alone = [token_text.spell_token(tokenizer, one) for one in ids[0].tolist()]
    assert [one for one in alone if token_text.is_part_of_letter(one)] == PARTS
    assert token_text.spell_token(TOKENIZERS["GPT-2"](), 256) == "", "a model may have more ids"
