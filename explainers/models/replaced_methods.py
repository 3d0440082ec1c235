"""Which methods of which classes are replaced, so that a model calls our attention."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from torch import nn

from explainers.models.unhooked_families import (
    Attend,
    attend_in_float32,
    attend_openai,
    forward_bert,
    forward_bloom,
    forward_cpmant,
    forward_decoder,
    forward_falcon,
    forward_git,
    forward_mpt,
    forward_xlm,
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


def replace_methods(model: nn.Module, attend: Attend) -> bool:
    """Have each module of the table call `attend`; False if the model has none."""
    found = [(one, find_replacement(one)) for one in model.modules()]
    replaced = [(module, replacement) for module, replacement in found if replacement]
    for module, (method, function) in replaced:
        setattr(module, method, partial(function, attend, module))
    return bool(replaced)


def restore_methods(model: nn.Module) -> bool:
    """Give each module of the table its own method back; False if the model has none."""
    found = [(one, find_replacement(one)) for one in model.modules()]
    replaced = [(module, replacement.method) for module, replacement in found if replacement]
    for module, method in replaced:
        vars(module).pop(method, None)
    return bool(replaced)
