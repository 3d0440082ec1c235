"""How many cells attention has, and how many bytes: counted in whole numbers."""

CELL_BYTES = 2
"""A number of a model that runs: bfloat16."""
TOKENS = (1_024, 4_096, 16_384, 131_072, 1_048_576)


def cells(q_len: int, kv_len: int) -> int:
    """Scores, or weights, of one head in one layer."""
    return q_len * kv_len


def weight_bytes(tokens: int, each: int = CELL_BYTES) -> int:
    """The weights of a text that looks at itself, in one head and layer."""
    return cells(tokens, tokens) * each


def row_bytes(tokens: int, head_dim: int, each: int = CELL_BYTES) -> int:
    """Queries, keys, values and output of one head: all that goes in and comes out."""
    return 4 * tokens * head_dim * each


def plain_bytes(tokens: int, head_dim: int) -> int:
    """What `attention()` holds at most besides its inputs, in float32.

    That is scores, masked scores and weights at one time, and then the output.
    """
    return 3 * weight_bytes(tokens, 4) + 4 * tokens * head_dim


def tiled_bytes(tokens: int, head_dim: int, q_block: int, kv_block: int) -> int:
    """The same for `tiled_attention()`.

    That is two lists of positions, the output's blocks, and beside them either the work on a tile
    (four float32 matrices and its mask) or, in the end, the whole output.
    """
    tile = (4 * 4 + 1) * min(q_block, tokens) * min(kv_block, tokens)
    output = 4 * tokens * head_dim
    return 2 * 8 * tokens + output + max(tile, output)


def per_tokens(numbers: tuple[int, ...] = TOKENS) -> list[tuple[int, int, int]]:
    """(tokens, cells, bytes) of the weight matrix."""
    return [(n, cells(n, n), weight_bytes(n)) for n in numbers]
