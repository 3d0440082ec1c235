"""The notebooks that show what there is to use: as the command writes them, and they run."""

import re

import pytest
from nbclient import NotebookClient

from explainers.memory.cache_report import report_cache
from explainers.memory.sharding import SPLITS
from tests.support.taking import valid
from workshop.example_notebook import FILE, make_example
from workshop.look_notebooks import LOOKS
from workshop.package_notebooks import PACKAGED

NOTEBOOKS = LOOKS | PACKAGED


def run_notebook(name):
    """Run it where it lies."""
    notebook = valid(make_example(NOTEBOOKS[name]))
    resources = {"metadata": {"path": str(FILE.parent)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    return notebook


def outputs_of(notebook, kind):
    """What its cells show of a kind, such as text/html."""
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    return [one.data[kind] for one in outputs if kind in one.get("data", {})]


def printed_by(notebook):
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    return "".join(one.text for one in outputs if "text" in one)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_they_are_what_the_command_writes(name):
    assert FILE.with_stem(name).read_text(encoding="utf-8") == make_example(NOTEBOOKS[name]) + "\n"


def test_of_weights_that_one_has():
    notebook = run_notebook("look_weights")
    assert len(outputs_of(notebook, "text/html")) == 5
    printed = printed_by(notebook)
    assert "English to Vietnamese: 8 heads, 13 queries on 8 keys" in printed
    assert "layer,head,query,key,weight,query_token,key_token" in printed


@pytest.mark.nightly("two real models write and read; what is drawn of them, tiny ones tell daily")
@pytest.mark.usefixtures("smollm2", "minilm")
def test_of_models():
    assert len(outputs_of(run_notebook("look_models"), "text/html")) == 5


def test_of_a_cache_that_is_sized_from_files():
    printed = printed_by(run_notebook("size_cache"))
    report = report_cache("llama-3.1-8b", 32_768, 8, gpu="h100")
    by_command = f"= {report.cache_bytes:,} bytes\n"
    assert f"\n{report.cache_bytes:,} bytes of cache" in f"\n{printed}"
    assert by_command in printed
    [size] = re.findall("bytes of a head speak of ([0-9,]+) bytes of weights", printed)
    assert f"note: Weights: {size} bytes, as their files say." in printed
    assert re.search(r"no file \S+/model-00002-of-00002\.safetensors", printed)
    for split in SPLITS:
        fit = report_cache("deepseek-v3", 32_768, gpu="h200", gpus=16, split=split).fit
        assert fit
        assert f"divide {split:6}: {fit.texts_that_fit:5,} texts" in printed
    assert "tokens of sliding layers cannot be shared out" in printed
    differences = [float(one) for one in re.findall(r"(?:GiB|tokens) +([+-][0-9.]+)%", printed)]
    assert len(differences) >= 12
    assert max(map(abs, differences)) < 3


@pytest.mark.nightly(
    "a wheel is built, installed and served; test_wheel.py says what daily tests see"
)
def test_of_the_package():
    notebook = run_notebook("package")
    printed = printed_by(notebook)
    assert re.search(r"whl: [12]\.\d MB, with attention_step_by_step, attention_step_by_", printed)
    assert "attention memory CONFIG …" in printed
    assert "1 × h100: 3 such texts" in printed
    assert "attention look: numpy is not installed: pip install" in printed
    assert "Weights: 8 heads on 3 tokens" in printed
    assert '<iframe src="masks.html"' in printed
    assert printed.endswith(" answers: ok\n")
    [picture] = outputs_of(notebook, "image/svg+xml")
    assert "announced" in picture
