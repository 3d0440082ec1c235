"""What a published figure is of, without the short signs and back references of its list."""

import re

from explainers.lessons.wording import so_many
from explainers.memory.figures import Figure
from explainers.phrase import phrase
from explainers.ui.language import said, translated

SIGNS = (
    (r"\bL(\d+)", r"\1 layers"),
    (r"\bHkv ?(\d+)", r"\1 KV heads"),
    (r"\bH(\d+)", r"\1 heads"),
    (r"\bd(\d+)", r"head_dim \1"),
    (r"\bW(\d+)", r"window \1"),
    (r"(?<=[a-z)\d]) (?=\d+ (?:KV )?heads|head_dim|window)", ", "),
    (r"\b1 KV heads", "1 KV head"),
)
COUNTED = re.compile(r"\b(\d+) (layer|KV head|head)s?\b")
NAMED = {
    "hf-octo-gb": "OctoCoder",
    "heji-mla": phrase("An example, MLA 576"),
    "vllm-25350-gib": phrase("A model shaped like Qwen3-30B-A3B"),
}
"""Figures whose list says *as above* or *same*."""
CONFIGS = {"as above": "", "as above, both 16 bits": phrase("both in 16 bits"), "same": ""}
REPORTED = "report: "


def described(figure: Figure) -> str:
    """The model, how it is built, how long the text is, and in what format it is kept."""
    parts = [spelled(translated(CONFIGS.get(figure.config, figure.config)))]
    if figure.tokens:
        tokens = figure.tokens
        if isinstance(tokens, int):
            parts.append(so_many(tokens, "token"))
        else:
            parts.append(said("{what} tokens", what=tokens))
    if figure.dtype.startswith(REPORTED):
        claimed = figure.dtype.removeprefix(REPORTED)
        parts.append(said("the report says {claimed}, computed in 16 bits", claimed=claimed))
    else:
        parts.append(figure.dtype)
    told = ", ".join(part for part in parts if part and part != "-")
    return f"{translated(NAMED.get(figure.id, figure.model))}: {told}"


def spelled(config: str) -> str:
    """`L126 Hkv8 d128` in words."""
    for sign, words in SIGNS:
        config = re.sub(sign, words, config)
    config = COUNTED.sub(lambda n: so_many(int(n[1]), n[2]), config)
    return re.sub(r"\bwindow (\d+)", lambda n: said("window {width}", width=n[1]), config)
