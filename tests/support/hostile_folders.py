"""Folders that want to harm whoever loads them: by kind, what is done to a model's folder."""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file


def config(**changes: Any) -> Callable[[Path], Any]:
    return lambda folder: rewrite(folder / "config.json", lambda old: {**old, **changes})


def tokenizer(**changes: Any) -> Callable[[Path], Any]:
    return lambda folder: rewrite(folder / "tokenizer.json", lambda old: {**old, **changes})


def rewrite(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    file.write_text(json.dumps(change(json.loads(file.read_text()))))


def raw(name: str, content: bytes | str) -> Callable[[Path], Any]:
    written = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(written) and None


def header(content: Any, length: int = 0) -> Callable[[Path], Any]:
    """A file of weights with such a header, which may lie about its length."""
    text = json.dumps(content).encode()
    return raw("model.safetensors", struct.pack("<Q", length or len(text)) + text)


def weights(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], Any]:
    def write(folder: Path) -> None:
        file = folder / "model.safetensors"
        tensors = load_file(file)
        change(tensors)
        save_file(tensors, file, metadata={"format": "pt"})

    return write


def shorten(folder: Path) -> None:
    file = folder / "model.safetensors"
    os.truncate(file, file.stat().st_size - 1)


def round_off(folder: Path) -> None:
    weights(lambda tensors: tensors.update({k: v.char() for k, v in tensors.items()}))(folder)


def both(*changes: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda folder: [change(folder) for change in changes]


def instead(name: str, make: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Another kind of file under a name."""

    def write(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return write


def link_out(file: Path) -> None:
    file.symlink_to("/etc/hostname")


def entry(dtype: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def replaces(count: int, length: int) -> dict[str, Any]:
    step = {"type": "Replace", "pattern": {"String": "e"}, "content": "e" * length}
    return {"type": "Sequence", "normalizers": [step] * count}


def split(expression: str) -> dict[str, Any]:
    pattern = {"Regex": expression}
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def index(weight_map: Any) -> Callable[[Path], Any]:
    return raw("model.safetensors.index.json", json.dumps({"weight_map": weight_map}))


def nested(depth: int) -> dict[str, Any]:
    return {"text_config": nested(depth - 1)} if depth else {}


def words(count: int) -> dict[str, Any]:
    return {"type": "WordLevel", "vocab": {f"w{n}": n for n in range(count)}, "unk_token": "w0"}


def template(count: int) -> dict[str, Any]:
    sign = {"SpecialToken": {"id": "the", "type_id": 0}}
    own = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [*[sign] * count, own],
        "pair": [own],
        "special_tokens": {"the": {"id": "the", "ids": [0], "tokens": ["the"]}},
    }


OUTSIDE = "outside its folder"
CODE = "code of its own"
FEWER, TWO_MILLION = "has weights for fewer", "at most 2,000,000 are read"
CUT = "not whole, or not safetensors"
AT_A_LOOK: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a million labels": (config(num_labels=1_000_000), "num_labels is 1,000,000"),
    "a billion layers": (config(num_hidden_layers=10**9), FEWER),
    "a billion inner layers": (config(text_config={"num_hidden_layers": 10**9}), FEWER),
    "a million factors": (
        config(rope_parameters={"rope_type": "longrope", "short_factor": [1.0] * 10**6}),
        TWO_MILLION,
    ),
    "nested until the stack ends": (raw("config.json", "[" * 100_000), "is not JSON"),
    "a config.json of two million bytes": (config(padding="x" * 2_000_000), TWO_MILLION),
    "a config.json that is none": (raw("config.json", "{"), "is not JSON"),
    "a config.json that is a list": (raw("config.json", "[]"), "is no JSON object"),
    "code beside the weights": (config(auto_map={"AutoModelForCausalLM": "code.Model"}), CODE),
    "code of a tokenizer": (raw("tokenizer_config.json", '{"auto_map": {"A": "c.T"}}'), CODE),
    "packed weights": (
        both(config(quantization_config={"quant_method": "fp8"}), round_off),
        "quantised",
    ),
    "weights of whole numbers": (round_off, "quantised"),
    "weights that were cut off": (lambda f: os.truncate(f / "model.safetensors", 900), CUT),
    "weights that lack a byte": (shorten, CUT),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "is missing"),
    "an empty file of weights": (raw("model.safetensors", b""), CUT),
    "pickled weights": (
        lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
        "can run code",
    ),
    "a header of 2^63 bytes": (header({}, 2**63), CUT),
    "four hundred thousand tensors": (
        header({f"t{n}": entry("F32", [1], 4 * n, 4 * n + 4) for n in range(400_000)}),
        "names too many tensors",
    ),
    "a list of what is not there": (index({"a": "m-1.safetensors"}), "m-1.safetensors is missing"),
    "a list that leads outside": (index({"a": "../other.safetensors"}), OUTSIDE),
    "a list of other files": (index({"a": "weights.bin"}), OUTSIDE),
    "a list that is none": (index(["model.safetensors"]), OUTSIDE),
    "an adapter": (
        both(
            lambda folder: (folder / "config.json").rename(folder / "other.json"),
            raw("adapter_config.json", '{"base_model_name_or_path": "a/b"}'),
        ),
        "it has no config.json",
    ),
    "a link out of the folder": (instead("tokenizer_config.json", link_out), "is not JSON"),
    "weights that are a link": (instead("model.safetensors", link_out), CUT),
    "a pipe for a config.json": (instead("config.json", os.mkfifo), "is no file"),
    "a pipe for a tokenizer": (instead("vocab.json", os.mkfifo), "is no file"),
    "a device": (instead("tokenizer.json", lambda f: f.symlink_to("/dev/zero")), "is no file"),
    "a tokenizer that is too large": (raw("tokenizer.json", b" " * 65_000_000), "at most 64,000"),
}
"""What a look at the folder finds, before anything of it is read, and words of the refusal."""
WHEN_READ: dict[str, Callable[[Path], Any]] = {
    "a vocabulary of 10^13": config(vocab_size=10**13),
    "a negative size": config(hidden_size=-12),
    "a size of zero": config(hidden_size=0),
    "a size that is a text": config(hidden_size="twelve"),
    "nested a hundred times": config(**nested(100)),
    "a family that is none": config(model_type="nothing"),
    "weights of another shape": weights(lambda t: t.update({k: v[:1] for k, v in t.items()})),
    "a tensor less": weights(lambda t: t.pop("model.norm.weight")),
    "steps that multiply": tokenizer(normalizer=replaces(4, 160)),
    "a repetition of repetitions": tokenizer(pre_tokenizer=split("(a+)+$")),
    "an expression that is none": tokenizer(pre_tokenizer=split("(((")),
    "a million and one words": tokenizer(model=words(1_000_001)),
    "a template that repeats": tokenizer(post_processor=template(100_000)),
}
"""What libraries find, or run into, when they read it: in another process."""
