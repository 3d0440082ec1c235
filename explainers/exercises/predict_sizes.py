"""Predict: parameters, caches, and how work grows."""

from random import Random

from explainers.attention import masks
from explainers.attention.cache_costs import with_cache, without_cache
from explainers.attention.multi_head import parameters
from explainers.attention.reach import cells
from explainers.examples import random_layer
from explainers.exercises.kinds import Prediction
from explainers.memory.cache import kv_cache_bytes, kv_cache_bytes_per_token
from explainers.memory.groups import LayerGroup, ModelShape
from explainers.memory.shapes import model_shape

MODELS = "llama-3-8b", "llama-3.1-70b", "llama-2-7b", "qwen3-8b", "smollm2-135m"


def numbers_in_a_layer(draw: Random) -> Prediction:
    """The four matrices of attention, with fewer KV heads than query heads."""
    head_dim, heads = draw.choice([16, 32, 64]), draw.choice([4, 8])
    kv_heads = draw.choice([n for n in (1, 2, 4, 8) if heads % n == 0])
    d_model = head_dim * heads
    answer = parameters(d_model, heads, kv_heads, head_dim)
    given = {"d_model": f"{d_model}", "heads": f"{heads}", "kv_heads": f"{kv_heads}"}
    wide, narrow = d_model * d_model, d_model * kv_heads * head_dim
    worked = {"d_k": f"{head_dim}", "wide": f"{wide:,}", "narrow": f"{narrow:,}"}
    return Prediction(given, answer, worked=worked)


def query_heads_per_group(draw: Random) -> Prediction:
    """Whose KV head a query head reads."""
    kv_heads, size = draw.choice([2, 4, 8]), draw.choice([2, 3, 4])
    head = draw.randrange(kv_heads * size)
    given = {"heads": f"{kv_heads * size}", "kv_heads": f"{kv_heads}", "head": f"{head}"}
    shared = [kv for kv in range(kv_heads) for _ in range(size)]
    return Prediction(given, shared[head], worked={"size": f"{size}"})


def bytes_of_a_token(draw: Random) -> Prediction:
    """What each new token adds to the cache of a model, in bytes."""
    layers, kv_heads = draw.choice([12, 24, 32, 48]), draw.choice([1, 2, 4, 8])
    head_dim = draw.choice([64, 128])
    group = LayerGroup("full", layers, num_kv_heads=kv_heads, head_dim=head_dim)
    shape = ModelShape("the exercise's", (group,), num_heads=kv_heads, d_model=head_dim)
    given = {"layers": f"{layers}", "kv_heads": f"{kv_heads}", "d_k": f"{head_dim}"}
    return Prediction(given, kv_cache_bytes_per_token(shape))


def gigabytes_of_a_model(draw: Random) -> Prediction:
    """A published model's cache, in GiB; what is about a twentieth off is near enough."""
    name, tokens = draw.choice(MODELS), 1024 * draw.choice([4, 8, 16, 32, 64])
    shape = model_shape(name)
    (group,) = shape.known_groups()
    size = kv_cache_bytes(shape, tokens) / 2**30
    given = {
        "model": name,
        "tokens": f"{tokens:,}",
        "layers": f"{group.count}",
        "kv_heads": f"{group.num_kv_heads}",
        "d_k": f"{group.head_dim}",
    }
    worked = {"token": f"{kv_cache_bytes_per_token(shape):,}"}
    return Prediction(given, size, float(f"{size / 20:.1g}"), worked)


def numbers_of_a_latent(draw: Random) -> Prediction:
    """What one layer of MLA keeps of a token."""
    latent, rope = draw.choice([128, 256, 384, 512, 768]), draw.choice([16, 32, 64])
    heads, head_dim = draw.choice([8, 16, 32, 128]), draw.choice([64, 128])
    ((_, answer),) = LayerGroup("latent", 1, latent_dim=latent, rope_dim=rope).vectors
    given = {"heads": f"{heads}", "d_k": f"{head_dim}", "latent": f"{latent}", "rope": f"{rope}"}
    return Prediction(given, answer, worked={"plain": f"{2 * heads * head_dim:,}"})


def rows_with_and_without(draw: Random) -> Prediction:
    """How many rows of K a layer computes while it writes a text without a cache."""
    tokens = draw.randint(5, 60)
    layer = random_layer(8, 1, 1, 8, seed=0)
    kept, again = with_cache(tokens, layer).rows, without_cache(tokens, layer).rows
    worked = {"kept": f"{kept:,}", "last": f"{tokens + 1}"}
    return Prediction({"tokens": f"{tokens}"}, again, worked=worked)


def growth_of_the_weights(draw: Random) -> Prediction:
    """A longer text: how many times as many weights a head has."""
    tokens, times = draw.choice([100, 512, 1000, 4096]), draw.choice([2, 3, 4, 8, 10])
    short, long = (masks.build(masks.full, 1, n).shape[-1] ** 2 for n in (tokens, times * tokens))
    given = {"tokens": f"{tokens:,}", "longer": f"{times * tokens:,}"}
    return Prediction(given, long / short, worked={"times": f"{times}"})


def cells_between_sequences(draw: Random) -> Prediction:
    """How many cells both texts in one sequence have more than cross-attention."""
    queries, keys = draw.randint(3, 20), draw.randint(3, 20)
    joined = cells(masks.build(masks.full, queries + keys, queries + keys))
    given = {"queries": f"{queries}", "keys": f"{keys}"}
    worked = {"cross": f"{queries * keys:,}", "joined": f"{joined:,}"}
    return Prediction(given, joined - queries * keys, worked=worked)
