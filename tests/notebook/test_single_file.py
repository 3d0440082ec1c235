"""One file that asks nobody for anything: our modules, as one plain script."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from explainers.notebook.bundle import BROWSER, inline_modules, order_modules, wrap_module
from explainers.notebook.packed_heads import LEVELS
from explainers.notebook.single_file import POLICY, embed_json, write_page
from tests.house.test_house import imports, name, pins
from tests.house.test_structure import modules, reached
from tests.support.opening import ROOT
from tests.support.scripts import run_script

PACKAGED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TRY = """
import sys
import torch
torch.set_num_threads(2)
from tests_tiny import tiny, tokenizer_of
from explainers import look
import explainers
assert explainers.__file__.startswith(sys.argv[1]), explainers.__file__
assert "streamlit" not in sys.modules
picture = look(tiny("BERT", max_position_embeddings=200), tokenizer_of(), "w7 w9 w8 w7")
assert torch.get_num_threads() == 2
print(len(picture.scores.tensors))
"""


def test_modules_of_one_script_do_what_they_do_apart(tmp_path):
    (tmp_path / "one.js").write_text(
        'import { two as three, TWO, TEN } from "./sub/two.js";\n'
        'import "./sub/two.js";\n'
        "// a remark\nconst hidden = 1;\n"
        "/** @type {string} */ (globalThis).seen = `${three(hidden)} ${TWO} ${TEN} <b>1</b>`;\n"
        "export function start() { console.log(globalThis.seen); }\n"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "two.js").write_text(
        "const hidden = 40;\n/**\n * Says.\n */\n"
        "export function two(number) { return number + hidden; }\n"
        'export const TWO = Math.min(2, 3), SAID = "a, B = 1", TEN = 10; // and, C = 3\n'
    )
    script = inline_modules(tmp_path / "one.js", tmp_path)
    assert "</b>" not in script, "a closing tag in a script may end it"
    assert run_script(script) == "41 2 10 <b>1</b>\n"


def test_all_modules_of_pictures_become_scripts():
    """Each name that one imports is exported where it is said to be, and nothing else is left."""
    entries = [BROWSER / "look" / "look.js", *sorted((BROWSER / "picture").rglob("*.js"))]
    names = r"const \{ ([^}]*) \} = \$need\(\"([^\"]+)\"\);"
    checked = 0
    scripts = {path: wrap_module(path) for path in order_modules(*entries)}
    exports = {
        path.relative_to(BROWSER).as_posix(): set(
            re.split(r", ", script.rpartition("return { ")[2].partition(" };")[0])
        )
        for path, script in scripts.items()
    }
    for path, script in scripts.items():
        assert not re.search(r"^(import|export)\b|import\.meta", script, re.MULTILINE), path
        for imported, module in re.findall(names, script):
            asked = {one.partition(":")[0].strip() for one in imported.split(",")} - {""}
            assert asked <= exports[module], f"{path.name} of {module}"
            checked += len(asked)
    assert checked > len(scripts)


def test_data_ends_no_script():
    data = ["</script>", "<!--", "\u2028", "&amp;", 'say "hi"', "😀"]
    written = embed_json(data)
    assert not set("<>&\u2028") & set(written)
    assert json.loads(written) == data


def test_the_page_may_load_nothing():
    page = write_page("a <title>", "look/look.js", "look/style.css", {})
    assert f'content="{POLICY}"' in page
    assert POLICY.startswith("default-src 'none'")
    assert "<title>a &lt;title&gt;</title>" in page


def test_the_browser_counts_in_the_same_steps():
    script = (BROWSER / "look" / "heads.js").read_text(encoding="utf-8")
    assert re.findall(r"LEVELS = (\d+)", script) == [str(LEVELS)]


def test_the_package_has_and_asks_for_what_a_notebook_imports():
    """In the versions that the app was tested with."""
    needed = reached([modules()["explainers.notebook.look"]]) | {"explainers.notebook.look"}
    folders = {name(modules()[full]).rpartition("/")[0].replace("/", ".") for full in needed}
    assert folders <= set(PACKAGED["tool"]["setuptools"]["packages"])
    pinned = pins("requirements.txt")
    asked = dict(one.split(">=") for one in PACKAGED["project"]["dependencies"])
    for package, least in asked.items():
        assert pinned[package].split(".")[:2] == least.split(".")
    outside = {one.split(".")[0] for full in needed for one in imports(modules()[full])}
    # What transformers itself asks for; Triton comes with torch, where there is a GPU.
    known = {"tokenizers", "safetensors", "filelock", "huggingface_hub", "regex", "triton"}
    files = PACKAGED["project"]["optional-dependencies"]["files"]  # a message names what is missing
    known |= {one.split(">")[0].removesuffix("-python").replace("-", "_") for one in files}
    assert outside <= known | sys.stdlib_module_names | {"explainers"} | set(asked)


@pytest.mark.nightly("pip builds a package; that it holds all that is imported is checked daily")
def test_it_runs_from_where_it_was_installed(tmp_path):
    """From a copy: a build leaves files behind. And torch keeps its threads."""
    copy, installed = tmp_path / "copy", tmp_path / "installed"
    for part in ("explainers", "assets/text"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / file, copy)
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--target", str(installed)]
    command = [sys.executable, "-m", "pip", "install", *options, "."]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, timeout=300)
    support = (ROOT / "tests" / "support" / "tiny_families.py").read_text(encoding="utf-8")
    words = (ROOT / "tests" / "support" / "tiny_tokenizer.py").read_text(encoding="utf-8")
    words = words.replace("from tests.support.tiny_families import VOCABULARY\n", "")
    (tmp_path / "tests_tiny.py").write_text(f"{support}\n{words}", encoding="utf-8")
    (tmp_path / "try.py").write_text(TRY, encoding="utf-8")
    run = [sys.executable, "try.py", str(installed)]
    paths = {**os.environ, "PYTHONPATH": str(installed)}
    told = subprocess.run(run, cwd=tmp_path, env=paths, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr[-2000:]
    first, second = told.stdout.splitlines()
    assert first == "BertForMaskedLM: 18 heads on 4 tokens, 0.1 MB"
    assert int(second) > 30
