"""Predict: the bytes of caches, which need no tensors."""

from random import Random

from explainers.chapters.exercises.deck import Prediction
from explainers.memory.cache_bytes import count_bytes_per_token, count_cache_bytes
from explainers.memory.model_shapes import LayerGroup, ModelShape, find_shape

MODELS = "llama-3-8b", "llama-3.1-70b", "llama-2-7b", "qwen3-8b", "smollm2-135m"


def bytes_of_a_token(draw: Random) -> Prediction:
    """What each new token adds to the cache of a model, in bytes."""
    layers, kv_heads = draw.choice([12, 24, 32, 48]), draw.choice([1, 2, 4, 8])
    head_dim = draw.choice([64, 128])
    group = LayerGroup("full", layers, num_kv_heads=kv_heads, head_dim=head_dim)
    shape = ModelShape("the exercise's", (group,), num_heads=kv_heads, d_model=head_dim)
    given = {"layers": f"{layers}", "kv_heads": f"{kv_heads}", "d_k": f"{head_dim}"}
    return Prediction(given, count_bytes_per_token(shape), unit="B")


def gigabytes_of_a_model(draw: Random) -> Prediction:
    """A published model's cache, in GiB; what is about a twentieth off is near enough."""
    name, tokens = draw.choice(MODELS), 1024 * draw.choice([4, 8, 16, 32, 64])
    shape = find_shape(name)
    (group,) = shape.require_groups()
    size = count_cache_bytes(shape, tokens) / 2**30
    given = {
        "model": name,
        "tokens": f"{tokens:,}",
        "layers": f"{group.count}",
        "kv_heads": f"{group.num_kv_heads}",
        "d_k": f"{group.head_dim}",
    }
    worked = {"token": f"{count_bytes_per_token(shape):,}"}
    return Prediction(given, size, float(f"{size / 20:.1g}"), worked, unit="GiB")


def numbers_of_a_latent(draw: Random) -> Prediction:
    """What one layer of MLA keeps of a token."""
    latent, rope = draw.choice([128, 256, 384, 512, 768]), draw.choice([16, 32, 64])
    heads, head_dim = draw.choice([8, 16, 32, 128]), draw.choice([64, 128])
    ((_, answer),) = LayerGroup("latent", 1, latent_dim=latent, rope_dim=rope).vectors
    given = {"heads": f"{heads}", "d_k": f"{head_dim}", "latent": f"{latent}", "rope": f"{rope}"}
    return Prediction(given, answer, worked={"plain": f"{2 * heads * head_dim:,}"})
