"""What a reader should remember of many heads, asked with other numbers."""

from random import Random

from explainers.attention.multi_head import parameters
from explainers.ui.page_parts.check_yourself import Recall


def find_remaining_share(draw: Random) -> Recall:
    """What one head can give a second word at most."""
    share = draw.randrange(35, 95, 5)
    return Recall(100 - share, {"share": f"{share}"})


def count_layer_numbers(draw: Random) -> Recall:
    """As many numbers with few large heads as with many small ones."""
    head_dim, heads = draw.choice([8, 16, 32]), draw.choice([2, 4, 8])
    d_model = head_dim * heads
    given = {"d_model": f"{d_model}", "heads": f"{heads}"}
    answer = parameters(d_model, heads, heads, head_dim)
    return Recall(answer, given, worked={"d_k": f"{head_dim}"})
