"""The page on tokens cuts a text as published models do, where there are some."""

from explainers.models.registry import WHEEL_MODELS
from tests.pages.test_hero_tokens import hero
from tests.support.opening import PAGES, elements, opened

PAGE = next(page for page in PAGES if page.stem == "02_tokens")
UNIT, WAYS = "model tokens", "ways"


def words_on(visit):
    return " ".join(e.value for e in elements(visit.main) if e.type in ("markdown", "error"))


def test_two_models_cut_our_sentence_differently(smollm2, minilm):
    for model, count, known in ((WHEEL_MODELS[0], 7, "49,152"), (WHEEL_MODELS[1], 9, "30,522")):
        visit = opened(PAGE, {"unit": UNIT, "tokenizer": model.name, "deep": WAYS})
        assert not visit.exception
        assert not visit.info
        sent, said = hero(visit), words_on(visit)
        assert (sent["choices"]["unit"], sent["choices"]["tokenizer"]) == (UNIT, model.name)
        assert len(sent["cuts"][model.name]) == count
        assert f"| {model.name} | {count} | {known} |" in said
        assert "real: published tokenizers" in said


def test_without_models_a_line_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"unit": UNIT, "tokenizer": WHEEL_MODELS[0].name, "deep": WAYS})
    assert not visit.exception
    assert "python -m explainers.models fetch" in words_on(visit)
    assert "The link asks for unit = ` model tokens `" in visit.info[0].value
    names = [one["name"] for one in hero(visit)["experiments"]]
    assert names == ["nothing", "vietnamese", "characters"]


def test_a_broken_tokenizer_is_told(monkeypatch, tmp_path):
    folder = tmp_path / WHEEL_MODELS[0].id.replace("/", "--")
    folder.mkdir()
    (folder / "tokenizer.json").write_text("{")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"unit": UNIT, "deep": WAYS})
    assert not visit.exception
    assert "its tokenizer cannot be read" in words_on(visit)


def test_a_sum_knows_no_order():
    asked = opened(PAGE, {"predict": "true"})
    assert "Without positions,** every word" not in words_on(asked)
    link = {"predict": "true", "guess_order": "the same outputs, only rearranged"}
    assert "Right: **the same outputs, only rearranged**" in words_on(opened(PAGE, link))
    assert "changes the outputs, by up to" in words_on(opened(PAGE, {"positions": "true"}))


def test_what_was_learned_last_is_listed_in_its_card():
    visit = opened(PAGE, {"deep": "merges", "merges": "3"})
    code = next(one.value for one in visit.code if "→  id 258" in one.value)
    assert len(code.splitlines()) == 3
