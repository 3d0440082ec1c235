"""What a published figure is of, without the short signs and back references of its list."""

import re

from explainers.many import many
from explainers.memory.figures import Figure

SIGNS = (
    (r"\bL(\d+)", r"\1 layers"),
    (r"\bHkv ?(\d+)", r"\1 KV heads"),
    (r"\bH(\d+)", r"\1 heads"),
    (r"\bd(\d+)", r"head_dim \1"),
    (r"\bW(\d+)", r"window \1"),
    (r"(?<=[a-z)\d]) (?=\d+ (?:KV )?heads|head_dim|window)", ", "),
    (r"\b1 KV heads", "1 KV head"),
)
NAMED = {
    "hf-octo-gb": "OctoCoder",
    "heji-mla": "An example, MLA 576",
    "vllm-25350-gib": "A model shaped like Qwen3-30B-A3B",
}
"""Figures whose list says *as above* or *same*."""
CONFIGS = {"as above": "", "as above, both 16 bits": "both in 16 bits", "same": ""}
REPORTED = "report: "


def described(figure: Figure) -> str:
    """The model, how it is built, how long the text is, and in what format it is kept."""
    parts = [spelled(CONFIGS.get(figure.config, figure.config))]
    if figure.tokens:
        tokens = figure.tokens
        parts.append(many(tokens, "token") if isinstance(tokens, int) else f"{tokens} tokens")
    if figure.dtype.startswith(REPORTED):
        parts.append(f"the report says {figure.dtype.removeprefix(REPORTED)}, computed in 16 bits")
    else:
        parts.append(figure.dtype)
    said = ", ".join(part for part in parts if part and part != "-")
    return f"{NAMED.get(figure.id, figure.model)}: {said}"


def spelled(config: str) -> str:
    """`L126 Hkv8 d128` in words."""
    for sign, words in SIGNS:
        config = re.sub(sign, words, config)
    return config
