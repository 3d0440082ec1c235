"""Everything measured or trained that comes with the app says from what, how, and how exactly."""

import re
from fnmatch import fnmatch

import pytest

from explainers import kept
from explainers.folders import ASSETS, ROOT
from explainers.models.registry import OFFERED_MODELS
from explainers.toys.grammar import GRAMMARS
from workshop.keep import format_json

FILES = [file for folder in ("scores", "weights") for file in sorted((ASSETS / folder).iterdir())]
NAMES = [f"{file.parent.name}/{file.stem}" for file in FILES if file.suffix == ".json"]
each = pytest.mark.parametrize("name", NAMES)
DOCUMENT = (ROOT / "docs" / "workshop.md").read_text(encoding="utf-8")
ROWS = [re.findall(r"`([^`]+)`", line) for line in DOCUMENT.splitlines() if line.startswith("| `")]


@each
def test_it_says_where_it_comes_from_and_how_far_others_may_be_off(name):
    one = kept.read(name)
    assert one.origin
    assert one.numbers
    assert one.tolerance
    assert all(type(number) in (int, float) and number > 0 for number in one.tolerance.values())
    of_model = one.origin in {model.id for model in OFFERED_MODELS}
    assert of_model == bool(one.fingerprint), "of real models, the weights are known as well"
    assert of_model or "torch 2." in one.origin
    assert (ASSETS / f"{name}.json").read_text(encoding="utf-8") == format_json(one)


@each
def test_its_command_exists_with_its_options_and_the_document_names_it(name):
    _python, _m, module, *options = kept.read(name).command.split()
    path = ROOT / module.replace(".", "/")
    program = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
    text = program.read_text(encoding="utf-8")
    assert 'if __name__ == "__main__":' in text
    for option in (one for one in options if one not in GRAMMARS):
        assert f'"{option}"' in text
    rows = [row for row in ROWS if any(fnmatch(f"assets/{name}.json", part) for part in row)]
    assert any(part.startswith(f"python -m {module}") for row in rows for part in row)


def test_nothing_lies_beside_it_unsaid():
    """The translators of two more seeds are told with the first."""
    tensors = {f"{file.parent.name}/{file.stem}" for file in FILES if file.suffix != ".json"}
    assert {file.suffix for file in FILES} == {".json", ".safetensors"}
    assert tensors - {*NAMES} == {"weights/translator_seeds"}
    for name in tensors & {*NAMES}:
        assert kept.read(name).read_tensors()


def test_tensors_are_read_by_the_beginning_of_their_names():
    one = kept.read("scores/choosing")
    some = one.read_tensors("prose: ")
    assert "weights" in some
    assert {f"prose: {name}" for name in some} < one.read_tensors().keys()
