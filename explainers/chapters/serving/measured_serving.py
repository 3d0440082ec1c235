"""What a model makes of two prompts: measured beforehand and kept with the app, or live.

`python -m explainers.chapters.serving.measured_serving` measures again and writes the file and
its report; with `--check` it only compares, and fails where anything differs.
"""

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from explainers.attention.serving.drafts_from_text import Written
from explainers.chapters.common.recording import describe_live_run
from explainers.messages import N_
from explainers.models import served_prompts
from explainers.models.registry import WHEEL_MODELS, describe_package, resolve_folder
from explainers.models.served_prompts import Chunks, DraftTree, Prompts, Reuse, TwoGuesses
from explainers.models.shipped_scores import FOLDER, compute_fingerprint
from explainers.toys.sentence import SENTENCE
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.provenance import shipped_run
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

FILE = FOLDER / "serving.json"
REPORT = Path(__file__).with_name("REPORT.md")
MODEL = WHEEL_MODELS[0].id
shared_beginning = TextLine(
    "beginning",
    N_("Both prompts begin with"),
    "You are a helpful assistant. Answer in one sentence. "
    "The CEO announced record earnings on Friday.",
    300,
)
controls.register(shared_beginning)
ENDINGS = "Who announced the earnings?", "When did the CEO speak?"
BLOCK = 4
"""Tokens in a block of the picture; engines take 16 or more."""
MOST_TOKENS = 40
"""Of a prompt: what the picture has room for."""
GUESSED = " ".join(SENTENCE.split()[:3])
"""What the bars guess on from."""
SEEN, WORDS = 2, 5
"""Tokens of it that the cheap draft sees, and words that are told apart."""
REPEATING = (
    "The CEO announced record earnings on Friday. The board welcomed the earnings. "
    "Once more: The CEO announced"
)
PLAIN = "The capital of Japan is"
NEW_TOKENS, DRAFTS = 24, (0, 2, 4, 8)
"""Tokens that are written, and drafts at a time."""


class Serving(NamedTuple):
    """Two prompts and what a model makes of them, asked for one by one."""

    beginning: str
    prompts: Prompts
    reuse: Callable[[int], Reuse]
    """With one token of the second prompt changed; with none at −1."""
    chunks: Callable[[], tuple[list[Chunks], float]]
    """In chunks of each size, the whole prompt first; and the largest logit."""
    drafts: Callable[[], DraftTree]
    guesses: Callable[[], TwoGuesses]
    write: Callable[[str, int], tuple[Written, str]]
    """A text written on with so many drafts at a time."""
    origin: str
    is_live: bool


def list_sizes(tokens: int) -> list[int]:
    """Sizes of chunks: the whole prompt, and smaller ones."""
    return [tokens, *(size for size in (8, 4, 1) if size < tokens)]


def join_prompts(beginning: str) -> tuple[str, str]:
    """Both prompts in full."""
    return f"{beginning} {ENDINGS[0]}", f"{beginning} {ENDINGS[1]}"


def read_shipped() -> Serving:
    """The prompts of this page in the model that was measured."""
    return _open_kept(_read_file(), shipped_run(describe_package(MODEL)))


@functools.cache
def _read_file() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def _open_kept(kept: dict[str, Any], origin: str) -> Serving:
    prompts = Prompts(
        kept["tokens"], kept["ids"], [(text, token) for text, token in kept["others"]]
    )
    sizes = [Chunks(*one) for one in kept["chunks"]]

    def write(text: str, drafts: int) -> tuple[Written, str]:
        ids, passes, rows, said = kept["written"][text][f"{drafts}"]
        return Written(ids, passes, rows), said

    return Serving(
        kept["beginning"],
        prompts,
        lambda at: Reuse(**kept["reuse"][f"{at}"]),
        lambda: (sizes, kept["largest"]),
        lambda: DraftTree(**kept["drafts"]),
        lambda: TwoGuesses(**kept["guesses"]),
        write,
        origin,
        is_live=False,
    )


def read_live(loaded: "RealModel", beginning: str) -> Serving:
    """What a loaded model computes when it is asked for; raises what it cannot read."""

    def ask(what: str, *given: Any) -> Any:
        with st.spinner(_("The model reads the prompts …")):
            return _measure_once(loaded.name, id(loaded), what, given, loaded)

    return make_serving(beginning, ask, describe_live_run(loaded))


def make_serving(beginning: str, ask: Callable[..., Any], origin: str) -> Serving:
    """All that can be asked for, by the names of what `served_prompts` computes."""
    prompts: Prompts = ask("cut_prompts", join_prompts(beginning), MOST_TOKENS)
    first, second = prompts.ids
    return Serving(
        beginning,
        prompts,
        lambda at: ask("measure_reuse", first, prompts.change(at), BLOCK),
        lambda: ask("measure_chunks", second, list_sizes(len(second))),
        lambda: ask("measure_drafts", SENTENCE, MOST_TOKENS),
        lambda: ask("guess_twice", GUESSED, SEEN, WORDS, MOST_TOKENS),
        lambda text, drafts: ask("write_text", text, NEW_TOKENS, drafts),
        origin,
        is_live=True,
    )


@st.cache_data(show_spinner=False, max_entries=128)
def _measure_once(
    named: str, which: int, what: str, given: tuple[Any, ...], _loaded: "RealModel"
) -> Any:
    """Once for a model (`which` of this name) and what it is given."""
    return getattr(served_prompts, what)(_loaded, *given)


def read_or_explain(loaded: "RealModel", beginning: str) -> Serving | None:
    """The prompts in a loaded model; nothing, and a message, for what it cannot serve."""
    try:
        serving = read_live(loaded, beginning)
        serving.reuse(-1), serving.drafts(), serving.guesses()  # all that is shown unasked
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        told = _("Not with this model: {why} The picture was measured beforehand.", why=why)
        st.error(told, icon=":material/error:")
        return None
    return serving


def measure_all() -> dict[str, Any]:
    """All that the file keeps, measured now."""
    from explainers.models.load import load_model

    loaded = load_model(MODEL)

    def ask(what: str, *given: Any) -> Any:
        return getattr(served_prompts, what)(loaded, *given)

    serving = make_serving(shared_beginning.default, ask, "")
    prompts, (sizes, largest) = serving.prompts, serving.chunks()
    changed = range(-1, len(prompts.others))
    texts = REPEATING, PLAIN
    return {
        "model": MODEL,
        "fingerprint": compute_fingerprint(resolve_folder(MODEL)),
        "beginning": serving.beginning,
        **prompts._asdict(),
        "reuse": {f"{at}": serving.reuse(at)._asdict() for at in changed},
        "chunks": [[*one] for one in sizes],
        "largest": largest,
        "drafts": serving.drafts()._asdict(),
        "guesses": serving.guesses()._asdict(),
        "written": {
            text: {f"{n}": _list_written(*serving.write(text, n)) for n in DRAFTS} for text in texts
        },
    }


def _list_written(written: Written, said: str) -> list[Any]:
    return [written.ids, written.passes, written.rows, said]


def write_report(kept: dict[str, Any]) -> str:
    """What was measured, in a table a person can read."""
    serving = _open_kept(kept, "")
    _first, second = serving.prompts.tokens
    lines = [
        "# What the page on serving keeps",
        "",
        f"{MODEL}; made by `python -m explainers.chapters.serving.measured_serving`.",
        "",
        "| token changed | shared | whole blocks | rows of K that differ, first layer "
        "| second | last | rows reused are off by | logits are off by |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for at in range(-1, len(serving.prompts.others)):
        found = serving.reuse(at)
        name = f"`{second[at]}` → `{serving.prompts.others[at][0]}`" if at >= 0 else "none"
        counts = " | ".join(f"{row.count('1')}" for row in (*found.moved[:2], found.moved[-1]))
        gaps = f"{found.rows_gap:.2g} | {found.logits_gap:.2g}"
        lines.append(f"| {name} | {found.shared} | {found.blocks} | {counts} | {gaps} |")
    limit = serving.chunks()[0][0].limit
    lines += ["", f"Chunks, of {kept['largest']:.3g}; rounding can make up to {limit:.2g}:", ""]
    lines += [f"- {one.size}: {one.passes} passes, {one.gap:.2g}" for one in serving.chunks()[0]]
    tree = serving.drafts()
    told = f"Drafts, of {tree.largest:.3g}; rounding can make up to {tree.limit:.2g}:"
    lines += ["", told, ""]
    lines += [f"- {name}: {max(gaps):.2g}" for name, gaps in tree.gaps.items()]
    lines += ["", "Drafts from the text itself, passes (rows):", ""]
    for text in (REPEATING, PLAIN):
        ran = [serving.write(text, n)[0] for n in DRAFTS]
        counts = ", ".join(f"{one.passes} ({one.rows})" for one in ran)
        same = "the same tokens" if len({tuple(one.ids) for one in ran}) == 1 else "other tokens"
        lines.append(f"- “{text}”: {counts}; {same}")
    return "\n".join(lines) + "\n"


def find_differences(kept: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Where what is kept differs from what is measured now, rounding aside."""
    return [name for name in now if not is_near(kept.get(name), now[name])]


def is_near(one: Any, other: Any) -> bool:
    """The same texts and counts, and measured numbers that differ by no more than rounding."""
    if isinstance(one, float) or isinstance(other, float):
        return abs(one - other) <= 1e-3 + 1e-3 * abs(other)
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(is_near(one[key], other[key]) for key in other)
    if isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_near, one, other))
    return bool(one == other)


def main(arguments: list[str]) -> None:
    """Measure; write the file and its report, or compare."""
    now = json.loads(json.dumps(measure_all()))
    if arguments != ["--check"]:
        FILE.write_text(json.dumps(now, ensure_ascii=False), encoding="utf-8")
        REPORT.write_text(write_report(now), encoding="utf-8")
        print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")
    elif differing := find_differences(_read_file(), now):
        raise SystemExit(f"measured now, these differ: {', '.join(differing)}")
    elif REPORT.read_text(encoding="utf-8") != write_report(_read_file()):
        raise SystemExit(f"{REPORT.name} is not that of {FILE.name}")
    else:
        print(f"{FILE.name}: as measured now")


if __name__ == "__main__":
    main(sys.argv[1:])
