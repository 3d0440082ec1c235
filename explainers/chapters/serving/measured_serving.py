"""What a model makes of two prompts: measured beforehand and kept with the app, or live."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from explainers import kept
from explainers.attention.serving.drafts_from_text import Written
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.recording import describe_live_run
from explainers.messages import N_
from explainers.models import served_prompts
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.served_prompts import Chunks, DraftTree, Prompts, Reuse, TwoGuesses
from explainers.toys.sentence import SENTENCE
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.provenance import shipped_run
from explainers.ui.untrusted_text import shorten, verbatim

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


def read_live(loaded: "RealModel", beginning: str) -> Serving:
    """What a loaded model computes when it is asked for; raises what it cannot read."""

    def ask(what: str, *given: Any) -> Any:
        with st.spinner(_("The model reads the prompts …")):
            return _measure_once(loaded, what, given)

    return make_serving(beginning, ask, describe_live_run(loaded))


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
