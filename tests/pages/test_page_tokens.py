"""The page on tokens: every cut covers the text, and a vector is embedding plus position."""

import math

import pytest

from explainers.chapters.tokens.hero import compute_numbers, learn_shipped_merges, read_models
from explainers.models.registry import WHEEL_MODELS
from explainers.toys.byte_pairs import encode, encode_in_stages
from explainers.toys.sentence import PRESETS, read_sentence, split_characters
from tests.support.opening import PAGES, opened
from tests.support.reading import hero, panels, said

PAGE = next(page for page in PAGES if page.stem == "02_tokens")


def test_without_models_a_line_says_how_to_get_them(no_models):
    link = {"unit": "model tokens", "tokenizer": WHEEL_MODELS[0].name, "deep": "ways"}
    visit = opened(PAGE, link)
    assert "python -m explainers.models fetch" in said(visit)
    assert "The link asks for unit = ` model tokens `" in visit.info[0].value
    names = [one["name"] for one in hero(visit)["experiments"]]
    assert names == ["nothing", "vietnamese", "characters"]
    folder = no_models / WHEEL_MODELS[0].id.replace("/", "--")
    folder.mkdir()
    (folder / "tokenizer.json").write_text("{")
    assert any("its tokenizer cannot be read" in one.value for one in opened(PAGE, link).error)


def test_the_word_of_the_sum_is_chosen_by_its_name():
    visit = opened(PAGE, {"text": "the dog bites the man", "word": "1"})
    words = visit.selectbox(key="word")
    assert words.options == ["the (1)", "dog", "bites", "the (4)", "man"]
    words.select("the (4)").run()
    assert visit.query_params["word"] == "3"
    assert panels(visit, "sum")["sum"]["values"][1][0] == pytest.approx(math.sin(3), abs=1e-5)
    visit.text_input(key="text").set_value("dog bites").run()
    assert visit.selectbox(key="word").value == 1, "the nearest, where there are fewer words"
    assert not visit.info


TEXTS = [*PRESETS.values(), "zażółć\u0301 gęślą… (1,5 %)", "मेरा नाम", "x"]
MERGES = learn_shipped_merges()


def numbers(text):
    sentence = read_sentence(text)
    return compute_numbers(sentence, read_models(sentence.text)[0], 0), sentence


@pytest.mark.parametrize("text", TEXTS)
def test_the_stages_are_what_every_number_of_merges_makes_of_the_text(text):
    stages = encode_in_stages(text, MERGES)
    ids = stages[0]
    assert ids == list(text.encode())
    for merges in range(len(MERGES) + 1):
        changed = merges in stages and merges > 0
        assert changed == (merges > 0 and encode(text, MERGES[:merges]) != ids)
        ids = stages.get(merges, ids)


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_cover_the_text(text):
    sent, sentence = numbers(text)
    assert "".join(sent["letters"]) == sentence.text
    assert sum(sent["bytes"]) == len(sentence.text.encode())
    for _merges, ids in sent["stages"]:
        assert sum(sent["vocabulary"][str(token)][1] for token in ids) == sum(sent["bytes"])
    for name, cut in sent["cuts"].items():
        ends = [0, *(end for _label, _id, _start, end in cut)]
        for (_label, _id, start, end), before in zip(cut, ends, strict=False):
            assert before <= start <= end <= len(sent["letters"]), name
    covered = ["".join(sent["letters"][start:end]) for _l, _i, start, end in sent["cuts"]["words"]]
    assert tuple(covered) == sentence.tokens
    assert [one[0] for one in sent["cuts"]["characters"]] == split_characters(sentence.text)


def test_models_cover_what_they_name(smollm2, minilm):
    sent, _sentence = numbers(PRESETS["emoji"])
    for name in (model.name for model in WHEEL_MODELS):
        for label, _id, start, end in sent["cuts"][name]:
            if start % 1 == end % 1 == 0 and end > start and label[0] not in "⟨[":
                covered = "".join(sent["letters"][int(start) : int(end)])
                assert label.strip(" #").casefold() == covered.strip().casefold()
