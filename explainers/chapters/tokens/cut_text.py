"""Cutting the reader's text, and learning byte pairs in front of the reader."""

from collections import Counter

import streamlit as st

from explainers.chapters.tokens import takeaway
from explainers.folders import ASSETS
from explainers.toys.byte_pairs import (
    BYTES,
    Merge,
    Piece,
    learn_merges,
    make_pieces,
    merge_pair,
    spell_token,
)
from explainers.toys.sentence import Sentence, split_characters, split_words
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.provenance import learned_numbers, real_model
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

CORPUS = ASSETS / "text" / "corpus.txt"
MERGES_SHOWN = 5


@st.cache_data(show_spinner=False, max_entries=1)
def learn_shipped_merges() -> list[Merge]:
    """All the merges that the slider offers, learned on the shipped text."""
    return learn_merges(CORPUS.read_text(encoding="utf-8"), controls.merges.high)


@st.cache_data(show_spinner=False, max_entries=1)
def count_vocabulary() -> dict[str, int]:
    """Every word of the shipped text with a number, the most frequent first."""
    counts = Counter(split_words(CORPUS.read_text(encoding="utf-8")))
    return {word: n for n, (word, _unused) in enumerate(counts.most_common())}


def cut_sentence(sentence: Sentence, unit: str, merges: int) -> list[Piece]:
    """The sentence as tokens with their ids; a word that the shipped text lacks has none."""
    if unit == "words":
        known = count_vocabulary()
        return [Piece(w, (known[w],) if w in known else ()) for w in sentence.tokens]
    if unit == "characters":
        return [Piece(c, tuple(map(ord, c))) for c in split_characters(sentence.text)]
    return make_pieces(sentence.text, learn_shipped_merges()[:merges])


@fragment
def show_tokens(text: Prose, sentence: Sentence) -> None:
    """The text cut into tokens, as the reader chooses."""
    unit = controls.token_unit()
    take("tokens")  # only byte pairs are computed again
    if unit == "model tokens":
        show_model_tokens(text, sentence.text)
        return
    merges = controls.merges() if unit == "byte pairs" else 0
    tokens = cut_sentence(sentence, unit, merges)
    text("cut_" + unit.replace(" ", "_"), count=len(tokens))
    show_strip(tokens, _describe_origin(unit))
    if unit == "byte pairs":
        ids = [one for piece in tokens for one in piece.ids]
        takeaway.take_tokens(sentence.text, CORPUS.read_text(encoding="utf-8"), merges, ids)
    if merges:
        show_merges(text, merges)


def _describe_origin(unit: str) -> str:
    """Where the numbers of the tokens come from."""
    if unit == "byte pairs":
        return learned_numbers(_("byte pairs of a shipped text"))
    if unit == "characters":
        return _("numbered by Unicode")
    return _("numbered by frequency in a shipped text")


def show_model_tokens(text: Prose, typed: str) -> None:
    """The tokens of a published model, if one is on this machine."""
    from explainers.models.registry import ModelError
    from explainers.models.token_text import (
        list_models_with_tokenizer,
        read_tokenizer,
        split_pieces,
    )

    here = {model.name: model.id for model in list_models_with_tokenizer()}
    if not here:
        text("no_tokenizer")
        return
    name = controls.tokenizer(list(here), next(iter(here)))
    try:
        tokenizer = read_tokenizer(here[name])
    except ModelError as error:
        st.error(verbatim(translate_error(error)), icon=":material/error:")
        return
    tokens = split_pieces(typed, tokenizer)
    count, known = sum(len(piece.ids) for piece in tokens), tokenizer.get_vocab_size()
    text("model_tokens", model=name, count=count, known=f"{known:,}")
    show_strip(tokens, real_model(_("the tokenizer of {model}", model=here[name])))


def show_strip(tokens: list[Piece], origin: str) -> None:
    """The tokens in a row, ids underneath."""
    from explainers.charts.token_strip import draw_token_strip, make_strip_rows

    notes = [" ".join(map(str, piece.ids)) or _("unknown") for piece in tokens]
    rows = make_strip_rows([piece.text for piece in tokens], notes)
    lines = int(rows["top"].max()) + 1 if len(rows) else 1
    alt = _("The text as {count} tokens, each with its id underneath.", count=len(tokens))
    show_chart(draw_token_strip, rows, alt, "tokens", origin, lines=lines)


def show_merges(text: Prose, merges: int) -> None:
    """The last merges that were learned, newest first."""
    learned = learn_shipped_merges()[:merges]
    with st.expander(_("The shipped text that is counted")):
        st.text(CORPUS.read_text(encoding="utf-8"))
    text("merges", vocabulary=BYTES + len(learned), merges=len(learned))
    if not learned:
        return
    lines = []
    for n in range(len(learned) - 1, max(len(learned) - 1 - MERGES_SHOWN, -1), -1):
        merge = learned[n]
        left, right = (_spell(spell_token(token, learned)) for token in (merge.left, merge.right))
        times = _("{count} times", count=merge.count)
        lines.append(f"{n + 1:>4}  {left} + {right}  →  id {BYTES + n}   ({times})")
    st.code("\n".join(lines), language=None)
    show_source(learn_merges, merge_pair)


def _spell(spelled: bytes) -> str:
    """Text where the bytes are whole characters, otherwise the bytes themselves."""
    try:
        return f"“{spelled.decode()}”".replace(" ", "␣").replace("\n", "⏎")
    except UnicodeDecodeError:
        return _("bytes {bytes}", bytes=spelled.hex(" "))
