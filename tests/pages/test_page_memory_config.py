"""A config.json of the reader's: pasted, uploaded, in a folder, fetched; or refused in words."""

import json
from unittest import mock

import pytest

from explainers.chapters.cache_memory.choose_cache import MAX_PASTED
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.model_shapes import find_shape
from explainers.models import hub_config
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import READ_FOLDERS_VARIABLE, ModelError
from explainers.ui.controls import controls
from tests.pages.test_page_memory import PAGE, code, warned
from tests.support.opening import opened, widgets
from tests.support.reading import hero, said

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "head_dim": 128,
    "max_position_embeddings": 8192,
}
OF_LLAMA = f"{2 * 32 * 8 * 128 * 2 * 16_384:,} bytes for 1 text"
NEMOTRON = {
    "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "num_hidden_layers": 52, "hybrid_override_pattern": "M-" * 24 + "*-" * 2,
    "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
}  # fmt: skip


def with_config(text, **link):
    visit = opened(PAGE, {"model": controls.CONFIG, **link})
    return paste(visit, text)


def paste(visit, text):
    return visit.text_area(key="pasted config").set_value(text).run()


def test_a_pasted_config_is_read_and_stays_out_of_the_link():
    visit = with_config(json.dumps(LLAMA), tokens="16,384")
    assert OF_LLAMA in said(visit)
    assert not visit.warning
    assert not any("hidden_size" in str(value) for value in visit.query_params.values())
    for name in ("gpt2", controls.CONFIG):
        visit.session_state["model"] = name
        visit.run()
    assert "16,384 tokens, model ` llama `" in said(visit.run()), "what was pasted is lost"


def test_a_file_with_an_encoder_or_an_image_asks_how_much_of_it_is_read():
    decoder = {
        "model_type": "mbart", "d_model": 1024, "decoder_layers": 4, "decoder_attention_heads": 16,
        "is_decoder": True, "add_cross_attention": True,
    }  # fmt: skip
    size = 2 * 16 * 64 * 2 * 4 * (16_384 + 4_800)
    alone = with_config(json.dumps(decoder), tokens="16,384", source="4800")
    assert f"{size:,} bytes for 1 text" in said(alone)
    image = {"image_size": 56, "patch_size": 14, "max_num_tiles": 200}
    pasted = LLAMA | {"cross_attention_layers": [3, 8], "vision_config": image}
    read = 200 * (4 * 4 + 1)
    assert read > controls.encoder_tokens.default
    size = 2 * 8 * 128 * 2 * (30 * 16_384 + 2 * read)
    assert f"{size:,} bytes for 1 text" in said(with_config(json.dumps(pasted), tokens="16,384"))


def test_a_file_that_relies_on_its_class_is_filled():
    gemma = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34}
    shown = said(with_config(json.dumps(gemma | {"sliding_window": 1024}), deep="countings"))
    assert f"{count_cache_bytes(find_shape('gemma-3-4b'), 131_072):,} bytes for 1 text" in shown
    assert "num\\_attention\\_heads is not in the file" in shown
    scheme = {"num_bits": 8, "type": "float"}
    quantized = {"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}
    stored = with_config(json.dumps(LLAMA | {"quantization_config": quantized}), tokens="16,384")
    assert f"{32 * 2 * 8 * 128 * 16_384:,} bytes for 1 text" in said(stored)


def test_nothing_is_called_exact_beside_what_is_left_out():
    known = with_config(json.dumps(NEMOTRON | {"conv_kernel": 4}))
    assert "exact for keys and values" in said(known)
    assert "**24 layers, Mamba-2:** their states" in said(known)
    assert "bytes that must be kept, exact" in said(known)
    unknown = with_config(json.dumps(NEMOTRON))
    assert "exact for " not in said(unknown)
    assert "**not the whole cache**" in said(unknown)
    assert "**Left out:** 24 recurrent layers: config.json lacks mamba_d_conv" in said(unknown)
    assert "bytes that must be kept, without some layers" in said(unknown)
    assert [hero(visit)["leftOut"] for visit in (known, unknown)] == [0, 24]


def test_layers_that_differ_in_heads_only_are_named_by_them():
    lists = {"num_key_value_heads_per_layer": [4] * 20 + [2] * 12}
    visit = with_config(json.dumps(LLAMA | lists), deep="layers")
    assert "20 layers of full attention, 4 KV heads × 128; 12 layers of full" in said(visit)
    blocks = [{"attention": {"n_heads_in_group": 8, "window_length": n + 1}} for n in range(32)]
    assert "26 other kinds" in said(paste(visit, json.dumps(LLAMA | {"block_configs": blocks})))


def test_what_is_no_config_is_refused_by_name_and_nothing_is_lost():
    visit = with_config(json.dumps(LLAMA), tokens="16,384", gpus="4")
    for text, message in [
        ("gpt2", "gpt2 is no config.json: paste the file, or owner/name; there is gpt2"),
        ("albert-base-v2", "Do you mean albert/albert-base-v2?"),
        (json.dumps(LLAMA)[:-20], "config.json breaks off at line 1"),
        ("[" * 50_000, "nested too deeply"),
        (json.dumps({"a": "x" * 900_000}), "or more: upload it"),
        (json.dumps(LLAMA | {"head_dim": -1}), "head_dim must be a whole number from 1 to"),
        (json.dumps(LLAMA | {"num_hidden_layers": 10**40}), "num_hidden_layers must be"),
        (f"{json.dumps(LLAMA)}\n{json.dumps(LLAMA)}", "two files are pasted here: the second"),
        ("model_type: llama\nhidden_size: 4096\n", "it looks like YAML"),
        ("{'a': 1}", "json.dumps"),
        ("<script>alert(1)</script>", "it looks like a web page"),
        (json.dumps(LLAMA | {"model_type": "llada", "mask_token_id": 126_336}), "mask_token_id"),
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
    assert OF_LLAMA in said(visit)
    assert "`` **b** :red[x] <b>` | $y$ ``" in said(visit)


def test_nothing_is_said_of_weights_before_their_number_is_known():
    visit = with_config(json.dumps(LLAMA), deep="serving")
    assert "parameters" not in code(visit)
    assert "**Pages.**" in said(visit), "pages do not depend on the weights"
    widgets(visit)["parameters"].set_value(5000).run()
    assert "5,000,000,000 parameters (a stated, rounded number)" in code(visit)
    assert "**It fits.**" in said(visit)


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


def press_fetch(visit):
    return visit.button(key="fetch config").click().run()


def test_a_name_is_fetched_only_if_the_reader_asks(monkeypatch):
    fetch = mock.Mock(return_value=json.dumps(LLAMA))
    monkeypatch.setattr(hub_config, "fetch_config", fetch)
    visit = with_config(" meta/Llama-3-8B\n", tokens="16,384")
    assert "meta/Llama-3-8B is a name: fetch its config.json" in warned(visit)
    assert "there is llama-3-8b" in warned(visit)
    assert not fetch.called
    press_fetch(visit)
    assert OF_LLAMA in said(visit)
    assert not visit.warning
    assert OF_LLAMA in said(visit.run()), "it stays when the page runs again"
    assert fetch.mock_calls == [mock.call("meta/Llama-3-8B")]
    paste(visit, "https://hub.co/meta/other/blob/a/b.json")
    assert "meta/other is a name" in warned(visit), "one name's file is not another's"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (HubUnreachableError("the hub is out of reach (here)"), "out of reach (here): open the mo"),
        (ModelError("a/b has no config.json on the hub."), "has no config.json on the hub"),
    ],
)
def test_where_nothing_can_be_fetched_it_is_said_what_to_do(monkeypatch, error, sentence):
    monkeypatch.setattr(hub_config, "fetch_config", mock.Mock(side_effect=error))
    visit = press_fetch(with_config("a/b"))
    assert sentence in warned(visit)
    assert visit.text_area(key="pasted config").value == "a/b"
