"""The inspector: a tiny model looked into, number by number; real ones where they are here."""

import gc
import json
import weakref
import zlib
from dataclasses import replace
from unittest import mock

import pytest
import torch

from explainers.attention import masks
from explainers.chapters.common.recording import (
    MOST_TOKENS,
    average_weight_on_key,
    cut_text,
    merge_tokens,
    pack_weights,
    record_text,
    tabulate_strongest_keys,
)
from explainers.chapters.inspector import head_overview
from explainers.chapters.inspector.head_figure import LINES, WEIGHTS, Head, sum_rows
from explainers.chapters.inspector.long_text import LongTextRequest, make_long_text_job, write_file
from explainers.chapters.inspector.sentence_run import View, answer_later, measure_directions
from explainers.job_queue import Job
from explainers.models import hub, registry
from explainers.models import load as loading_module
from explainers.models.attention_hook import run_model
from explainers.models.load import LoadJob, LoadRequest, load_model
from explainers.models.registry import ModelError
from explainers.models.token_text import merge_weights, tokenise_text
from explainers.notebook.look import make_look
from explainers.toys.sentence import SENTENCE
from explainers.ui.figure.head_tiles import HIDDEN, STEPS
from explainers.ui.figure.panels import Cell
from tests.support import saved_models, tiny_families
from tests.support.opening import PAGES, opened, pictures, settled, widgets
from tests.support.reading import figure, hero, said
from tests.support.waiting import wait

PAGE = next(page for page in PAGES if page.stem == "17_inspector")
ID, OTHER = "someone/tiny-model", "someone/other-model"
TEXT = "the CEO announced record earnings"


@pytest.fixture
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    monkeypatch.setattr(loading_module, "_models", {})
    return tmp_path


@pytest.fixture
def tiny(store):
    saved_models.llama(registry.locate_folder(ID))
    return load_model(ID)


def visited(**link):
    return opened(PAGE, {"text": TEXT, "real_model": ID, **link})


def sent(visit, part):
    """What is sent for the picture that has this part."""
    for one in (json.loads(picture)[0] for picture in pictures(visit)):
        if part in one or part in [panel["id"] for panel in one.get("panels", [])]:
            return one
    raise AssertionError(f"there is no picture with {part}")


def unpacked(packed, *shape):
    """The steps that `planes` packed."""
    raw = zlib.decompress(packed)
    half = len(raw) // 2
    steps = [low | high << 8 for low, high in zip(raw[:half], raw[half:], strict=True)]
    return torch.tensor(steps).view(*shape)


def test_what_is_recorded_is_what_the_model_computes(tiny):
    shown = record_text(tiny, TEXT)
    again = run_model(tiny.model, input_ids=tokenise_text(tiny, TEXT).ids)
    assert shown.tokens == tuple(TEXT.split())
    assert shown.weights.shape == (2, 6, 5, 5)
    assert (shown.shape, shown.group_size) == ((2, 6), 2)
    for layer, expected in zip(shown.weights, again.layers, strict=True):
        assert torch.equal(layer, expected.weights[0])
    chances = again.output.logits[0, -1].softmax(dim=-1)
    assert [p for _, p in shown.predictions] == chances.sort(descending=True).values.tolist()
    assert shown.predictions[0][0] == tiny.tokenizer.decode(chances.argmax())
    assert shown.is_causal
    assert measure_directions(shown).after == 0.0
    assert sum(measure_directions(shown)) == pytest.approx(1, abs=1e-6)
    assert not shown.weights[:, :, ~masks.build(masks.causal, 5, 5)].any()
    with pytest.raises(ModelError, match="finds no token"):
        record_text(tiny, " ")
    assert head_overview.move_first_token(View(tiny, "CEO", record_text(tiny, "CEO"))) is None


def test_shares_merged_words_and_packed_steps_by_hand():
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.2, 0.5, 0.3]])
    assert average_weight_on_key(weights, 0).item() == pytest.approx(0.3)
    assert average_weight_on_key(weights, 1).item() == pytest.approx(0.5)
    assert average_weight_on_key(weights[:1, :1], 0).item() == 1.0
    weights = torch.tensor([[[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.2, 0.5, 0.3]]])
    merged = merge_weights(weights, [0, 1, 1], [0, 1, 1])
    assert torch.allclose(merged, torch.tensor([[[1.0, 0.0], [0.25, 0.75]]]))
    assert torch.equal(merge_weights(weights, range(3), range(3)), weights)
    weights = torch.tensor([[[1.0, 0.0], [0.12344, 0.87656]], [[0.0, 1.0], [0.5, 0.5]]])
    hidden = torch.tensor([[False, True], [False, False]]).expand(2, 2, 2)
    assert unpacked(pack_weights(weights, hidden), 2, 2, 2).tolist() == [
        [[STEPS, HIDDEN], [1234, 8766]],
        [[0, HIDDEN], [STEPS // 2, STEPS // 2]],
    ]


def test_the_table_names_each_querys_strongest_key(tiny):
    shown = record_text(tiny, TEXT)
    rows = tabulate_strongest_keys(shown.weights, range(2), shown.tokens)
    assert len(rows) == 2 * 6 * 5
    row = rows.iloc[(1 * 6 + 4) * 5 + 3]
    assert (row["layer"], row["head"], row["query"]) == (1, 4, "record")
    best = shown.weights[1, 4, 3].max(dim=-1)
    assert (row["strongest_key"], row["weight"]) == (shown.tokens[best.indices], best.values.item())


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
    blank = [(i, j) for i in range(5) for j in range(5) if panels[WEIGHTS].values[i][j] is None]
    assert blank == [(i, j) for i in range(5) for j in range(5) if j > i]
    dimmed = {panel.id: panel.matrix for panel in head.make_panels(True, True)}
    rows = list(zip(panels[WEIGHTS].values, dimmed[WEIGHTS].values, strict=True))
    assert all(after[0] is None and after[1:] == before[1:] for before, after in rows)
    assert [row[0] for row in dimmed[LINES].values] == [0.0] * 5


def test_a_text_is_cut_where_the_model_or_the_picture_ends(tiny, minilm):
    longest = saved_models.LONGEST
    text, left_out = cut_text(tiny, "CEO " * (longest + 3), MOST_TOKENS)
    assert (len(tokenise_text(tiny, text).tokens), left_out) == (longest, 3)
    assert cut_text(tiny, TEXT, MOST_TOKENS) == (TEXT, 0)
    text, left_out = cut_text(minilm, "word " * 80, MOST_TOKENS)
    tokens = tokenise_text(minilm, text).tokens
    assert (len(tokens), tokens[-1], left_out) == (MOST_TOKENS, "[SEP]", 80 + 2 - MOST_TOKENS)


def test_what_is_on_the_first_token_is_drawn_for_each_head_and_counted(tiny):
    shown = record_text(tiny, TEXT)
    visit = visited(deep="sinks")
    values = torch.tensor(figure(visit, "sinks")["panels"][0]["values"])
    means = shown.first_token_weights.mean(dim=1)
    expected = torch.cat([means[None], shown.first_token_weights.T])
    assert torch.allclose(values, expected, atol=1e-4)
    parked = int((shown.first_token_weights > 0.3).sum())
    assert f"{parked} of 12 heads put more than 0.3" in said(visit)


def test_the_text_is_read_again_behind_other_tokens(tiny):
    """First its own last token stands there, then the one in its middle."""
    ids = tokenise_text(tiny, TEXT).ids[0].tolist()
    assert View(tiny, TEXT, record_text(tiny, TEXT)).tokenise() == ids
    put = [ids[-1], ids[len(ids) // 2]]
    behind = [
        record_text(tiny, TEXT, (token,)).weights[..., 2:, :2].mean(dim=(0, 1, 2)) for token in put
    ]
    alone = record_text(tiny, TEXT).weights[..., 2:, 0].mean()
    [[blank, share], *others] = figure(visited(), "position")["panels"][0]["values"]
    assert blank is None
    assert share == pytest.approx(alone.item(), abs=1e-4)
    assert torch.allclose(torch.tensor(others), torch.stack(behind), atol=1e-4)


def test_a_click_below_the_picture_draws_it_anew(tiny, monkeypatch):
    """Nobody has chosen, then the head that is shown, then another one."""
    view = View(tiny, TEXT, record_text(tiny, TEXT), 1, 4)
    reruns: list[dict[str, int]] = []
    state: dict[str, int] = {}
    monkeypatch.setattr(head_overview.st, "session_state", state)
    monkeypatch.setattr(head_overview.st, "rerun", lambda: reruns.append(dict(state)))
    for chosen in ({}, {"model_layer": 1, "model_head": 4}, {"model_layer": 0, "model_head": 4}):
        state |= chosen
        head_overview.follow_click(view)
    assert reruns == [{"model_layer": 0, "model_head": 4}]


def test_models_that_cannot_be_are_told_and_each_visitor_sees_their_own(tiny):
    for named, told in [
        (OTHER, "is not on this machine"),
        ("../../etc", "is not owner/name"),
        ("<b>x</b>", "is not owner/name"),
        ("x" * 999, "is not owner/name"),
    ]:
        visit = visited(real_model=named)
        assert not visit.exception
        assert hero(visit)["isToy"], "small heads stand in, and the picture says so"
        [only] = pictures(visit)
        assert json.loads(only)[0]["model"][:20] == named.rstrip("/").split("/")[-1][:20]
        notes = [note.value for note in [*visit.error, *visit.warning, *visit.info]]
        assert any(told in note for note in notes), notes
    saved_models.llama(registry.locate_folder(OTHER), seed=1)
    load_model(OTHER)  # here: a page has it tried in a process of its own before
    first, second = visited(), visited(real_model=OTHER)
    assert not hero(first)["isToy"]
    assert sent(first, "planes")["planes"] != sent(second, "planes")["planes"]
    assert sent(visited(), "planes")["planes"] == sent(first, "planes")["planes"]
    long = visited(text="record " * 12)
    assert "Your text has 12 tokens. The picture shows the first 9 tokens, and the" in said(long)
    assert not long.info, "one message, and not another one about words"


def test_the_size_of_a_model_is_shown_before_it_can_be_fetched(tiny, monkeypatch):
    away = mock.Mock(side_effect=hub.HubUnreachableError("the hub is out of reach (it is)"))
    monkeypatch.setattr(hub, "ask_size", away)
    visit = visited(real_model=OTHER)
    clicked(visit, "Ask the hub how large it is")
    assert any("out of reach" in one.value for one in visit.error)
    assert not labels(visit) & {"Fetch it now"}
    weight = hub.ModelSize(2_500_000_000, 7_000_000, (), "c3" * 20)
    monkeypatch.setattr(hub, "ask_size", lambda named: {OTHER: weight}[named])
    clicked(visit, "Ask the hub how large it is")
    assert any("2,500 MB to fetch, 7,000,000 parameters" in one.value for one in visit.info)
    assert any("commit c3c3c3c3c3c3, which" in one.value for one in visit.info)
    for spoken, unit in (("vi", "7.000.000 tham số"), ("en", "7,000,000 parameters")):
        visit.sidebar.button_group("lang").set_value(spoken).run()
        assert any(unit in one.value for one in visit.info), "it was weighed in the other language"
    begun: list[LoadJob] = []

    def start(work):
        begun.append(work)
        return work

    monkeypatch.setattr(Job, "start", start)
    clicked(visit, "Fetch it now")
    assert [work.subject for work in begun] == [LoadRequest(OTHER, "c3" * 20)]


def labels(visit):
    return {button.label for button in visit.button}


def clicked(visit, label):
    next(button for button in visit.button if button.label == label).click()
    visit.run()


def test_a_broken_model_is_told_and_can_be_tried_again(store):
    folder = saved_models.llama(registry.locate_folder(ID))
    (folder / "model.safetensors").write_bytes(b"no numbers")
    visit = visited()
    assert not visit.exception
    assert ["is not whole" in error.value for error in visit.error] == [True]
    saved_models.llama(folder)
    next(button for button in visit.button if button.label == "Load it").click()
    assert pictures(settled(visit.run()))


def test_words_are_drawn_in_place_of_their_tokens(tiny):
    """The third and fourth token make one word, whose weights the tokens' add up to."""
    seen = record_text(tiny, TEXT)
    merged = replace(
        seen, tokens=("the", "CEO", "announced record", "earnings"), words=(0, 1, 2, 2, 3)
    )
    head, before = Head(merged, 1, 5), seen.weights[1, 5]
    assert head.weights[3, 2].item() == pytest.approx(before[4, 2:4].sum().item())
    assert head.weights[2, 1].item() == pytest.approx(before[2:4, 1].mean().item())
    assert torch.allclose(head.weights.sum(dim=-1), torch.ones(4))
    assert head.allowed[1] == [True, True, False, False]
    panels = head.make_panels(False, True)
    assert [panel.id for panel in panels] == [LINES, WEIGHTS]
    line = str(head.explain_number(Cell(WEIGHTS, 3, 2)).lines[0])
    assert "on 2 tokens added up, mean of 1 rows" in line
    assert sum_rows(head)["forbidden"] == 6


def test_the_file_to_send_is_what_a_notebook_shows(tiny):
    """By the model that the page has loaded, and by transformers' own that is lent for a moment."""
    name = registry.locate_folder(ID).name
    look = make_look(tiny.model, tiny.tokenizer, TEXT, names=False)
    assert write_file(tiny, TEXT, {}).replace(ID, name) == look.page


def test_a_long_text_is_read_up_to_its_layer(tiny):
    work = make_long_text_job(LongTextRequest(ID, "record earnings " * 9, 7, 1)).start()
    wait(lambda: work.is_over)
    found = work.result
    assert found
    assert (work.state, work.reports, found.num_tokens) == ("done", [0, 1], 7)
    ids = tokenise_text(tiny, "record earnings " * 3 + "record").ids
    expected = run_model(tiny.model, input_ids=ids).layers[1].weights[0]
    steps = unpacked(found.pieces.planes, 6, 7, 7)
    forbidden = ~masks.build(masks.causal, 7, 7)
    assert torch.equal(steps == HIDDEN, forbidden.expand(6, 7, 7))
    allowed = torch.where(forbidden, 0, steps)
    assert torch.allclose(allowed / STEPS, expected, atol=0.5 / STEPS + 1e-7)
    assert found.words.planes == found.pieces.planes, "each of its words is one token"
    assert found.pieces.first_token_weights == average_weight_on_key(expected, 0).tolist()


@pytest.mark.parametrize("most", [0, 1, 9])
def test_a_long_text_can_be_stopped_and_its_work_keeps_no_model_in_memory(store, most):
    """Before it began, after its first layer, or when it is done."""
    saved_models.llama(registry.locate_folder(ID))
    work = make_long_text_job(LongTextRequest(ID, TEXT, 5, 1))
    if most:
        work.has_visitor = lambda: len(work.reports) < most
    else:
        work.cancel()
    work.start()
    wait(lambda: work.is_over)
    reported = {0: ("cancelled", []), 1: ("cancelled", [0]), 9: ("done", [0, 1])}
    assert (work.state, work.reports) == reported[most]
    assert (work.result is None) == (most < 9)
    weights = weakref.ref(next(load_model(ID).model.parameters()))
    loading_module._models.clear()
    gc.collect()
    assert weights() is None


def test_the_page_reads_a_long_text(tiny):
    visit = visited(tokens_read="64", long_layer="0", deep="long")
    next(button for button in visit.button if button.label == "Read it").click()
    visit.run()
    wait(lambda: visit.session_state["long text of this visitor"].is_over)
    visit.run()
    assert not visit.exception
    tiles = [json.loads(p)[0] for p in pictures(visit) if '"enlarges": true' in p]
    assert [len(one["tokens"]) for one in tiles] == [saved_models.LONGEST]
    assert f"You asked for 64 tokens. The text has only {saved_models.LONGEST}" in said(visit)
    widgets(visit)["as_words"].set_value(True)
    visit.run()
    assert "merged into 9 words" in said(visit)


def test_local_layers_are_marked_and_counted(store):
    folder = saved_models.llama(registry.locate_folder(ID))
    tiny_families.tiny("Gemma 3 (local/global)").save_pretrained(folder)
    load_model(ID)
    visit = visited(model_layer="0", model_head="2", deep="sinks")
    near = "local: the last 4 tokens"
    assert sent(visit, "across")["remarks"] == [near, "", near]
    assert "(*local*) have dotted names: 0, 2; 2 of 3" in said(visit)
    visit = visited(model_layer="0", model_head="2", deep="head")
    weights = next(p for p in sent(visit, WEIGHTS)["panels"] if p["id"] == WEIGHTS)["values"]
    assert weights[4][0] is None, "four tokens back, of a window of four"
    assert weights[4][1] is not None


def test_the_running_sentence_in_the_real_model(smollm2):
    shown = record_text(smollm2, SENTENCE)
    assert (shown.shape, shown.group_size, len(shown.tokens)) == ((30, 9), 3, 7)
    put_before = record_text(smollm2, SENTENCE, (smollm2.tokenizer.bos_token_id,))
    moved = put_before.weights[3:, :, 2:, :2].mean((0, 1, 2))
    assert shown.weights[3:, :, 2:, 0].mean() > 0.6
    assert moved[0] > 0.6 > 0.1 > moved[1], "it is the place, not the word"
    found = head_overview.move_first_token(View(smollm2, SENTENCE, shown))
    assert found
    assert found.answer == head_overview.NEW


def test_both_directions_of_a_model_that_reads(minilm):
    shown = record_text(minilm, SENTENCE)
    assert not shown.is_causal
    assert shown.predictions == []
    after = measure_directions(shown).after
    assert after > 0.15
    assert after == pytest.approx(shown.weights.triu(1).sum().item() / shown.weights.sum().item())
    assert answer_later(shown)[0] == f"{100 * after:.0f} %"
    text = "an unbelievably tokenised word"
    merged = merge_tokens(minilm, text, record_text(minilm, text))
    assert merged.tokens == ("[CLS]", *text.split(), "[SEP]"), "its own tokens stay"
    assert not merge_tokens(minilm, "a word", record_text(minilm, "a word")).words


def test_a_model_that_writes_stands_beside_one_that_reads(smollm2, minilm):
    visit = settled(opened(PAGE, {"deep": "beside", "beside": "true"}).run())
    both = record_text(smollm2, SENTENCE), record_text(minilm, SENTENCE)
    for one in both:
        shares = " | ".join(f"{share:.3f}" for share in measure_directions(one))
        assert f"` {one.name} ` | {shares} |" in said(visit)
    assert [panel["id"] for panel in figure(visit, both[0].name)["panels"]] == [
        one.name for one in both
    ]
    nothing = opened(PAGE, {"deep": "predicted", "real_model": minilm.name})
    assert "This model predicts no next token" in said(nothing)
