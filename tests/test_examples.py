"""The example at the head of each module does what it says, and every module has one."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OF_A_WHOLE_LAYER = {
    *("decoder_block", "encoder_block", "latent", "kernel_inputs", "tiled_kernel"),
    *("faults", "kv_cache", "paged_cache"),
}
"""What takes a layer's weights, or a GPU: their tests are longer than an example may be."""
MODULES = [
    path.relative_to(ROOT).with_suffix("")
    for path in sorted(ROOT.glob("explainers/attention/**/*.py"))
    if path.stem not in {"__init__", *OF_A_WHOLE_LAYER}
]
EXAMPLES = {
    "memory": ("cache_bytes", "cache_formula", "model_shapes", "read_config", "serving"),
    "models": (
        *("attention_hook", "changes", "head_scores", "model_files"),
        *("registry", "replaced_heads", "shipped_measurements", "token_text", "written_tokens"),
    ),
    "notebook": ("look", "packed_heads", "single_file"),
}
"""Where a function's result is short enough to stand below its call."""
OTHERS = [Path("explainers", folder, name) for folder, names in EXAMPLES.items() for name in names]


@pytest.mark.parametrize("module", [*MODULES, *OTHERS], ids=lambda path: path.name)
def test_the_example_of_a_module_does_what_it_says(module):
    failed, tried = doctest.testmod(importlib.import_module(".".join(module.parts)))
    assert tried
    assert not failed
