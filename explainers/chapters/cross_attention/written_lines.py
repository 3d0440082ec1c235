"""A translation, syllable by syllable: lines to the words that each looks at, and the weights."""

import streamlit as st

from explainers.attention.cross import cross_attention
from explainers.chapters.cross_attention import takeaway as taken
from explainers.chapters.cross_attention.alignment_view import View, off_diagonal
from explainers.translation.vocabulary import capitalise_sentence
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import show_clickable
from explainers.ui.figure.panels import Slider
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim


def ask_where(text: Prose, view: View) -> bool:
    """A guess about the syllable that a translation word for word would get most wrong."""
    found, last = view.found, view.found.cross[-1].mean(dim=0)
    place = off_diagonal(found, last)
    words = [verbatim(word) for word in found.words]
    straight = place * len(words) // view.syllables
    answer = words[int(last[place, : len(words)].argmax())]
    near = min(straight + 1, len(words) - 1)
    options = list(dict.fromkeys([words[straight], words[near], answer, words[-1]]))
    return revealed(
        text,
        "where",
        options,
        answer,
        syllable=verbatim(found.syllables[place]),
        place=place + 1,
        count=view.syllables,
        straight=words[straight],
    )


def show_writing(text: Prose, view: View, has_rings: bool) -> None:
    """Both sentences, and every step of writing under the reader's finger."""
    found = view.found
    source, target = (
        " ".join(capitalise_sentence(side)) for side in (found.words, found.syllables)
    )
    st.markdown(f"{verbatim(source)} → {verbatim(target)}")
    _show_others(text, view)
    control, count = controls.written_syllables, view.syllables
    place = min(control(), count - 1)
    slider = Slider(
        control.label, _labels(view), place, lambda turned: control.put(turned + 1), plays=True
    )
    alt = _("Lines from syllables to words, as thick as their weights; and the weights.")
    alt = f"{alt} {'; '.join(_labels(view))}"
    panels = view.panels(has_rings)
    taken.weights(view)
    show_clickable(panels, view.working, view.origin, "writing", alt, slider)
    text("writing_seen", rows=count, columns=len(view.columns))
    show_source(cross_attention)


def _labels(view: View) -> list[str]:
    """Beside the slider: what is written at each step, how likely it was, and where it looked."""
    found, peaks = view.found, view.weights.argmax(dim=-1).tolist()
    chances = found.log_probabilities.exp().tolist()
    return [
        _(
            "{place} of {count}: “{syllable}” (probability {chance:.2f}), most weight on “{word}”",
            place=n + 1,
            count=view.syllables,
            syllable=syllable,
            chance=chances[n],
            word=view.columns[peaks[n]],
        )
        for n, syllable in enumerate(found.syllables)
    ]


def _show_others(text: Prose, view: View) -> None:
    """What the other beams wrote, and how much less likely that is."""
    found = view.found
    if not found.other_beams:
        return
    best = found.log_probabilities.sum().item()
    lines = [f"- {best:.2f}: {verbatim(' '.join(found.syllables))}"]
    lines += [
        f"- {one.log_probability:.2f}: {verbatim(' '.join(one.syllables))}"
        for one in found.other_beams
    ]
    text("beams", beams=len(lines), lines="\n".join(lines))
