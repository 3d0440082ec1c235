"""Models of a few numbers in folders, as transformers saves them."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WORDS = {"the": 0, "CEO": 1, "announced": 2, "record": 3, "earnings": 4}
LONGEST = 9


def llama(folder: Path, seed: int = 0, longest: int = LONGEST) -> Path:
    """A Llama with five words; the seed draws its weights."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=12,
        intermediate_size=14,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=3,
        head_dim=4,
        max_position_embeddings=longest,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words = Tokenizer(models.WordLevel(WORDS, unk_token="the"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
    return folder
