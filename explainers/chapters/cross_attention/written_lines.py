"""A translation, syllable by syllable: lines to the words that each looks at, and the weights."""

import streamlit as st

from explainers.attention.cross import cross_attention
from explainers.chapters.cross_attention import takeaway
from explainers.chapters.cross_attention.alignment_view import View, find_reordered_syllable
from explainers.translation.vocabulary import capitalise_sentence
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import Slider
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim


def predict_reordered_word(text: Prose, view: View) -> bool:
    """A guess about the syllable that a translation word for word would get most wrong."""
    translation, last_weights = view.translation, view.translation.cross[-1].mean(dim=0)
    syllable_index = find_reordered_syllable(translation, last_weights)
    words = [verbatim(word) for word in translation.words]
    diagonal_index = syllable_index * len(words) // view.num_syllables
    answer = words[int(last_weights[syllable_index, : len(words)].argmax())]
    neighbour_index = min(diagonal_index + 1, len(words) - 1)
    options = list(
        dict.fromkeys([words[diagonal_index], words[neighbour_index], answer, words[-1]])
    )
    return revealed(
        text,
        "where",
        options,
        answer,
        syllable=verbatim(translation.syllables[syllable_index]),
        place=syllable_index + 1,
        count=view.num_syllables,
        straight=words[diagonal_index],
    )


def show_written_lines(text: Prose, view: View, has_rings: bool) -> None:
    """Both sentences, and every step of writing under the reader's finger."""
    translation = view.translation
    source, target = (
        " ".join(capitalise_sentence(side)) for side in (translation.words, translation.syllables)
    )
    st.markdown(f"{verbatim(source)} → {verbatim(target)}")
    _show_other_beams(text, view)
    control, count = controls.written_syllables, view.num_syllables
    syllable_index = min(control(), count - 1)
    slider = Slider(
        control.label,
        _describe_steps(view),
        syllable_index,
        lambda new_position: control.put(new_position + 1),
        plays=True,
    )
    alt = _("Lines from syllables to words, as thick as their weights; and the weights.")
    alt = f"{alt} {'; '.join(_describe_steps(view))}"
    panels = view.make_panels(has_rings)
    takeaway.take_weights(view)
    show_clickable_figure(panels, view.explain_weight, view.origin, "writing", alt, slider)
    text("writing_seen", rows=count, columns=len(view.columns))
    show_source(cross_attention)


def _describe_steps(view: View) -> list[str]:
    """Beside the slider: what is written at each step, how likely it was, and where it looked."""
    translation, peaks = view.translation, view.weights.argmax(dim=-1).tolist()
    chances = translation.log_probabilities.exp().tolist()
    return [
        _(
            "{place} of {count}: “{syllable}” (probability {chance:.2f}), most weight on “{word}”",
            place=n + 1,
            count=view.num_syllables,
            syllable=syllable,
            chance=chances[n],
            word=view.columns[peaks[n]],
        )
        for n, syllable in enumerate(translation.syllables)
    ]


def _show_other_beams(text: Prose, view: View) -> None:
    """What the other beams wrote, and how much less likely that is."""
    translation = view.translation
    if not translation.other_beams:
        return
    best = translation.log_probabilities.sum().item()
    lines = [f"- {best:.2f}: {verbatim(' '.join(translation.syllables))}"]
    lines += [
        f"- {beam.log_probability:.2f}: {verbatim(' '.join(beam.syllables))}"
        for beam in translation.other_beams
    ]
    text("beams", beams=len(lines), lines="\n".join(lines))
