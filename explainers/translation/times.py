"""When and where: on Friday morning, last week, in the second quarter, during the summit."""

from explainers.translation.lexicon import lexicon
from explainers.translation.nouns import said, small
from explainers.translation.phrases import Choices, Phrase, join, translated

THIS_YEAR = 11
"""How many of the years in the list are past."""


def when(choices: Choices, tense: str) -> Phrase:
    """A time that goes with the tense: past, present or future."""
    kinds = {
        "past": {"day": 34, "month": 12, "quarter": 10, "year": 10, "near": 18, "event": 8},
        "present": {"near": 60, "event": 20},
        "future": {"day": 34, "month": 12, "quarter": 10, "year": 10, "near": 18, "event": 8},
    }[tense]
    match choices.shared(**kinds, place=100):
        case "day":
            return _day(choices)
        case "month":
            return join([small("in"), said(choices, "months")])
        case "quarter":
            return _quarter(choices)
        case "year":
            return _year(choices, tense)
        case "near":
            return _near(choices, tense)
        case "event":
            before, event = said(choices, "before an event"), said(choices, "events")
            return join([before, small("the"), event])
    return join([translated("in", "tại"), said(choices, "places")])


def _day(choices: Choices) -> Phrase:
    before = small("on") if choices.chance(60) else said(choices, "before a day")
    day = said(choices, "days")
    if not choices.chance(25):
        return join([before, day])
    part = said(choices, "parts of a day")
    return join([before, day, part], [before, part, day])


def _quarter(choices: Choices) -> Phrase:
    within, which, quarter = small("in"), said(choices, "quarters"), translated("quarter", "quý")
    return join([within, small("the"), which, quarter], [within, quarter, which])


def _year(choices: Choices, tense: str) -> Phrase:
    years = lexicon()["years"]
    year = choices.one_of(years[THIS_YEAR:] if tense == "future" else years[:THIS_YEAR])
    return join([small("in"), translated(year.name, year.vietnamese)])


def _near(choices: Choices, tense: str) -> Phrase:
    if choices.chance(35):
        return small("tomorrow") if tense == "future" else said(choices, f"{tense} times")
    which = {"past": "last", "present": "this", "future": "next"}[tense]
    length = said(choices, "lengths of time")
    of_years = {"last": "ngoái", "this": "nay"}
    is_year = length.english[0].text == "year" and which in of_years
    turned = translated(which, of_years[which]) if is_year else small(which)
    return join([turned, length], [length, turned])
