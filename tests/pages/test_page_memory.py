"""The cache calculator: which choices reach the calculators, and what a visit keeps.

What the calculators return is proved in `tests/memory`; what the page says of it is kept.
"""

import json
import re
import subprocess
import sys
from unittest import mock

import pytest

from explainers.chapters.cache_memory.cards import LESSONS, SINKS_LESSON, list_lessons
from explainers.chapters.cache_memory.choose_cache import MAX_PASTED
from explainers.chapters.cache_memory.compared_models import make_growth_table
from explainers.chapters.cache_memory.gpu_fit import judge_fit
from explainers.charts.matrix import Matrix
from explainers.memory import serving
from explainers.memory.model_shapes import LAYER_KINDS, find_shape
from explainers.models import hub
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import READ_FOLDERS_VARIABLE, ModelError
from explainers.ui.controls import controls
from explainers.ui.session import PLAN_BELOW
from tests.support.opening import ROOT, opened, widgets
from tests.support.reading import hero, panels, said

PAGE = ROOT / "pages" / "10_cache_memory.py"


def code(visit):
    return "\n".join(block.value for block in visit.main.code)


def warned(visit):
    return " ".join(warning.value for warning in visit.warning)


def test_a_model_of_ones_own_is_counted_by_hand():
    """Five layers keep a window of 100 tokens, two keep all; q8_0 has 34 bytes for 32 numbers."""
    link = {"own_layers": "7", "own_heads": "12", "own_kv_heads": "3", "own_head_dim": "96"}
    link |= {"own_local": "5", "own_window": "100", "model": controls.OWN}
    link |= {"tokens": "16,384", "texts": "4", "cache_dtype": "q8_0"}
    size = 4 * (2 * 3 * 96 * 34 // 32) * (5 * 100 + 2 * 16_384)
    assert f"= {size:,} bytes" in code(opened(PAGE, link))
    latent = {"own_kind": "a latent (MLA)", "own_latent": "20", "own_rope": "12"}
    size = 4 * 7 * (20 + 12) * 34 // 32 * 16_384
    assert f"{size:,} bytes for 4 texts" in said(opened(PAGE, link | latent))
    refused = opened(PAGE, {"model": controls.OWN, "own_heads": "10", "own_kv_heads": "4"})
    assert "10 query heads cannot share 4 KV heads" in warned(refused)


@pytest.mark.parametrize(
    ("model", "gpu", "texts", "more", "verdict"),
    [
        ("llama-3.1-405b", "h100", 1, {}, "weights_too_large"),
        ("llama-3-8b", "a10", 1, {"percent": 70}, "no_room"),
        ("llama-3-8b", "h100", 1, {"overhead": 70 * serving.GIB}, "no_room"),
        ("bert-base-uncased", "h100", 1, {}, "encoder"),
        ("bert-base-uncased", "h100", 1, {"overhead": 80 * serving.GIB}, "no_room"),
        ("llama-3-8b", "h100", 64, {}, "too_many"),
        ("llama-3-8b", "h100", 1, {}, "yes"),
    ],
)
def test_why_it_does_not_fit(model, gpu, texts, more, verdict):
    shape, card = find_shape(model), serving.read_gpus()[gpu]
    served = serving.Deployment(shape, card, 1, serving.find_weight_format(shape), **more)
    assert judge_fit(served, 8_192, texts)[0] == verdict


def test_absurd_sizes_are_exact_and_drawn():
    huge: dict[str, str | list[str]] = {"texts": "1,000,000", "tokens": f"{10**9}"}
    huge |= {"model": "llama-3-8b", "cache_dtype": "float32", "compared": ["opt-175b", "gpt2"]}
    visit = opened(PAGE, huge)
    assert f"{2 * 131_072 * 10**15:,} bytes for 1,000,000 texts" in said(visit)
    [panel] = panels(visit, "comparison").values()
    size = 2 * 96 * 12_288 * 4 * 10**15
    assert size > 2**63, "more than a table of whole numbers holds"
    assert panel["values"][0][panel["columns"].index(f"{10**9}")] == size
    lines = Matrix("", "", [[size]], ["opt-175b"], ["1"], "", "", kind="lines")
    assert make_growth_table(lines, 1)["bytes"].max() == pytest.approx(size)


def test_every_kind_of_layer_has_a_page_that_explains_it():
    assert set(LESSONS) == set(LAYER_KINDS)
    assert all((ROOT / path).is_file() for path in (*LESSONS.values(), SINKS_LESSON))
    assert SINKS_LESSON in list_lessons(find_shape("gpt-oss-20b"))


def test_what_is_drawn_below_depends_on_a_model_only_if_a_card_is_open():
    for link, key, value, is_same in [
        ({}, "model", "gpt2", True),
        ({}, "gpu", "h200", False),
        ({"deep": "gpus"}, "model", "gpt2", False),
    ]:
        visit = opened(PAGE, link)
        below = visit.session_state[PLAN_BELOW]
        visit.session_state[key] = value
        assert (visit.run().session_state[PLAN_BELOW] == below) == is_same


def test_parameters_are_asked_for_where_none_are_published_and_nothing_is_said_before():
    for link in ({}, {"deep": "serving"}, {"deep": "gpus"}, {"deep": "flags"}):
        visit = opened(PAGE, {"model": "glm-5", **link})
        assert not re.search(r"It fits|does not fit\.\*\*|tokens a second", said(visit))
        widgets(visit)["parameters"].set_value(5000).run()
        assert {type(plan["weights"]) for plan in hero(visit)["plans"]} == {float}
    assert "parameters" not in widgets(opened(PAGE))


def test_the_menu_costs_nothing_until_it_is_opened_and_then_has_what_the_link_says():
    link = {
        "texts": "4", "gpus": "8", "weight_dtype": "fp8", "tokens": "512", "percent": "80",
        "overhead": "3", "cache_dtype": "fp8", "source": "300",
    }  # fmt: skip
    visit = opened(PAGE, link | {"model": "whisper-tiny"})
    assert not set(link) & set(widgets(visit)), "fields of a closed menu cost time"
    closed = said(visit)
    visit.session_state["more"] = True
    shown = {key: f"{it.value}" for key, it in widgets(visit.run()).items() if key in link}
    assert shown == link
    assert said(visit) == closed
    widgets(visit)["percent"].set_value(70).run()
    visit.session_state["more"] = False
    assert widgets(visit.run())["percent"].value == 70, "it is not taken away again"


def test_lengths_have_the_marks_of_the_language_and_links_have_none():
    visit = opened(PAGE, {"lang": "vi", "tokens": "33.000", "model": "llama-3-8b"})
    visit.session_state["more"] = True
    assert "131.072" in visit.run().selectbox(key="tokens").options
    assert f"{33_000 * 131_072:,}".replace(",", ".") in said(visit)
    assert visit.query_params["tokens"] in ("33,000", ["33,000"])
    assert not visit.info


def test_the_number_comes_without_torch_and_without_pandas():
    """Streamlit imports neither for text; the first picture needs pandas, and comes later."""
    code = f"""
import sys
from tests.support.opening import PAGES, opened
[page] = [page for page in PAGES if page.stem == "{PAGE.stem}"]
visit = opened(page, {{"predict": "true"}})
assert not visit.exception and any("16.00 GiB" in one.value for one in visit.main.markdown)
print(*sys.modules)
"""
    run = [sys.executable, "-c", code]
    loaded = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"torch", "transformers", "altair", "pandas"} & set(loaded.split())


LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128,
    "num_key_value_heads": 8, "num_hidden_layers": 32, "max_position_embeddings": 8192,
}  # fmt: skip
OF_LLAMA = f"{2 * 32 * 8 * 128 * 2 * 16_384:,} bytes for 1 text"
NEMOTRON = {
    "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "num_hidden_layers": 52, "hybrid_override_pattern": "M-" * 24 + "*-" * 2,
    "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
}  # fmt: skip


def with_config(text, **link):
    return paste(opened(PAGE, {"model": controls.CONFIG, **link}), text)


def paste(visit, text):
    return visit.text_area(key="pasted config").set_value(text).run()


def test_a_pasted_config_is_read_and_stays_out_of_the_link():
    visit = with_config(json.dumps(LLAMA), tokens="16,384")
    assert OF_LLAMA in said(visit)
    assert not any("hidden_size" in str(value) for value in visit.query_params.values())
    for name in ("gpt2", controls.CONFIG):
        visit.session_state["model"] = name
        visit.run()
    assert "16,384 tokens, model ` llama `" in said(visit.run()), "what was pasted is lost"
    for page in ("pages/09_shared_heads.py", "pages/10_cache_memory.py"):
        visit.switch_page(page).run()
    assert "16,384 tokens, model ` llama `" in said(visit), "on another page"


def test_what_a_file_says_reaches_the_calculators():
    """How much an encoder reads, how large an image is, how a cache is stored."""
    decoder = {
        "model_type": "mbart", "d_model": 1024, "decoder_layers": 4, "decoder_attention_heads": 16,
        "is_decoder": True, "add_cross_attention": True,
    }  # fmt: skip
    image = {"image_size": 56, "patch_size": 14, "max_num_tiles": 200}
    pictures = LLAMA | {"cross_attention_layers": [3, 8], "vision_config": image}
    scheme = {"num_bits": 8, "type": "float"}
    quantized = {"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}
    read = 200 * (4 * 4 + 1)
    for config, asked, size in [
        (decoder, {"source": "4800"}, 2 * 16 * 64 * 2 * 4 * (16_384 + 4_800)),
        (pictures, {}, 2 * 8 * 128 * 2 * (30 * 16_384 + 2 * read)),
        (LLAMA | {"quantization_config": quantized}, {}, 32 * 2 * 8 * 128 * 16_384),
    ]:
        shown = said(with_config(json.dumps(config), tokens="16,384", **asked))
        assert f"{size:,} bytes for 1 text" in shown


def test_what_is_left_out_is_named():
    known = with_config(json.dumps(NEMOTRON | {"conv_kernel": 4}))
    assert "Left out" not in said(known)
    unknown = with_config(json.dumps(NEMOTRON))
    assert "**Left out:** 24 recurrent layers: config.json lacks mamba_d_conv" in said(unknown)
    assert [hero(visit)["leftOut"] for visit in (known, unknown)] == [0, 24]


def test_what_is_no_config_is_refused_by_name_and_nothing_is_lost():
    visit = with_config(json.dumps(LLAMA), tokens="16,384", gpus="4")
    for text, message in [
        ("gpt2", "gpt2 is no config.json: paste the file, or owner/name; there is gpt2"),
        ("albert-base-v2", "Do you mean albert/albert-base-v2?"),
        (json.dumps({"a": "x" * 900_000}), "or more: upload it"),
        ("<script>alert(1)</script>", "it looks like a web page"),
        (json.dumps(LLAMA | {"layer_types": ["**b** [a](http://x.invalid)"]}), "layer_types"),
    ]:
        paste(visit, text)
        assert not visit.exception, message
        assert message in warned(visit)
        assert visit.warning[0].value.startswith("` "), "markup is obeyed"
        assert len(visit.text_area(key="pasted config").value) == min(len(text), MAX_PASTED)
        kept = visit.session_state
        assert (kept["tokens"], kept["gpus"]) == ("16,384", "4"), message
    paste(visit, json.dumps(LLAMA | {"_name_or_path": "**b** :red[x] <b>` | $y$"}))
    assert "`` **b** :red[x] <b>` | $y$ ``" in said(visit)


def test_an_uploaded_config_is_read():
    visit = opened(PAGE, {"model": controls.CONFIG, "tokens": "16,384"})
    for content, shown in [(b"\xff\xfe\x00", "is not text in UTF-8"), (b"{", "breaks off")]:
        visit.file_uploader[0].set_value(("config.json", content, "application/json"))
        assert shown in warned(visit.run())
    content = json.dumps(LLAMA).encode()
    visit.file_uploader[0].set_value(("config.json", content, "application/json"))
    assert OF_LLAMA in said(visit.run())


def test_a_folder_is_read_only_where_the_owner_said_so(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    asked = {"model": controls.CONFIG, "config folder": str(tmp_path)}
    monkeypatch.delenv(READ_FOLDERS_VARIABLE, raising=False)
    hosted = opened(PAGE, asked)
    assert "config folder" not in widgets(hosted)
    hosted.session_state["config folder"] = str(tmp_path)
    assert "Waiting for a config.json" in warned(hosted.run())
    monkeypatch.setenv(READ_FOLDERS_VARIABLE, "1")
    own = opened(PAGE, asked)
    assert "Waiting" in warned(own), "a link reads a folder"
    widgets(own)["config folder"].set_value(str(tmp_path))
    assert "model ` llama `" in said(own.run())
    widgets(own)["config folder"].set_value(str(tmp_path / "none"))
    assert "there is no file" in warned(own.run())


def test_a_name_is_fetched_only_if_the_reader_asks(monkeypatch):
    fetch = mock.Mock(return_value=json.dumps(LLAMA))
    monkeypatch.setattr(hub, "fetch_config", fetch)
    monkeypatch.setattr(hub, "fetch_weights", lambda _name: {"BF16": 7 * 10**9})
    visit = with_config(" meta/Llama-3-8B\n", tokens="16,384")
    assert "meta/Llama-3-8B is a name: fetch its config.json" in warned(visit)
    assert not fetch.called
    visit.button(key="fetch config").click().run()
    assert not visit.warning
    assert OF_LLAMA in said(visit.run()), "it stays when the page runs again"
    assert {plan["weights"] for plan in hero(visit)["plans"]} == {14e9}
    assert fetch.mock_calls == [mock.call("meta/Llama-3-8B")]
    paste(visit, "https://hub.co/meta/other/blob/a/b.json")
    assert "meta/other is a name" in warned(visit), "one name's file is not another's"
    for error, sentence in [
        (HubUnreachableError("the hub is out of reach (here)"), "reach (here): open the mo"),
        (ModelError("a/b has no config.json on the hub."), "has no config.json on the hub"),
    ]:
        fetch.side_effect = error
        paste(visit, "a/b").button(key="fetch config").click().run()
        assert sentence in warned(visit)
        assert visit.text_area(key="pasted config").value == "a/b"
