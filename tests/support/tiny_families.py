"""A tiny model, with random weights, of every family: each axis is of another size."""

import re
from typing import Any

import torch

VOCABULARY = 53
COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_token_id": 1,
}  # fmt: skip
LAYERS = COMMON | {
    "hidden_size": 96, "intermediate_size": 40, "num_hidden_layers": 3, "num_attention_heads": 6,
    "max_position_embeddings": 64,
}  # fmt: skip
GROUPED = LAYERS | {"num_key_value_heads": 2}
SHARED = GROUPED | {"head_dim": 4}
WINDOW = SHARED | {"sliding_window": 4}
GEMMA = WINDOW | {"query_pre_attn_scalar": 16}
LOCAL_AND_GLOBAL = ["sliding_attention", "full_attention", "sliding_attention"]
OUT_AND_IN = COMMON | {
    "d_model": 48, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 3,
    "decoder_attention_heads": 12, "encoder_ffn_dim": 40, "decoder_ffn_dim": 36,
    "max_position_embeddings": 64,
}  # fmt: skip
OPT = {"hidden_size": 96, "ffn_dim": 40, "num_hidden_layers": 3, "num_attention_heads": 6}
LATENT = LAYERS | {
    "num_key_value_heads": 6, "moe_intermediate_size": 24, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1,
    "kv_lora_rank": 14, "q_lora_rank": 18, "qk_nope_head_dim": 12, "qk_rope_head_dim": 4,
    "v_head_dim": 9,
}  # fmt: skip
T5 = COMMON | {
    "d_model": 48, "d_kv": 16, "d_ff": 40, "num_layers": 2, "num_decoder_layers": 3,
    "num_heads": 6, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 9,
}  # fmt: skip
SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT-2": (
        "GPT2LMHeadModel",
        COMMON | {"n_embd": 96, "n_layer": 3, "n_head": 6, "n_positions": 64},
    ),
    "BERT": ("BertForMaskedLM", LAYERS),
    "DistilBERT": (
        "DistilBertForMaskedLM",
        COMMON | {"dim": 96, "hidden_dim": 40, "n_layers": 3, "n_heads": 6},
    ),
    "RoBERTa": ("RobertaForMaskedLM", LAYERS),
    "Llama": ("LlamaForCausalLM", SHARED),
    "Mistral (window)": ("MistralForCausalLM", WINDOW),
    "Qwen2": ("Qwen2ForCausalLM", GROUPED),
    "Qwen3": ("Qwen3ForCausalLM", SHARED),
    "Gemma 2 (soft-cap)": ("Gemma2ForCausalLM", GEMMA | {"attn_logit_softcapping": 0.5}),
    "Gemma 3 (local/global)": ("Gemma3ForCausalLM", GEMMA | {"layer_types": LOCAL_AND_GLOBAL}),
    "Phi-3": ("Phi3ForCausalLM", GROUPED),
    "OLMo 2": ("Olmo2ForCausalLM", GROUPED),
    "GPT-NeoX": ("GPTNeoXForCausalLM", LAYERS),
    "OPT": (
        "OPTForCausalLM",
        COMMON | OPT | {"max_position_embeddings": 64, "word_embed_proj_dim": 96},
    ),
    "BLOOM (ALiBi)": ("BloomForCausalLM", COMMON | {"hidden_size": 96, "n_layer": 3, "n_head": 6}),
    "MPT (ALiBi)": (
        "MptForCausalLM",
        COMMON | {"d_model": 96, "n_layers": 3, "n_heads": 6, "max_seq_len": 64},
    ),
    "DeepSeek-V3 (MLA)": ("DeepseekV3ForCausalLM", LATENT),
    "GPT-OSS (sinks)": (
        "GptOssForCausalLM",
        WINDOW | {"num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "T5 (relative bias)": ("T5ForConditionalGeneration", T5),
    "Marian": ("MarianMTModel", OUT_AND_IN),
    "BART": ("BartForConditionalGeneration", OUT_AND_IN),
    "Whisper": (
        "WhisperForConditionalGeneration",
        OUT_AND_IN | {"num_mel_bins": 5, "max_source_positions": 9, "max_target_positions": 32},
    ),
}
OF_ITS_TEXT = {"Gemma3Config": "Gemma3TextConfig"}


def name_config(model_class: str) -> str:
    """The class of its configuration."""
    named = f"{re.split('For|LMHead|MTModel', model_class)[0]}Config"
    return OF_ITS_TEXT.get(named, named)


FAMILIES = {name: (kind, name_config(kind), sizes) for name, (kind, sizes) in SIZES.items()}
"""The model's class, its configuration's, and the sizes."""


def tiny(family: str, dtype: torch.dtype = torch.float32, **others: Any) -> Any:
    """Weights far from 0, so that attention is far from uniform and a wrong step shows."""
    import transformers

    model_class, config_class, sizes = FAMILIES[family]
    config = getattr(transformers, config_class)(**sizes | others)
    model = getattr(transformers, model_class)(config).eval()
    seeded = torch.Generator().manual_seed(len(family))
    for name, weight in model.named_parameters():
        if weight.dim() > 1 or "sinks" in name or "bias" in name:
            weight.data = torch.randn(weight.shape, generator=seeded) * (
                0.1 if family.startswith("T5") else 0.3
            )
    return model.to(dtype)


def tiny_inside(family: str, dtype: torch.dtype = torch.float32, **sizes: Any) -> Any:
    """The same with our attention put in."""
    from explainers.models.attention_hook import install_hook  # most of its users put in nothing

    model = tiny(family, dtype, **sizes)
    install_hook(model)
    return model


def inputs(model: Any) -> dict[str, Any]:
    """Two texts of unequal length, filled up on the left where a model goes on to write."""
    seeded = torch.Generator().manual_seed(1)
    ids = torch.randint(4, VOCABULARY, (2, 7), generator=seeded)
    seen = torch.ones_like(ids)
    if not model.config.is_encoder_decoder:
        seen[0, :2] = 0
        return {"input_ids": ids, "attention_mask": seen}
    answer = {"decoder_input_ids": torch.randint(4, VOCABULARY, (2, 5), generator=seeded)}
    if model.main_input_name == "input_features":
        sound = torch.randn(2, 5, 18, generator=seeded).to(model.dtype)
        return answer | {"input_features": sound}
    seen[0, 5:] = 0
    return answer | {"input_ids": ids, "attention_mask": seen}
