"""Two notebooks of what is no picture: a cache sized from files, and the package as a command."""

from workshop.look_notebooks import FIND

SIZES = [
    """# Size a cache from the files that you have

A GPU holds a model's weights, the KV cache of the texts that it serves, and what the engine needs
besides. All three can be told before anything is loaded: from a config.json, from the head of a
GGUF file, from the heads of safetensors. This needs no GPU, no torch and no network.

This notebook finds the folder that it lies in; where the package is installed, write
`attention_step_by_step` for `explainers`.""",
    FIND,
    """## A model that is known

A function gives the numbers; the command writes them out. Where the package is installed, type
`attention memory`. Ids of models and GPUs: `attention memory --list`.""",
    """from explainers.memory.cache_report import report_cache

report = report_cache("llama-3.1-8b", tokens=32_768, batch=8, gpu="h100")
print(f"{report.cache_bytes:,} bytes of cache; {report.fit.texts_that_fit} such texts fit")""",
    """import subprocess


def attention(*typed):
    typed = [str(one) for one in typed]
    run = [sys.executable, "-S", "-m", "explainers", *typed]  # -S: the standard library alone
    told = subprocess.run(run, cwd=root, capture_output=True, text=True)
    print("$ attention", *typed)
    print(told.stdout + told.stderr)


attention("memory", "llama-3.1-8b", "--tokens", 32_768, "--batch", 8, "--gpu", "h100")""",
    """## A config.json, quantized or not

`quantization_config` says the bits of a weight, and what a group of weights shares. How many
weights there are it does not say: here they are given.""",
    """import json

from explainers.memory.read_config import read_config

sizes = {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8}
llama = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, **sizes}
llama |= {"head_dim": 128, "vocab_size": 128_256, "max_position_embeddings": 131_072}
in_groups = {"bits": 4, "group_size": 128}
in_blocks = {"quant_method": "fp8", "weight_block_size": [128, 128]}
published = {
    "as it was trained": {},
    "AWQ": {"quantization_config": {"quant_method": "awq", **in_groups}},
    "GPTQ": {"quantization_config": {"quant_method": "gptq", **in_groups}},
    "FP8": {"quantization_config": in_blocks},
    "MLX": {"quantization": {"bits": 4, "group_size": 64}},
}
for name, more in published.items():
    shape = read_config(json.dumps(llama | more))
    fit = report_cache(shape, 32_768, gpu="rtx-4090", parameters=8_030_261_248).fit
    print(
        f"{name:18} weights {fit.weight_bytes / 1e9:5.2f} GB, texts of 32,768 tokens on an "
        f"RTX 4090: {fit.texts_that_fit}"
    )""",
    """## A GGUF file

Its head names every tensor with its type, and that is all that is read. So this one has a head and
no weights: the tensors of Llama 3.1 8B in the mixture that llama.cpp calls Q4_K_M. The first few
megabytes of a download would do as well.""",
    """from tempfile import mkdtemp

import gguf
import numpy as np

folder = Path(mkdtemp())
kinds = gguf.GGMLQuantizationType


def list_tensors():
    yield "token_embd.weight", (128_256, 4096), kinds.Q4_K
    for layer in range(32):
        has_more = layer < 4 or layer >= 28 or (layer - 4) % 3 == 2
        finer = kinds.Q6_K if has_more else kinds.Q4_K  # of what suffers most from few bits
        for part, shape, kind in [
            *[("attn_q", (4096, 4096), kinds.Q4_K), ("attn_k", (1024, 4096), kinds.Q4_K)],
            *[("attn_v", (1024, 4096), finer), ("attn_output", (4096, 4096), kinds.Q4_K)],
            *[("ffn_gate", (14336, 4096), kinds.Q4_K), ("ffn_up", (14336, 4096), kinds.Q4_K)],
            *[("ffn_down", (4096, 14336), finer), ("attn_norm", (4096,), kinds.F32)],
            ("ffn_norm", (4096,), kinds.F32),
        ]:
            yield f"blk.{layer}.{part}.weight", shape, kind
    yield "output_norm.weight", (4096,), kinds.F32
    yield "output.weight", (128_256, 4096), kinds.Q6_K


packed = folder / "llama-Q4_K_M.gguf"
writer = gguf.GGUFWriter(packed, "llama")
writer.add_block_count(32)
writer.add_embedding_length(4096)
writer.add_head_count(32)
writer.add_head_count_kv(8)
writer.add_key_length(128)
writer.add_feed_forward_length(14336)
writer.add_vocab_size(128_256)
writer.add_context_length(131_072)
for name, shape, kind in list_tensors():
    block, size = gguf.GGML_QUANT_SIZES[kind]
    bytes_of_it = int(np.prod(shape)) // block * size
    writer.add_tensor_info(name, shape, np.dtype(np.float32), bytes_of_it, kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_ti_data_to_file()
writer.close()

report = report_cache(packed, 32_768, gpu="rtx-4090")
of_head, of_weights = packed.stat().st_size, report.fit.weight_bytes
print(f"{of_head:,} bytes of a head speak of {of_weights:,} bytes of weights")""",
    """attention("memory", packed, "--tokens", 32_768, "--gpu", "rtx-4090")""",
    """## A folder of safetensors

The same from the head of each shard, here of a model that GPTQ has quantized: eight weights of 4
bits lie in a whole number of 32. What the heads say counts, not the config.json: scales, zero
points, and what was left in 16 bits are in it.""",
    """def list_half(first, last):
    for layer in range(first, last):
        for part, rows, columns in [
            *[("q", 4096, 4096), ("k", 4096, 1024), ("v", 4096, 1024), ("o", 4096, 4096)],
            *[("gate", 4096, 14336), ("up", 4096, 14336), ("down", 14336, 4096)],
        ]:
            yield f"{layer}.{part}.qweight", "I32", [rows // 8, columns]
            yield f"{layer}.{part}.qzeros", "I32", [rows // 128, columns // 8]
            yield f"{layer}.{part}.scales", "F16", [rows // 128, columns]
        yield f"{layer}.norms", "F16", [2, 4096]
    yield ("embed" if first == 0 else "lm_head"), "F16", [128_256, 4096]


shards = folder / "gptq"
shards.mkdir()
(shards / "config.json").write_text(json.dumps(llama | published["GPTQ"]))
for number, first in enumerate((0, 16), start=1):
    tensors = list_half(first, first + 16)
    head = json.dumps({name: {"dtype": kind, "shape": shape} for name, kind, shape in tensors})
    file = shards / f"model-{number:05}-of-00002.safetensors"
    file.write_bytes(len(head).to_bytes(8, "little") + head.encode())

fit = report_cache(shards, 32_768, gpu="rtx-4090").fit
print(f"{fit.weight_bytes:,} bytes of weights; {fit.texts_that_fit} such texts fit")""",
    """A shard that is missing makes no smaller model.""",
    """file.unlink()
attention("memory", shards, "--gpu", "rtx-4090")""",
    """## Several GPUs

`--split` says what they divide. DeepSeek-V3 keeps one latent for all heads, so GPUs that divide
heads each hold all of it; Llama has 8 KV heads, which 16 GPUs hold twice. What suits the one is of
no use to the other.""",
    """from explainers.memory.sharding import SPLITS

for model in ("deepseek-v3", "llama-3.1-70b"):
    for split in SPLITS:
        fit = report_cache(model, 32_768, gpu="h200", gpus=16, split=split).fit
        free = fit.free_bytes_per_gpu / 2**30
        print(
            f"{model:13} 16 GPUs divide {split:6}: {fit.texts_that_fit:5,} texts of 32,768 tokens, "
            f"{free:5.1f} GiB on each for {fit.text_bytes_per_gpu / 2**30:.2f} GiB a text"
        )""",
    """attention("memory", "deepseek-v3", "--gpu", "h200", "--gpus", 16, "--split", "texts")
attention("memory", "gemma-3-27b", "--gpu", "h200", "--gpus", 16, "--split", "tokens")""",
    """## What the engine needs besides

Activations, CUDA graphs, and what lies outside PyTorch, by a formula for vLLM
([docs/memory.md](../../docs/memory.md)).""",
    """from explainers.memory.model_shapes import find_shape
from explainers.memory.serving import Deployment, read_gpus

for model in ("llama-3.1-8b", "qwen3-8b", "qwen3-32b", "llama-3.1-70b"):
    parts = Deployment(find_shape(model), read_gpus()["h100"]).list_reserved()
    activations, graphs, outside = (f"{part / 2**30:.2f}" for part in parts)
    print(f"{model:13} GiB: activations {activations}, CUDA graphs {graphs}, outside {outside}")""",
    """Is it so? These are logs of servers that others published (`assets/server_logs.json` says
where). Each printed its room for the cache, in GiB or in tokens; beside it stands the same by the
formula. They are in this repository, not in the package.""",
    """from workshop.server_logs import predict_log, read_logs

print(f"{'':34} {'printed':>12} {'formula':>12}")
for log in read_logs():
    printed, predicted = predict_log(log)
    digits, unit = (0, "tokens") if "tokens" in log else (2, "GiB")
    numbers = f"{printed:12,.{digits}f} {predicted:12,.{digits}f} {unit:6}"
    print(f"{log['model']:34} {numbers} {predicted / printed - 1:+7.2%}  vLLM {log['version']}")""",
]

PACKAGE = [
    """# The package and its command

`python -m build` makes a wheel of this repository, `attention-step-by-step`. It has a command,
`attention`, and nothing in it is called `explainers`, as other packages may be. Here it is built
and installed, in a folder of its own, in an environment that has nothing else. No network is
used.""",
    FIND,
    """## The wheel

A copy is built, without the trained weights of the app: those are a second wheel.""",
    '''import shlex
import shutil
import subprocess
import venv
import zipfile
from tempfile import mkdtemp


def run(*command, **more):
    """Show what a command prints, in a folder that is not this repository."""
    typed = [str(one) for one in command]
    print("$", shlex.join([Path(typed[0]).name, *typed[1:]]))
    told = subprocess.run(typed, cwd=made, capture_output=True, text=True, **more)
    print(told.stdout + told.stderr)


made = Path(mkdtemp())
no_weights = shutil.ignore_patterns("weights", "scores", "__pycache__")
for name in ("explainers", "pages", "assets", ".streamlit"):
    shutil.copytree(root / name, made / "copy" / name, ignore=no_weights)
for name in ("app.py", "contents.py", "setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE"):
    shutil.copy(root / name, made / "copy")
alone = "--no-deps", "--no-index", "--no-build-isolation"
run(sys.executable, "-m", "pip", "--quiet", "wheel", *alone, "./copy")
[wheel] = made.glob("*.whl")
tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, with {', '.join(sorted(tops))}")''',
    """venv.create(made / "empty", symlinks=True)
python, attention = made / "empty/bin/python", made / "empty/bin/attention"
run(sys.executable, "-m", "pip", "--quiet", "--python", python, "install", *alone, wheel)
run(attention)""",
    """## Where nothing else is installed

Sizing a cache needs the standard library only. What needs more says what, and how to get it.""",
    """timed = "import {}, time; print(f'{{time.process_time():.2f}} s')"
run(python, "-c", timed.format("attention_step_by_step.memory.cache_report"))
run(attention, "memory", "llama-3.1-8b", "--gpu", "any")
run(attention, "look", "weights.npy", "The CEO announced")
run(attention, "serve")""",
    """## Heads of weights that you have

The same command with the packages of this notebook.""",
    """import os

import numpy as np
from IPython.display import SVG

rows = np.tril(np.random.default_rng(0).random((2, 4, 3, 3)))
np.save(made / "weights.npy", rows / rows.sum(axis=-1, keepdims=True))
packages = os.environ | {"PYTHONPATH": str(Path(np.__file__).parents[1])}
run(attention, "look", "weights.npy", "The CEO announced", "--to", "heads.svg", env=packages)
SVG(filename=made / "heads.svg")""",
    """## Pages as files, and served

These need the second wheel, with the trained weights; in this repository they are at hand, and
`python -m explainers` is the command. `attention export site` writes the whole course as files that
need no server. This writes one picture as one file, and prints how a page of yours can show it.""",
    """here = sys.executable, "-m", "explainers"
packages = os.environ | {"PYTHONPATH": str(root)}
choices = "--choices", "mask=window"
run(*here, "export", "--embed", "masks", *choices, "masks.html", env=packages)""",
    """The course is served by `attention serve`, until it is told to end.""",
    """import socket
import time
from urllib.error import URLError
from urllib.request import urlopen

with socket.create_server(("localhost", 0)) as free:
    address = f"http://localhost:{free.getsockname()[1]}"
options = "--server.address", "localhost", "--server.port", address.rpartition(":")[2]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
with subprocess.Popen([*here, "serve", *options], cwd=made, env=packages, **quiet) as server:
    answer = ""
    while not answer and server.poll() is None:
        try:
            answer = urlopen(f"{address}/_stcore/health").read().decode()
        except URLError:
            time.sleep(0.1)
    server.terminate()
print(f"{address} answers: {answer}")""",
]
PACKAGED = {"size_cache": SIZES, "package": PACKAGE}
"""By the name of the file."""
