"""Faults of screens, put in on purpose: `python -m tests.screen_faults` says what notices each.

Each is put into a copy of the repository, and the tests that should see it run there, the cheapest
first. It is no part of the suite, for its hour; docs/testing.md has what it printed.
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


def of_page(stem: str, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """What holds a page, from the cheapest on."""
    return (SENT, stem), (DRAWN, stem), *more, (SEEN, re.sub(r"^\d+_", "", stem))


FAULTS = [
    # Numbers and sentences of first pictures.
    Fault(
        "wrong number in a picture's data",
        "explainers/chapters/masks/hero.py",
        '"scores": round_numbers(lab.scores)',
        '"scores": round_numbers(lab.scores * 1.01)',
        of_page("05_masks"),
    ),
    Fault(
        "numbers of another mask",
        "explainers/chapters/masks/hero.py",
        "softmax(hide(scores, allowed.to(scores.device)))",
        "softmax(scores.expand(allowed.shape))",
        of_page("05_masks"),
    ),
    Fault(
        "another head's share in a sentence",
        JS + "picture/heroes/heads.js",
        "first_share: percent(a?.weight ?? 0)",
        "first_share: percent(b?.weight ?? 0)",
        of_page("06_many_heads"),
    ),
    Fault(
        "a share is rounded down",
        JS + "picture/sentence.js",
        "Math.round(100 * weight)",
        "Math.floor(100 * weight)",
        of_page("01_start"),
    ),
    Fault(
        "the smallest share is told as nothing",
        JS + "picture/sentence.js",
        "weight < 0.005 ?",
        "weight < 0 ?",
        of_page("06_many_heads"),
    ),
    Fault(
        "wrong sentence chosen",
        JS + "picture/heroes/masked.js",
        "hero_little",
        "hero_nothing",
        of_page("05_masks"),
    ),
    Fault(
        "a slot of a sentence is not filled",
        JS + "common/filled_text.js",
        'localNumbers(values[slot] ?? "")',
        '"{{" + slot + "}}"',
        of_page("04_scores"),
    ),
    # Places, letters, colours.
    Fault(
        "labels lie over each other",
        JS + "picture/heroes/heads_places.js",
        "title: isPhone ? top + 14 : base - 8",
        "title: isPhone ? top + 14 : base + 10",
        of_page("06_many_heads"),
    ),
    Fault(
        "letters of half their size",
        JS + "picture/stage.js",
        "const size = Math.max(wanted, this.least);",
        "const size = Math.max(wanted / 2, this.least);",
        of_page("04_scores"),
    ),
    Fault(
        "the colours of queries and keys are swapped",
        "explainers/charts/theme.py",
        'query="#0067a3",\n    key="#b34e00"',
        'query="#b34e00",\n    key="#0067a3"',
        of_page("03_query_key_value", ("tests/charts", "")),
    ),
    Fault(
        "a dark page wears the colours of the light one",
        JS + "picture/palette.js",
        "look = looks[readTheme(root)]",
        "look = looks.light",
        ((DRAWN, "04_scores"), (SEEN, "scores or theme")),
    ),
    Fault(
        "contrast too low",
        JS + "picture/style.css",
        "var(--st-text-color) 66%",
        "var(--st-text-color) 22%",
        ((SEEN, "scores"),),
    ),
    Fault(
        "a picture is wider than a phone",
        JS + "picture/style.css",
        ".hero { position: relative; box-sizing: border-box; width: 100%;",
        ".hero { position: relative; box-sizing: border-box; width: 140%;",
        ((SEEN, "scores"),),
    ),
    Fault(
        "the picture is below the first screen",
        JS + "picture/style.css",
        ".says { margin: 6px auto 0;",
        ".says { margin: 306px auto 0;",
        ((SEEN, "scores"),),
    ),
    Fault(
        "a focus cannot be seen",
        JS + "picture/style.css",
        ".hero button:focus-visible, .hero input:focus-visible { outline: 2px solid",
        ".hero button:focus-visible, .hero input:focus-visible { outline: 0 solid",
        ((SEEN, "focus or scores or masks"),),
    ),
    # What controls do.
    Fault(
        "a row of buttons does nothing",
        JS + "picture/chips.js",
        "button.onclick = () => choose(value);",
        "button.onclick = () => {};",
        of_page("05_masks"),
    ),
    Fault(
        "arrow keys do nothing in a row of buttons",
        JS + "picture/chips.js",
        "if (!by) return;",
        "if (by) return;",
        ((DRAWN, "05_masks"), (SEEN, "masks or many_heads or scores or growing_memory")),
    ),
    Fault(
        "arrow keys do nothing among words",
        JS + "picture/words.js",
        "if (!by || from === null",
        "if (by || from === null",
        ((DRAWN, "05_masks"), (SEEN, "masks or many_heads or scores")),
    ),
    Fault(
        "a choice does not reach the link",
        JS + "picture/hero.js",
        'this.tell("choices", told);',
        "",
        of_page("05_masks"),
    ),
    Fault(
        "a link's choice is not obeyed",
        "explainers/ui/controls/control.py",
        "st.session_state[self.key] = default if wanted is None else wanted",
        "st.session_state[self.key] = default",
        of_page("05_masks"),
    ),
    Fault(
        "a choice is written into the link in other words",
        "explainers/ui/controls/control.py",
        'return f"{value:g}" if',
        'return f"{value:.1f}" if',
        of_page("04_scores", ("tests/pages", "link")),
    ),
    Fault(
        "an experiment does nothing",
        JS + "picture/experiments.js",
        ": this.set(experiment));",
        ": undefined);",
        of_page("05_masks"),
    ),
    Fault(
        "an experiment cannot be taken back",
        JS + "picture/experiments.js",
        "this.choose(back);",
        "",
        ((DRAWN, "05_masks"), (SEEN, "masks or many_heads or scores or start")),
    ),
    Fault(
        "pointing at a word shows nothing",
        JS + "picture/words.js",
        "this.canPeek) peek(this.placeOf(event));",
        "!this.canPeek) peek(this.placeOf(event));",
        ((DRAWN, "05_masks"), (SEEN, "masks or many_heads or scores")),
    ),
    Fault(
        "pointing at a word is a message",
        JS + "picture/words.js",
        "this.canPeek) peek(this.placeOf(event));",
        "this.canPeek) choose(this.placeOf(event) ?? 0);",
        ((DRAWN, "05_masks"), (SEEN, "masks or many_heads or scores")),
    ),
    Fault(
        "Reset of the page leaves a choice",
        "explainers/ui/controls/controls.py",
        "st.session_state[control.key] = list(default) if isinstance(default, tuple) else default",
        "pass",
        (("tests/pages", "reset"),),
    ),
    # Cards, questions, lectures, files.
    Fault(
        "a card raises",
        "explainers/ui/source.py",
        "    read = {function.__name__:",
        "    1 / 0\n    read = {function.__name__:",
        of_page("05_masks"),
    ),
    Fault(
        "a card is not drawn",
        "explainers/ui/page_parts/go_deeper.py",
        "other == name\n",
        "False\n",
        of_page("05_masks"),
    ),
    Fault(
        "a page without its question",
        "explainers/ui/prediction.py",
        "return not is_tour() and bool(",
        "return is_tour() and bool(",
        of_page("04_scores"),
    ),
    Fault(
        "a right answer is called wrong",
        "explainers/ui/page_parts/check_yourself.py",
        "one <= question.tolerance",
        "one < -question.tolerance",
        (("tests/ui", "answer or typed"), ("tests/pages", "exercise or recall")),
    ),
    Fault(
        "code on the page is another function's",
        "explainers/ui/source.py",
        "    return inspect.getsource(function)",
        "    return inspect.getsource(inspect.unwrap)",
        of_page("04_scores"),
    ),
    Fault(
        "axes in an order of the process",
        "explainers/ui/figure/panels.py",
        "return tuple(dict.fromkeys(axes))",
        "return tuple(reversed(dict.fromkeys(axes)))",
        of_page("04_scores"),
    ),
    Fault(
        "a key of a lecture does nothing",
        JS + "lecture/keys.js",
        "PageDown: (lecture) => lecture.turn(1)",
        "PageDown: () => {}",
        ((SEEN, "lecture"),),
    ),
    Fault(
        "a key of a lecture turns back",
        JS + "lecture/keys.js",
        "ArrowRight: (lecture) => lecture.turn(1)",
        "ArrowRight: (lecture) => lecture.turn(-1)",
        ((SEEN, "lecture"),),
    ),
    # Languages and words of readers.
    Fault(
        "a translation is missing",
        "assets/text/vi.po",
        'msgid "Play"\nmsgstr "Chạy"',
        'msgid "Play"\nmsgstr ""',
        (("tests/test_languages.py", ""), *of_page("08_kv_cache")),
    ),
    Fault(
        "a text stays English in Vietnamese",
        "assets/text/vi.po",
        'msgid "Reset"\nmsgstr "Đặt lại"',
        'msgid "Reset"\nmsgstr "Reset"',
        (("tests/test_languages.py", ""), *of_page("05_masks")),
    ),
    Fault(
        "numbers keep English marks in Vietnamese",
        JS + "common/words.js",
        "return number.replace(/[.,]/g, (mark) => translations[mark] ?? mark);",
        "return number;",
        ((DRAWN, "04_scores"), (SEEN, "scores or language or numbers")),
    ),
    Fault(
        "a reader's word is markup",
        JS + "common/elements.js",
        "if (text !== undefined) made.textContent = text;\n  return made;\n}\n\n// The name",
        "if (text !== undefined) made.innerHTML = text;\n  return made;\n}\n\n// The name",
        ((DRAWN, "05_masks"), (SEEN, "markup or hostile or taken")),
    ),
    Fault(
        "a picture without its description",
        JS + "picture/hero.js",
        'this.root.setAttribute("aria-label", `${this.data.alt} ${text}`);',
        "",
        ((DRAWN, "04_scores"), (SEEN, "scores")),
    ),
]


def plant(fault: Fault, tree: Path) -> None:
    """Change the one place that reads so."""
    file = tree / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.old) < 1:
        raise ValueError(f"{fault.file} does not read {fault.old!r}")
    file.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")


def list_noticed(fault: Fault, tree: Path) -> Iterator[str]:
    """The first of its tests that fails, and how many CPU seconds all took."""
    for tests, which in fault.tests:
        chosen = ["-k", which] if which else []
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            tests,
            *chosen,
        ]
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode == 1:
            failed = re.search(
                r"^(?:FAILED|ERROR) (\S+)|_{3,} (?:ERROR at \w+ of )?(\S+) _{3,}", done.stdout, re.M
            )
            yield f"{tests}: {(failed[1] or failed[2]) if failed else '?'}"
            return


def main(*words: str) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for fault in FAULTS:
        if words and not any(word in fault.kind for word in words):
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
            (tree / ".venv").symlink_to(ROOT / ".venv")
            plant(fault, tree)
            noticed = next(list_noticed(fault, tree), "NOBODY")
            print(f"{fault.kind} | {fault.file} | {noticed}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
