"""A tiny Whisper with random weights, its feature extractor and a tokenizer, in a folder."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    GenerationConfig,
    PreTrainedTokenizerFast,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
)

SECONDS, POSITIONS, BINS = 5, 250, 10
NAMES = ["<|endoftext|>", "<|start|>", "<|en|>", "<|vi|>", "<|transcribe|>"]
WORDS = [" the", " CEO", " announced", " record", " earnings", " on", " Friday"]
STAMPS = ["<|notimestamps|>", "<|0.00|>", "<|0.02|>"]
VOCABULARY = {name: n for n, name in enumerate([*NAMES, *WORDS, *STAMPS])}
LAYERS, HEADS = 3, 3


def save(folder: Path, seed: int = 0) -> Path:
    """Everything that a folder of a published one holds; it hears five seconds, not thirty."""
    torch.manual_seed(seed)
    model = WhisperForConditionalGeneration(
        WhisperConfig(
            vocab_size=len(VOCABULARY),
            num_mel_bins=BINS,
            d_model=48,
            encoder_layers=2,
            decoder_layers=LAYERS,
            encoder_attention_heads=12,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=20,
            decoder_ffn_dim=28,
            max_source_positions=POSITIONS,
            max_target_positions=32,
            decoder_start_token_id=1,
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
        )
    )
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "embed_positions" not in name:
            weight.data = torch.randn(weight.shape) * 0.4
    model.generation_config = GenerationConfig(
        decoder_start_token_id=1,
        eos_token_id=0,
        pad_token_id=0,
        lang_to_id={"<|en|>": 2, "<|vi|>": 3},
        task_to_id={"transcribe": 4},
        no_timestamps_token_id=VOCABULARY["<|notimestamps|>"],
        suppress_tokens=[1, 2, 3, 4],
        begin_suppress_tokens=[0],
    )
    model.save_pretrained(folder)
    words = Tokenizer(models.WordLevel(VOCABULARY, unk_token="<|endoftext|>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
    WhisperFeatureExtractor(feature_size=BINS, chunk_length=SECONDS).save_pretrained(folder)
    return folder
