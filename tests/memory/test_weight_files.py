"""How large weights and caches are, by their files or by what a config.json says of them.

GGUF and safetensors: sizes from the beginning of files that their own libraries wrote.
"""

import json
import math
import struct
from dataclasses import replace

import gguf
import numpy as np
import pytest
import torch
from gguf.scripts import gguf_dump
from safetensors.torch import save_file

from explainers.memory import weight_files
from explainers.memory.__main__ import main
from explainers.memory.cache_bytes import find_format
from explainers.memory.cache_report import report_cache
from explainers.memory.read_config import read_config, read_config_file
from explainers.memory.serving import find_weight_format
from tests.memory.test_read_config import GGUF, LLAMA, changed

TENSORS = {"token_embd.weight": ("Q6_K", 40, 512), "blk.0.ffn_up.weight": ("Q4_K", 24, 768)}
WEIGHTS = 40 * 512 + 24 * 768 + 512
SIZE = 40 * 2 * 210 + 24 * 3 * 144 + 512 * 4


def write_gguf(file, **tensors):
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(32)
    writer.add_embedding_length(4096)
    writer.add_head_count(32)
    writer.add_head_count_kv(8)
    writer.add_context_length(8192)
    writer.add_feed_forward_length(14_336)
    writer.add_token_list([f"<{n}>" for n in range(2_000)])
    for name, (kind, rows, width) in tensors.items():
        kind = gguf.GGMLQuantizationType[kind]
        block, size = gguf.GGML_QUANT_SIZES[kind]
        packed = np.zeros((rows, width // block * size), dtype=np.uint8)
        writer.add_tensor(name, packed, raw_dtype=kind)
    writer.add_tensor("output_norm.weight", np.zeros(512, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_blocks_have_the_sizes_that_ggml_gives_them():
    for number, name in weight_files.GGUF_TYPES.items():
        assert (
            weight_files.TYPE_SIZES[name]
            == gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(number)]
        )


def test_a_gguf_file_says_its_cache_and_its_weights(tmp_path, capsys, monkeypatch):
    file = write_gguf(tmp_path / "model.gguf", **TENSORS)
    shape = read_config_file(file)
    assert (shape.parameters, shape.has_exact_parameters, shape.vocabulary) == (WEIGHTS, True, 2000)
    assert shape.ffn_dim == 14_336, "as activations have it, not as a class fills it in"
    report = report_cache(file, 32_768, gpu="h100", gpus=4)
    assert report.cache_bytes == 4_294_967_296
    assert report.fit
    assert report.fit.weight_bytes == SIZE
    assert sum(int(t.n_bytes) for t in gguf.GGUFReader(file).tensors) == SIZE
    assert main([str(file), "--gpu", "h100"]) == 0
    assert "weights in the formats of its files " in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["gguf-dump", "--json", str(file)])
    gguf_dump.main()
    assert read_config(capsys.readouterr().out).dtype == shape.dtype


def test_the_parts_of_a_gguf_file_are_counted_together(tmp_path):
    first = write_gguf(tmp_path / "m-00001-of-00002.gguf", **TENSORS)
    with pytest.raises(ValueError, match=r"no file .*m-00002-of-00002.gguf"):
        read_config_file(first)
    write_gguf(tmp_path / "m-00002-of-00002.gguf", more=("MXFP4", 3, 64))
    assert read_config_file(first).dtype == f"{SIZE + 3 * 2 * 17 + 2048} bytes in its files"


@pytest.mark.parametrize("suffix", ["gguf", "safetensors"])
@pytest.mark.parametrize("part", ["00003-of-00002", "00000-of-00002", "00001-of-01001"])
def test_a_name_of_a_part_that_cannot_be_is_refused(tmp_path, suffix, part):
    """As if it were whole, one part would be counted for all."""
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    write_gguf(tmp_path / f"m-{part}.{suffix}", **TENSORS)
    told = r"is part \d of \d+: parts are counted from 1, and at most 1,000 are read"
    with pytest.raises(ValueError, match=told):
        read_config_file(tmp_path / f"m-{part}.gguf" if suffix == "gguf" else tmp_path)


def test_weights_of_an_unknown_type_are_refused_by_name():
    tensors = {
        name: {"type": kind, "shape": [width, rows]}
        for name, (kind, rows, width) in TENSORS.items()
    }
    metadata = {name: {"value": value} for name, value in GGUF.items()}
    tensors["more"] = {"type": "Q9_Z", "shape": [256]}
    unknown = read_config(json.dumps({"metadata": metadata, "tensors": tensors}))
    with pytest.raises(ValueError, match="weights in Q9_Z: their size is not known here"):
        find_weight_format(unknown)
    tensors["more"] = {"type": "F32", "shape": [-9]}
    with pytest.raises(ValueError, match="F32 must be a whole number from 0 on, not -9"):
        read_config(json.dumps({"metadata": metadata, "tensors": tensors}))
    many = read_config(json.dumps(LLAMA), stored={"F32": 10**18})
    assert find_weight_format(many) == f"{4 * 10**18} bytes in its files", "no size is guessed"
    alone = read_config(json.dumps({**GGUF, "general.file_type": 15}))
    assert alone.dtype == "unknown: GGUF file type 15", "which layers have more bits is not said"


HEADER = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1s", 1, b"a")


@pytest.mark.parametrize(
    "content",
    [
        b"GGUF" + b"\xff" * 100,
        b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
        HEADER + struct.pack("<IQ", 8, 2**40),
        HEADER + struct.pack("<IIQ", 9, 4, 2**40),
        HEADER + struct.pack("<IIQ", 9, 9, 1),
        HEADER + struct.pack("<I", 77),
        b"GGUF" + struct.pack("<IQQ", 3, 2**30, 0),
        b"GGUF" + struct.pack("<IQQQ1sI10QI", 3, 1, 0, 1, b"a", 9, *[1] * 10, 0),
    ],
)
def test_a_broken_gguf_file_takes_no_memory_and_is_named(tmp_path, content):
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"model.gguf is no whole GGUF file"):
        read_config_file(file)


def test_no_more_metadata_is_read_than_a_vocabulary_needs(tmp_path, monkeypatch):
    (tmp_path / "model.gguf").write_bytes(HEADER + struct.pack("<IQ3s", 8, 3, b"abc"))
    assert weight_files.read_gguf(tmp_path / "model.gguf") == ('{"a": "abc"}', {})
    monkeypatch.setattr(weight_files, "MOST_METADATA", 40)
    with pytest.raises(ValueError, match=r"model.gguf is no whole GGUF file"):
        weight_files.read_gguf(tmp_path / "model.gguf")


def write_folder(folder, **config):
    (folder / "config.json").write_text(json.dumps({**LLAMA, **config}), encoding="utf-8")
    one = {"a.qweight": torch.zeros(8, 16, dtype=torch.int32), "b": torch.zeros(5, 3)}
    save_file(one, folder / "model-00001-of-00002.safetensors")
    save_file({"c": torch.zeros(7).bfloat16()}, folder / "model-00002-of-00002.safetensors")
    save_file({"copy": torch.zeros(99)}, folder / "consolidated.safetensors")
    return 8 * 16 * 4 + 5 * 3 * 4 + 7 * 2


def test_a_folder_says_its_weights_by_its_files(tmp_path):
    size = write_folder(tmp_path, quantization_config={"quant_method": "gptq", "bits": 4})
    shape = read_config_file(tmp_path)
    assert shape.dtype == f"{size} bytes in its files"
    assert (shape.parameters, shape.has_exact_parameters) == (8 * 16 * 8 + 15 + 7, False)
    write_folder(tmp_path)
    assert read_config_file(tmp_path).parameters is None, "how many lie in a number is not said"
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ValueError, match=r"no file .*/model-00002-of-00002.safetensors"):
        read_config_file(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"version https://git-lfs.github.com/spec/v1",
        struct.pack("<Q", weight_files.MOST_HEADER + 1) + b" " * 64,
        struct.pack("<Q", 99) + b"{}",
        struct.pack("<Q", 12) + b'{"a": [1, 2]',
        struct.pack("<Q", 10) + b'{"a": "bc"',
        struct.pack("<Q", 50) + b'{"a": {"dtype": "F32", "shape": ["x"]}, "b": "......"}'[:50],
        struct.pack("<Q", 9_000) + b"[" * 9_000,
        struct.pack("<Q", 57) + b'{"a": {"dtype": "F32", "shape": [1000000000000000, "x"]}}',
    ],
)
def test_a_broken_safetensors_file_is_named(tmp_path, content):
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"model.safetensors is no whole safetensors file"):
        weight_files.read_safetensors(tmp_path)


QUANTIZED = {**LLAMA, "vocab_size": 128_256}
EMBEDDED = 2 * 128_256 * 4096
BITS_AND_BYTES, COMPRESSED = ({"quant_method": n} for n in ("bitsandbytes", "compressed-tensors"))
FOUR_BITS = {"weights": {"num_bits": 4, "group_size": 128, "type": "int", "symmetric": True}}


def read(quantization, **fields):
    return read_config(changed(QUANTIZED, quantization_config=quantization, **fields))


@pytest.mark.parametrize(
    ("quantization", "bits", "shared", "group"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, 4, 20, 128),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, 4, 20, 64),
        ({"quant_method": "awq", "bits": 4, "group_size": -1}, 4, 0, None),
        ({**BITS_AND_BYTES, "load_in_4bit": True}, 4, 32, 64),
        ({**BITS_AND_BYTES, "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, 4, 8, 64),
        ({**BITS_AND_BYTES, "load_in_8bit": True}, 8, 0, None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8, 32, 128 * 128),
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, 8, 0, None),
        ({**COMPRESSED, "format": "float-quantized"}, 8, 0, None),
        ({**COMPRESSED, "config_groups": {"a": FOUR_BITS}, "ignore": ["lm_head"]}, 4, 16, 128),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4, 8, 16),
    ],
)  # fmt: skip
def test_quantized_weights_have_the_size_that_the_file_says(quantization, bits, shared, group):
    shape = read(quantization)
    weights = 8 * 10**9 - EMBEDDED
    size = weights * bits // 8 + 2 * EMBEDDED
    size += math.ceil(math.ceil(weights / group) * shared / 8) if group else 0
    number_format = find_format(find_weight_format(shape))
    assert number_format.count_weight_bytes(8 * 10**9) == size
    assert any(quantization["quant_method"] in note for note in shape.notes)


def test_attention_that_stays_in_16_bits_is_counted():
    left = ["model.layers.*.self_attn", "model.layers.3.mlp", "lm_head"]
    shape = read({"quant_method": "mxfp4", "modules_to_not_convert": left})
    attention = 32 * 2 * 4096 * 128 * (32 + 8)
    assert shape.dtype == f"4-bit + 8/32, {EMBEDDED + attention} × 16-bit"
    assert "model.layers.3.mlp stay in 16 bits" in " ".join(shape.notes)


@pytest.mark.parametrize(
    "quantization",
    [
        {"quant_method": "hqq", "bits": 4},
        {"quant_method": "gptq"},
        {**COMPRESSED, "config_groups": {"a": {}}},
        {**COMPRESSED, "config_groups": {"a": FOUR_BITS, "b": {"weights": {"num_bits": 8}}}},
    ],
)
def test_quantized_weights_of_unknown_size_are_asked_for_by_name(quantization):
    shape = replace(read(quantization), parameters=8 * 10**9)
    assert "choose the format of the weights" in " ".join(shape.notes)
    name = quantization["quant_method"]
    with pytest.raises(ValueError, match=f"weights in {name}: their size is not known here"):
        report_cache(shape, 100, gpu="h100")
    fit = report_cache(shape, 100, gpu="h100", weight_dtype="int4").fit
    assert fit
    assert fit.weight_bytes == 4.5 * 10**9


MLX = {"group_size": 64, "bits": 4}


def test_mlx_quantizes_embeddings_too_and_shares_a_scale_and_a_bias():
    shape = read_config(changed(QUANTIZED, quantization=MLX, quantization_config=MLX))
    assert shape.dtype == "4-bit + 32/64"
    mixed = read_config(changed(QUANTIZED, quantization={**MLX, "model.layers.0.mlp": {"bits": 8}}))
    assert mixed.dtype == "unknown: MLX", "some modules have bits of their own"


SCHEME = {"num_bits": 8, "type": "float", "strategy": "tensor"}


@pytest.mark.parametrize(
    ("quantization", "dtype", "is_told"),
    [
        ({"kv_cache_scheme": SCHEME}, "fp8", True),
        ({"kv_cache_quant_algo": "FP8"}, "fp8", True),
        ({"kv_cache_scheme": {**SCHEME, "type": "int"}}, "bfloat16", True),
        ({"kv_cache_scheme": None}, "bfloat16", False),
    ],
)
def test_a_file_may_say_how_its_cache_is_stored(quantization, dtype, is_told):
    shape = read({**COMPRESSED, **quantization})
    assert shape.cache_dtype == dtype
    assert any("kv_cache_scheme" in note for note in shape.notes) == is_told


def test_tied_embeddings_are_counted_once():
    shape = read({"quant_method": "gptq", "bits": 8}, tie_word_embeddings=True)
    assert shape.dtype == f"8-bit, {EMBEDDED // 2} × 16-bit"
