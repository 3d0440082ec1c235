"""The lead of one answer as a sum: what heads, MLPs and the embedding add to it directly."""

from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.does_it_matter.hero import Shown
from explainers.translations import _

LISTED = 6


def describe_sum(shown: Shown) -> dict[str, str]:
    """Rows of a table that add up, for the text."""
    direct = shown.patching.direct
    heads = direct.heads
    order = heads.flatten().abs().argsort(descending=True).tolist()[:LISTED]
    listed = [(divmod(one, heads.shape[1]), float(heads.flatten()[one])) for one in order]
    rest = float(heads.sum()) - sum(value for _place, value in listed)
    others = heads.numel() - len(listed)
    parts = [(name_head(*place), value) for place, value in listed]
    parts.append((_("the other {count} heads", count=others), rest))
    parts.append((_("all {count} MLPs", count=len(direct.mlps)), float(direct.mlps.sum())))
    parts.append((_("the embedding"), direct.embedding))
    rows = [f"| {name} | {_sign(value)} |" for name, value in parts]
    total = sum(value for _name, value in parts)
    return {
        "rows": "\n".join(rows),
        "total": _sign(total),
        "lead": _sign(shown.patching.leads[0]),
        "difference": f"{abs(total - shown.patching.leads[0]):.0e}",
        "first": shown.answers[0],
        "second": shown.answers[1],
    }


def _sign(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
