"""Two prompts in a model, measured or live: what is reused, paged and drafted of them."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
import torch

from explainers import kept
from explainers.attention.serving.drafts_from_text import Written
from explainers.attention.serving.kept_drafts import (
    find_depths,
    keep_probability,
    left_over,
    tree_mask,
    tree_positions,
    written_distribution,
)
from explainers.attention.serving.paged_cache import gather, make_room, write_row
from explainers.attention.serving.shared_prefix import (
    count_shared,
    count_shared_blocks,
    name_blocks,
)
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.recording import describe_live_run
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.memory.cache_bytes import BLOCK_SIZE, count_bytes_per_token, count_pages
from explainers.memory.cache_formula import format_size
from explainers.memory.model_shapes import find_shape
from explainers.messages import N_
from explainers.models import served_prompts
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.served_prompts import Chunks, DraftTree, Prompts, Reuse, TwoGuesses
from explainers.toys.sentence import SENTENCE
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.provenance import shipped_run
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import shorten, show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


SERVING = "scores/serving"
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


def join_prompts(beginning: str) -> tuple[str, str]:
    """Both prompts in full."""
    return f"{beginning} {ENDINGS[0]}", f"{beginning} {ENDINGS[1]}"


def read_shipped() -> Serving:
    """The prompts of this page in the model that was measured."""
    return open_kept(kept.read(SERVING).numbers, shipped_run(describe_package(MODEL)))


def open_kept(numbers: dict[str, Any], origin: str) -> Serving:
    """The numbers that are kept, as they are asked for."""
    prompts = Prompts(
        numbers["tokens"], numbers["ids"], [(text, token) for text, token in numbers["others"]]
    )
    sizes = [Chunks(*one) for one in numbers["chunks"]]

    def write(text: str, drafts: int) -> tuple[Written, str]:
        ids, passes, rows, said = numbers["written"][text][f"{drafts}"]
        return Written(ids, passes, rows), said

    return Serving(
        numbers["beginning"],
        prompts,
        lambda at: Reuse(**numbers["reuse"][f"{at}"]),
        lambda: (sizes, numbers["largest"]),
        lambda: DraftTree(**numbers["drafts"]),
        lambda: TwoGuesses(**numbers["guesses"]),
        write,
        origin,
        is_live=False,
    )


def make_serving(beginning: str, ask: Callable[..., Any], origin: str) -> Serving:
    """All that can be asked for, by the names of what `served_prompts` computes."""
    prompts: Prompts = ask("cut_prompts", join_prompts(beginning), MOST_TOKENS)
    first, second = prompts.ids
    sizes = [len(second), *(size for size in (8, 4, 1) if size < len(second))]
    return Serving(
        beginning,
        prompts,
        lambda at: ask("measure_reuse", first, prompts.change(at), BLOCK),
        lambda: ask("measure_chunks", second, sizes),
        lambda: ask("measure_drafts", SENTENCE, MOST_TOKENS),
        lambda: ask("guess_twice", GUESSED, SEEN, WORDS, MOST_TOKENS),
        lambda text, drafts: ask("write_text", text, NEW_TOKENS, drafts),
        origin,
        is_live=True,
    )


@st.cache_data(show_spinner=False, max_entries=128, hash_funcs=BY_MODEL)
def _measure_once(loaded: "RealModel", what: str, given: tuple[Any, ...]) -> Any:
    return getattr(served_prompts, what)(loaded, *given)


def read_or_explain(loaded: "RealModel", beginning: str) -> Serving | None:
    """What a loaded model computes when it is asked for; nothing, and a message, for what it cannot
    serve."""

    def ask(what: str, *given: Any) -> Any:
        with st.spinner(_("The model reads the prompts …")):
            return _measure_once(loaded, what, given)

    try:
        serving = make_serving(beginning, ask, describe_live_run(loaded))
        serving.reuse(-1), serving.drafts(), serving.guesses()  # all that is shown unasked
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        told = _("Not with this model: {why} The picture was measured beforehand.", why=why)
        st.error(told, icon=":material/error:")
        return None
    return serving


LEAST_GAP = 1e-9
"""A difference below this has too many digits."""


def name_token(token: str) -> str:
    """A token as it is drawn: the space before a word is seen by its place."""
    return token.strip() or show_spaces(token)


def write_gap(gap: float) -> str:
    """A difference that may be small: "0", or as many digits as tell it."""
    if gap == 0:
        return "0"
    if gap < LEAST_GAP:
        return f"< {LEAST_GAP:.9f}"
    return f"{gap:.3g}" if gap >= 0.01 else f"{gap:.{1 - math.floor(math.log10(gap))}f}"


def find_places(serving: Serving) -> tuple[int, int]:
    """An early token of the beginning, and its last word: those that the experiments change."""
    count = len(serving.prompts.others)
    return min(3, count - 1), max(0, count - 2)


def share_prompts(one: list[int], two: list[int], block: int) -> dict[str, int]:
    """Tokens and whole blocks that two prompts, as ids, have in common."""
    both = torch.tensor(one), torch.tensor(two)
    return {"shared": count_shared(*both), "blocks": count_shared_blocks(*both, block)}


def check_tree(length: int, parents: list[int]) -> dict[str, Any]:
    """The mask of a text and its drafts, and how far each draft is from the text."""
    return {"mask": tree_mask(length, parents), "depths": find_depths(parents)}


def exchange_drafts(draft: list[float], target: list[float]) -> dict[str, Any]:
    """How often each drafted word is kept, what is drawn instead, and what is written then."""
    q, p = torch.tensor(draft), torch.tensor(target)
    rest = left_over(q, p)
    written = written_distribution(q, p, rest)
    return {"kept": keep_probability(q, p), "drawn instead": rest, "written": written}


ANSWERS = ALL, HALF, NONE = N_("all of them"), N_("about half"), N_("none")
PAGED_MODEL = "llama-3-8b"
LONG, USERS = 1_000, 100
"""Tokens of a shared beginning, and texts that begin with it."""


@fragment
def ask_layer(text: Prose, serving: Serving) -> None:
    """How many rows can the second layer reuse behind a changed word? Asked, then the beginning of
    that prompt: 1 for a row of K that differs, in three layers."""
    at, prompts = find_places(serving)[0], serving.prompts
    moved, count = serving.reuse(at).moved, len(prompts.others)
    first, second = (row[at + 1 : count].count("0") for row in moved[:2])
    later = count - at - 1
    share = second / later if later else 0.0
    answer = ALL if share > 3 / 4 else NONE if share < 1 / 4 else HALF
    told = {
        "old": verbatim(name_token(prompts.tokens[1][at])),
        "new": verbatim(name_token(prompts.others[at][0])),
        "count": f"{later}",
        "first": f"{first}",
        "second": f"{second}",
        "changed": f"{later - second}",
    }
    if revealed(text, "reuse", ANSWERS, answer, **told):
        chosen = 0, 1, len(moved) - 1
        values = [[float(cell) for cell in moved[layer][:count]] for layer in chosen]
        rows = [_("layer {number}", number=layer + 1) for layer in chosen]
        tokens = [name_token(token) for token in prompts.tokens[1][:count]]
        tokens[at] = name_token(prompts.others[at][0])
        formula = _("1: the row of K differs from that of the first prompt")
        name, axis = _("changed rows of K"), TOKEN_AXIS
        matrix = Matrix(name, formula, values, rows, tokens, "", axis, "weights", decimals=0)
        counts = ", ".join(f"{sum(row):.0f}" for row in values)
        alt = _(
            "Rows of K that differ in the first, second and last layer: {counts}", counts=counts
        )
        show_figure(Figure([Panel("moved", matrix)], alt), serving.origin, "moved rows")
    show_source(count_shared, name_blocks)


def show_lookup(text: Prose, serving: Serving) -> None:
    """Drafts from the text itself, where it repeats and where it does not."""
    plain, repeating = (serving.write(REPEATING, drafts)[0] for drafts in (0, DRAFTS[-1]))
    told = {
        "new": f"{NEW_TOKENS}",
        "passes": f"{repeating.passes}",
        "right": f"{NEW_TOKENS - repeating.passes}",
        "rows": f"{repeating.rows}",
        "plain_rows": f"{plain.rows}",
        "drafts": f"{DRAFTS[-1]}",
    }
    text("lookup", **told)
    if ask_veiled(text, "passes", told["passes"], (), **told):
        text("lookup_seen", **tabulate_lookup(serving, REPEATING))
        passes = [serving.write(PLAIN, drafts)[0].passes for drafts in DRAFTS]
        found = "some" if min(passes) < passes[0] else "none"
        text(f"lookup_{found}", **tabulate_lookup(serving, PLAIN))


def tabulate_lookup(serving: Serving, text: str) -> dict[str, str]:
    """How often the model ran, with more and more drafts at a time."""
    ran = {drafts: serving.write(text, drafts) for drafts in DRAFTS}
    plain, said = ran[0]
    rows = []
    for drafts, (written, _said) in ran.items():
        same = _("yes") if written.ids == plain.ids else _("no")
        rows.append(f"| {drafts} | {written.passes} | {written.rows} | {same} |")
    return {"rows": "\n".join(rows), "prompt": verbatim(text), "said": verbatim(said)}


def show_engines(text: Prose) -> None:
    """Pages in an engine, and what they save in bytes where many texts share a beginning."""
    each = count_bytes_per_token(find_shape(PAGED_MODEL))
    whole = LONG // BLOCK_SIZE
    alone, together = USERS * count_pages(LONG, BLOCK_SIZE), whole + USERS * (LONG % BLOCK_SIZE > 0)
    text(
        "engines",
        model=PAGED_MODEL,
        tokens=f"{LONG:,}",
        texts=f"{USERS}",
        block=f"{BLOCK_SIZE}",
        pages=f"{count_pages(LONG, BLOCK_SIZE)}",
        whole=f"{whole}",
        alone=format_size(alone * BLOCK_SIZE * each),
        together=format_size(together * BLOCK_SIZE * each),
    )
    show_source(make_room, write_row, gather)


@fragment
def show_exchange(text: Prose, serving: Serving) -> None:
    """A draft is kept, or another word is drawn. A bar for each word: what draft and model both
    have, what is cut off, what is filled up; and in words one that is drafted too often, and one
    that is drafted too seldom."""
    from explainers.charts.bars import draw_exchange, make_exchange_rows

    guesses, tree = serving.guesses(), serving.drafts()
    given: dict[str, Any] = {"draft": guesses.draft, "target": guesses.target}
    hand_over("exchange", _("Keep a draft or draw again"), exchange_drafts, **given)
    given = {"length": len(tree.text), "parents": tree.parents}
    hand_over("tree", _("A tree of drafts"), check_tree, **given)
    words = [*map(name_token, guesses.words), _("all others")]
    sides = (torch.tensor(one, dtype=torch.float64) for one in (guesses.draft, guesses.target))
    draft, target = (one / one.sum() for one in sides)
    excess = (draft - target)[:-1]
    most, least = int(excess.argmax()), int(excess.argmin())
    written = written_distribution(draft, target, left_over(draft, target))
    kept = keep_probability(draft, target)
    told = {
        "word": words[most],
        "draft": write_percent(float(draft[most])),
        "target": write_percent(float(target[most])),
        "kept": write_percent(float(kept[most])),
        "other": words[least],
        "other_draft": write_percent(float(draft[least])),
        "other_target": write_percent(float(target[least])),
        "all_kept": write_percent(float((draft * kept).sum())),
        "gap": write_gap(float((written - target).abs().max())),
        "text": GUESSED,
        "seen": guesses.seen.strip(),
    }
    text("how", **told)
    both = draft.tolist(), target.tolist()
    shares = "; ".join(
        f"{word} {write_percent(q)}, {write_percent(p)}"
        for word, q, p in zip(words, *both, strict=True)
    )
    alt = _("Probability of each word in the draft and in the model: {shares}", shares=shares)
    parts = _("kept"), _("cut off: too often in the draft"), _("filled up: drawn again")
    rows = make_exchange_rows(words, *both)
    show_chart(draw_exchange, rows, alt, "exchange", serving.origin, length=len(words), parts=parts)
    text("how_seen", **told)
    show_source(keep_probability, left_over, written_distribution)
    show_source(tree_mask, tree_positions)
