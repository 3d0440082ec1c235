"""The inspector: a tiny model looked into, number by number; real ones where they are here."""

from unittest import mock

import pytest
import torch

from explainers import kept
from explainers.chapters.common.recording import MOST_TOKENS, cut_text, record_text
from explainers.chapters.inspector import cards
from explainers.chapters.inspector.cards import WEIGHTS, Head, write_file
from explainers.chapters.inspector.hero import cut_heads, find_telling_heads
from explainers.chapters.inspector.sentence_run import View, name_sentence, read_shipped_sentence
from explainers.job_queue import Job
from explainers.models import hub, registry
from explainers.models.load import LoadRequest, is_on_disk, load_model
from explainers.models.registry import ModelError
from explainers.models.token_text import tokenise_text
from explainers.notebook.look import make_look
from explainers.toys.sentence import SENTENCE
from explainers.ui.figure.panels import Cell
from explainers.ui.page import Prose
from tests.support import saved_models
from tests.support.opening import PAGES, opened, pictures, press
from tests.support.reading import hero, said

PAGE = next(page for page in PAGES if page.stem == "17_inspector")
ID, OTHER = "someone/tiny-model", "someone/other-model"
TEXT = "the CEO announced record earnings"


@pytest.fixture
def tiny(no_models):
    saved_models.llama(registry.locate_folder(ID))
    return load_model(ID)


def visited(**link):
    return opened(PAGE, {"text": TEXT, "real_model": ID, **link})


def test_a_text_of_no_token_is_refused_and_of_one_nothing_is_put_first(tiny):
    with pytest.raises(ModelError, match="finds no token"):
        record_text(tiny, " ")
    with mock.patch.object(cards, "revealed") as asked:
        cards.ask_position(Prose(PAGE.stem), View(tiny, "CEO", record_text(tiny, "CEO")))
    assert not asked.called, "there is no other token"


def test_every_number_of_a_head_is_explained(tiny):
    head = Head(record_text(tiny, TEXT), layer=1, head=5)
    panels = {panel.id: panel.matrix for panel in head.make_panels(False, True)}
    assert "KV head 2" in panels["K"].formula
    for name, matrix in panels.items():
        for i, row in enumerate(matrix.values):
            for j, value in enumerate(row):
                if value is not None:
                    told = float(head.explain_number(Cell(name, i, j)).value)
                    assert told == pytest.approx(value, abs=2e-3), (name, i, j)
    dimmed = {panel.id: panel.matrix for panel in head.make_panels(True, True)}
    assert [row[0] for row in dimmed[WEIGHTS].values] == [None] * 5


def test_a_text_is_cut_where_the_model_or_the_picture_ends(tiny, minilm):
    longest = saved_models.LONGEST
    text, left_out = cut_text(tiny, "CEO " * (longest + 3), MOST_TOKENS)
    assert (len(tokenise_text(tiny, text).tokens), left_out) == (longest, 3)
    assert cut_text(tiny, TEXT, MOST_TOKENS) == (TEXT, 0)
    text, left_out = cut_text(minilm, "word " * 80, MOST_TOKENS)
    tokens = tokenise_text(minilm, text).tokens
    assert (len(tokens), tokens[-1], left_out) == (MOST_TOKENS, "[SEP]", 80 + 2 - MOST_TOKENS)


def test_a_click_below_the_picture_draws_it_anew(tiny, monkeypatch):
    """Nobody has chosen, then the head that is shown, then another one."""
    view = View(tiny, TEXT, record_text(tiny, TEXT), 1, 4)
    reruns: list[dict[str, int]] = []
    state: dict[str, int] = {}
    monkeypatch.setattr(cards.st, "session_state", state)
    monkeypatch.setattr(cards.st, "rerun", lambda: reruns.append(dict(state)))
    for chosen in ({}, {"model_layer": 1, "model_head": 4}, {"model_layer": 0, "model_head": 4}):
        state |= chosen
        cards.follow_click(view)
    assert reruns == [{"model_layer": 0, "model_head": 4}]


def test_models_that_cannot_be_are_told_and_each_visitor_sees_their_own(tiny):
    for named, told in [
        (OTHER, "is not on this machine"),
        ("../../etc", "is not owner/name"),
        ("x" * 999, "is not owner/name"),
    ]:
        visit = visited(real_model=named)
        assert not visit.exception
        assert hero(visit)["isToy"], "small heads stand in, and the picture says so"
        notes = [note.value for note in [*visit.error, *visit.warning, *visit.info]]
        assert any(told in note for note in notes), notes
    saved_models.llama(registry.locate_folder(OTHER), seed=1)
    load_model(OTHER)  # here: a page has it tried in a process of its own before
    first, second = visited(), visited(real_model=OTHER)
    assert not hero(first)["isToy"]
    assert hero(first)["planes"] != hero(second)["planes"]
    long = visited(text="record " * 12)
    assert "Your text has 12 tokens. The picture shows the first 9 tokens, and the" in said(long)
    assert not long.info, "one message, and not another one about words"


def test_the_size_of_a_model_is_shown_before_it_can_be_fetched(tiny, monkeypatch):
    away = mock.Mock(side_effect=hub.HubUnreachableError("the hub is out of reach (it is)"))
    monkeypatch.setattr(hub, "ask_size", away)
    visit = visited(real_model=OTHER)
    press(visit, "Ask the hub how large it is")
    assert any("out of reach" in one.value for one in visit.error)
    assert "Fetch it now" not in [button.label for button in visit.button]
    weight = hub.ModelSize(2_500_000_000, 7_000_000, (), "c3" * 20)
    monkeypatch.setattr(hub, "ask_size", lambda named: {OTHER: weight}[named])
    press(visit, "Ask the hub how large it is")
    assert any("commit c3c3c3c3c3c3, which" in one.value for one in visit.info)
    for spoken, unit in (("vi", "7.000.000 tham số"), ("en", "7,000,000 parameters")):
        visit.sidebar.button_group("lang").set_value(spoken).run()
        assert any(unit in one.value for one in visit.info), "it was weighed in the other language"
    with mock.patch.object(Job, "start", autospec=True, side_effect=lambda job: job) as start:
        next(button for button in visit.button if button.label == "Fetch it now").click().run()
    assert [call.args[0].subject for call in start.mock_calls] == [LoadRequest(OTHER, "c3" * 20)]


def test_a_broken_model_is_told_and_can_be_tried_again(no_models):
    folder = saved_models.llama(registry.locate_folder(ID))
    (folder / "model.safetensors").write_bytes(b"no numbers")
    visit = visited()
    assert not visit.exception
    assert ["is not whole" in error.value for error in visit.error] == [True]
    saved_models.llama(folder)
    load_model(ID)  # here, and not in a process of its own
    assert pictures(press(visit, "Load it"))


def test_the_file_to_send_is_what_a_notebook_shows(tiny):
    """By the model that the page has loaded, and by transformers' own that is lent for a moment."""
    name = registry.locate_folder(ID).name
    look = make_look(tiny.model, tiny.tokenizer, TEXT, names=False)
    assert write_file(tiny, TEXT, {}).replace(ID, name) == look.page


def test_the_page_opens_on_the_most_telling_head_also_of_another_sentence(tiny):
    def chosen(visit):
        choices = hero(visit)["choices"]
        return choices["model_layer"], choices["model_head"], choices["token"]

    assert chosen(visited()) == find_telling_heads(cut_heads(record_text(tiny, TEXT)))[0]
    visit = visited(model_layer="1", model_head="4", token="3")
    assert chosen(visit) == (1, 4, 3)
    text = "CEO record earnings the announced CEO"
    visit.text_input("text").set_value(text).run()
    assert chosen(visit) == find_telling_heads(cut_heads(record_text(tiny, text)))[0]


@pytest.mark.nightly("what was kept of real models is read again")
@pytest.mark.parametrize("model", [one.id for one in registry.WHEEL_MODELS])
def test_what_is_shipped_is_what_the_model_reads(model):
    shipped = read_shipped_sentence(model)
    if shipped is None or not is_on_disk(model):
        pytest.skip("no model here: python -m explainers.models fetch says why")
    live = cut_heads(record_text(load_model(model), SENTENCE))
    allowed = kept.read(name_sentence(model)).tolerance["weights"]
    assert shipped.tokens == live.tokens
    assert torch.equal(shipped.hidden, live.hidden)
    assert torch.allclose(shipped.weights, live.weights.cpu(), atol=allowed)
    assert find_telling_heads(shipped)[0] == find_telling_heads(live)[0]


def test_the_model_is_seen_before_it_is_loaded(tiny):
    """Nothing is on disk: the running sentence as it was measured, another one of small heads."""
    model = registry.WHEEL_MODELS[0].id
    visit = opened(PAGE, {"real_model": model, "text": SENTENCE})
    found = hero(visit)
    assert (found["isToy"], found["layers"], found["experiments"]) == (False, 30, [])
    assert (
        "weights rounded to 4 bits; not the published bf16 · measured beforehand, kept with the app"
        in said(visit)
    )
    assert any("is not on this machine" in note.value for note in visit.warning)
    assert hero(opened(PAGE, {"real_model": model, "text": "Who called?"}))["isToy"]


def test_a_link_waits_for_the_model(tiny):
    """Small heads have no layer 5; the model that they stand in for may have one."""
    visit = visited(real_model=OTHER, model_layer="5")
    assert hero(visit)["choices"]["model_layer"] == 0
    assert visit.query_params["model_layer"] == "5"
    assert not visit.info
