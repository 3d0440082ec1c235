"""Faults of screens, put in on purpose: `python -m tests.screen_faults` says what notices each.

Each is put into a copy of the repository, and the tests that should see it run there, the cheapest
first. It is no part of the suite, for its hour.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
JS = "explainers/ui/browser/"
SENT, DRAWN, SEEN = "tests/golden", "tests/heroes", "tests/browser"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")


@dataclass(frozen=True)
class Fault:
    """A text of a file that is changed, and the tests that are asked: where, and `-k` what."""

    kind: str
    file: str
    old: str
    new: str
    tests: tuple[tuple[str, str], ...]


WRITTEN = r"""
# wrong number in a picture's data | explainers/chapters/masks/hero.py | 05_masks
- "scores": round_numbers(lab.scores)
+ "scores": round_numbers(lab.scores * 1.01)
# numbers of another mask | explainers/chapters/masks/hero.py | 05_masks
- softmax(hide(scores, allowed.to(scores.device)))
+ softmax(scores.expand(allowed.shape))
# another head's share in a sentence | JS/picture/heroes/heads.js | 06_many_heads
- first_share: percent(a?.weight ?? 0)
+ first_share: percent(b?.weight ?? 0)
# a share is rounded down | JS/picture/sentence.js | 01_start
- Math.round(100 * weight)
+ Math.floor(100 * weight)
# the smallest share is told as nothing | JS/picture/sentence.js | 06_many_heads
- weight < 0.005 ?
+ weight < 0 ?
# wrong sentence chosen | JS/picture/heroes/masked.js | 05_masks
- hero_little
+ hero_nothing
# a slot of a sentence is not filled | JS/common/filled_text.js | 04_scores
- localNumbers(values[slot] ?? "")
+ "{{" + slot + "}}"
# labels lie over each other | JS/picture/heroes/heads.js | 06_many_heads
- title: isPhone ? top + 14 : base - 8
+ title: isPhone ? top + 14 : base + 10
# letters of half their size | JS/picture/stage.js | 04_scores
- const size = Math.max(wanted, this.least);
+ const size = Math.max(wanted / 2, this.least);
# the colours of queries and keys are swapped | explainers/charts/theme.py |
  03_query_key_value, charts
- query="#0067a3",
-     key="#b34e00"
+ query="#b34e00",
+     key="#0067a3"
# a dark page wears the colours of the light one | JS/picture/palette.js |
  heroes 04_scores, browser scores or theme
- look = looks[readTheme(root)]
+ look = looks.light
# contrast too low | JS/picture/style.css | browser scores
- var(--st-text-color) 66%
+ var(--st-text-color) 22%
# a picture is wider than a phone | JS/picture/style.css | browser scores
- .hero { position: relative; box-sizing: border-box; width: 100%;
+ .hero { position: relative; box-sizing: border-box; width: 140%;
# the picture is below the first screen | JS/picture/style.css | browser scores
- .says { margin: 6px auto 0;
+ .says { margin: 306px auto 0;
# a focus cannot be seen | JS/picture/style.css | browser focus or scores or masks
- .hero button:focus-visible, .hero input:focus-visible { outline: 2px solid
+ .hero button:focus-visible, .hero input:focus-visible { outline: 0 solid
# a row of buttons does nothing | JS/picture/chips.js | 05_masks
- button.onclick = () => choose(value);
+ button.onclick = () => {};
# arrow keys do nothing in a row of buttons | JS/picture/chips.js |
  heroes 05_masks, browser masks or many_heads or scores or growing_memory
- if (!by) return;
+ if (by) return;
# arrow keys do nothing among words | JS/picture/words.js |
  heroes 05_masks, browser masks or many_heads or scores
- if (!by || from === null
+ if (by || from === null
# a choice does not reach the link | JS/picture/hero.js | 05_masks
- this.tell("choices", told);
+
# a link's choice is not obeyed | explainers/ui/controls/control.py | 05_masks
- st.session_state[self.key] = default if wanted is None else wanted
+ st.session_state[self.key] = default
# a choice is written into the link in other words | explainers/ui/controls/control.py |
  04_scores, pages link
- return f"{value:g}" if
+ return f"{value:.1f}" if
# an experiment does nothing | JS/picture/experiments.js | 05_masks
- : this.set(experiment));
+ : undefined);
# an experiment cannot be taken back | JS/picture/experiments.js |
  heroes 05_masks, browser masks or many_heads or scores or start
- this.choose(back);
+
# pointing at a word shows nothing | JS/picture/words.js |
  heroes 05_masks, browser masks or many_heads or scores
- this.canPeek) peek(this.placeOf(event));
+ !this.canPeek) peek(this.placeOf(event));
# pointing at a word is a message | JS/picture/words.js |
  heroes 05_masks, browser masks or many_heads or scores
- this.canPeek) peek(this.placeOf(event));
+ this.canPeek) choose(this.placeOf(event) ?? 0);
# Reset of the page leaves a choice | explainers/ui/controls/controls.py | pages reset
- st.session_state[control.key] = list(default) if isinstance(default, tuple) else default
+ pass
# a card raises | explainers/ui/source.py | 05_masks
-     read = {function.__name__:
+     1 / 0
+     read = {function.__name__:
# a card is not drawn | explainers/ui/page_parts/go_deeper.py | 05_masks
- other == name
-
+ False
+
# a page without its question | explainers/ui/prediction.py | 04_scores
- return not is_tour() and bool(
+ return is_tour() and bool(
# a right answer is called wrong | explainers/ui/page_parts/check_yourself.py |
  ui answer or typed, pages exercise or recall
- one <= question.tolerance
+ one < -question.tolerance
# code on the page is another function's | explainers/ui/source.py | 04_scores
-     return inspect.getsource(function)
+     return inspect.getsource(inspect.unwrap)
# axes in an order of the process | explainers/ui/figure/panels.py | 04_scores
- return tuple(dict.fromkeys(axes))
+ return tuple(reversed(dict.fromkeys(axes)))
# a key of a lecture does nothing | JS/lecture/keys.js | browser lecture
- PageDown: (lecture) => lecture.turn(1)
+ PageDown: () => {}
# a key of a lecture turns back | JS/lecture/keys.js | browser lecture
- ArrowRight: (lecture) => lecture.turn(1)
+ ArrowRight: (lecture) => lecture.turn(-1)
# a translation is missing | assets/text/vi.po | test_languages.py, 08_kv_cache
- msgid "Play"
- msgstr "Chạy"
+ msgid "Play"
+ msgstr ""
# a text stays English in Vietnamese | assets/text/vi.po | test_languages.py, 05_masks
- msgid "Reset"
- msgstr "Đặt lại"
+ msgid "Reset"
+ msgstr "Reset"
# numbers keep English marks in Vietnamese | JS/common/words.js |
  heroes 04_scores, browser scores or language or numbers
- return number.replace(/[.,]/g, (mark) => translations[mark] ?? mark);
+ return number;
# a reader's word is markup | JS/common/elements.js |
  heroes 05_masks, browser markup or hostile or taken
- if (text !== undefined) made.textContent = text;
-   return made;
- }
-
- // The name
+ if (text !== undefined) made.innerHTML = text;
+   return made;
+ }
+
+ // The name
# a picture without its description | JS/picture/hero.js | heroes 04_scores, browser scores
- this.root.setAttribute("aria-label", `${this.data.alt} ${text}`);
+
"""
"""Each: what it is | its file | its tests, and the text before and after. What holds a page is
written as the page: what is sent, what is drawn, then any other tests, at last what is seen."""


def read_faults() -> Iterator[Fault]:
    for fault in re.split("^# ", WRITTEN, flags=re.MULTILINE)[1:]:
        kind, file, tests, changed = re.findall(r"(.*) \| (.*) \|\s+(.*)\n((?s:.*))", fault)[0]
        lines = changed.splitlines()
        old, new = ("\n".join(one[2:] for one in lines if one[0] == sign) for sign in "-+")
        yield Fault(kind, file.replace("JS/", JS), old, new, tuple(list_tests(tests.split(", "))))


def list_tests(named: list[str]) -> Iterator[tuple[str, str]]:
    """The cheapest first."""
    at_last = []
    for one in named:
        folder, _, which = one.partition(" ")
        if not one[0].isdigit():
            yield f"tests/{folder}", which
        else:
            yield from ((SENT, one), (DRAWN, one))
            at_last.append((SEEN, re.sub(r"^\d+_", "", one)))
    yield from at_last


def plant(fault: Fault, tree: Path) -> None:
    """Change the one place that reads so."""
    file = tree / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.old) < 1:
        raise ValueError(f"{fault.file} does not read {fault.old!r}")
    file.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")


def find_noticing(fault: Fault, tree: Path) -> str:
    """The first of its tests that fails."""
    for tests, which in fault.tests:
        chosen = ["-k", which] if which else []
        options = ["-x", "-q", "-p", "no:cacheprovider", *chosen]
        command = [sys.executable, "-m", "pytest", tests, *options]
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode == 1:
            failed = re.search(
                r"^(?:FAILED|ERROR) (\S+)|_{3,} (?:ERROR at \w+ of )?(\S+) _{3,}", done.stdout, re.M
            )
            return f"{tests}: {(failed[1] or failed[2]) if failed else '?'}"
    return "NOBODY"


def main(*words: str) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for fault in read_faults():
        if words and not any(word in fault.kind for word in words):
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
            (tree / ".venv").symlink_to(ROOT / ".venv")
            plant(fault, tree)
            print(f"{fault.kind} | {fault.file} | {find_noticing(fault, tree)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
