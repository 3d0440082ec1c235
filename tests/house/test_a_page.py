"""The small page in docs/page: laid over the app and listed in its contents, it is a page."""

import shutil
import subprocess
import sys

import pytest

from tests.house.test_house import ROOT

EXAMPLE = ROOT / "docs" / "page"
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "docs", "deploy")
BEFORE, LINE = (
    f'        "pages/{name}.py": N_("{title}"),\n'
    for name, title in {"22_writing": "Write with it", "25_sureness": "How sure?"}.items()
)
RULES = ("test_page_texts", "test_structure", "test_english")
OPENED = """
from explainers.export.visit import list_elements, visit
for link in ({}, {"text": "CEO"}):
    shown = list_elements(visit("sureness", link).test.main)
    print([one.value for one in shown if one.type == "markdown"])
"""


def test_the_example_is_small():
    written = [one.read_text("utf-8") for one in EXAMPLE.rglob("*.*")]
    assert len(list(filter(None, written))) == 3
    assert sum(len(text.splitlines()) for text in written) <= 120


@pytest.mark.rotating(4)
def test_the_example_is_a_page_of_the_app(tmp_path):
    def run(*asked):
        done = subprocess.run(
            [sys.executable, *asked], cwd=tree, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tree = shutil.copytree(ROOT, tmp_path / "app", ignore=LEFT_OUT)
    shutil.copytree(EXAMPLE, tree, dirs_exist_ok=True)
    (tree / ".venv").symlink_to(ROOT / ".venv")  # for Deno, which draws pictures
    contents = tree / "contents.py"
    text = contents.read_text("utf-8")
    contents.write_text(text.replace(BEFORE, BEFORE + LINE), "utf-8")
    run("-m", "ruff", "check", "contents.py", "pages", "explainers/chapters")
    run("-m", "pytest", "-q", *(f"tests/house/{name}.py" for name in RULES))
    run("-m", "pytest", "-q", "tests/pages/test_told_late.py", "-k", "sureness")
    sentence, one_word = run("-c", OPENED).splitlines()
    assert "**0.00 bits**" in one_word
    assert "equal weights" in sentence
    assert "**0.00 bits**" not in sentence
