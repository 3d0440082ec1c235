"""What claims and exercises read of our files: the models and GPUs that their module names."""

import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any

from explainers.memory.gpus import gpus
from explainers.memory.shapes import published
from explainers.takeaway.closure import Given


def named_by(function: Callable[..., Any], chosen: Iterable[object]) -> Given:
    """The entries whose ids stand in the text of the function's module, or were chosen."""
    text, others = inspect.getsource(sys.modules[function.__module__]), set(map(str, chosen))
    return {
        read: {id: one for id, one in read().items() if f'"{id}"' in text or id in others}
        for read in (published, gpus)
    }
