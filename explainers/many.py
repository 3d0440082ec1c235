"""So many of a thing, in words that every language can say."""

from explainers.phrase import Phrase, phrase

FORMS = {
    "bit": (phrase("{count:,} bit"), phrase("{count:,} bits")),
    "block": (phrase("{count:,} block"), phrase("{count:,} blocks")),
    "byte": (phrase("{count:,} byte"), phrase("{count:,} bytes")),
    "draw": (phrase("{count:,} draw"), phrase("{count:,} draws")),
    "first word": (phrase("{count:,} first word"), phrase("{count:,} first words")),
    "group": (phrase("{count:,} group"), phrase("{count:,} groups")),
    "head": (phrase("{count:,} head"), phrase("{count:,} heads")),
    "KV head": (phrase("{count:,} KV head"), phrase("{count:,} KV heads")),
    "layer": (phrase("{count:,} layer"), phrase("{count:,} layers")),
    "query head": (phrase("{count:,} query head"), phrase("{count:,} query heads")),
    "row": (phrase("{count:,} row"), phrase("{count:,} rows")),
    "score": (phrase("{count:,} score"), phrase("{count:,} scores")),
    "sink": (phrase("{count:,} sink"), phrase("{count:,} sinks")),
    "text": (phrase("{count:,} text"), phrase("{count:,} texts")),
    "token": (phrase("{count:,} token"), phrase("{count:,} tokens")),
    "word": (phrase("{count:,} word"), phrase("{count:,} words")),
}
"""Of each thing, what one of it is called and what several are."""


def many(number: int, thing: str) -> str:
    """1 layer, 2 layers."""
    one, more = FORMS[thing]
    return Phrase(one if number == 1 else more, {"count": number})
