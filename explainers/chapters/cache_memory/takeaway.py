"""To take away: the bytes of one cache, and what fits on GPUs."""

from functools import partial

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.memory.cache_bytes import count_bytes_per_token, list_group_caches
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


def compute_cache(choice: CacheChoice) -> Numbers:
    """The bytes with their working, per token, and in each group of layers."""
    working = choice.explain()
    return {
        "bytes": working.size,
        "working": "\n".join(working.lines),
        "bytes per token": count_bytes_per_token(choice.shape, choice.dtype),
        "groups of layers": [
            one.size for one in list_group_caches(choice.shape, choice.tokens, **choice.options)
        ],
    }


def compute_fit(deployment: Deployment, tokens: int, texts: int) -> Numbers:
    """Weights, what one text takes, what is free, how many texts fit and how long they may be."""
    return {
        "bytes of all weights": count_weight_bytes(deployment),
        "free on each": count_free_bytes_per_gpu(deployment),
        "a text on each": count_text_bytes_per_gpu(deployment, tokens),
        "texts that fit": count_users(deployment, tokens),
        "longest": find_longest_context(deployment, texts),
    }


def take_choice(choice: CacheChoice | None, deployment: Deployment | None) -> None:
    """Offer the bytes of the cache as a notebook, and what fits, as far as it can be counted.

    Both are counted when a file is asked for: every change of the picture comes by here.
    """
    take("cache")
    take("fit")
    if choice is None:
        return
    take("cache", partial(make_cache_recipe, _("The bytes of the cache"), choice))
    if deployment and deployment.shape.parameters:
        title, lengths = _("What fits on the GPUs"), (choice.tokens, choice.texts)
        take("fit", partial(make_fit_recipe, title, deployment, *lengths))


def make_cache_recipe(title: str, choice: CacheChoice) -> Recipe:
    """The bytes, as they are on screen."""
    return Recipe(title, compute_cache, {"choice": choice}, compute_cache(choice))


def make_fit_recipe(title: str, deployment: Deployment, tokens: int, texts: int) -> Recipe:
    """What fits, as it is on screen."""
    inputs = {"deployment": deployment, "tokens": tokens, "texts": texts}
    return Recipe(title, compute_fit, inputs, compute_fit(deployment, tokens, texts))
