"""The kernel computes attention: on Triton's interpreter, and on a GPU where there is one."""

import subprocess
import sys

import pytest
import torch
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.kernel_inputs import choose_sides
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tile_list import list_tiles
from tests.attention.test_attention import rounding
from tests.attention.test_tiled import RULES
from tests.support.shapes import watch_shapes

pytest.importorskip("triton", reason="Triton has no build for this machine")

from explainers.attention import tiled_kernel
from explainers.attention.tiled_kernel import kernel_attention

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TYPES = [torch.float32, torch.float16]
if DEVICE == "cuda":  # Triton's interpreter holds bfloat16 as whole numbers, and multiplies those
    TYPES.append(torch.bfloat16)


def draw(q_len=37, kv_len=71, head_dim=11, value_dim=40, *, leading=(2,), dtype=torch.float32):
    """Query, key and value, every axis of another size."""
    random = torch.Generator().manual_seed(0)
    shapes = (q_len, head_dim), (kv_len, head_dim), (kv_len, value_dim)
    drawn = (torch.randn(*leading, *shape, generator=random) for shape in shapes)
    return [part.to(DEVICE, dtype) for part in drawn]


def check(rule, query, key, value, *, sides=(16, 32)):
    """The kernel's output is that of attention in double precision, up to its own rounding."""
    lengths = query.shape[-2], key.shape[-2]
    output = kernel_attention(query, key, value, list_tiles(rule, *lengths, *sides))
    mask = masks.build(rule, *lengths).to(DEVICE)
    run = attention(query.double(), key.double(), value.double(), mask)
    assert output.dtype == query.dtype
    scores, largest = run.scores.to(torch.float32), value.abs().max().item()
    # Powers and output are rounded to the type of the values, sums are float32.
    allowed = rounding(scores, of=largest) + 2 * torch.finfo(query.dtype).eps * largest
    assert_close(output.double(), run.output, atol=allowed, rtol=0)


LENGTHS = st.tuples(st.integers(1, 97), st.integers(1, 97)).map(sorted)
WIDTHS = st.tuples(st.integers(1, 128), st.integers(1, 128))
SIDES = st.sampled_from([(16, 32), (32, 16), (16, 64), (64, 128)])


@settings(max_examples=25, phases=(Phase.explicit, Phase.generate))  # making it small takes long
@given(st.sampled_from(sorted(RULES)), st.sampled_from(TYPES), SIDES, LENGTHS, WIDTHS)
@example("full", torch.float32, (16, 32), (1, 1), (1, 128))
@example("causal", torch.float32, (16, 32), (16, 32), (16, 16))
@example("causal", torch.float16, (16, 32), (1, 50), (128, 65))
@example("window of 3", torch.float16, (64, 128), (17, 33), (64, 1))
def test_the_kernel_is_attention_under_every_rule(rule, dtype, sides, lengths, widths):
    query, key, value = draw(*lengths, *widths, dtype=dtype)
    check(RULES[rule], query, key, value, sides=sides)


def test_each_sequence_of_a_batch_has_its_own_mask():
    check(masks.causal & masks.padding(torch.tensor([71, 3])), *draw(leading=(2, 3)))


def test_keys_and_values_may_be_shared_by_heads():
    query, key, value = draw(leading=(2, 3))
    tiles = list_tiles(masks.causal, 37, 71, 16, 32)
    output = kernel_attention(query, key[:, :1], value[:, :1], tiles)
    in_full = key[:, :1].expand(2, 3, -1, -1), value[:, :1].expand(2, 3, -1, -1)
    assert (output == kernel_attention(query, in_full[0], in_full[1], tiles)).all()


def test_huge_scores_do_not_overflow():
    query = torch.tensor([[100.0], [-100.0]], device=DEVICE)
    key = torch.tensor([[-100.0], [50.0], [100.0]], device=DEVICE)
    value = torch.tensor([[1.0], [3.0], [5.0]], device=DEVICE)
    tiles = list_tiles(masks.full, 2, 3, 16, 16)
    assert kernel_attention(query, key, value, tiles).tolist() == [[5], [1]]


def test_tiles_that_a_rule_forbids_are_not_read():
    """What is not a number there does not come into the output."""
    query, key, value = draw(leading=())
    key[64:], value[64:] = torch.nan, torch.nan
    near = masks.Rule(lambda query_pos, key_pos: (key_pos < 40) & (query_pos >= 0))
    output = kernel_attention(query, key, value, list_tiles(near, 37, 71, 16, 32))
    assert output.isfinite().all()


def test_what_cannot_be_computed_is_named(monkeypatch):
    query, key, value = draw(leading=())
    fewer, watched = query[1:], query.clone().requires_grad_()
    tiles = list_tiles(masks.full, 37, 71, 16, 32)
    for said, asked in {
        "queries of 11 numbers cannot be compared with keys of 10": (query, key[:, 1:], value),
        "71 keys cannot share 70 values": (query, key, value[1:]),
        "tiles are of 37 × 71 scores, but there are 36 queries and 71 keys": (fewer, key, value),
        "value_dim 129: the kernel takes 1 to 128": (query, key, value[:, :1].expand(-1, 129)),
        "query, key, value are float64, float32, float32": (query.double(), key, value),
        "computes no gradients: call it under torch.no_grad": (watched, key, value),
    }.items():
        with pytest.raises((ValueError, TypeError), match=said):
            kernel_attention(asked[0], asked[1], asked[2], tiles)
    with pytest.raises(ValueError, match="a tile of 12 × 32 scores: both sides must be powers"):
        kernel_attention(query, key, value, list_tiles(masks.full, 37, 71, 12, 32))
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(ValueError, match=r"needs a CUDA device, .* on cpu: use tiled_attention"):
        kernel_attention(query.cpu(), key.cpu(), value.cpu(), tiles)


@pytest.mark.skipif(DEVICE == "cuda", reason="only the interpreter shows what a kernel computes")
def test_the_kernels_shape_comments_are_true():
    query, key, value = draw(37, 71, 64, 128, leading=())
    sizes = {"q_block": 16, "kv_block": 32, "head_dim": 64, "value_dim": 128}
    with watch_shapes(tiled_kernel.read_tiles.fn, sizes) as held:
        check(masks.causal, query, key, value)
    assert held


COMPILE = """
import torch
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from explainers.attention.kernel_inputs import choose_sides
from explainers.attention.tiled_kernel import read_tiles

sides = choose_sides(torch.empty(0, dtype=torch.bfloat16))
sizes = dict(zip(("q_block", "kv_block", "head_dim", "value_dim"), (*sides, WIDTH, WIDTH)))
types = {name: "*i32" if name.endswith("_at") else "i32" for name in read_tiles.arg_names}
types |= {f"{name}_at": "*bf16" for name in ("query", "key", "value", "output")}
types |= {"allowed_at": "*i1", "scale": "fp32"} | dict.fromkeys(sizes, "constexpr")
places = {(types_of, ): sizes[name] for types_of, name in enumerate(types) if name in sizes}
aligned = {(n,): [["tt.divisibility", 16]] for n, name in enumerate(types) if "*" in types[name]}
source = ASTSource(read_tiles, types, places, aligned)
options = {"num_warps": 8 if WIDTH > 64 else 4, "num_stages": 3}
kernel = compile(source, target=GPUTarget("cuda", 90, 32), options=options)
print(kernel.metadata.shared, kernel.asm["ptx"].count("wgmma.mma_async"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Triton brings its compiler on Linux")
@pytest.mark.nightly("compiled for a GPU: three seconds a width, for a kernel that seldom changes")
@pytest.mark.parametrize("width", [64, 128])
def test_it_compiles_for_an_h100_without_one(width, tmp_path):
    """It fits into the fast memory, and both products are left to the matrix units."""
    code = COMPILE.replace("WIDTH", str(width))
    place = {"PYTHONPATH": ".", "PATH": "", "TRITON_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", code]
    found = subprocess.run(run, env=place, check=True, capture_output=True, text=True).stdout
    shared, products = map(int, found.split())
    assert shared <= 107 * 2**10
    assert products >= 8


@pytest.mark.rotating(3)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_the_sides_that_are_chosen_will_do(dtype):
    query, key, value = draw(150, 170, 64, 64, leading=(), dtype=dtype)
    check(masks.causal, query, key, value, sides=choose_sides(query))
