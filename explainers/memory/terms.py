"""Sums and products of words and numbers that can still be said in another language."""

from collections.abc import Sequence

from explainers.memory.sizes import both
from explainers.phrase import Phrase, phrase


def added(terms: Sequence[str]) -> str:
    """A sum."""
    return _between(" + ", terms)


def times(*factors: str) -> str:
    """A product."""
    return _between(" × ", factors)


def in_both(total: int) -> str:
    """Bytes, and the same in larger units."""
    return phrase("{bytes:,} bytes = {size}", bytes=total, size=both(total))


def _between(sign: str, terms: Sequence[str]) -> str:
    slots: dict[str, object] = {f"term{place}": term for place, term in enumerate(terms)}
    return Phrase(sign.join(f"{{{name}}}" for name in slots), slots)
