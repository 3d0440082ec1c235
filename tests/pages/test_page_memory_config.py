"""A config.json of the reader's: pasted, uploaded, in a folder, fetched; or refused in words."""

import json
from unittest import mock

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
    assert not any("hidden_size" in str(value) for value in visit.query_params.values())
    for name in ("gpt2", controls.CONFIG):
        visit.session_state["model"] = name
        visit.run()
    assert "16,384 tokens, model ` llama `" in said(visit.run()), "what was pasted is lost"


def test_what_a_file_says_reaches_the_calculators():
    """How much an encoder reads, what a class leaves out, how a cache is stored."""
    decoder = {
        "model_type": "mbart", "d_model": 1024, "decoder_layers": 4, "decoder_attention_heads": 16,
        "is_decoder": True, "add_cross_attention": True,
    }  # fmt: skip
    image = {"image_size": 56, "patch_size": 14, "max_num_tiles": 200}
    pictures = LLAMA | {"cross_attention_layers": [3, 8], "vision_config": image}
    gemma = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34}
    scheme = {"num_bits": 8, "type": "float"}
    quantized = {"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}
    read = 200 * (4 * 4 + 1)
    for config, size in [
        (decoder, 2 * 16 * 64 * 2 * 4 * (16_384 + 4_800)),
        (pictures, 2 * 8 * 128 * 2 * (30 * 16_384 + 2 * read)),
        (gemma | {"sliding_window": 1024}, count_cache_bytes(find_shape("gemma-3-4b"), 16_384)),
        (LLAMA | {"quantization_config": quantized}, 32 * 2 * 8 * 128 * 16_384),
    ]:
        asked = {"source": "4800"} if config is decoder else {}
        shown = said(with_config(json.dumps(config), tokens="16,384", **asked))
        assert f"{size:,} bytes for 1 text" in shown


def test_nothing_is_called_exact_beside_what_is_left_out():
    known = with_config(json.dumps(NEMOTRON | {"conv_kernel": 4}))
    assert "exact for keys and values" in said(known)
    unknown = with_config(json.dumps(NEMOTRON))
    assert "exact for " not in said(unknown)
    assert "**Left out:** 24 recurrent layers: config.json lacks mamba_d_conv" in said(unknown)
    assert [hero(visit)["leftOut"] for visit in (known, unknown)] == [0, 24]


def test_what_is_no_config_is_refused_by_name_and_nothing_is_lost():
    visit = with_config(json.dumps(LLAMA), tokens="16,384", gpus="4")
    for text, message in [
        ("gpt2", "gpt2 is no config.json: paste the file, or owner/name; there is gpt2"),
        ("albert-base-v2", "Do you mean albert/albert-base-v2?"),
        (json.dumps({"a": "x" * 900_000}), "or more: upload it"),
        (json.dumps(LLAMA | {"head_dim": -1}), "head_dim must be a whole number from 1 to"),
        (f"{json.dumps(LLAMA)}\n{json.dumps(LLAMA)}", "two files are pasted here: the second"),
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


def test_nothing_is_said_of_weights_before_their_number_is_known():
    visit = with_config(json.dumps(LLAMA), deep="serving")
    assert "parameters" not in code(visit)
    assert "**Pages.**" in said(visit), "pages do not depend on the weights"
    widgets(visit)["parameters"].set_value(5000).run()
    assert "5,000,000,000 parameters (a stated, rounded number)" in code(visit)


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
    monkeypatch.setattr(hub_config, "fetch_config", fetch)
    visit = with_config(" meta/Llama-3-8B\n", tokens="16,384")
    assert "meta/Llama-3-8B is a name: fetch its config.json" in warned(visit)
    assert not fetch.called
    visit.button(key="fetch config").click().run()
    assert not visit.warning
    assert OF_LLAMA in said(visit.run()), "it stays when the page runs again"
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
