"""assets/LICENCES.md says whose every shipped file is that is no code."""

import re
from fnmatch import fnmatch

from explainers.folders import ASSETS, ROOT
from explainers.models.registry import OFFERED_MODELS

SHIPPED, FETCHED = (
    [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    for table in re.findall(
        r"(?m)(?:^\|.*\n)+", (ASSETS / "LICENCES.md").read_text(encoding="utf-8")
    )
    for lines in [table.splitlines()]
)
VENDOR = ROOT / "explainers/ui/browser/vendor"
FILES = [
    file.relative_to(ROOT).as_posix()
    for folder in (ASSETS, VENDOR)
    for file in sorted(folder.rglob("*"))
    if file.is_file() and not re.search(r"__pycache__|/build/|\.egg-info/", file.as_posix())
]


def test_every_file_has_one_row_and_every_row_a_file():
    patterns = [row[0].strip("`") for row in SHIPPED]
    rows = {file: [p for p in patterns if fnmatch(file, p)] for file in FILES}
    assert {file: found for file, found in rows.items() if len(found) != 1} == {}
    assert set(patterns) == {found for [found] in rows.values()}


def test_no_cell_is_empty_and_every_licence_has_a_name():
    assert len(SHIPPED) > 25
    for row in SHIPPED:
        assert len(row) == 4, row
        assert all(row), row
        assert re.match(r"(Apache-2\.0|MIT)\b", row[-1]), row


def test_models_have_the_licences_of_the_registry():
    offered = {model.id: model.licence for model in OFFERED_MODELS}
    assert {row[0].partition(",")[0]: row[1] for row in FETCHED} == offered
    for what, made_from, licence in (row[1:] for row in SHIPPED):
        models = [model for model in offered if made_from.startswith(model)]
        assert all(licence.startswith(offered[model]) for model in models), what
        assert bool(models) == ("as is the model" in licence), what


def test_a_vendored_library_brings_its_licence():
    [licence] = VENDOR.glob("*.LICENSE")
    library = licence.with_suffix(".js").read_text(encoding="utf-8")
    [[version, kind]] = re.findall(r"(?m)^// (\S+ [\d.]+) \((\w+), ", library)
    [row] = [row for row in SHIPPED if row[0].startswith("`explainers/ui/browser/vendor")]
    assert row[1].startswith(version)
    assert row[-1] == kind
