"""Short news of four kinds, such as "The CEO announced record earnings on Friday", by a grammar.

English has one and Vietnamese another: other words, and what kind a thing is stands after it. A
word of several syllables, such as "công bố", is one token.
"""

import functools
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

SYLLABLE_BREAK = "_"
"""Between the syllables of one word, where words are listed with spaces between them."""
RELATED_PARTS = {
    "determiner": ("subject",),
    "subject": ("determiner", "verb"),
    "adverb": ("verb",),
    "verb": ("subject", "object", "adverb"),
    "modifier": ("object",),
    "object": ("verb", "modifier"),
    "preposition": ("time", "verb"),
    "time": ("preposition", "verb"),
}
"""What each part of a sentence is asked for, as far as it is there and may be seen."""
RUNNING_CHOICES = (1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0)
"""Of the sentence of the whole course, in any language."""
MOVED_CHOICES = (0, 1, 1, 0, 0, 4, 0, 0, 0, 0, 0, 0)
"""The same with its time in front."""
SPORT_CHOICES = (1, 1, 1, 2, 0, 0, 0, 0, 1, 0, 5, 0)
"""A team praises its fans."""
COURT_CHOICES = (1, 1, 1, 1, 0, 0, 0, 8, 11, 0, 0, 0)
"""A judge rejects false claims."""


class News(NamedTuple):
    """A sentence, and for each of its tokens the positions of those that it is related to."""

    tokens: tuple[str, ...]
    related: tuple[frozenset[int], ...]
    verb: int
    """Its place."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """The words of a language by the parts of a sentence, and their order."""

    common: Mapping[str, str]
    topics: Sequence[Mapping[str, str]]
    """Business, court, sport, kitchen. One or many do something; many, or a thing, have it done."""
    has_modifier_last: bool = False

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """Every word once."""
        listed = [words for part in (self.common, *self.topics) for words in part.values()]
        return tuple(split_list(" ".join(listed)))

    @functools.cached_property
    def word_ids(self) -> dict[str, int]:
        """The place of each word among all; case does not matter."""
        return {fold_word(word): place for place, word in enumerate(self.words)}

    @functools.cached_property
    def verb_ids(self) -> list[int]:
        """The places of the verbs of all topics."""
        return [self.word_ids[fold_word(w)] for one in self.topics for w in split_list(one["verb"])]

    @functools.cached_property
    def running(self) -> News:
        """The sentence of the whole course. It is never trained on."""
        return self.write_news(RUNNING_CHOICES)

    def list_words(self, part: str, topic: int = 0) -> list[str]:
        """What can stand as one part of a sentence about a topic."""
        names = {"subject": ("one", "many"), "object": ("thing", "many")}.get(part, (part,))
        return [word for name in names for word in self._split_topics[topic].get(name, ())]

    @functools.cached_property
    def _split_topics(self) -> list[dict[str, list[str]]]:
        """The words of each topic, with those that belong to all, by the names of their lists."""
        return [
            {name: split_list(words) for name, words in {**self.common, **topic}.items()}
            for topic in self.topics
        ]

    def write_news(self, choices: Sequence[int]) -> News:
        """The sentence that so many whole numbers choose: four its form, the others its words.

        In a quarter of them the time stands in front, a quarter has an adverb, four fifths a
        modifier.
        """
        is_fronted = choices[0] % 4 == 0
        has_adverb = choices[1] % 4 == 0
        has_modifier = choices[2] % 5 > 0
        topic = choices[3] % len(self.topics)
        time = ["preposition", "time"]
        thing = [*["modifier"] * has_modifier, "object"]
        parts = time if is_fronted else []
        parts = [*parts, "determiner", "subject", *["adverb"] * has_adverb, "verb"]
        parts += reversed(thing) if self.has_modifier_last else thing
        parts += [] if is_fronted else time
        tokens: list[str] = []
        for part, choice in zip(parts, choices[4:], strict=False):
            # Nobody thanks themselves.
            unused_words = [word for word in self.list_words(part, topic) if word not in tokens]
            tokens.append(unused_words[choice % len(unused_words)])
        tokens[0] = tokens[0].capitalize()
        places = {part: place for place, part in enumerate(parts)}
        related = [
            frozenset(places[p] for p in RELATED_PARTS[part] if p in places) for part in parts
        ]
        return News(tuple(tokens), tuple(related), places["verb"])


@functools.lru_cache(maxsize=1024)  # a page asks for the same few words hundreds of times
def fold_word(word: str) -> str:
    """What is the same in all ways to write a word: large or small, accents as signs or not."""
    return unicodedata.normalize("NFC", word).casefold()


def split_list(listed: str) -> list[str]:
    """The words of a list; the syllables of one word as they are written in a sentence."""
    return [word.replace(SYLLABLE_BREAK, " ") for word in listed.split()]


def join_list(words: Sequence[str]) -> str:
    """A list of words as `split_list` reads it."""
    return " ".join(word.replace(" ", SYLLABLE_BREAK) for word in words)


ENGLISH = Grammar(
    {
        "determiner": "the",
        "preposition": "on before after",
        "time": "Monday Tuesday Wednesday Thursday Friday Sunday",
        "adverb": "quietly proudly suddenly",
    },
    (
        {
            "one": "CEO board",
            "many": "earnings results analysts investors",
            "verb": "announced expected questioned confirmed",
            "modifier": "record strong weak",
        },
        {
            "one": "judge court",
            "many": "lawyers ministers witnesses claims",
            "verb": "rejected supported accused believed",
            "modifier": "new final false",
        },
        {
            "one": "team coach",
            "many": "players fans rivals referees",
            "verb": "praised missed celebrated surprised",
            "modifier": "young lucky brilliant",
        },
        {
            "one": "chef restaurant",
            "many": "cooks waiters guests critics",
            "verb": "served trained welcomed thanked",
            "modifier": "hungry famous friendly",
        },
    ),
)
VIETNAMESE = Grammar(
    {
        "determiner": "vị các",  # one person, or several: whoever does something is a person
        "preposition": "vào trước sau",
        "time": "thứ_Hai thứ_Ba thứ_Tư thứ_Năm thứ_Sáu Chủ_nhật",
        "adverb": "lặng_lẽ tự_hào bất_ngờ",
    },
    (
        {
            "one": "CEO chủ_tịch",
            "thing": "lợi_nhuận kết_quả",
            "many": "nhà_phân_tích nhà_đầu_tư",
            "verb": "công_bố dự_đoán nghi_ngờ xác_nhận",
            "modifier": "kỷ_lục ấn_tượng yếu_kém",
        },
        {
            "one": "thẩm_phán công_tố_viên",
            "thing": "cáo_buộc",
            "many": "luật_sư bộ_trưởng nhân_chứng",
            "verb": "bác_bỏ ủng_hộ buộc_tội tin_tưởng",
            "modifier": "mới cuối_cùng gian_dối",
        },
        {
            "one": "huấn_luyện_viên đội_trưởng",
            "many": "cầu_thủ cổ_động_viên đối_thủ trọng_tài",
            "verb": "khen_ngợi nhớ tôn_vinh thách_thức",
            "modifier": "trẻ may_mắn xuất_sắc",
        },
        {
            "one": "bếp_trưởng chủ_quán",
            "many": "đầu_bếp thực_khách nhà_phê_bình",
            "verb": "phục_vụ đào_tạo chào_đón cảm_ơn",
            "modifier": "đói_bụng nổi_tiếng thân_thiện",
        },
    ),
    has_modifier_last=True,
)
GRAMMARS = {"en": ENGLISH, "vi": VIETNAMESE}
"""By the language that a visitor chooses."""
NUM_WORDS = len(ENGLISH.words)
"""Of any language, so that its heads have tensors of the same sizes."""


def choose_grammar(language: str) -> str:
    """The language of the sentences for readers of this one: English where it has no grammar."""
    return language if language in GRAMMARS else "en"


def read_running(language: str) -> News:
    """The sentence of the whole course."""
    return GRAMMARS[choose_grammar(language)].running


def choose_other_ending(tokens: Sequence[str]) -> str:
    """A day to put in the place of the last word, in the language of the sentence."""
    days = GRAMMARS[find_language(tokens)].list_words("time")
    return next(day for day in days if day.casefold() != tokens[-1].casefold())


def find_language(tokens: Sequence[str], otherwise: str = "en") -> str:
    """The language of which most of these words are known; `otherwise` where none is known best."""
    words = [fold_word(token) for token in tokens]
    known = {name: sum(w in one.word_ids for w in words) for name, one in GRAMMARS.items()}
    return max(GRAMMARS, key=lambda name: (known[name], name == otherwise))


def find_unknown_words(tokens: Sequence[str]) -> list[str]:
    """The words that training never saw, each once."""
    known = GRAMMARS[find_language(tokens)].word_ids
    return list(dict.fromkeys(token for token in tokens if fold_word(token) not in known))
