"""A reader turns something and takes the page away: the files hold what is on screen then."""

import json
import re
import subprocess
import sys


def test_both_files_follow_the_reader(stroll, tmp_path):
    """The row stands outside of the fragment that is run again."""
    one = stroll("query_key_value", tab="stories", seed="3")
    before = one.drawn()
    one.page.get_by_text("untrained", exact=True).first.click()
    one.redrawn(before)
    one.wait_for_choice("weights", "untrained")
    texts = []
    for name in ("Notebook", "Script"):
        with one.page.expect_download() as download:
            one.page.get_by_role("button", name=name, exact=True).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        texts.append(file.read_text(encoding="utf-8"))
    notebook, script = texts
    cells = json.loads(notebook)["cells"]
    assert "seed=3&weights=untrained" in "".join(cells[0]["source"])
    run = [sys.executable, "-I", str(file)]
    ran = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    shown = re.search(r"^Q = tensor\(\[\[ *([-0-9.]+)", ran, re.MULTILINE)
    panels = [drawn for drawn in one.drawn() if len(drawn) == 3]
    (first,) = [cells[0][0] for words, cells, _ in panels if words.startswith("Q ")]
    assert shown, ran
    assert abs(float(shown[1]) - first) < 1e-3
    assert re.search(r"^computed = compute_matrices\(\s+layer=", script, re.MULTILINE)
