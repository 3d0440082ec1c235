"""What a group of layers is called and holds, in one line, and which page explains its kind."""

import streamlit as st

from explainers.memory.cache_bytes import GroupCache
from explainers.memory.cache_formula import KIND_NAMES
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.memory.sizes import format_both_sizes
from explainers.messages import ngettext
from explainers.translations import _


def describe_group(part: GroupCache, name: str) -> str:
    """A group of layers and what it holds."""
    return _(
        "{layers} of {kind}: {tokens}, {size} each",
        layers=_(ngettext("{count:,} layer", "{count:,} layers", part.group.count)),
        kind=name,
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", part.tokens)),
        size=format_both_sizes(part.size // part.group.count),
    )


def name_caches(caches: tuple[GroupCache, ...]) -> dict[GroupCache, str]:
    """Each group with its name."""
    return dict(zip(caches, name_groups(caches), strict=True))


def name_groups(caches: tuple[GroupCache, ...]) -> list[str]:
    """The kind of each group with its window, and with its heads where these tell two apart."""
    names = [_(KIND_NAMES[part.group.kind]) + write_kept(part.group) for part in caches]
    if len(set(names)) == len(names):
        return names
    heads = [
        _(ngettext("{count:,} KV head", "{count:,} KV heads", part.group.num_kv_heads))
        for part in caches
    ]
    return [
        f"{name}, {head_text} × {p.group.head_dim}"
        for name, head_text, p in zip(names, heads, caches, strict=True)
    ]


def write_kept(group: LayerGroup) -> str:
    """The window in brackets, and how many tokens make a row beyond it."""
    if group.ratio:
        return _(
            " ({window:,} tokens, then rows of {ratio})", window=group.window, ratio=group.ratio
        )
    return write_window(group.window)


def write_window(window: int | None) -> str:
    """The window in brackets, as it stands behind the name of a group; "" where there is none."""
    tokens = _(ngettext("{count:,} token", "{count:,} tokens", window or 0))
    return f" ({tokens})" if window else ""


LESSONS = {
    "full": "pages/09_shared_heads.py",
    "latent": "pages/09_shared_heads.py",
    "compressed": "pages/09_shared_heads.py",
    "sliding": "pages/05_masks.py",
    "chunked": "pages/05_masks.py",
    "recurrent": "pages/12_growing_memory.py",
    "index": "pages/13_choosing.py",
    "cross": "pages/16_cross_attention.py",
}
"""By what `models.json` calls the kind."""
SINKS_LESSON = "pages/14_idle_heads.py"


def list_lessons(shape: ModelShape) -> list[str]:
    """The pages that explain a model's layers, each once."""
    lessons = [LESSONS[group.kind] for group in shape.require_groups() if group.kind in LESSONS]
    return list(dict.fromkeys(lessons + [SINKS_LESSON] * shape.has_learned_sinks))


def link_lessons(shape: ModelShape) -> None:
    """Offer them."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("Explained on:"))
        for path in list_lessons(shape):
            st.page_link(path)
