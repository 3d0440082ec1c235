"""Sentences of which gold is known: held-out ones of the corpus, and those that a reader builds."""

import functools

from explainers.phrase import phrase
from explainers.translation.corpus import RUNNING, Pair, aligned, for_testing
from explainers.translation.lexicon import MISSING, Entry, fitting, lexicon
from explainers.translation.nouns import small
from explainers.translation.phrases import join, of_past, translated

EXAMPLES = 6
"""Of each kind of held-out sentence: with a pair of words that never met in training, or none."""
PLACES = (1, 2, 3, 4, 6)
"""Where the chosen words stand in "the CEO announced record earnings on Friday"."""


@functools.cache
def examples() -> dict[str, Pair]:
    """Held-out sentences by their text."""
    pairs = [pair for kind in for_testing(EXAMPLES) for pair in kind]
    return {" ".join(pair.source): pair for pair in pairs}


@functools.cache
def slots() -> dict[str, dict[str, Entry]]:
    """What a sentence is built of: for each place, the words that may stand there."""
    lists = lexicon()
    persons = (*lists["people"], *lists["organisations"])
    return {
        phrase("Who"): {entry.forms[0]: entry for entry in persons},
        phrase("did"): {entry.forms[1]: entry for entry in lists["verbs of news"]},
        phrase("what kind of"): {entry.name: entry for entry in fitting("news")},
        phrase("what"): {_plural(entry): entry for entry in lists["news"]},
        phrase("on"): {entry.name: entry for entry in lists["days"]},
    }


def build(who: str, did: str, kind: str, what: str, day: str) -> Pair:
    """The sentence in both languages; raises KeyError for a word that may not stand there."""
    chosen = list(zip((who, did, kind, what, day), slots().values(), strict=True))
    parts = [translated(word, words[word].vietnamese) for word, words in chosen]
    subject, verb, modifier, noun, friday = parts
    by, done, described, thing, _ = (words[word].name for word, words in chosen)
    [before] = [entry for entry in lexicon()["before a day"] if entry.name == "on"]
    on = translated("on", before.vietnamese)
    english = [small("the"), subject, verb, modifier, noun, on, friday]
    phrase = join(english, [subject, of_past(verb), verb, noun, modifier, on, friday])
    return aligned(phrase._replace(pairs=frozenset({(by, done), (described, thing)})))


def gold_of(words: tuple[str, ...]) -> Pair | None:
    """The sentence with its gold, if it is one of those that are known."""
    known = examples().get(" ".join(words))
    if known or words == RUNNING.source:
        return known or RUNNING
    try:
        built = build(*(words[place] for place in PLACES))
    except (KeyError, IndexError):
        return None
    return built if built.source == words else None


def _plural(entry: Entry) -> str:
    return entry.name if entry.forms[1] == MISSING else entry.forms[1]
