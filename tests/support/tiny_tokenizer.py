"""A tokenizer for the tiny models: a word for each number of their vocabulary."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.support.tiny_families import VOCABULARY


def tokenizer_of(words=()):
    """`w7` is number 7; other words may be given instead, from number 4 on."""
    names = {0: "[PAD]", 1: "[BOS]", 2: "[EOS]", 3: "[UNK]"} | dict(enumerate(words, start=4))
    vocabulary = {names.get(n, f"w{n}"): n for n in range(VOCABULARY)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", bos_token="[BOS]")
