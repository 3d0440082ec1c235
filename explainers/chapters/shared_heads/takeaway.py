"""To take away from page 07: heads that share, the mistake, positions that act, and MLA."""

from torch import Tensor

from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share_wrongly,
)
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.multi_head import ManyHeads, multi_head
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.chapters.shared_heads.fixed_layers import (
    Moved,
    Penalised,
    given_to_latent,
    penalised,
)
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def numbered(name: str, each: Tensor) -> Computed:
    """A matrix per head."""
    return {f"{name} {head}": numbers for head, numbers in enumerate(each)}


def shared(layer: Layer, num_kv_heads: int) -> Computed:
    """The weights with keys and values averaged in groups, and how much that changed."""
    run = grouped_query(layer.x, average_kv_heads(layer.heads, num_kv_heads), layer.mask)
    return shared_numbers(layer, run)


def shared_numbers(layer: Layer, run: ManyHeads) -> Computed:
    """The weights of a run with shared keys and values, and how they differ from the layer's."""
    changed = measure_change(layer, run)
    return {**numbered("head", run.weights), **numbered("change of head", changed)}


def measure_change(layer: Layer, run: ManyHeads) -> Tensor:
    """Weights of heads that share − weights of the layer (heads, q_len, kv_len)."""
    return run.weights - multi_head(layer.x, layer.heads, layer.mask).weights


def kept(words: int, head_dim: int, kv_heads: list[int]) -> dict[str, int]:
    """How many numbers of a text are cached, for each number of KV heads."""
    return {f"{n} KV heads": cache_elements(words, n, head_dim) for n in kv_heads}


def dealt_wrongly(layer: Layer, num_kv_heads: int) -> Computed:
    """How much every weight changes if KV heads are dealt out with `repeat`."""
    sizes = layer.x.shape[-1], layer.heads.num_heads, num_kv_heads, layer.heads.head_dim
    run = grouped_query(layer.x, examples.random_heads(*sizes, layer.seed), layer.mask)
    return numbered("with repeat, head", mistaken(run, layer.mask).weights - run.weights)


def mistaken(run: ManyHeads, mask: Tensor) -> Attention:
    """The same heads if the KV heads are dealt out with `repeat`."""
    group_size = len(run.query) // len(run.key)
    key, value = share_wrongly(run.key, group_size), share_wrongly(run.value, group_size)
    return attention(run.query, key, value, mask)


def after_moving(tokens: tuple[str, ...], shift: int, seed: int) -> Computed:
    """Scores with RoPE and with waves added, and how they changed since all words moved."""
    return after_shift(Moved.of(tokens, (0, shift), seed), 1)


def after_shift(moved: Moved, place: int) -> Computed:
    """Both kinds of scores after one of the shifts, and their change since none."""
    rotary, added = moved.rotary, moved.added
    return {
        "scores with RoPE": rotary[place],
        "change with RoPE": rotary[place] - rotary[0],
        "scores with waves": added[place],
        "change with waves": added[place] - added[0],
    }


def with_alibi(tokens: tuple[str, ...], seed: int) -> Computed:
    """Every head's weights without ALiBi and with it."""
    found = penalised(tokens, seed)
    without = numbered("without, head", found.without)
    return {"slopes": found.slopes, **without, **numbered("with ALiBi, head", found.weights)}


def latent_heads(tokens: tuple[str, ...], latent_dim: int, seed: int) -> Computed:
    """What MLA caches and computes, written out and absorbed."""
    given = given_to_latent(tokens, latent_dim, seed)
    return latent_numbers(latent_attention(*given), absorbed(*given))


def latent_numbers(run: LatentHeads, short: LatentHeads) -> Computed:
    """What is cached, every head's weights, and the output of both ways."""
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    return {**rows, **numbered("MLA head", run.weights), **outputs}


def sharing(layer: Layer, num_kv_heads: int, run: ManyHeads) -> None:
    """Heads that share keys and values."""
    inputs, shown = {"layer": layer, "num_kv_heads": num_kv_heads}, shared_numbers(layer, run)
    take("sharing", Recipe(_("Heads that share keys and values"), shared, inputs, shown))


def cached(words: int, head_dim: int, kv_heads: list[int]) -> None:
    """What is kept of the text."""
    shown = kept(words, head_dim, kv_heads)
    inputs = {"words": words, "head_dim": head_dim, "kv_heads": kv_heads}
    take("cached", Recipe(_("Numbers kept of the text"), kept, inputs, shown))


def mistake(layer: Layer, num_kv_heads: int, changed: Tensor) -> None:
    """The classic mistake."""
    inputs = {"layer": layer, "num_kv_heads": num_kv_heads}
    shown, title = numbered("with repeat, head", changed), _("`repeat` for `repeat_interleave`")
    take("mistake", Recipe(title, dealt_wrongly, inputs, shown))


def turning(moved: Moved, place: int, seed: int) -> None:
    """All words moved along."""
    shown = after_shift(moved, place)
    inputs = {"tokens": moved.tokens, "shift": moved.shifts[place], "seed": seed}
    take("turning", Recipe(_("All words moved along"), after_moving, inputs, shown))


def penalties(tokens: tuple[str, ...], seed: int, found: Penalised) -> None:
    """ALiBi."""
    shown = {"slopes": found.slopes, **numbered("without, head", found.without)}
    shown |= numbered("with ALiBi, head", found.weights)
    take("alibi", Recipe("ALiBi", with_alibi, {"tokens": tokens, "seed": seed}, shown))


def latent(
    tokens: tuple[str, ...], latent_dim: int, seed: int, run: LatentHeads, short: LatentHeads
) -> None:
    """Multi-head latent attention."""
    shown = latent_numbers(run, short)
    inputs = {"tokens": tokens, "latent_dim": latent_dim, "seed": seed}
    title = _("Multi-head latent attention")
    take("latent", Recipe(title, latent_heads, inputs, shown))
