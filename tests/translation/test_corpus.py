"""Two languages from one grammar: gold for every syllable, and pairs that never meet."""

import itertools

import pytest

from explainers.toys.examples import make_generator
from explainers.translation import corpus
from explainers.translation.corpus import (
    MAX_SOURCE_WORDS,
    MAX_TARGET_SYLLABLES,
    RUNNING_PAIR,
    draw_sentences,
    draw_test_sets,
    generate_sentences,
    list_held_out_pairs,
)
from explainers.translation.vocabulary import (
    MODIFIER_SECTIONS,
    SPECIAL_TOKENS,
    english_vocabulary,
    find_words,
    list_entries,
    read_lexicon,
    vietnamese_vocabulary,
)
from workshop.translation import training_set

SOME = list(itertools.islice(generate_sentences(make_generator("tests of the corpus")), 3_000))


ENTRIES = [entry for section in read_lexicon().values() for entry in section]


def names():
    """By which names each form of a noun or a verb is known."""
    found: dict[str, set[str]] = {}
    for entry in ENTRIES:
        for form in entry.forms:
            found.setdefault(form, set()).add(entry.name)
    return found


def find(source):
    """The first of many sentences whose source has all these words, one behind the other."""
    wanted = source.split()
    size = len(wanted)
    for pair in SOME:
        for place in range(len(pair.source) - size + 1):
            if list(pair.source[place : place + size]) == wanted:
                return pair
    raise AssertionError(f"nobody says {source}")


def test_the_running_sentence():
    assert " ".join(RUNNING_PAIR.source) == "the CEO announced record earnings on Friday"
    assert " ".join(RUNNING_PAIR.target) == "tổng giám đốc đã công bố lợi nhuận kỷ lục vào thứ Sáu"
    words = [RUNNING_PAIR.source[word] for _, word in sorted(RUNNING_PAIR.sure)]
    said = "CEO CEO CEO announced announced announced earnings earnings record record on"
    assert " ".join(words) == f"{said} Friday Friday"
    assert RUNNING_PAIR.weak == {(3, 2)}
    assert RUNNING_PAIR.is_held_out


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


@pytest.mark.parametrize(
    ("english_words", "vietnamese_words"),
    [
        ("record sales", "doanh số kỷ lục"),
        ("these companies", "những công ty này"),
        ("Friday evening", "tối thứ Sáu"),
    ],
)
def test_what_changes_its_order_or_its_words(english_words, vietnamese_words):
    """Others are in the sample that is kept."""
    pair = find(english_words)
    assert f" {vietnamese_words} " in f" {' '.join(pair.target)} "


def test_no_held_out_pair_is_trained_on():
    """Looked for in the words themselves: where one stands before the other, or does it."""
    known, modifiers = names(), {entry.name for entry in list_entries(*MODIFIER_SECTIONS)}
    helpers = {
        e.name
        for title in ("modals", "small words", "how it is done")
        for e in read_lexicon()[title]
    }
    met = set()
    for pair in SOME:
        if pair.is_held_out:
            continue
        for place, word in enumerate(pair.source):
            between = modifiers if word in modifiers else helpers
            after = next((w for w in pair.source[place + 1 :] if w not in between), "")
            met |= set(itertools.product(known.get(word, ()), known.get(after, ())))
        if "by" in pair.source:
            by = pair.source.index("by")
            agents = set().union(*(known.get(word, ()) for word in pair.source[by + 1 : by + 4]))
            met |= set(itertools.product(agents, known[pair.source[by - 1]]))
    assert met & {("CEO", "report"), ("record", "profit")}, "pairs that are not held out are found"
    assert not met & list_held_out_pairs()
    trained = {word for pair in SOME if not pair.is_held_out for word in pair.source}
    named = set().union(*(known[word] for word in trained))
    assert {word for pair in list_held_out_pairs() for word in pair} <= named, "each by itself"
    assert len(list_held_out_pairs()) >= 50


def test_tests_and_training_share_no_sentence(monkeypatch):
    unseen, held_out = draw_test_sets(40)
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
    monkeypatch.setattr(training_set, "draw_test_sets", lambda: corpus.TestSets(drawn[:20], []))
    assert training_set.draw_training_set(10) == drawn[20:]


def test_sentences_are_of_bounded_length_and_the_same_every_time():
    assert max(len(pair.source) for pair in SOME) <= MAX_SOURCE_WORDS
    assert max(len(pair.target) for pair in SOME) <= MAX_TARGET_SYLLABLES
    again = itertools.islice(generate_sentences(make_generator("tests of the corpus")), 5)
    assert list(again) == SOME[:5]
    assert training_set.SAMPLE_FILE.read_text(encoding="utf-8") == training_set.format_sample()
    said, written = (set().union(*sides) for sides in zip(*(p[:2] for p in SOME), strict=True))
    assert said <= set(english_vocabulary().tokens[len(SPECIAL_TOKENS) :])
    assert set(vietnamese_vocabulary().tokens) - written == set(SPECIAL_TOKENS)


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
    assert find_words(text) == words


SYNONYMS = [
    {entry.name for entry in list_entries(*sections) if entry.vietnamese == translation}
    for sections in (MODIFIER_SECTIONS, ("people", "organisations"), ("news",), ("verbs of news",))
    for translation in {entry.vietnamese for entry in list_entries(*sections)}
]


def test_a_held_out_pair_is_held_out_in_all_its_english_words():
    assert {"announce", "publish"} in SYNONYMS
    for first, second in list_held_out_pairs():
        for names_of_first, names_of_second in itertools.product(SYNONYMS, SYNONYMS):
            if first in names_of_first and second in names_of_second:
                every = set(itertools.product(names_of_first, names_of_second))
                assert every <= list_held_out_pairs()
