"""The work of writing a text with a KV cache and without one, counted step by step.

>>> Work(1, 2, 3) + Work(1, 1, 1)
Work(rows=2, projections=3, scores=4)
"""

from dataclasses import dataclass

from explainers.attention.layer import MultiHead


@dataclass(frozen=True)
class Work:
    """What one layer does: rows of K (and as many of V) made, and multiply-adds by purpose."""

    rows: int
    projections: int
    scores: int
    """Of QKᵀ and of weights · V; the causal half that is thrown away is computed as well."""

    def __add__(self, other: "Work") -> "Work":
        sums = self.rows + other.rows, self.projections + other.projections
        return Work(*sums, self.scores + other.scores)


def one_call(q_len: int, kv_len: int, layer: MultiHead) -> Work:
    """The work of `q_len` queries that look at `kv_len` rows, the new ones among them."""
    matrices = layer.w_query, layer.w_key, layer.w_value, layer.w_output
    projections = q_len * sum(matrix.numel() for matrix in matrices)
    scores = 2 * layer.num_heads * layer.head_dim * q_len * kv_len
    return Work(q_len, projections, scores)


def with_cache(tokens: int, layer: MultiHead) -> Work:
    """Token by token: step t computes one row and looks at t."""
    steps = range(1, tokens + 1)
    return sum((one_call(1, t, layer) for t in steps), Work(0, 0, 0))


def without_cache(tokens: int, layer: MultiHead) -> Work:
    """The whole text so far again at every step: step t computes t rows, and each looks at t."""
    steps = range(1, tokens + 1)
    return sum((one_call(t, t, layer) for t in steps), Work(0, 0, 0))


def cache_bytes(rows: int, layer: MultiHead) -> int:
    """What so many tokens occupy in one layer: a key and a value in each KV head."""
    return 2 * rows * layer.num_kv_heads * layer.head_dim * layer.w_key.element_size()
