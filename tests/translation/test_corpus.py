"""Two languages from one grammar: gold for every syllable, and pairs that never meet."""

import itertools

import pytest

from explainers.toys.examples import make_generator
from explainers.translation import corpus
from explainers.translation.corpus import (
    MODIFIER_SECTIONS,
    RUNNING_PAIR,
    list_entries,
    read_lexicon,
)
from workshop.translation import sentences, training_set
from workshop.translation.sentences import draw_sentences, list_held_out_pairs


def draw(count):
    seeded = make_generator("tests of the corpus")
    return list(itertools.islice(sentences.generate_sentences(seeded), count))


SOME = draw(3_000)
ENTRIES = [entry for section in read_lexicon().values() for entry in section]


def test_a_words_syllables_are_its_translation():
    """Gold is right: what a word says stands in the lexicon, or is one of the few special cases."""
    known = {"in": {"tại"}, "last": {"ngoái"}, "this": {"nay"}, "quarter": {"quý"}}
    known |= {word: {"bị", "đã bị"} for word in ("was", "were", "be", "been")}
    known["the"] = {"các"}
    for entry in ENTRIES:
        for form in entry.forms:
            known[form] = {entry.vietnamese, *known.get(form, ())}
    silent = set()
    for pair in SOME:
        assert [syllable for syllable, _ in sorted(pair.sure)] == list(range(len(pair.target)))
        assert pair.weak <= pair.sure == pair.possible
        assert {pair.target[syllable] for syllable, _ in pair.weak} <= {"đã"}
        silent |= {pair.source[n] for n in {*range(len(pair.source))} - {w for _, w in pair.sure}}
        said: dict[int, list[str]] = {}
        for syllable, word in sorted(pair.sure - pair.weak):
            said.setdefault(word, []).append(pair.target[syllable])
        for word, syllables in said.items():
            assert " ".join(syllables) in known[pair.source[word]], " ".join(pair.source)
    assert silent == {"the", "by"}


def test_no_held_out_pair_is_trained_on():
    """Nor another pair that means the same. Looked for in the words themselves: where one stands
    before the other, or does it."""
    means: dict[str, set[str]] = {}
    for entry in ENTRIES:
        for form in entry.forms:
            means.setdefault(form, set()).add(entry.vietnamese)
    modifiers = {entry.name for entry in list_entries(*MODIFIER_SECTIONS)}
    helpers = {entry.name for entry in list_entries("modals", "small words", "how it is done")}
    trained = [pair.source for pair in SOME if not pair.is_held_out]
    met = set()
    for source in trained:
        for place, word in enumerate(source):
            between = modifiers if word in modifiers else helpers
            after = next((w for w in source[place + 1 :] if w not in between), "")
            met |= set(itertools.product(means.get(word, ()), means.get(after, ())))
        if "by" in source:
            by = source.index("by")
            agents = set().union(*(means.get(word, ()) for word in source[by + 1 : by + 4]))
            met |= set(itertools.product(agents, means[source[by - 1]]))
    assert ("kỷ lục", "khoản lãi") in met, "pairs that are not held out are found"
    held_out = list_held_out_pairs()
    assert not met & {two for a, b in held_out for two in itertools.product(means[a], means[b])}
    said = set().union(*trained)
    alone = {word for pair in held_out for word in pair}
    assert all(said & {*one.forms} for one in ENTRIES if one.name in alone), "each by itself"
    assert len(held_out) >= 50


def test_tests_and_training_share_no_sentence(monkeypatch):
    unseen, held_out = sentences.draw_test_sets(40)
    assert len(unseen) == len(held_out) == 40
    assert not any(pair.is_held_out for pair in unseen)
    assert all(pair.is_held_out for pair in held_out)
    tested = [*unseen, *held_out]
    assert len({pair.source for pair in tested}) == 80
    assert RUNNING_PAIR not in tested
    # The draw of the tests: their sentences come first.
    learned = draw_sentences("unseen", 60, False, tested)
    assert not {pair.source for pair in tested} & {pair.source for pair in learned}
    assert not {pair.target for pair in tested} & {pair.target for pair in learned}
    assert not any(pair.is_held_out for pair in learned)
    drawn = draw_sentences("training", 30, False, ())
    monkeypatch.setattr(training_set, "draw_test_sets", lambda: sentences.TestSets(drawn[:20], []))
    assert training_set.draw_training_set(10) == drawn[20:]


def test_sentences_are_of_bounded_length_and_the_same_every_time():
    assert max(len(pair.source) for pair in SOME) <= corpus.MAX_SOURCE_WORDS
    assert max(len(pair.target) for pair in SOME) <= sentences.MAX_TARGET_SYLLABLES
    assert draw(5) == SOME[:5]
    assert training_set.SAMPLE_FILE.read_text(encoding="utf-8") == training_set.format_sample()
    said, written = (set().union(*sides) for sides in zip(*(p[:2] for p in SOME), strict=True))
    special = set(corpus.SPECIAL_TOKENS)
    assert said <= set(corpus.english_vocabulary().tokens) - special
    assert set(corpus.vietnamese_vocabulary().tokens) - written == special


def test_what_is_kept_for_the_page_is_what_the_grammar_draws():
    assert corpus.SENTENCES_FILE.read_text(encoding="utf-8") == sentences.format_kept()
    for kind, drawn in sentences.draw_kept().items():
        assert [*corpus.read_sentences(kind)] == drawn


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The CEO announced record earnings on Friday.", RUNNING_PAIR.source),
        ("ON friday, the Company’s ceo", ("on", "Friday", ",", "the", "company", "'s", "CEO")),
        ("a new plan", ("a", "new", "plan")),
        ("the e-mail didn't", ("the", "e-mail", "didn't")),
        ("", ()),
        ("<eos> <b>the</b>", ("eos", "b", "the", "b")),
    ],
)
def test_a_readers_text(text, words):
    assert corpus.find_words(text) == words
