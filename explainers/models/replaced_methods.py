"""Which methods of which classes are replaced, so that a model calls our attention.

Each class below has a softmax over plain products, written out in its own code. A function of this
module does what that code does, except for the attention itself, which it leaves to `attend`.
"""

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explainers.messages import InputError

Attend = Callable[..., tuple[Tensor, Tensor]]
HEAD_DIMS = "head_dim", "attention_head_size", "dim_head"
"""What classes call the length of a head's vectors."""


def read_mask(mask: Tensor | None) -> Tensor | None:
    """A boolean mask as it is; of numbers that are added to scores, those that change nothing."""
    return mask if mask is None or mask.dtype == torch.bool else mask == 0


def forward_bloom(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    residual: Tensor,
    alibi: Tensor,
    attention_mask: Tensor,
    layer_past: Any = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """BLOOM's layer around its attention; its bias (batch · heads, 1, kv_len) is ALiBi."""
    query, key, value = module._reshape(module.query_key_value(hidden_states))
    key, value = extend_cache(layer_past, key, value, module.layer_idx)
    bias = alibi.view(len(query), -1, *alibi.shape[1:])
    output, weights = attend(module, query, key, value, attention_mask, position_bias=bias)
    return module.dense(output.flatten(2)) + residual, weights


def forward_mpt(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    position_bias: Tensor,
    past_key_values: Any = None,
    attention_mask: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """MPT's layer around its attention; its bias (heads, 1, longest text) is ALiBi."""
    projected = module.Wqkv(hidden_states)
    if module.clip_qkv:
        projected = projected.clamp(min=-module.clip_qkv, max=module.clip_qkv)
    split = projected.unflatten(-1, (3, module.n_heads, module.head_dim))
    query, key, value = split.permute(2, 0, 3, 1, 4)
    key, value = extend_cache(past_key_values, key, value, module.layer_idx)
    bias = position_bias[..., -key.shape[2] :]
    wide = [tensor.to(bias.dtype) for tensor in (query, key, value)]  # it is float32 in any model
    output, weights = attend(
        module, *wide, attention_mask, scaling=module.softmax_scale, position_bias=bias
    )
    return module.out_proj(output.flatten(2).to(projected.dtype)), weights


def forward_falcon(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    alibi: Tensor | None,
    attention_mask: Tensor,
    layer_past: Any = None,
    position_embeddings: Any = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """Falcon's layer around its attention; its position is RoPE, or ALiBi divided by √d_k.

    transformers adds ALiBi twice: to the products, and to the mask of numbers.
    """
    split = module._split_heads(module.query_key_value(hidden_states))
    query, key, value = (tensor.transpose(1, 2) for tensor in split)
    terms, mask = {}, attention_mask
    if alibi is None:
        rotate = importlib.import_module(type(module).__module__).apply_rotary_pos_emb
        query, key = rotate(query, key, *position_embeddings)
    else:
        mask = attention_mask > torch.finfo(attention_mask.dtype).min
        once = alibi.view(len(query), module.num_heads, 1, -1) * module.inv_norm_factor
        terms["position_bias"] = once + attention_mask.masked_fill(~mask, 0.0)
    key, value = extend_cache(layer_past, key, value, module.layer_idx)
    output, weights = attend(module, query, key, value, mask, **terms)
    return module.dense(output.flatten(2)), weights


def forward_decoder(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    past_key_values: Any = None,
    attention_mask: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """The layer of MVP, TrOCR and XGLM around its attention to what was written so far."""
    refuse_second_text(module, others, "key_value_states", "attn_prompt")
    query, key, value = project(module, ("q_proj", "k_proj", "v_proj"), hidden_states)
    key, value = extend_cache(past_key_values, key, value, module.layer_idx)
    output, weights = attend(module, query, key, value, attention_mask, scaling=module.scaling)
    return module.out_proj(output.flatten(2)), weights


def forward_bert(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    attention_mask: Tensor | None = None,
    sinusoidal_pos: Tensor | None = None,
    past_key_values: Any = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """The layer of Megatron-BERT, RemBERT and RoFormer around its attention to its own text."""
    refuse_second_text(module, others, "encoder_hidden_states")
    query, key, value = project(module, ("query", "key", "value"), hidden_states)
    if sinusoidal_pos is not None:
        rotated = [query, key, value][: 2 + bool(module.rotary_value)]
        rotated = module.apply_rotary_position_embeddings(sinusoidal_pos, *rotated)
        query, key, value = (*rotated, value)[:3]
    key, value = extend_cache(past_key_values, key, value, module.layer_idx)
    output, weights = attend(module, query, key, value, attention_mask)
    return output.flatten(2), weights


def forward_git(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    attention_mask: Tensor | None = None,
    past_key_values: Any = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """The layer of GIT, a BERT, with its arguments in another order."""
    return forward_bert(
        attend, module, hidden_states, attention_mask, past_key_values=past_key_values
    )


def forward_cpmant(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    _same: Tensor,
    attention_mask: Tensor,
    position_bias: Tensor,
    output_attentions: bool = False,
    past_key_values: Any = None,
    *_: Any,
    **__: Any,
) -> tuple[Tensor, Tensor]:
    """CPM-Ant's layer around its attention; its mask is (batch, q_len, kv_len)."""
    query, key, value = project(module, ("project_q", "project_k", "project_v"), hidden_states)
    key, value = extend_cache(past_key_values, key, value, module.layer_idx)
    mask = attention_mask.bool()[:, None]
    output, weights = attend(module, query, key, value, mask, position_bias=position_bias)
    return module.attention_out(output.flatten(2)), weights


def forward_xlm(
    attend: Attend,
    module: Any,
    input: Tensor,
    mask: Tensor,
    kv: Tensor | None = None,
    cache: Any = None,
    output_attentions: bool = False,
    **_: Any,
) -> tuple[Tensor, ...]:
    """XLM's layer around its attention; its mask is (batch, kv_len) or (batch, q_len, kv_len)."""
    refuse_second_text(module, {"kv": kv}, "kv")
    query, key, value = project(module, ("q_lin", "k_lin", "v_lin"), input)
    key, value = extend_cache(cache, key, value, module.layer_id)
    allowed = mask.bool()[:, None] if mask.dim() == 3 else mask.bool()[:, None, None]
    allowed = allowed.expand(-1, -1, query.shape[2], -1)
    output, weights = attend(module, query, key, value, allowed)
    return module.out_lin(output.flatten(2)), *([weights] if output_attentions else [])


def attend_in_float32(
    attend: Attend,
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The inner attention of GPT-J, CodeGen, GPT-NeoX Japanese and GPT-Neo.

    GPT-Neo divides by nothing, and every second layer sees the last `window_size` tokens only.
    """
    terms = {}
    mask = read_mask(attention_mask)
    if hasattr(module, "attention_type"):
        terms["scaling"] = 1.0
        length = key.shape[2]
        allowed = module.bias[:, :, length - query.shape[2] : length, :length]
        mask = allowed if mask is None else mask & allowed
    wide = [tensor.float() for tensor in (query, key, value)]
    output, weights = attend(module, *wide, mask, **terms)
    return output.transpose(1, 2).to(value.dtype), weights


def attend_openai(
    attend: Attend,
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    output_attentions: bool = False,
) -> list[Tensor]:
    """The inner attention of the first GPT, whose keys come transposed."""
    length = query.shape[2]
    causal = module.bias[:, :, :length, :length] > 0
    mask = read_mask(attention_mask)
    allowed = causal if mask is None else causal & mask
    scaling = None if module.scale else 1.0
    output, weights = attend(module, query, key.transpose(2, 3), value, allowed, scaling=scaling)
    return [output.transpose(1, 2), weights][: 2 if output_attentions else 1]


def extend_cache(cache: Any, key: Tensor, value: Tensor, layer_index: int) -> tuple[Tensor, Tensor]:
    """All keys and values so far; a decoder's cache has another one for the text it reads."""
    if cache is None:
        return key, value
    return getattr(cache, "self_attention_cache", cache).update(key, value, layer_index)


def project(module: Any, names: Sequence[str], states: Tensor) -> list[Tensor]:
    """What the matrices of these names make of states: each (batch, heads, length, head_dim)."""
    sizes = (getattr(module, name, None) for name in HEAD_DIMS)
    head_dim = next(size for size in sizes if size)
    made = (getattr(module, name)(states) for name in names)
    return [one.view(*one.shape[:-1], -1, head_dim).transpose(1, 2) for one in made]


def refuse_second_text(module: nn.Module, arguments: dict[str, Any], *names: str) -> None:
    """Raise ValueError for a decoder that looks at an encoder: only its own text is done here."""
    if any(arguments.get(name) is not None for name in names):
        raise InputError(
            "{kind} also attends to another text, which ours cannot do for it",
            kind=type(module).__name__,
        )


class Replacement(NamedTuple):
    """The method of a class that computes attention, and what does it with ours."""

    method: str
    function: Callable[..., Any]


_INNER = Replacement("_attn", attend_in_float32)
REPLACEMENTS: dict[str, Replacement] = {
    "bloom.BloomAttention": Replacement("forward", forward_bloom),
    "mpt.MptAttention": Replacement("forward", forward_mpt),
    "cpmant.CpmAntAttention": Replacement("forward", forward_cpmant),
    "falcon.FalconAttention": Replacement("forward", forward_falcon),
    "xglm.XGLMAttention": Replacement("forward", forward_decoder),
    "xlm.MultiHeadAttention": Replacement("forward", forward_xlm),
    "mvp.MvpAttention": Replacement("forward", forward_decoder),
    "trocr.TrOCRAttention": Replacement("forward", forward_decoder),
    "git.GitSelfAttention": Replacement("forward", forward_git),
    "megatron_bert.MegatronBertSelfAttention": Replacement("forward", forward_bert),
    "rembert.RemBertSelfAttention": Replacement("forward", forward_bert),
    "roformer.RoFormerSelfAttention": Replacement("forward", forward_bert),
    "gptj.GPTJAttention": _INNER,
    "codegen.CodeGenAttention": _INNER,
    "gpt_neo.GPTNeoSelfAttention": _INNER,
    "gpt_neox_japanese.GPTNeoXJapaneseAttention": _INNER,
    "openai.Attention": Replacement("_attn", attend_openai),
}
"""By the folder in transformers that a class stands in, and its name."""


def find_replacement(module: nn.Module) -> Replacement | None:
    """What to replace in a module; nothing in a class that this table does not have."""
    folder = type(module).__module__.split(".")[-2:-1]
    return REPLACEMENTS.get(".".join([*folder, type(module).__name__]))


def list_replaced(model: nn.Module) -> list[tuple[nn.Module, Replacement]]:
    """Each module of the table, and what to replace in it."""
    found = ((one, find_replacement(one)) for one in model.modules())
    return [(module, replacement) for module, replacement in found if replacement]


def replace_methods(model: nn.Module, attend: Attend) -> bool:
    """Have each module of the table call `attend`; False if the model has none."""
    replaced = list_replaced(model)
    for module, (method, function) in replaced:
        setattr(module, method, partial(function, attend, module))
    return bool(replaced)


def restore_methods(model: nn.Module) -> bool:
    """Give each module of the table its own method back; False if the model has none."""
    replaced = list_replaced(model)
    for module, (method, _function) in replaced:
        vars(module).pop(method, None)
    return bool(replaced)
