"""The notebooks that show what `look` draws: as the command writes them, and they run."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.taking import valid
from workshop.example_notebook import FILE, make_example
from workshop.look_notebooks import LOOKS


def run_notebook(name, file):
    """Run it where it lies, and keep it with its outputs as a reader does."""
    notebook = valid(make_example(LOOKS[name]))
    resources = {"metadata": {"path": str(FILE.parent)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    nbformat.write(notebook, file)
    return notebook


def pictures_in(notebook):
    """What each picture is saved as."""
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    return [one.data["text/html"] for one in outputs if "text/html" in one.get("data", {})]


@pytest.mark.parametrize("name", LOOKS)
def test_they_are_what_the_command_writes(name):
    assert FILE.with_stem(name).read_text(encoding="utf-8") == make_example(LOOKS[name]) + "\n"


def test_of_weights_that_one_has(tmp_path):
    notebook = run_notebook("look_weights", tmp_path / "saved.ipynb")
    assert len(pictures_in(nbformat.read(tmp_path / "saved.ipynb", 4))) == 5
    printed = "".join(
        one.text for cell in notebook.cells for one in cell.get("outputs", []) if "text" in one
    )
    assert "English to Vietnamese: 8 heads, 13 queries on 8 keys" in printed
    assert "layer,head,query,key,weight,query_token,key_token" in printed


@pytest.mark.nightly("two real models write and read; what is drawn of them, tiny ones tell daily")
@pytest.mark.usefixtures("smollm2", "minilm")
def test_of_models(tmp_path):
    assert len(pictures_in(run_notebook("look_models", tmp_path / "saved.ipynb"))) == 5
