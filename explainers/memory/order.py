"""Which layer of a model is of which group, as far as somebody published it."""

from explainers.memory.cache import Part
from explainers.memory.groups import ModelShape


def layers_in_order(shape: ModelShape, parts: tuple[Part, ...]) -> tuple[list[Part], bool]:
    """A part for each layer that keeps something; False if only the numbers of layers are known."""
    own = [part for part in parts if part.group.kind != "cross"]
    others = [part for part in parts if part.group.kind == "cross"]
    known = is_known(shape, own)
    if known:
        whole_text, local = sorted(own, key=lambda part: part.group.window is not None)
        total = whole_text.group.count + local.group.count
        found = [whole_text if n in shape.full_layers else local for n in range(total)]
    else:
        found = [part for part in own for _ in range(part.group.count)]
        known = len(own) == 1
    return found + [part for part in others for _ in range(part.group.count)], known


def is_known(shape: ModelShape, own: list[Part]) -> bool:
    """Whether the published places are those of one of two groups, and of that one alone."""
    windows = [part.group.window is not None for part in own]
    if sorted(windows) != [False, True]:
        return False
    full = own[windows.index(False)].group.count
    total = sum(part.group.count for part in own)
    return len(shape.full_layers) == full and max(shape.full_layers) < total
