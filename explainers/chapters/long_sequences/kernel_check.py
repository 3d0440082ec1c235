"""Our GPU kernel on this machine: whether it can run here, and how far from attention it comes."""

import functools

import torch

from explainers.attention import masks
from explainers.attention.kernel_inputs import choose_sides
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tile_list import list_tiles
from explainers.chapters.common.number_words import bound_rounding
from explainers.chapters.long_sequences.measurement import HEAD_DIM, has_kernel
from explainers.device import choose_device, describe_device
from explainers.folders import ROOT
from explainers.messages import N_

KERNEL = ROOT / "explainers" / "attention" / "tiled_kernel.py"
"""Shown as a file: to import it, Triton must be there."""
KERNEL_CODE = "read_tiles", "kernel_attention"
RUNS = N_("runs on a GPU")
TOKENS = 1_024


def check_kernel() -> tuple[str, dict[str, str]]:
    """The section of the text that says what happened, and its numbers."""
    device = choose_device()
    named = {"device": describe_device(device), "tokens": f"{TOKENS:,}", "head_dim": f"{HEAD_DIM}"}
    if has_kernel(device):
        return "kernel_ran", named | {"difference": bound_rounding(measure_difference(device))}
    return ("kernel_missing" if device.type == "cuda" else "kernel_absent"), named


@functools.cache
@torch.no_grad()
def measure_difference(device: torch.device) -> float:
    """The largest of any number of the kernel's output from that of attention, in float32."""
    from explainers.attention.tiled_kernel import kernel_attention  # few machines have Triton

    random = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, TOKENS, HEAD_DIM, generator=random).to(device).unbind()
    tiles = list_tiles(masks.causal, TOKENS, TOKENS, *choose_sides(query))
    mask = masks.build(masks.causal, TOKENS, TOKENS).to(device)
    output = kernel_attention(query, key, value, tiles)
    return (output - attention(query, key, value, mask).output).abs().max().item()
