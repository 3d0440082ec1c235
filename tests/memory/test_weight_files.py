"""GGUF and safetensors: sizes from the beginning of files that their own libraries wrote."""

import json
import struct

import gguf
import numpy as np
import pytest
import torch
from gguf.scripts import gguf_dump
from safetensors.torch import save_file

from explainers.memory import weight_files
from explainers.memory.__main__ import main
from explainers.memory.cache_report import report_cache
from explainers.memory.read_config import read_config, read_config_file
from explainers.memory.serving import find_weight_format
from tests.memory.test_read_config import GGUF, LLAMA

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
