"""Typed answers: whatever form people write the right number in, and no wrong number."""

import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from explainers.chapters.exercises.deck import Prediction, read_exercises
from explainers.memory.cache_formula import UNIT_BYTES
from explainers.ui.page_parts.check_yourself import Recall, is_near
from explainers.ui.text.numbers import (
    BYTES_IN,
    PERCENT,
    SHARE,
    format_answer,
    read_answer,
    say_what_is_read,
)

LOCALES = "en", "vi", "de", "de_CH", "fr", "cs"
"""Between them all marks: points, commas, apostrophes, narrow and other spaces."""
WHOLE = [
    "6144", "6,144", "6.144", "6 144", "6'144", "6’144", "6_144", "6\u00a0144", "6\u2009144",
    "6\u202f144", "6,144.0", "6.144,0", "6.144e3", "6,144·10³", "6.144 × 10^3", "６１４４",
    "= 6144",
]  # fmt: skip
EIGHTH = ["12.5 %", "12,5\u202f%", "12.5 per cent", "12,5 Prozent", "⅛", "12,5 phần trăm"]


@pytest.mark.parametrize(
    ("answer", "unit", "forms"),
    [
        (6144, "", WHOLE),
        (6144, "B", [*WHOLE, "6144 bytes", "6,144 B", "6 KiB", "6KiB", "6.144 kB", "49152 bits"]),
        (6, "GiB", ["6", "6 GiB", "6,0 gib", "6144 MiB", "6,442450944 GB", "6442450944 bytes"]),
        (0.5, "", ["0.5", "0,5", ".5", ",5", "½", "1/2", "1 / 2", "50 %", "50%", "5e-1", "0,50"]),
        (0.125, "", EIGHTH),
        (0.88, SHARE, ["0.88", "88", "88 %", "22/25"]),
        (12.5, PERCENT, ["12.5", "12,5 %", "0.125", "1/8", "⅛"]),
        (1.5, "", ["1½", "1 1/2", "3/2", "1,5", "1.5×", "1.5 times"]),
        (1000, "", ["1e3", "1E3", "10^3", "10³", "1,000", "1.000"]),
        (-3, "", ["−3", "-3", "– 3", "-3.0"]),
    ],
)
def test_all_forms_of_the_right_number_are_right(answer, unit, forms):
    assert [typed for typed in forms if not is_near(Recall(answer, unit=unit), typed)] == []


@pytest.mark.parametrize(
    ("answer", "unit", "typed"),
    [
        *[(6144, "B", "6 kB"), (6144, "B", "6144 KiB"), (6144, "", "61.44"), (0.36, "", "36")],
        *[(12.5, "", "0.125"), (0.5, "", "5 %"), (100, PERCENT, "1"), (3, "", "-3")],
    ],
)
def test_another_number_is_wrong(answer, unit, typed):
    assert read_answer(typed, unit)
    assert not is_near(Recall(answer, unit=unit), typed)


@pytest.mark.parametrize(
    "typed",
    [
        *("", " ", "-", "%", "much", "nan", "inf", "1,02,3", "1,,2", "1/0", "1/2/3", "0^-1", "1e"),
        *("1e999", "9^99", "9" * 400, "28 million", "6 KiB", "1.2.3.4", "0x10", "<b>1</b>"),
    ],
)
def test_what_cannot_be_read_is_not_judged(typed):
    assert not read_answer(typed)
    assert "Bytes" in say_what_is_read("GiB")
    assert "Bytes" not in say_what_is_read(PERCENT)


@given(st.text(max_size=50), st.sampled_from(["", SHARE, PERCENT, "B", "GiB"]))
def test_anything_may_be_typed(typed, unit):
    for number in read_answer(typed, unit):
        assert abs(number) <= 1e32


@given(st.integers(-(10**9), 10**9), st.integers(0, 3), st.sampled_from(LOCALES))
def test_a_number_is_read_as_every_language_writes_it(digits, places, locale):
    number = digits / 10**places
    typed = format_decimal(number, "#,##0.###", locale=locale)
    assert is_near(Recall(number), typed)
    assert not is_near(Recall(number + 0.5 * 10**-places), typed)


def test_every_exercise_accepts_its_answer_however_it_is_written():
    predicted = [one for one in read_exercises().values() if one.kind == "predict"]
    for name, task in [(one.id, one.task(seed)) for one in predicted for seed in range(5)]:
        assert isinstance(task, Prediction)
        forms = [format_answer(task.answer)]
        forms += [format_decimal(task.answer, "#,##0.####", locale=one) for one in LOCALES]
        if task.unit in (SHARE, PERCENT):
            of_whole = task.answer * (1 if task.unit == PERCENT else 100)
            forms += [f"{of_whole:.1f} %", f"{of_whole / 100:.3f}"]
        if task.unit in UNIT_BYTES:
            total = int(task.answer * UNIT_BYTES[task.unit])
            forms += [f"{total:,} bytes", f"{total / 1024:,} KiB", f"{total / 1e6} MB"]
        off = max(1.0, 3 * task.tolerance)
        assert [typed for typed in forms if not is_near(task, typed)] == [], name
        for typed in (f"{task.answer + off:.4f}", f"{task.answer - off:.4f}"):
            assert read_answer(typed, task.unit)
            assert not is_near(task, typed), (name, typed)


def test_bytes_are_counted_as_the_pages_count_them():
    read = {name.lower(): count for name, count in UNIT_BYTES.items() if name[0] in "BkKMGT"}
    assert read.items() <= BYTES_IN.items()
