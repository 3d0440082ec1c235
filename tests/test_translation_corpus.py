"""Two languages from one grammar: gold for every syllable, and pairs that never meet."""

import itertools

import pytest
import torch
from hypothesis import given as for_any
from hypothesis import strategies as st

from explainers.toys.examples import generator
from explainers.translation import corpus, vocabulary
from explainers.translation.corpus import (
    LONGEST_SOURCE,
    LONGEST_TARGET,
    RUNNING,
    aligned,
    drawn,
    for_testing,
    held_out_pairs,
    sample,
    sentences,
)
from explainers.translation.grammar import CHOICES, sentence
from explainers.translation.lexicon import MISSING, lexicon, paid
from explainers.translation.vocabulary import SPECIAL, english, read, sentence_case, vietnamese

SOME = list(itertools.islice(sentences(generator("tests of the corpus")), 3_000))


ENTRIES = [entry for section in lexicon().values() for entry in section]


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
    assert " ".join(RUNNING.source) == "the CEO announced record earnings on Friday"
    assert " ".join(RUNNING.target) == "tổng giám đốc đã công bố thu nhập kỷ lục vào thứ Sáu"
    words = [RUNNING.source[word] for _, word in sorted(RUNNING.sure)]
    assert words == [
        *["CEO"] * 3,
        *["announced"] * 3,
        *["earnings"] * 2,
        *["record"] * 2,
        "on",
        *["Friday"] * 2,
    ]
    assert RUNNING.weak == {(3, 2)}
    assert RUNNING.is_held_out


def test_every_syllable_has_one_gold_word():
    for pair in SOME:
        assert [syllable for syllable, _ in sorted(pair.sure)] == list(range(len(pair.target)))
        assert {word for _, word in pair.sure} <= set(range(len(pair.source)))
        assert pair.weak <= pair.sure == pair.possible
        assert {pair.target[syllable] for syllable, _ in pair.weak} <= {"đã"}


@for_any(st.integers(0, 2**31 - 1))
def test_whatever_is_chosen_is_a_sentence(number):
    pair = aligned(sentence([number] * CHOICES))
    assert min(len(pair.source), len(pair.target)) > 2


def test_a_words_syllables_are_its_translation():
    """Gold is right: what a word says stands in the lexicon, or is one of the few special cases."""
    known = {"in": {"tại"}, "last": {"ngoái"}, "this": {"nay"}, "quarter": {"quý"}}
    known |= {word: {"bị", "đã bị"} for word in ("was", "were", "be", "been")}
    for entry in ENTRIES:
        for form in entry.forms:
            known[form] = {entry.vietnamese, *known.get(form, ())}
    for pair in SOME:
        said: dict[int, list[str]] = {}
        for syllable, word in sorted(pair.sure - pair.weak):
            said.setdefault(word, []).append(pair.target[syllable])
        for word, syllables in said.items():
            assert " ".join(syllables) in known[pair.source[word]], " ".join(pair.source)


def test_only_words_without_a_translation_of_their_own_say_nothing():
    silent = {
        pair.source[place]
        for pair in SOME
        for place in set(range(len(pair.source))) - {word for _, word in pair.sure}
    }
    assert silent == {"the", "by"}


@pytest.mark.parametrize(
    ("english_words", "vietnamese_words"),
    [
        ("record costs", "chi phí kỷ lục"),
        ("last week", "tuần trước"),
        ("this year", "năm nay"),
        ("did not", "đã không"),
        ("was not", "không"),
        ("company 's", "của công ty"),
        ("Friday evening", "tối thứ Sáu"),
        ("the second quarter", "vào quý hai"),
    ],
)
def test_what_changes_its_order_or_its_words(english_words, vietnamese_words):
    pair = find(english_words)
    assert f" {vietnamese_words} " in f" {' '.join(pair.target)} "


def test_the_passive_puts_who_did_it_before_the_verb():
    pair = next(pair for pair in SOME if "by" in pair.source)
    by = pair.source.index("by")
    places = {word: syllable for syllable, word in sorted(pair.sure, reverse=True)}
    agent = next(word for word in range(by + 1, len(pair.source)) if word in places)
    assert places[agent] < places[by - 1]


def test_what_is_suffered_and_what_is_gained():
    verbs = {
        e.forms[3]: e
        for name in lexicon()
        if name.startswith("verbs of ")
        for e in lexicon()[name]
        if len(e.forms) == 4
    }
    kinds = set()
    for pair in SOME:
        if "by" in pair.source:
            verb = verbs[pair.source[pair.source.index("by") - 1]]
            is_harm = "harm" in verb.kinds
            kinds.add(is_harm)
            assert ("bị" in pair.target) == is_harm
            assert "active" not in verb.kinds
    assert kinds == {True, False}


def test_articles_and_numbers_agree():
    singular = {e.forms[0] for s in ("people", "organisations") for e in lexicon()[s]}
    plural = {e.forms[1] for s in ("people", "organisations") for e in lexicon()[s]}
    things = {form for e in (*lexicon()["news"], *paid()) for form in e.forms[1:]} - {MISSING}
    for pair in SOME:
        for word, after in itertools.pairwise(pair.source):
            if word in ("a", "an"):
                vowel = after[0] in "aeiou" and not after.startswith("uni") and after != "European"
                vowel = vowel or after == "American"
                assert (word == "an") == vowel, f"{word} {after}"
            if word in plural - things:
                assert after not in ("has", "is", "was")
            if word in singular:
                assert after not in ("have", "are", "were")


def test_enough_words_and_syllables_all_of_which_are_used():
    said, written = (set().union(*sides) for sides in zip(*(p[:2] for p in SOME), strict=True))
    assert said <= set(english().tokens[len(SPECIAL) :])
    assert written <= set(vietnamese().tokens[len(SPECIAL) :])
    assert len(said) >= 450
    assert len(written) >= 350
    assert set(vietnamese().tokens) - written == set(SPECIAL)


def test_as_many_pairs_are_held_out_as_are_promised():
    assert {("record", "earnings"), ("CEO", "announce")} <= held_out_pairs()
    assert len(held_out_pairs()) >= 50
    verbs = {entry.name for entry in lexicon()["verbs of news"]}
    modifiers = {entry.name for entry in lexicon()["modifiers"]}
    assert {second for _, second in held_out_pairs()} & verbs
    assert {first for first, _ in held_out_pairs()} & modifiers


def test_no_held_out_pair_is_trained_on():
    """Looked for in the words themselves: where one stands before the other, or does it."""
    known, modifiers = names(), {entry.name for entry in lexicon()["modifiers"]}
    helpers = {
        e.name for title in ("modals", "small words", "how it is done") for e in lexicon()[title]
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
    assert not met & held_out_pairs()


def test_both_words_of_a_held_out_pair_are_trained_on():
    known = names()
    trained = {word for pair in SOME if not pair.is_held_out for word in pair.source}
    named = set().union(*(known[word] for word in trained))
    assert {word for pair in held_out_pairs() for word in pair} <= named


def test_tests_and_training_share_no_sentence():
    unseen, held_out = for_testing(40)
    assert len(unseen) == len(held_out) == 40
    assert not any(pair.is_held_out for pair in unseen)
    assert all(pair.is_held_out for pair in held_out)
    tested = {pair.source for pair in (*unseen, *held_out)}
    assert len(tested) == 80
    assert RUNNING.source not in tested
    learned = drawn("unseen", 60, False, tested)  # the draw of the tests: their sentences first
    assert not tested & {pair.source for pair in learned}
    assert not any(pair.is_held_out for pair in learned)


def test_the_training_set_leaves_the_tests_out(monkeypatch):
    unseen = drawn("training", 30, False, set())
    kept_back = corpus.ForTesting(unseen[:20], [])
    monkeypatch.setattr(corpus, "for_testing", lambda: kept_back)
    assert corpus.training_set(10) == unseen[20:]


def test_fewer_test_sentences_are_the_first_of_more():
    assert for_testing(40).unseen[:7] == for_testing(7).unseen


def test_sentences_are_of_bounded_length_and_the_same_every_time():
    assert max(len(pair.source) for pair in SOME) <= LONGEST_SOURCE
    assert max(len(pair.target) for pair in SOME) <= LONGEST_TARGET
    again = itertools.islice(sentences(generator("tests of the corpus")), 5)
    assert list(again) == SOME[:5]
    assert sample(torch.Generator().manual_seed(3)) == sample(torch.Generator().manual_seed(3))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The CEO announced record earnings on Friday.", RUNNING.source),
        ("ON friday, the Company’s ceo", ("on", "Friday", ",", "the", "company", "'s", "CEO")),
        ("a new plan", ("a", "new", "plan")),
        ("", ()),
        ("<eos> <b>the</b>", ("eos", "b", "the", "b")),
    ],
)
def test_a_readers_text(text, words):
    assert read(text) == words


def test_words_spelled_alike_are_found():
    assert vocabulary.similar("earning")[0] == "earnings"


def test_printed_text_begins_with_a_capital():
    assert sentence_case(RUNNING.target)[:2] == ("Tổng", "giám")
    assert sentence_case(RUNNING.source)[1] == "CEO"
    assert sentence_case(()) == ()
