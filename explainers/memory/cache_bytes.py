"""The bytes that a cache must hold at the least, layer by layer, before any engine."""

from dataclasses import dataclass

from explainers.memory.layer_groups import LayerGroup, ModelShape
from explainers.memory.number_formats import SIXTEEN, Format, format_of
from explainers.memory.sizes import shown, whole
from explainers.messages import N_


@dataclass(frozen=True)
class Part:
    """What one group of layers holds for one sequence."""

    group: LayerGroup
    tokens: int
    token_bytes: int
    size: int


def kv_cache_bytes(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | Format = "bfloat16",
    *,
    source_tokens: int | None = None,
    beams: int = 1,
) -> int:
    """Keys, values and latents of `batch` texts of `tokens` tokens, if nothing is wasted."""
    whole("batch", batch)
    whole("beams", beams)
    found = parts(shape, tokens, dtype, source_tokens)
    return batch * sum(p.size * copies(p.group, beams) for p in found)


def copies(group: LayerGroup, beams: int) -> int:
    """How many beams of a text keep their own: they share what was read from its encoder."""
    return 1 if group.kind == "cross" else beams


def kv_cache_bytes_per_token(shape: ModelShape, dtype: str | Format = "bfloat16") -> int:
    """What each token adds while no window is full; at the end of a window, layers stop adding."""
    format_ = format_of(dtype)
    return sum(g.count * token_bytes(g, format_) for g in groups_of(shape) if g.kind != "cross")


def headline_bytes(
    shape: ModelShape, tokens: int, batch: int = 1, dtype: str | Format = "bfloat16"
) -> int:
    """What a headline counts: one rate times the tokens, windows and encoders forgotten."""
    rate = kv_cache_bytes_per_token(shape, dtype)
    return whole("batch", batch) * whole("tokens", tokens) * rate


def parts(
    shape: ModelShape,
    tokens: int,
    dtype: str | Format = "bfloat16",
    source_tokens: int | None = None,
) -> tuple[Part, ...]:
    """The groups that keep keys and values, in the order of the model's list."""
    whole("tokens", tokens)
    format_ = format_of(dtype)
    found = []
    for group in groups_of(shape):
        if group.vectors:
            kept = held(shape, group, tokens, source_tokens)
            found.append(part(group, kept, format_))
    return tuple(found)


def groups_of(shape: ModelShape) -> tuple[LayerGroup, ...]:
    """The layers that are counted, if it is a model whose layers are known."""
    if not isinstance(shape, ModelShape):
        raise ValueError(
            N_(
                "shape must be a ModelShape, as model_shape gives it, not {shape}",
                shape=shown(shape),
            )
        )
    return shape.known_groups()


def held(shape: ModelShape, group: LayerGroup, tokens: int, source_tokens: int | None) -> int:
    """For how many tokens a layer must keep something."""
    if group.kind == "cross":
        return encoder_tokens(shape, source_tokens)
    # A chunked layer starts anew after each chunk; what it needs on the way to T is a whole one.
    return tokens if group.window is None else min(tokens, group.window)


def encoder_tokens(shape: ModelShape, source_tokens: int | None) -> int:
    """The length of the other text: as said, or the longest that the encoder reads."""
    if source_tokens is None and shape.encoder_context is None:
        raise ValueError(
            N_("{model}: source_tokens must be given, its encoder has no limit", model=shape.id)
        )
    asked = shape.encoder_context if source_tokens is None else source_tokens
    return whole("source_tokens", asked, 0)


def part(group: LayerGroup, tokens: int, format_: Format) -> Part:
    """One group; the newest tokens stay in 16 bits where the format keeps a residual window."""
    newest = 0 if group.kind == "cross" else min(tokens, format_.residual)
    one = token_bytes(group, format_)
    layer = (tokens - newest) * one + newest * token_bytes(group, SIXTEEN)
    return Part(group, tokens, one, group.count * layer)


def token_bytes(group: LayerGroup, format_: Format) -> int:
    """What one layer keeps for one token: K and V, or one latent that serves as both."""
    return sum(format_.vector_bytes(heads, head_dim) for heads, head_dim in group.vectors)


def beside_bytes(shape: ModelShape, tokens: int, batch: int = 1) -> int:
    """What is kept besides keys and values: recurrent states, and keys of a sparse index."""
    whole("tokens", tokens)
    total = 0
    for group in groups_of(shape):
        states = sum(state.elements * format_of(state.dtype).bits // 8 for state in group.state)
        if group.kind == "index":
            one = group.token_bytes or SIXTEEN.vector_bytes(1, group.head_dim)
            states = tokens * one
        total += group.count * states
    return whole("batch", batch) * total


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
