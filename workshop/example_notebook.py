"""`python -m workshop.example_notebook` writes what we have to use into Jupyter notebooks."""

from collections.abc import Iterable

from explainers.folders import ASSETS
from explainers.takeaway.recipe import Cell, write_notebook
from workshop.look_notebooks import FIND, LOOKS
from workshop.package_notebooks import PACKAGED

FILE = ASSETS / "notebooks" / "attention.ipynb"
PARTS = [
    """# Attention in a notebook

The functions of this repository, without the app. Install what it needs and open
this file:

    pip install -r requirements.txt jupyter
    jupyter notebook assets/notebooks/attention.ipynb""",
    FIND,
    """import altair as alt
import pandas as pd

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import measure
from explainers.attention.single_head import project
from explainers.toys.examples import make_generator
from explainers.toys.layers import draw_layer

alt.renderers.enable("svg")  # drawn by this process: it works without a network""",
    """## One head

A sentence, an untrained head from a seed, and the function of Vaswani et al. (2017), eq. 1.""",
    """tokens = ("The", "CEO", "announced", "record", "earnings", "on", "Friday")
layer = draw_layer(tokens, d_model=8, num_heads=1, head_dim=4, rule="causal", seed=0)
x, head, mask = layer.single()
query, key, value = project(x, head)
scores, weights, output = attention(query, key, value, mask)
weights.sum(dim=-1)""",
    """def drawn(name, mask):
    weights = attention(query, key, value, mask).weights
    words = [f"{position} {token}" for position, token in enumerate(tokens)]
    cells = [(words[i], words[j], weights[i, j].item()) for i, j in mask.nonzero().tolist()]
    chart = alt.Chart(pd.DataFrame(cells, columns=["query", "key", "weight"]))
    squares = chart.mark_rect().encode(x="key", y="query", color="weight", tooltip="weight")
    return squares.properties(title=f"{name}: {len(cells)} of {mask.numel()} cells")


drawn("causal", mask)""",
    """## A mask of your own

A mask is a rule on two positions. Rules combine with `&`; `build` refuses one that leaves a query
nothing to look at.""",
    """even = masks.Rule(lambda query_pos, key_pos: (query_pos - key_pos) % 2 == 0)
rules = {
    "full": masks.full,
    "window of 3": masks.sliding_window(3),
    "every other": masks.causal & even,
}
alt.hconcat(*(drawn(name, masks.build(rule, 7, 7)) for name, rule in rules.items()))""",
    """## Why there is a root

Random queries and keys: without √d_k the variance of the scores grows with d_k, and one weight
takes all.""",
    """for head_dim in (4, 16, 64, 256, 1024):
    found = measure(head_dim, kv_len=7, draws=2_000, generator=make_generator("notebook", head_dim))
    without, rooted = (largest.mean().item() for largest in found.largest)
    variances = f"variance {found.variance[0]:>7.1f} and {found.variance[1]:.2f}"
    print(f"d_k {head_dim:>4}: {variances}, largest weight {without:.2f} and {rooted:.2f}")""",
]
MARKDOWN = "# ", "## "


def make_example(parts: Iterable[str] = PARTS) -> str:
    """The file as text: parts that begin a heading, or a sentence, are Markdown."""
    return write_notebook(Cell("markdown" if is_prose(part) else "code", part) for part in parts)


def is_prose(part: str) -> bool:
    """Is this a part to read? Code begins with a small letter."""
    return part.startswith(MARKDOWN) or part[0].isupper()


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    for name, parts in {"attention": PARTS, **LOOKS, **PACKAGED}.items():
        FILE.with_stem(name).write_text(make_example(parts) + "\n", encoding="utf-8")
