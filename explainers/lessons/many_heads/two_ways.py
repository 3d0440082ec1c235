"""Two ways to compute a layer of heads: how far they are apart, and what each of them copies."""

from torch import Tensor

from explainers.attention.multi_head import ManyHeads, merge_heads, split_heads
from explainers.lessons.layer_choice import Layer
from explainers.ui.language import said
from explainers.ui.prose import Prose


def compare(text: Prose, layer: Layer, run: ManyHeads, listed: ManyHeads) -> None:
    """Say how far two implementations are apart, and where numbers were copied, if any were."""
    apart = max((a - b).abs().max().item() for a, b in zip(run, listed, strict=True))
    projected = layer.x @ layer.heads.w_query
    split = split_heads(projected, layer.heads.head_dim)
    merged = merge_heads(run.per_head)
    way = "moved" if _has_moved(run.per_head, merged) else "stayed"
    text(
        f"same_{way}",
        apart=distance_in_words(apart),
        split=_copied(projected, split, layer),
        merge=_copied(run.per_head, merged, layer),
    )


def distance_in_words(apart: float) -> str:
    """How large the largest difference is; float32 leaves some in the seventh digit."""
    if apart == 0:
        return "0"
    if apart < 1e-6:
        return said("less than a millionth")
    if apart < 1e-5:
        return said("less than a hundred-thousandth")
    return f"{apart:.6f}"


def _has_moved(before: Tensor, after: Tensor) -> bool:
    """Do the numbers of `after` lie in memory of their own?"""
    return before.untyped_storage().data_ptr() != after.untyped_storage().data_ptr()


def _copied(before: Tensor, after: Tensor, layer: Layer) -> str:
    """How many numbers had to be copied."""
    if not _has_moved(before, after):
        return said("copied nothing")
    return said(
        "copied {words} words · {heads} heads · d_k {head_dim} = {numbers:,} numbers",
        words=len(layer.tokens),
        heads=layer.heads.num_heads,
        head_dim=layer.heads.head_dim,
        numbers=after.numel(),
    )
