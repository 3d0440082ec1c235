"""Any model's config.json: the same groups as published, and a named field where it is wrong."""

import json
from typing import Any

import pytest

from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.read_config import read_config

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}  # fmt: skip
MLA = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
    "num_attention_heads": 128, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128, "num_key_value_heads": 128,
}  # fmt: skip
LOCAL = ["sliding_attention", "full_attention"]
GPT_OSS = {
    "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "head_dim": 64,
    "num_attention_heads": 64, "num_key_value_heads": 8, "sliding_window": 128,
    "layer_types": LOCAL * 12,
}  # fmt: skip
GEMMA_3 = {
    "model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "head_dim": 256,
    "num_attention_heads": 8, "num_key_value_heads": 4, "sliding_window": 1024,
}  # fmt: skip


def without(config, *fields):
    return {field: value for field, value in config.items() if field not in fields}


def changed(config=LLAMA, **fields):
    return json.dumps({**config, **fields})


def blocks(group, **attention):
    """A layer of Nemotron-NAS whose KV heads are each shared by `group` query heads."""
    return {"attention": {"n_heads_in_group": group, **attention}, "ffn": {"no_op": False}}


HYBRID = {**LLAMA, "mamba_d_state": 128, "time_step_limit": [0.0, float("inf")]}
MPT = {"n_layers": 24, "d_model": 2048, "n_heads": 16}
CHATGLM = {
    "num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32, "kv_channels": 128,
    "multi_query_attention": True, "multi_query_group_num": 2,
}  # fmt: skip
NEMOTRON_NAS = [
    *[blocks(8)] * 20,
    *[blocks(4, window_length=77)] * 7,
    *[blocks(None, no_op=True)] * 3,
    *[blocks(None, replace_with_linear=True)] * 2,
]
GEMMA_4 = {"05": {"head_dim": 512}, "11": {"num_key_value_heads": 4}}
KIMI = {**MLA, "num_hidden_layers": 27, "num_attention_heads": 32}
OWN_INDEX = {
    **MLA, "index_head_dim": 128, "layer_types": ["indexed_attention"] * 61,
    "indexer_types": ["full", *["shared"] * 60],
}  # fmt: skip
NESTED = {"hidden_size": 7, "thinker_config": {"num_hidden_layers": 3, "text_config": LLAMA}}
GROUPS: dict[str, tuple[str, dict[str, Any]]] = {
    "ChatGLM": ("28 full 2·2·128", CHATGLM),
    "MPT, multi-query": ("24 full 2·1·128",
        {**MPT, "attn_config": {"attn_type": "multiquery_attention"}}),
    "DBRX": ("24 full 2·8·128", {**MPT, "attn_config": {"kv_n_heads": 8}}),
    "Llama's params.json": ("32 full 2·8·128",
        {"n_layers": 32, "dim": 4096, "n_heads": 32, "n_kv_heads": 8}),
    "Nemotron-NAS": ("20 full 2·4·128, 7 sliding 2·8·128 in 77",
        {**LLAMA, "num_key_value_heads": None, "block_configs": NEMOTRON_NAS}),
    "DeciLM": ("12 full 2·2·128, 20 full 2·4·128",
        {**LLAMA, "num_key_value_heads_per_layer": [4] * 20 + [2] * 12}),
    "Gemma 4 as transformers 5 writes it": ("1 full 2·4·128, 1 full 2·8·512, 30 full 2·8·128",
        {**LLAMA, "per_layer_config": GEMMA_4}),
    "Bamba": ("29 recurrent ?, 3 full 2·8·128", {**HYBRID, "attn_layer_indices": [9, 18, 27]}),
    "LFM2": ("28 recurrent, 4 full 2·8·128",
        {**LLAMA, "conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10]}),
    "Jamba": ("28 recurrent ?, 4 full 2·8·128",
        {**HYBRID, "attn_layer_period": 8, "attn_layer_offset": 4}),
    "MiniMax": ("28 recurrent, 4 full 2·8·128",
        {**LLAMA, "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 4}),
    "Nemotron-H": ("2 full 2·8·128, 4 recurrent ?",
        {**HYBRID, "num_hidden_layers": 9, "hybrid_override_pattern": "M-M*-MEM*"}),
    "Kimi Linear": ("20 recurrent ?, 7 latent 1·1·576",
        {**KIMI, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27]}}),
    "indexes that layers share": ("1 index, 61 latent 1·1·576", OWN_INDEX),
    "inside two others": ("32 full 2·8·128", NESTED),
    "the last ones share a cache": ("25 sliding 2·4·256 in 1024, 4 full 2·4·256",
        {**GEMMA_3, "num_kv_shared_layers": 5}),
    "Qwen slides from a layer on": ("2 sliding 2·8·128 in 9, 30 full 2·8·128",
        {**LLAMA, "sliding_window": 9, "use_sliding_window": True, "max_window_layers": 30}),
}  # fmt: skip


def describe(shape):
    """Its layers: how many, of what kind, vectors · heads · width, window; ? is a state unknown."""
    told = []
    for group in shape.require_groups():
        vectors = {f" {len(group.vectors)}·{heads}·{width}" for heads, width in group.vectors}
        window = f" in {group.window}" if group.window else ""
        is_unknown = group.kind == "recurrent" and not group.state
        told.append(
            f"{group.count} {group.kind}{''.join(sorted(vectors))}{window}{' ?' * is_unknown}"
        )
    return ", ".join(sorted(told))


@pytest.mark.parametrize("name", GROUPS)
def test_families_that_write_it_in_another_way(name):
    wanted, config = GROUPS[name]
    shape = read_config(json.dumps(config))
    assert describe(shape) == wanted
    assert bool(shape.gaps) == ("?" in wanted), "what is left out is said"


V4 = {
    "model_type": "deepseek_v4", "hidden_size": 7168, "num_hidden_layers": 7, "head_dim": 512,
    "num_attention_heads": 128, "num_key_value_heads": 1, "sliding_window": 128,
    "index_head_dim": 96, "compress_ratios": [0, 4, 128, 4, 128, 4, 128, 0],
}  # fmt: skip


def test_distilbert_keeps_nothing_and_bert_as_a_decoder_does():
    distilbert = {"model_type": "distilbert", "dim": 768, "n_heads": 12, "n_layers": 6}
    shape = read_config(json.dumps(distilbert))
    assert (shape.groups, shape.num_heads, shape.d_model) == ((), 12, 768)
    decoder = {**LLAMA, "model_type": "bert", "is_decoder": True}
    assert count_cache_bytes(read_config(json.dumps(decoder)), 8192) == 2**30


ENCODERS = ["vit", "clip_text_model", "siglip_vision_model", "wav2vec2-bert"]
DECODERS = ["llama", "mllama_text_model", "qwen3_vl_text", "canary_decoder"]


@pytest.mark.parametrize("model_type", [*ENCODERS, *DECODERS, "clip", "aya_vision"])
def test_encoders_of_pictures_and_sounds_keep_nothing(model_type):
    config = {**LLAMA, "model_type": model_type}
    if model_type in {"clip", "aya_vision"}:  # only the first is a pair of encoders
        config = {"model_type": model_type, "text_config": without(LLAMA, "model_type")}
    shape = read_config(json.dumps(config))
    assert (shape.groups == ()) == (model_type in {*ENCODERS, "clip"})


def test_what_was_assumed_is_said():
    config = without(
        {**LLAMA, "sliding_window": 77, "use_sliding_window": False}, "num_key_value_heads"
    )
    shape = read_config(json.dumps(config))
    notes = " ".join(shape.notes)
    assert describe(shape) == "32 full 2·32·128"
    assert "4096 ÷ 32 = 128" in notes
    assert "each of the 32 heads has its own" in notes
    assert "switched off" in notes
    assert "text_config" in " ".join(read_config(json.dumps({"text_config": LLAMA})).notes)


def test_latents_that_are_switched_off_are_none():
    """As in the text model of DeepSeek-OCR."""
    off = {"kv_lora_rank": None, "qk_rope_head_dim": 0, "qk_nope_head_dim": 0, "v_head_dim": 0}
    for fields in (off, {"kv_lora_rank": 512}, {"kv_lora_rank": 0}):
        shape = read_config(changed(**fields, use_mla=False))
        assert count_cache_bytes(shape, 8192) == 2**30


CUSTOM = {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "head_dim": 128}
CLA = {
    "model_type": "hunyuan", "hidden_size": 6400, "num_hidden_layers": 64,
    "num_attention_heads": 80, "num_key_value_heads": 8, "attention_head_dim": 128,
    "use_cla": True, "cla_share_factor": 2,
}  # fmt: skip


def count(config, tokens=32_768, source_tokens=None):
    return count_cache_bytes(read_config(json.dumps(config)), tokens, source_tokens=source_tokens)


def test_layers_are_counted_as_often_as_they_keep_a_cache():
    assert count(CLA) == 2 * 8 * 128 * 2 * 32_768 * 32
    assert count({**CLA, "use_cla": False}) == 2 * 8 * 128 * 2 * 32_768 * 64
    assert count({**CLA, "num_hidden_layers": 63}) == count(CLA)  # the last one stands alone
    used_four_times = {**CUSTOM, "model_type": "ouro", "total_ut_steps": 4}
    assert count(used_four_times) == 2 * 16 * 128 * 2 * 32_768 * 24 * 4


YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}


@pytest.mark.parametrize(
    ("fields", "reached"),
    [
        ({"rope_scaling": YARN}, 131_072),
        ({"rope_parameters": {**YARN, "rope_type": "yarn"}}, 131_072),
        ({"rope_parameters": {"full_attention": YARN, "sliding_attention": {}}}, 131_072),
        ({"rope_scaling": {"type": "yarn", "factor": 4}}, 131_072),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, 65_536),
        ({"rope_scaling": {**YARN, "type": "llama3"}}, 32_768),
        ({"rope_scaling": YARN, "max_position_embeddings": 131_072}, 131_072),
        ({"rope_scaling": {**YARN, "factor": 2}, "max_position_embeddings": 131_072}, 131_072),
        ({"rope_scaling": {"type": "linear", "factor": 8}, "model_type": "gemma3_text"}, 32_768),
    ],
)  # fmt: skip
def test_scaled_positions_reach_further_than_the_file_was_trained(fields, reached):
    config = {**LLAMA, "max_position_embeddings": 32_768, **fields}
    assert read_config(json.dumps(config)).context == reached


MBART = {
    "model_type": "mbart", "d_model": 1024, "decoder_layers": 4, "decoder_attention_heads": 16,
    "encoder_layers": 12, "num_hidden_layers": 12, "max_position_embeddings": 768,
    "is_decoder": True, "add_cross_attention": True,
}  # fmt: skip
BERT = {
    "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "max_position_embeddings": 512,
}  # fmt: skip
SWIN = {
    "model_type": "donut-swin", "depths": [2, 2, 14, 2], "image_size": [2560, 1920],
    "patch_size": 4, "num_heads": [4, 8, 16, 32],
}  # fmt: skip
VIT = {"model_type": "vit", "image_size": 384, "patch_size": 16, "num_attention_heads": 12}
T5 = {"model_type": "t5", "n_positions": 512}


@pytest.mark.parametrize(
    ("encoder", "rows"),
    [
        (SWIN, 80 * 60),
        ({**SWIN, "image_size": [1001, 64]}, 32 * 2),
        (VIT, 24 * 24 + 1),
        ({**VIT, "model_type": "deit"}, 24 * 24 + 2),
        ({**VIT, "model_type": "convnext"}, None),
        (BERT, 512),
        ({"model_type": "wav2vec2", "hidden_size": 768}, None),
    ],
)
def test_a_pair_keeps_what_its_decoder_makes_of_both(encoder, rows):
    pair = {"model_type": "vision-encoder-decoder", "encoder": encoder, "decoder": MBART}
    own = 2 * 16 * 64 * 2 * 768 * 4
    assert read_config(json.dumps(pair)).encoder_context == rows
    if rows:
        assert count(pair, 768) == own + 2 * 16 * 64 * 2 * rows * 4
    else:
        with pytest.raises(ValueError, match="source_tokens"):
            count(pair, 768)
    assert count(pair, 768, source_tokens=10) == own + 2 * 16 * 64 * 2 * 10 * 4


def test_other_pairs_are_read_from_their_decoders():
    musicgen = {
        "model_type": "musicgen", "text_encoder": T5, "audio_encoder": {"model_type": "encodec"},
        "decoder": {"model_type": "musicgen_decoder", "hidden_size": 1024, "ffn_dim": 4096,
                    "num_hidden_layers": 24, "num_attention_heads": 16},
    }  # fmt: skip
    assert count(musicgen, 1500) == 2 * 16 * 64 * 2 * (1500 + 512) * 24
    bert = {"model_type": "encoder-decoder", "encoder": BERT, "decoder": BERT}
    assert count(bert, 512) == 37_748_736


@pytest.mark.parametrize(
    ("decoder", "tokens", "source", "size"),
    [
        (MBART, 768, 4800, 91_226_112),
        ({**BERT, "is_decoder": True, "add_cross_attention": True}, 512, 512, 37_748_736),
        ({**MBART, "model_type": "trocr", "add_cross_attention": None}, 768, 4800, 91_226_112),
    ],
)  # fmt: skip
def test_a_decoder_alone_asks_how_much_its_encoder_read(decoder, tokens, source, size):
    with pytest.raises(ValueError, match="--source-tokens"):
        count(decoder, tokens)
    assert count(decoder, tokens, source_tokens=source) == size


GGUF = {
    "general.architecture": "llama", "llama.block_count": 32, "llama.embedding_length": 4096,
    "llama.attention.head_count": 32, "llama.attention.head_count_kv": 8,
    "llama.context_length": 8192, "tokenizer.ggml.tokens": ["a"], "general.file_type": 2,
}  # fmt: skip


def test_the_metadata_of_a_gguf_file_is_read():
    assert count(GGUF) == 4_294_967_296
    shape = read_config(json.dumps({"metadata": {k: {"value": v} for k, v in GGUF.items()}}))
    assert (shape.context, shape.dtype, shape.family) == (8192, "q4_0", "llama")
    by_layer = {**GGUF, "llama.attention.head_count_kv": [8] * 31 + [4]}
    by_layer["llama.feed_forward_length"] = [11_008] * 32
    assert count(by_layer) == 2 * 128 * 2 * 32_768 * (31 * 8 + 4)
    gemma = {name.replace("llama", "gemma3"): value for name, value in GGUF.items()}
    gemma |= {"general.architecture": "gemma3", "gemma3.attention.sliding_window": 1024}
    groups = read_config(json.dumps(gemma)).groups or ()
    [local, full] = sorted(groups, key=lambda group: -group.count)
    assert (local.count, local.window, full.count) == (27, 1024, 5)
    latent = {name.replace("llama", "deepseek2"): value for name, value in GGUF.items()}
    latent |= {
        "general.architecture": "deepseek2", "deepseek2.block_count": 61,
        "deepseek2.attention.key_length": 576, "deepseek2.attention.value_length": 512,
        "deepseek2.attention.kv_lora_rank": 512, "deepseek2.rope.dimension_count": 64,
    }  # fmt: skip
    assert count(latent) == 2_196 * 2**20, "as in the log in ggml-org/llama.cpp pull 11446"
