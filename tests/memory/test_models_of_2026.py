"""What was published of models of 2026, computed again."""

import json
from fractions import Fraction

import pytest
from transformers import KimiLinearConfig

from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
    count_lasting_bytes,
)
from explainers.memory.model_shapes import find_shape
from explainers.memory.read_config import read_config
from explainers.memory.sizes import round_quotient
from explainers.models.config_defaults import find_class_defaults

MILLION = 2**20
PRO, FLASH, BEFORE = (find_shape(f"deepseek-v{name}") for name in ("4-pro", "4-flash", "3.2-exp"))


def keep(shape):
    """Rows and index keys in 16 bits, without the tokens that wait: as vLLM counts."""
    waiting = sum(g.count * part.elements * 2 for g in shape.require_groups() for part in g.state)
    return count_cache_bytes(shape, MILLION) + count_extra_bytes(shape, MILLION) - waiting


def test_deepseek_v4_keeps_what_was_published_of_it():
    """9.62 GiB, 8.7 times less than in 16 bits: one split of its layers gives that."""
    assert f"{round_quotient(keep(PRO), 2**30)}" == "9.62"
    all_in_16_bits = 61 * (512 + 64 + 128) * 2
    assert f"{round_quotient(all_in_16_bits * MILLION, keep(PRO), 1)}" == "8.7"
    per_sparse, per_heavy = Fraction((512 + 128) * 2, 4), Fraction(512 * 2, 128)
    window = 61 * 128 * 512 * 2
    sizes = {n: n * per_sparse + (61 - n) * per_heavy for n in range(62)}
    in_gib = {n: float(rate * MILLION + window) / 2**30 for n, rate in sizes.items()}
    assert [n for n, size in in_gib.items() if round(size, 2) == 9.62] == [30]
    groups = {(g.kind, g.ratio): g.count for g in PRO.require_groups()}
    assert groups == {("compressed", 4): 30, ("index", 4): 30, ("compressed", 128): 31}
    # A tenth of the cache of V3.2 is a matter of formats.
    in_16_bits = Fraction(count_lasting_bytes(PRO), all_in_16_bits)
    assert round(float(100 * in_16_bits), 1) == 11.5
    row, key, before = 448 + 2 * 64 + 8, 128 // 2 + 4, 61 * (656 + 132)
    mixed = 30 * Fraction(row + key, 4) + 31 * Fraction(row, 128)
    assert round(float(100 * mixed / before), 1) == 10.5
    as_shown = count_lasting_bytes(FLASH) / count_lasting_bytes(BEFORE)
    assert round(float(100 * as_shown), 1) == 8.8, "rows in 16 bits, the old index in fp8"


def test_kib_for_each_token_are_those_of_the_galleries():
    for model, kib in {
        "ling-2.5-1t": "11.25", "kimi-k2.5": "68.62", "minimax-m2.5": "248.00",
    }.items():  # fmt: skip
        assert f"{round_quotient(count_bytes_per_token(find_shape(model)), 1024)}" == kib


def check_alike(read, listed):
    for tokens in (1, 777, 131_072):
        assert count_cache_bytes(read, tokens) == count_cache_bytes(listed, tokens)
        assert count_extra_bytes(read, tokens) == count_extra_bytes(listed, tokens)
    assert (read.num_heads, read.d_model) == (listed.num_heads, listed.d_model)


DEFAULTS = {
    "qwen3.5-9b": "qwen3_5_text",
    "qwen3.5-35b-a3b": "qwen3_5_moe_text",
    "qwen3.6-35b-a3b": "qwen3_5_moe_text",
    "zaya1-8b": "zaya",
    "minimax-m2.5": "minimax_m2",
}


@pytest.mark.parametrize("model", DEFAULTS)
def test_a_class_default_is_read_as_listed(model):
    file = json.dumps({"model_type": DEFAULTS[model]})
    check_alike(read_config(file, find_class_defaults), find_shape(model))


def test_the_layers_of_kimi_linear_are_those_of_its_file():
    """Every fourth and the last; its class alone, which counts from 0, would give one less."""
    full = [4, 8, 12, 16, 20, 24, 27]
    rest = [layer for layer in range(1, 28) if layer not in full]
    nested = {"full_attn_layers": full, "kda_layers": rest, "num_heads": 32, "head_dim": 128}
    written = nested | {"short_conv_kernel_size": 4}
    file = {"model_type": "kimi_linear", "linear_attn_config": written}
    listed = find_shape("kimi-linear-48b-a3b")
    check_alike(read_config(json.dumps(file), find_class_defaults), listed)
    counts = {group.kind: group.count for group in listed.require_groups()}
    assert counts == {"latent": 7, "recurrent": 20}
    config = KimiLinearConfig.from_dict({"linear_attn_config": nested})
    assert list(config.layer_types or ()).count("full_attention") == counts["latent"]
