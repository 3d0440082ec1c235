"""What a link may ask of each kind of control, on a page that has nothing but controls."""

import pytest
from streamlit.testing.v1 import AppTest

from explainers.toys.sentence import MAX_CHARACTERS, SENTENCE
from explainers.ui.controls.control import is_value
from tests.support.opening import widgets

MARKUP = "<script>alert(1)</script> <img src=x onerror=alert(1)> [a](http://x.invalid) **b** $x^2$"
DIRECTIVES = (
    ":red[x] :material/home: :blue-background[y] # h `c` ~~d~~ ![i](http://x.invalid/i.png)"
)
VALUES: dict[str, str | list[str]] = {
    "empty": "",
    "spaces": "   ",
    "huge": "9" * 400,
    "negative": "-1",
    "endlessly negative": "-1e999",
    "not a number": "nan",
    "between": "2.5",
    "a word": "nonsense",
    "repeated": ["3", "5"],
    "long": "4" * 5_000,
    "other digits": "٤",
    "control characters": "\x00\x1b[31m4",
    "markup": f"{MARKUP} {DIRECTIVES}",
}
TEXTS = {
    "right-to-left": "שלום עולם مرحبا بالعالم",
    "joined emoji": "👩‍👩‍👧 won 🏴‍☠️ 💃🏽 🇻🇳",
    "accents on accents": "Z͑ͫ̓ͪ̂ͫ̽a͇ḻg̛o",
    "markup": MARKUP,
    "directives": DIRECTIVES,
    "code": "{{moved}} {0} %s ${x} \\n \\u0041",
}
CHANGED = {
    "empty": "",
    "spaces": "  \t ",
    "long": "word " * 20_000,
    "one long word": "x" * 100_000,
    "control characters": "a\x00b\x07c\x1b[31md",
    "overrides of direction": "abc \u202edef\u202c \u2067ghi\u2069",
    "nothing to see": "\u200b\u200b\ufeff",
    "too many words": " ".join(f"w{n}" for n in range(60)),
}


def controls_app():
    """Each kind of control in each way in which pages show it, or read it unseen."""
    from explainers.models.registry import WHEEL_MODELS
    from explainers.ui.controls import controls

    heads = ("0", "1", "2", "3")
    controls.predict_first()
    controls.seed()
    controls.d_model()
    controls.value_dim()
    controls.own_layers(1, 6)
    controls.own_rope(1, 6, is_drawn=False)
    controls.followed_word.choose_by_name(["the", "CEO", "the", "won"])
    controls.tokens()
    controls.texts(is_drawn=False)
    controls.clock_position()
    controls.head_dim((2, 4, 16), opens_with=16)
    controls.num_heads()
    controls.queries()
    controls.weights(is_drawn=False)
    controls.cache_dtype(("float32", "bfloat16", "q8_0"), "bfloat16")
    controls.gpu(("t4", "h100", "b200"), "h100", is_drawn=False)
    controls.translator()
    controls.real_model([one.id for one in WHEEL_MODELS])
    controls.switched_off_heads(heads)
    controls.finished_exercises(("a score", "a mixture"), is_drawn=False)
    controls.compared_models((*controls.compared_models.default, "phi-4"))
    controls.heads_off(("L0.H0", "L0.H1"), is_drawn=False)
    controls.drawn_cells(4)
    controls.trained_rule()


GOOD = {
    "predict": "0",
    "seed": "7",
    "d_model": "16",
    "d_v": "8",
    "own_layers": "3",
    "own_rope": "4",
    "word": "3",
    "tokens": "5,000",
    "texts": "3",
    "clock": "9",
    "d_k": "4",
    "heads": "8",
    "queries": "across",
    "weights": "untrained",
    "cache_dtype": "q8_0",
    "gpu": "b200",
    "translator": "a/b",
    "off": "1",
    "done": "a mixture",
    "compared": "phi-4",
    "heads_off": "L0.H1",
    "cells": "1.3.7.f",
    "trained_rule": "sum",
}
"""What a link may ask for: of each control of the page another choice than its default."""


def linked(app, link):
    visit = AppTest.from_function(app, default_timeout=60)
    for key, value in link.items():
        visit.query_params[key] = value
    return visit.run()


def notes(visit):
    """What the page says it changed, as a reader reads it."""
    return [note.value.replace("\\", "") for note in [*visit.info, *visit.warning]]


def chosen(visit, key):
    """What a control shows now, as it stands in a link."""
    value = visit.session_state[key]
    if isinstance(value, list):  # several may be chosen; a link repeats the name for each
        return ", ".join(value)
    return f"{value:g}" if isinstance(value, bool | float) else str(value)


def obeyed(visit, key, asked):
    """Does the control show what the link asks for? Of several values the last one counts."""
    asked = asked[-1] if isinstance(asked, list) else asked
    return chosen(visit, key) == asked or is_value(asked, visit.session_state[key])


def is_told(visit, key):
    """Is there a note on this choice, in any language?"""
    return any(f" {key} =" in f" {note}" for note in notes(visit))


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("part", [0, 1], ids=["some", "others"])
def test_what_cannot_be_obeyed_is_told_and_all_else_is_obeyed(value, part):
    bad = [*GOOD][part::2]
    kept = {key: good for key, good in GOOD.items() if key not in bad}
    visit = linked(controls_app, kept | dict.fromkeys(bad, value) | {"real_model": value})
    assert not visit.exception
    for key in (*bad, "real_model"):
        assert is_told(visit, key) or obeyed(visit, key, value), key
    assert {key: chosen(visit, key) for key in kept} == kept
    assert not [key for key in kept if is_told(visit, key)]


def test_a_switch_is_said_as_links_have_it():
    [note] = notes(linked(controls_app, {"predict": "maybe"}))
    assert note.endswith("Use true or false; the page shows ` true `.")


def test_a_control_that_is_touched_loses_its_note_no_other_does_and_the_link_says_its_choice():
    # AppTest cannot send back a typed text that is among no options, as `tokens` would.
    waiting = GOOD.keys() - {"tokens", "translator"}
    visit = linked(controls_app, dict.fromkeys(waiting, "nonsense"))
    assert {key for key in GOOD if is_told(visit, key)} == waiting
    touched = widgets(visit).keys() & GOOD.keys() - {"tokens"}
    assert len(touched) > 10
    for key in touched:
        widget = widgets(visit)[key]
        usual = widget.value
        widget.set_value(as_shown(widget, key)).run()
        waiting -= {key}
        assert chosen(visit, key) == GOOD[key]
        assert visit.query_params.get(key) in (GOOD[key], [GOOD[key]]), key
        assert {one for one in GOOD if is_told(visit, one)} == waiting
        widgets(visit)[key].set_value(usual).run()
        assert key not in visit.query_params, "what is usual is left out"


def test_a_number_that_is_typed_and_cannot_be_is_said_and_not_kept_in_its_field():
    visit = linked(controls_app, {})
    for typed, shown in ((500, 6), (-3, 1), (10**15, 6)):
        for _again in range(2):  # the browser then has another number than the page
            visit.number_input(key="own_layers").set_value(typed).run()
            assert visit.number_input(key="own_layers").value == shown
            allowed = f"Use a whole number from 1 to 6; the page shows {shown}."
            assert notes(visit) == [f"own_layers = ` {typed} ` is not allowed. {allowed}"]
            assert visit.query_params.get("own_layers", "6") in (str(shown), [str(shown)])
    visit.run()
    assert not notes(visit), "it is said once"
    visit.number_input(key="own_layers").set_value(5).run()
    assert (visit.number_input(key="own_layers").value, notes(visit)) == (5, [])


def as_shown(widget, key):
    """What a link may ask for, as the widget has it."""
    if isinstance(widget.value, list):
        return [GOOD[key]]
    return GOOD[key] == "1" if key == "predict" else type(widget.value)(GOOD[key])


def text_app():
    import streamlit as st

    from explainers.ui.controls import controls
    from explainers.ui.controls.choose_text import choose_text

    st.session_state["words read"] = choose_text().tokens
    controls.seed()


def linked_and_typed(texts):
    """The page with each text from a link, then typed, one after the other, where it has room."""
    for kind, text in texts.items():
        yield kind, linked(text_app, {"text": text, "seed": "7"})
    visit = linked(text_app, {"seed": "7"})
    for kind, text in texts.items():
        if len(text) <= MAX_CHARACTERS:
            yield kind, visit.text_input(key="text").set_value(text).run()


def test_any_text_is_read():
    for kind, visit in linked_and_typed(TEXTS):
        assert not visit.exception, kind
        assert visit.text_input(key="text").value == TEXTS[kind]
        assert chosen(visit, "seed") == "7", kind
        assert all("Only the first 24" in note for note in notes(visit)), kind


def test_a_text_that_is_changed():
    for kind, visit in linked_and_typed(CHANGED):
        assert not visit.exception, kind
        assert chosen(visit, "seed") == "7", kind
        assert 0 < len("".join(notes(visit))) < 1_000, kind
        if not CHANGED[kind].strip():
            assert SENTENCE in notes(visit)[0]
            assert visit.session_state["words read"] == tuple(SENTENCE.split())
