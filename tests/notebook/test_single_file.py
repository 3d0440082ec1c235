"""One file that asks nobody for anything: our modules, as one plain script."""

import json
import re

from explainers.notebook import single_file
from explainers.notebook.packed_heads import LEVELS
from explainers.notebook.single_file import (
    BROWSER,
    POLICY,
    embed_json,
    inline_modules,
    order_modules,
    wrap_module,
    write_page,
)
from tests.support.scripts import run_script


def test_modules_of_one_script_do_what_they_do_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(single_file, "BROWSER", tmp_path)
    (tmp_path / "one.js").write_text(
        'import { two as three, TWO, TEN } from "./sub/all.js";\n'
        'import "./sub/two.js";\n'
        "// a remark\nconst hidden = 1;\n"
        "/** @type {string} */ (globalThis).seen = `${three(hidden)} ${TWO} ${TEN} <b>1</b>`;\n"
        "export function start() { console.log(globalThis.seen); }\n"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "all.js").write_text('export * from "./two.js";\n')
    (tmp_path / "sub" / "two.js").write_text(
        "const hidden = 40;\n/**\n * Says.\n */\n"
        "export function two(number) { return number + hidden; }\n"
        'export const TWO = Math.min(2, 3), SAID = "a, B = 1", TEN = 10; // and, C = 3\n'
    )
    script = inline_modules(tmp_path / "one.js")
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
    for names_of_one in exports.values():
        passed_on = re.findall(r'\$need\("([^"]+)"\)', " ".join(names_of_one))
        names_of_one.update(*(exports[module] for module in passed_on))
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
