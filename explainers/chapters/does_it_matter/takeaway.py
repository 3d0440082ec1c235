"""To take away: what each of three replacements costs, from the losses of eight passages."""

from torch import Tensor

from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.does_it_matter.hero import Shown
from explainers.models.shipped_ablations import Place
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take


def compare_replacements(rises: Tensor) -> dict[str, Tensor]:
    """Mean and standard error over texts; rises (replacements, texts), in nats per token."""
    error = rises.std(dim=-1) / rises.shape[-1] ** 0.5
    return {"loss rises by": rises.mean(dim=-1), "standard error": error}


def take_rises(shown: Shown, place: Place) -> None:
    """Of a head that was measured: zero, mean, another text."""
    rises = shown.ablations.rises[(slice(None), *place)]
    title = _("What replacing {head} costs", head=name_head(*place))
    take(
        "rises", Recipe(title, compare_replacements, {"rises": rises}, compare_replacements(rises))
    )
