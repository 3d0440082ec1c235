"""The sentences that the translators learn from, and a sample of them for the docs."""

import itertools

from explainers.folders import ROOT
from explainers.toys.examples import make_generator
from explainers.translation.corpus import SentencePair
from workshop.translation.sentences import draw_sentences, draw_test_sets, generate_sentences


def draw_training_set(count: int) -> list[SentencePair]:
    """`count` sentences to learn from, without those of the test sets and held-out pairs."""
    return draw_sentences("training", count, False, itertools.chain(*draw_test_sets()))


SAMPLE_FILE = ROOT / "docs" / "translator-sentences.md"
SAMPLE_HEADING = """# What the translator learns from

{count} random sentences of its corpus, so that everybody can read what its grammar says. Made by
`python -m workshop.translation sentences`, never by hand.

| English | Vietnamese |
|---|---|
"""
SAMPLE_SENTENCES = 200


def format_sample(count: int = SAMPLE_SENTENCES) -> str:
    """Random sentences of the corpus in both languages, as Markdown."""
    sentences = generate_sentences(make_generator("translation", "printed"))
    lines = [
        f"| {' '.join(pair.source)} | {' '.join(pair.target)} |"
        for pair in itertools.islice(sentences, count)
    ]
    return SAMPLE_HEADING.format(count=count) + "\n".join(lines) + "\n"
