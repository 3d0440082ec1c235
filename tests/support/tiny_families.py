"""A tiny model, with random weights, of every family: each axis is of another size."""

from typing import Any

import torch

VOCABULARY = 53
COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
LAYERS: dict[str, Any] = {
    **COMMON,
    "hidden_size": 96,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
}
SHARED: dict[str, Any] = LAYERS | {"num_key_value_heads": 2, "head_dim": 4}
GPT: dict[str, Any] = {**COMMON, "n_embd": 96, "n_layer": 3, "n_head": 6, "n_positions": 64}
OUT_AND_IN: dict[str, Any] = {
    **COMMON,
    "d_model": 48,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 12,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 36,
    "max_position_embeddings": 64,
}
FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", GPT),
    "BERT": ("BertForMaskedLM", "BertConfig", LAYERS),
    "DistilBERT": (
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {**COMMON, "dim": 96, "hidden_dim": 40, "n_layers": 3, "n_heads": 6},
    ),
    "RoBERTa": ("RobertaForMaskedLM", "RobertaConfig", LAYERS),
    "Llama": ("LlamaForCausalLM", "LlamaConfig", SHARED),
    "Mistral (window)": ("MistralForCausalLM", "MistralConfig", SHARED | {"sliding_window": 4}),
    "Qwen2": ("Qwen2ForCausalLM", "Qwen2Config", LAYERS | {"num_key_value_heads": 2}),
    "Qwen3": ("Qwen3ForCausalLM", "Qwen3Config", SHARED),
    "Gemma 2 (soft-cap)": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        SHARED | {"sliding_window": 4, "query_pre_attn_scalar": 16, "attn_logit_softcapping": 0.5},
    ),
    "Gemma 3 (local/global)": (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        SHARED
        | {
            "sliding_window": 4,
            "query_pre_attn_scalar": 16,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "Phi-3": ("Phi3ForCausalLM", "Phi3Config", LAYERS | {"num_key_value_heads": 2}),
    "OLMo 2": ("Olmo2ForCausalLM", "Olmo2Config", LAYERS | {"num_key_value_heads": 2}),
    "GPT-NeoX": ("GPTNeoXForCausalLM", "GPTNeoXConfig", LAYERS),
    "OPT": (
        "OPTForCausalLM",
        "OPTConfig",
        {
            **COMMON,
            "hidden_size": 96,
            "ffn_dim": 40,
            "num_hidden_layers": 3,
            "num_attention_heads": 6,
            "max_position_embeddings": 64,
            "word_embed_proj_dim": 96,
        },
    ),
    "BLOOM (ALiBi)": (
        "BloomForCausalLM",
        "BloomConfig",
        {**COMMON, "hidden_size": 96, "n_layer": 3, "n_head": 6},
    ),
    "MPT (ALiBi)": (
        "MptForCausalLM",
        "MptConfig",
        {**COMMON, "d_model": 96, "n_layers": 3, "n_heads": 6, "max_seq_len": 64},
    ),
    "DeepSeek-V3 (MLA)": (
        "DeepseekV3ForCausalLM",
        "DeepseekV3Config",
        LAYERS
        | {
            "num_key_value_heads": 6,
            "moe_intermediate_size": 24,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "n_group": 2,
            "topk_group": 1,
            "first_k_dense_replace": 1,
            "kv_lora_rank": 14,
            "q_lora_rank": 18,
            "qk_nope_head_dim": 12,
            "qk_rope_head_dim": 4,
            "v_head_dim": 9,
        },
    ),
    "GPT-OSS (sinks)": (
        "GptOssForCausalLM",
        "GptOssConfig",
        SHARED | {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 4},
    ),
    "T5 (relative bias)": (
        "T5ForConditionalGeneration",
        "T5Config",
        {
            **COMMON,
            "d_model": 48,
            "d_kv": 16,
            "d_ff": 40,
            "num_layers": 2,
            "num_decoder_layers": 3,
            "num_heads": 6,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 9,
        },
    ),
    "Marian": ("MarianMTModel", "MarianConfig", OUT_AND_IN),
    "BART": ("BartForConditionalGeneration", "BartConfig", OUT_AND_IN),
    "Whisper": (
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        OUT_AND_IN | {"num_mel_bins": 5, "max_source_positions": 9, "max_target_positions": 32},
    ),
}
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
