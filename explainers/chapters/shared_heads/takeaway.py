"""To take away from page 07: heads that share, the mistake, positions that act, and MLA."""

from torch import Tensor

from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share_wrongly,
)
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.latent_layer import Latent
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, multi_head
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.choose_layer import Layer, LayerChoices
from explainers.chapters.common.head_takeaway import beginning, drawn_layer
from explainers.chapters.shared_heads.fixed_layers import Penalised, given_to_latent, penalised
from explainers.chapters.shared_heads.rope_scores import Moved
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def numbered(name: str, each: Tensor) -> Computed:
    """A matrix per head."""
    return {f"{name} {head}": numbers for head, numbers in enumerate(each)}


def shared(x: Tensor, layer: MultiHead, mask: Tensor, num_kv_heads: int) -> Computed:
    """The weights with keys and values averaged in groups, and how much that changed."""
    run = grouped_query(x, average_kv_heads(layer, num_kv_heads), mask)
    changed = run.weights - multi_head(x, layer, mask).weights
    return {**numbered("head", run.weights), **numbered("change of head", changed)}


def kept(words: int, head_dim: int, kv_heads: list[int]) -> dict[str, int]:
    """How many numbers of a text are cached, for each number of KV heads."""
    return {f"{n} KV heads": cache_elements(words, n, head_dim) for n in kv_heads}


def dealt_wrongly(
    x: Tensor, own: MultiHead, mask: Tensor, num_kv_heads: int, seed: int
) -> Computed:
    """How much every weight changes if KV heads are dealt out with `repeat`."""
    sizes = x.shape[-1], own.num_heads, num_kv_heads, own.head_dim
    run = grouped_query(x, examples.random_layer(*sizes, seed), mask)
    group_size = own.num_heads // num_kv_heads
    key, value = share_wrongly(run.key, group_size), share_wrongly(run.value, group_size)
    changed = attention(run.query, key, value, mask).weights - run.weights
    return numbered("with repeat, head", changed)


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


def latent_heads(x: Tensor, layer: Latent, mask: Tensor, angle: Tensor) -> Computed:
    """What MLA caches, every head's weights, and the output, written out and absorbed."""
    run, short = latent_attention(x, layer, mask, angle), absorbed(x, layer, mask, angle)
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    return {**rows, **numbered("MLA head", run.weights), **outputs}


def sharing(choices: LayerChoices, layer: Layer, num_kv_heads: int, run: ManyHeads) -> None:
    """Heads that share keys and values."""
    changed = run.weights - multi_head(layer.x, layer.heads, layer.mask).weights
    shown = {**numbered("head", run.weights), **numbered("change of head", changed)}
    options, title = {"num_kv_heads": num_kv_heads}, _("Heads that share keys and values")
    begun = beginning(choices, layer)
    take("sharing", Recipe(title, shared, shown=shown, options=options, **begun))


def cached(words: int, head_dim: int, kv_heads: list[int]) -> None:
    """What is kept of the text."""
    shown = kept(words, head_dim, kv_heads)
    inputs = {"words": words, "head_dim": head_dim, "kv_heads": kv_heads}
    take("cached", Recipe(_("Numbers kept of the text"), kept, inputs, shown))


def mistake(choices: LayerChoices, num_kv_heads: int, changed: Tensor) -> None:
    """The classic mistake."""
    sizes = {name: vars(choices)[name] for name in ("d_model", "num_heads", "head_dim", "seed")}
    inputs = {"tokens": choices.tokens, **sizes, "rule": choices.mask}
    options = {"num_kv_heads": num_kv_heads, "seed": choices.seed}
    shown, title = numbered("with repeat, head", changed), _("`repeat` for `repeat_interleave`")
    take("mistake", Recipe(title, dealt_wrongly, inputs, shown, drawn_layer, options))


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
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    shown = {**rows, **numbered("MLA head", run.weights), **outputs}
    inputs = {"tokens": tokens, "latent_dim": latent_dim, "seed": seed}
    title = _("Multi-head latent attention")
    take("latent", Recipe(title, latent_heads, inputs, shown, given_to_latent))
