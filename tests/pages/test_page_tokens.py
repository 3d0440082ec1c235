"""The page on tokens cuts a text as published models do, where there are some."""

from explainers.models.registry import WHEEL_MODELS
from tests.support.opening import PAGES, elements, opened

PAGE = next(page for page in PAGES if page.stem == "02_tokens")
UNIT = "model tokens"


def words_on(visit):
    return " ".join(e.value for e in elements(visit.main) if e.type in ("markdown", "error"))


def test_two_models_cut_our_sentence_differently(smollm2, minilm):
    for model, count, known in ((WHEEL_MODELS[0], 7, "49,152"), (WHEEL_MODELS[1], 9, "30,522")):
        visit = opened(PAGE, {"unit": UNIT, "tokenizer": model.name})
        assert not visit.exception
        said = words_on(visit)
        assert f"As {model.name} cuts it:** {count} tokens" in said
        assert known in said
        assert f"real: the tokenizer of {model.id}" in said


def test_without_models_a_line_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"unit": UNIT, "tokenizer": WHEEL_MODELS[0].name})
    assert not visit.exception
    assert "python -m explainers.models fetch" in words_on(visit)


def test_a_broken_tokenizer_is_told(monkeypatch, tmp_path):
    folder = tmp_path / WHEEL_MODELS[0].id.replace("/", "--")
    folder.mkdir()
    (folder / "tokenizer.json").write_text("{")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"unit": UNIT})
    assert not visit.exception
    assert "its tokenizer cannot be read" in words_on(visit)
