"""Fields that a config.json leaves out: filled from the class that reads it, and said."""

import json

import pytest
from transformers import CONFIG_MAPPING

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.read_config import read_config
from explainers.models.config_defaults import find_class_defaults

GEMMA = {"hidden_size": 2560, "num_hidden_layers": 34, "sliding_window": 1024}
VISION = {"image_size": 560, "patch_size": 14, "max_num_tiles": 4}
LLAMA_VISION = {"model_type": "mllama_text_model", "hidden_size": 4096, "num_hidden_layers": 40}


def read(config):
    return read_config(json.dumps(config), find_class_defaults)


def test_words_of_a_layer_are_no_layers():
    """Gemma 3n has 262,144 of them; its 15 last layers share the cache of earlier ones."""
    shape = read({"model_type": "gemma3n_text", "vocab_size_per_layer_input": 262_144})
    assert sum(group.count for group in shape.require_groups()) == 35 - 15


def test_llama_vision_keeps_an_image_in_its_own_layers():
    """8 of the 40 layers look at the image: 4 tiles of 40 × 40 patches and one row more."""
    shape = read({"model_type": "mllama", "text_config": LLAMA_VISION, "vision_config": VISION})
    groups = {group.kind: group for group in shape.require_groups()}
    assert {kind: group.count for kind, group in groups.items()} == {"full": 32, "cross": 8}
    assert shape.encoder_context == 4 * (40 * 40 + 1)
    notes = " ".join(shape.notes)
    assert "max_position_embeddings" not in notes, "a limit that the file does not name is none"
    assert "hidden_size is not in the file" not in notes
    per_row = 2 * 8 * 128 * 2
    assert count_cache_bytes(shape, 77) == per_row * (32 * 77 + 8 * 6_404)
    assert count_cache_bytes(shape, 77, source_tokens=0) == per_row * 32 * 77


COMPLETE = {
    "hidden_size": 40, "num_hidden_layers": 4, "head_dim": 10, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 99,
}  # fmt: skip


@pytest.mark.parametrize(
    ("model_type", "fields", "note"),
    [
        (
            "gemma3_text",
            {"num_hidden_layers": 7, "sliding_window": 8},
            "layer_types is not in the file: ",
        ),
        ("mistral", {}, "sliding_window is not in the file: 4096, as MistralConfig"),
        ("gpt_oss", {"sliding_window": 8}, "layer_types is not in the file: 2 sliding_attention"),
        ("qwen3_next", {}, "linear_conv_kernel_dim is not in the file: 4"),
        ("deepseek_v32", {"kv_lora_rank": 9, "qk_rope_head_dim": 2}, "index_head_dim is not in"),
        ("gemma4_text", {}, "per_layer_config is not in the file: {'3': {'head_dim': 512}}"),
    ],
)
def test_what_a_class_adds_to_a_file_that_looks_complete_is_counted(model_type, fields, note):
    """As the class itself writes it, where nothing is left out."""
    file = {"model_type": model_type, **COMPLETE, **fields}
    config_class = CONFIG_MAPPING[model_type]
    written = config_class(**{k: v for k, v in file.items() if k != "model_type"}).to_dict()
    short, full = read(file), read(written)
    for tokens in (5, 9_000):
        assert count_cache_bytes(short, tokens) == count_cache_bytes(full, tokens)
        assert count_extra_bytes(short, tokens) == count_extra_bytes(full, tokens)
    assert note in " ".join(short.notes)
    assert not short.gaps


def test_what_no_class_reads_is_not_filled_in():
    assert read({"model_type": "llama", **COMPLETE}).notes == ()
    for config in (
        {"model_type": "none like this", "hidden_size": 8},
        {"model_type": 7, "hidden_size": 8},
        {"hidden_size": 8},
        {"model_type": "gemma3_text", "num_hidden_layers": 1_001},
        {"model_type": "gemma3_text", "num_attention_heads": "eight"},
    ):
        assert find_class_defaults(config) == ("", {})


@pytest.mark.parametrize(
    "hostile",
    [
        {"num_labels": 10**6},
        {"id2label": {"0": "x"}},
        {"layer_types": ["full_attention"] * 10**5},
        {"vocab_size": 10**30},
        {"auto_map": {"AutoConfig": "evil--x.Y"}, "trust_remote_code": True},
        {"per_layer_config": {"0": {}}},
        {"hidden_activation": "x" * 10**5},
    ],
)
def test_a_class_sees_nothing_large_or_nested(hostile):
    name, filled = find_class_defaults({"model_type": "gemma3_text", **GEMMA, **hostile})
    assert name == "Gemma3TextConfig"
    assert filled["head_dim"] == 256
    assert len(json.dumps(filled)) < 10_000
