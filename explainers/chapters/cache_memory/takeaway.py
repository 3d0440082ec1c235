"""To take away from page 09: the bytes of one cache by every counting, and what fits on GPUs."""

from explainers.chapters.cache_memory.choose_cache import Chosen
from explainers.memory.cache_bytes import count_bytes_per_token, list_group_caches
from explainers.memory.cache_formula import COUNTINGS
from explainers.memory.serving import (
    Deployment,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    count_users,
    count_weight_bytes,
    find_longest_context,
)
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

Numbers = dict[str, int | str | list[int] | None]


def cache_of(chosen: Chosen) -> Numbers:
    """The bytes with their working, by every counting, per token, and in each group of layers."""
    working = chosen.counted()
    return {
        "bytes": working.size,
        "working": "\n".join(working.lines),
        **{f"bytes, {name}": chosen.counted(name).size for name in COUNTINGS},
        "bytes per token": count_bytes_per_token(chosen.shape, chosen.dtype),
        "groups of layers": [
            one.size for one in list_group_caches(chosen.shape, chosen.tokens, **chosen.of)
        ],
    }


def on_gpus(deployment: Deployment, tokens: int, texts: int) -> Numbers:
    """Weights, what one text takes, what is free, how many texts fit and how long they may be."""
    return {
        "bytes of all weights": count_weight_bytes(deployment),
        "free on each": count_free_bytes_per_gpu(deployment),
        "a text on each": count_text_bytes_per_gpu(deployment, tokens),
        "texts that fit": count_users(deployment, tokens),
        "longest": find_longest_context(deployment, texts),
    }


def cache(chosen: Chosen) -> None:
    """The number that one came for."""
    take(
        "cache",
        Recipe(_("The bytes of the cache"), cache_of, {"chosen": chosen}, cache_of(chosen)),
    )


def fit(deployment: Deployment | None, tokens: int, texts: int) -> None:
    """What fits, as far as the size of the model is known."""
    if deployment is None or not deployment.shape.parameters:
        take("fit")
        return
    inputs = {"deployment": deployment, "tokens": tokens, "texts": texts}
    shown = on_gpus(deployment, tokens, texts)
    take("fit", Recipe(_("What fits on the GPUs"), on_gpus, inputs, shown))
