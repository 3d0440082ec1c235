"""To take away: heads that share, the mistake, positions that act, and MLA."""

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
    AlibiWeights,
    ShiftedScores,
    compute_alibi,
    given_to_latent,
)
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def name_by_head(name: str, each: Tensor) -> Computed:
    """A matrix per head."""
    return {f"{name} {head}": numbers for head, numbers in enumerate(each)}


def share_heads(layer: Layer, num_kv_heads: int) -> Computed:
    """The weights with keys and values averaged in groups, and how much that changed."""
    run = grouped_query(layer.x, average_kv_heads(layer.heads, num_kv_heads), layer.mask)
    return list_shared_numbers(layer, run)


def list_shared_numbers(layer: Layer, run: ManyHeads) -> Computed:
    """The weights of a run with shared keys and values, and how they differ from the layer's."""
    changed = measure_change(layer, run)
    return {**name_by_head("head", run.weights), **name_by_head("change of head", changed)}


def measure_change(layer: Layer, run: ManyHeads) -> Tensor:
    """Weights of heads that share − weights of the layer (heads, q_len, kv_len)."""
    return run.weights - multi_head(layer.x, layer.heads, layer.mask).weights


def count_cached_numbers(words: int, head_dim: int, kv_heads: list[int]) -> dict[str, int]:
    """How many numbers of a text are cached, for each number of KV heads."""
    return {f"{n} KV heads": cache_elements(words, n, head_dim) for n in kv_heads}


def compute_wrong_repeat(layer: Layer, num_kv_heads: int) -> Computed:
    """How much every weight changes if KV heads are dealt out with `repeat`."""
    sizes = layer.x.shape[-1], layer.heads.num_heads, num_kv_heads, layer.heads.head_dim
    run = grouped_query(layer.x, examples.random_heads(*sizes, layer.seed), layer.mask)
    return name_by_head("with repeat, head", repeat_wrongly(run, layer.mask).weights - run.weights)


def repeat_wrongly(run: ManyHeads, mask: Tensor) -> Attention:
    """The same heads if the KV heads are dealt out with `repeat`."""
    group_size = len(run.query) // len(run.key)
    key, value = share_wrongly(run.key, group_size), share_wrongly(run.value, group_size)
    return attention(run.query, key, value, mask)


def compute_moved_text(tokens: tuple[str, ...], shift: int, seed: int) -> Computed:
    """Scores with RoPE and with waves added, and how they changed since all words moved."""
    return compute_shift(ShiftedScores.of(tokens, (0, shift), seed), 1)


def compute_shift(moved: ShiftedScores, place: int) -> Computed:
    """Both kinds of scores after one of the shifts, and their change since none."""
    rotary, added = moved.rotary, moved.added
    return {
        "scores with RoPE": rotary[place],
        "change with RoPE": rotary[place] - rotary[0],
        "scores with waves": added[place],
        "change with waves": added[place] - added[0],
    }


def compute_with_alibi(tokens: tuple[str, ...], seed: int) -> Computed:
    """Every head's weights without ALiBi and with it."""
    found = compute_alibi(tokens, seed)
    without = name_by_head("without, head", found.without)
    return {"slopes": found.slopes, **without, **name_by_head("with ALiBi, head", found.weights)}


def compute_latent_heads(tokens: tuple[str, ...], latent_dim: int, seed: int) -> Computed:
    """What MLA caches and computes, written out and absorbed."""
    given = given_to_latent(tokens, latent_dim, seed)
    return list_latent_numbers(latent_attention(*given), absorbed(*given))


def list_latent_numbers(run: LatentHeads, short: LatentHeads) -> Computed:
    """What is cached, every head's weights, and the output of both ways."""
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    return {**rows, **name_by_head("MLA head", run.weights), **outputs}


def take_sharing(layer: Layer, num_kv_heads: int, run: ManyHeads) -> None:
    """Heads that share keys and values."""
    inputs, shown = {"layer": layer, "num_kv_heads": num_kv_heads}, list_shared_numbers(layer, run)
    take("sharing", Recipe(_("Heads that share keys and values"), share_heads, inputs, shown))


def take_cached_numbers(words: int, head_dim: int, kv_heads: list[int]) -> None:
    """What is kept of the text."""
    shown = count_cached_numbers(words, head_dim, kv_heads)
    inputs = {"words": words, "head_dim": head_dim, "kv_heads": kv_heads}
    take("cached", Recipe(_("Numbers kept of the text"), count_cached_numbers, inputs, shown))


def take_mistake(layer: Layer, num_kv_heads: int, changed: Tensor) -> None:
    """The classic mistake."""
    inputs = {"layer": layer, "num_kv_heads": num_kv_heads}
    shown, title = name_by_head("with repeat, head", changed), _("`repeat` for `repeat_interleave`")
    take("mistake", Recipe(title, compute_wrong_repeat, inputs, shown))


def take_turning(moved: ShiftedScores, place: int, seed: int) -> None:
    """All words moved along."""
    shown = compute_shift(moved, place)
    inputs = {"tokens": moved.tokens, "shift": moved.shifts[place], "seed": seed}
    take("turning", Recipe(_("All words moved along"), compute_moved_text, inputs, shown))


def take_alibi(tokens: tuple[str, ...], seed: int, found: AlibiWeights) -> None:
    """ALiBi."""
    shown = {"slopes": found.slopes, **name_by_head("without, head", found.without)}
    shown |= name_by_head("with ALiBi, head", found.weights)
    take("alibi", Recipe("ALiBi", compute_with_alibi, {"tokens": tokens, "seed": seed}, shown))


def take_latent(
    tokens: tuple[str, ...], latent_dim: int, seed: int, run: LatentHeads, short: LatentHeads
) -> None:
    """Multi-head latent attention."""
    shown = list_latent_numbers(run, short)
    inputs = {"tokens": tokens, "latent_dim": latent_dim, "seed": seed}
    title = _("Multi-head latent attention")
    take("latent", Recipe(title, compute_latent_heads, inputs, shown))
