"""A tiny model, with random weights, of every class of language models in transformers."""

from typing import TYPE_CHECKING, Any

import torch

from explainers.models.comparison import draw_texts, draw_weights

if TYPE_CHECKING:
    from transformers import PretrainedConfig

NAMES_BY_SIZE = {
    64: "vocab_size decoder_vocab_size n_positions max_position_embeddings n_ctx max_seq_len "
    "vocab_size_per_layer_input max_target_positions context_length codebook_size "
    "original_max_position_embeddings unpadded_vocab_size pronunciation_vocab_size "
    "shape_vocab_size audio_vocab_size encoder_hash_byte_group_vocab num_centroids",
    48: "hidden_size d_model n_embd emb_dim word_embed_proj_dim input_embedding_size "
    "output_embedding_size embedding_dim lru_width attention_hidden_size backbone_hidden_size",
    40: "intermediate_size decoder_ffn_dim encoder_ffn_dim ffn_dim dim_ff dff d_inner "
    "feed_forward_size d_ff ffn_hidden_size intermediate_size_mlp dense_intermediate_size",
    24: "moe_intermediate_size shared_expert_intermediate_size shared_intermediate_size "
    "expert_ffn_hidden_size moe_shared_expert_intermediate_size shared_experts_intermediate_size",
    18: "q_lora_rank",
    14: "kv_lora_rank",
    12: "qk_nope_head_dim",
    9: "v_head_dim",
    8: "head_dim dim_head kv_channels d_kv linear_head_dim attention_head_size d_head "
    "index_head_dim indexer_head_dim hidden_size_per_layer_input linear_key_head_dim "
    "linear_value_head_dim",
    6: "num_attention_heads n_head n_heads decoder_attention_heads encoder_attention_heads "
    "attention_heads num_decoder_attention_heads num_encoder_attention_heads num_heads "
    "linear_num_heads mamba_n_heads n_mamba_heads linear_num_value_heads",
    4: "num_experts n_routed_experts num_local_experts moe_num_experts zero_expert_num "
    "sliding_window window_size sliding_window_size local_attention attention_window_size "
    "attention_chunk_size index_topk qk_rope_head_dim mamba_d_state state_size ssm_state_size "
    "rotary_dim adapter_rank mamba_dt_rank laurel_rank",
    3: "num_hidden_layers n_layer n_layers decoder_layers num_decoder_layers num_layers "
    "encoder_layers num_encoder_layers",
    2: "num_key_value_heads kv_n_heads num_kv_heads num_experts_per_tok moe_topk topk_group "
    "num_experts_per_token moe_k moe_top_k n_group num_expert_group index_n_heads n_groups "
    "linear_num_key_heads cross_attn_k top_k_experts centroid_intermediate_top_k",
    1: "n_shared_experts num_shared_experts moe_num_shared_experts first_k_dense_replace "
    "num_dense_layers",
}
"""What transformers' configurations call a size; no two axes that could be swapped are alike."""
SIZES = {name: size for size, names in NAMES_BY_SIZE.items() for name in names.split()}
TOKEN_IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
SPECIAL_TOKEN_ID = 60
"""For every other special token: none of the inputs has it."""
NUM_LAYERS = 3

_DECODER = {"is_encoder_decoder": False}
_ALTERNATING = {"num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2}
_EXPERTS = {"n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2}
_INDEXED = {"indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 8}
_INDEXED |= {"indexer_budget": 4, "indexer_compress_ratio": 2}
PARTICULAR: dict[str, dict[str, Any]] = {
    **dict.fromkeys(["bart", "bigbird_pegasus", "blenderbot", "blenderbot-small"], _DECODER),
    **dict.fromkeys(["marian", "mbart", "pegasus", "plbart", "mvp", "prophetnet"], _DECODER),
    **dict.fromkeys(["trocr", "whisper"], _DECODER),
    "bamba": {"attn_layer_indices": [1]},
    "blt": {"encoder_hash_byte_group_size": [3]},
    "codegen": {"n_head": 4},
    "cohere_compass_text": {
        "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10_000.0}}
    },
    "dbrx": {"attn_config": {"rope_theta": 10_000.0, "clip_qkv": 8.0}},
    "deepseek_v2": _EXPERTS,
    "dots1": _EXPERTS | {"n_group": 2, "topk_group": 1, "first_k_dense_replace": 1},
    "dots3_note_text": {"num_key_value_heads": 6},
    "falcon_h1": {"mamba_d_ssm": 96, "mamba_d_head": 16},
    "gemma3n_text": _ALTERNATING
    | {
        "num_kv_shared_layers": 2,
        "intermediate_size": [40] * 4,
        "activation_sparsity_pattern": [0.0] * 4,
        "altup_num_inputs": 2,
    },
    "gpt_neo": {"attention_types": [[["global", "local"], 2]], "num_layers": 4},
    "granitemoehybrid": {"layer_types": ["mamba", "attention", "mamba"]},
    "hunyuan_v1_dense": {"head_dim": 8},
    "hunyuan_v1_moe": {"head_dim": 8},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv"], "num_hidden_layers": 3},
    "longcat_flash": {"head_dim": 4},
    "mamba2": {"num_heads": 6, "head_dim": 16},
    "mimo_v2_flash": {"num_attention_heads": 8},
    "ministral": {"head_dim": 8},
    "nemotron": {"num_key_value_heads": 2},
    "qwen4_exp": _INDEXED,
    "qwen4_exp_text": _INDEXED,
    "reformer": {
        "axial_pos_shape": [4, 16],
        "axial_pos_embds_dim": [16, 32],
        "attn_layers": ["local", "lsh"],
        "num_hidden_layers": 2,
    },
    "xmod": {"default_language": "en_XX"},
    "zamba": {
        "num_hidden_layers": 4,
        "layers_block_type": ["linear_attention", "hybrid"] * 2,
        "attention_head_dim": 16,
        "attention_hidden_size": 96,
        "n_mamba_heads": 2,
    },
    "zamba2": {
        "num_hidden_layers": 3,
        "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        "num_key_value_heads": 6,
        "kv_channels": None,
        "attention_hidden_size": None,
    },
    "zaya": {"num_experts_per_tok": 1},
}
"""Sizes of one family, where those above do not fit together; None takes the family's own."""


def find_config_class(model_type: str, model_class: Any) -> Any:
    """The configuration that a class is built from: of the whole family, or its part for text."""
    from transformers import CONFIG_MAPPING

    whole = CONFIG_MAPPING[model_type]
    own = model_class.config_class
    return own if own in whole.sub_configs.values() else whole


def make_tiny_config(model_type: str, model_class: Any) -> "PretrainedConfig":
    """A configuration of a few layers with small sizes; each kind of layer comes once at least."""
    config_class = find_config_class(model_type, model_class)
    sizes = collect_sizes(config_class)
    merge_sizes(sizes, PARTICULAR.get(model_type, {}))
    return config_class(**sizes)


def collect_sizes(config_class: Any) -> dict[str, Any]:
    """Small values for the fields of a configuration that are sizes, in its parts as well."""
    sizes: dict[str, Any] = {}
    defaults = vars(config_class())
    for name, value in defaults.items():
        if hasattr(value, "sub_configs"):
            sizes[name] = collect_sizes(type(value))
        elif isinstance(value, list) and name.endswith(("layer_types", "layers_block_type")):
            kinds = list(dict.fromkeys(value))
            sizes[name] = (kinds * NUM_LAYERS)[: max(NUM_LAYERS, len(kinds))]
        elif isinstance(value, int | list) and name.endswith(("_token_id", "_token_index")):
            sizes[name] = TOKEN_IDS.get(name, SPECIAL_TOKEN_ID)
        elif isinstance(value, int) and not isinstance(value, bool) and name in SIZES:
            sizes[name] = SIZES[name]
    if "is_decoder" in defaults:
        sizes["is_decoder"] = True
    count_layers(sizes)
    if "qk_rope_head_dim" in sizes:  # latent attention: every head has keys of its own
        sizes.pop("head_dim", None)
        sizes["num_key_value_heads"] = sizes["num_attention_heads"]
    return sizes


def count_layers(sizes: dict[str, Any]) -> None:
    """As many layers as there are kinds of them, and every list of kinds as long."""
    lists = [name for name in sizes if name.endswith(("layer_types", "layers_block_type"))]
    if lists and "num_hidden_layers" in sizes:
        sizes["num_hidden_layers"] = max(len(sizes[name]) for name in lists)
        for name in lists:
            sizes[name] = (sizes[name] * NUM_LAYERS)[: sizes["num_hidden_layers"]]


def merge_sizes(sizes: dict[str, Any], particular: dict[str, Any]) -> None:
    """Put a family's own sizes over the others, also in the parts of its configuration."""
    for name, value in particular.items():
        if isinstance(value, dict) and isinstance(sizes.get(name), dict):
            merge_sizes(sizes[name], value)
        elif value is None:
            sizes.pop(name, None)
        else:
            sizes[name] = value


def make_tiny_model(model_type: str, model_class: Any) -> Any:
    """A model with weights far from 0, so that attention is far from uniform."""
    config = make_tiny_config(model_type, model_class)
    torch.manual_seed(0)  # for what no line below draws, such as a mamba's steps
    model = model_class(config).eval()
    draw_weights(model, seed=len(model_type))
    return model


def make_inputs(model: Any) -> dict[str, Any]:
    """Two texts of seven tokens, the first of them filled up with two on the left."""
    texts = draw_texts()
    rows = getattr(model, "num_codebooks", 1)  # music has several rows of tokens for one text
    inputs = texts | {"input_ids": texts["input_ids"].repeat_interleave(rows, dim=0)}
    # A cache is made for the layers that a configuration counts; one of them counts none.
    return inputs if hasattr(model.config, "num_hidden_layers") else inputs | {"use_cache": False}
