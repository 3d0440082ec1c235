"""What a layer of multi-head latent attention learns ("DeepSeek-V2" 2024, section 2.1).

>>> latent_cache_elements(tokens=10, latent_dim=16, rope_dim=8)
240
"""

from dataclasses import dataclass

from torch import Tensor

from explainers.attention.layer import check_heads


@dataclass(frozen=True)
class Latent:
    """Queries, the way down to the latent, the ways up from it, and a rotary part of its own.

    As in DeepSeek-V2-Lite, which does not compress the queries too; value_dim is head_dim.
    """

    w_query: Tensor
    """(d_model, num_heads · head_dim)"""
    w_rotary_query: Tensor
    """(d_model, num_heads · rope_dim)"""
    w_down: Tensor
    """(d_model, latent_dim)"""
    gain: Tensor
    """(latent_dim,): how large each number of the latent is made after normalisation"""
    w_up_key: Tensor
    """(latent_dim, num_heads · head_dim)"""
    w_up_value: Tensor
    """(latent_dim, num_heads · head_dim)"""
    w_rotary_key: Tensor
    """(d_model, rope_dim): one key, which all heads share"""
    w_output: Tensor
    """(num_heads · head_dim, d_model)"""
    head_dim: int

    def __post_init__(self) -> None:
        check_heads(self.w_query.shape[-1], self.head_dim, "query")
        d_model, width = self.w_query.shape
        up = (self.latent_dim, width)
        fitting = {
            "w_rotary_query": (d_model, self.num_heads * self.rope_dim),
            "w_down": (d_model, self.latent_dim),
            "gain": (self.latent_dim,),
            "w_up_key": up,
            "w_up_value": up,
            "w_rotary_key": (d_model, self.rope_dim),
            "w_output": (width, d_model),
        }
        for name, shape in fitting.items():
            given = tuple(getattr(self, name).shape)
            if given != shape:
                raise ValueError(f"{name} must be {shape} beside the others, not {given}")

    @property
    def num_heads(self) -> int:
        return self.w_query.shape[-1] // self.head_dim

    @property
    def latent_dim(self) -> int:
        return self.w_down.shape[-1]

    @property
    def rope_dim(self) -> int:
        return self.w_rotary_key.shape[-1]


def latent_cache_elements(tokens: int, latent_dim: int, rope_dim: int) -> int:
    """How many numbers MLA keeps: per token one latent and one rotary key, for all heads."""
    return tokens * (latent_dim + rope_dim)
