"""`look`: the weights are the model's own, the model stays as it was, and nothing is fetched."""

import json
import re
import zlib
from base64 import b64decode
from collections import Counter
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig

from explainers.models import attention_hook
from explainers.models.head_scores import MEANINGS, name_heads
from explainers.models.registry import ModelError, RefusedModelError
from explainers.models.shipped_measurements import read_shipped_scores
from explainers.notebook.look import look, make_look, report
from explainers.notebook.packed_heads import MOST_IN_FULL
from explainers.translations import TEXTS
from tests.support.tiny_families import FAMILIES, VOCABULARY, tiny
from tests.support.tiny_tokenizer import tokenizer_of

TOKENIZER = tokenizer_of()
KINDS = ["Llama", "GPT-2", "BERT"]
TEXT = "w7 w9 w8 w7 w9 w30 w12 w7 w9 w8 w40"
HOSTILE = "</script><script>hacked()</script> <img/src=x/onerror=hacked()> <!-- ${x()} {{layer}}"


def read_bytes(packed):
    return torch.frombuffer(bytearray(zlib.decompress(b64decode(packed))), dtype=torch.uint8)


def unpack(packed, masks, heads):
    """The bytes (heads, rows, side) of a layer, 0 where its mask forbids, as a browser does it."""
    mask = masks[packed["mask"]]
    rows, side = mask["rows"], mask["side"]
    is_allowed = read_bytes(mask["allowed"]).reshape(rows, side).bool()
    codes = torch.zeros(heads, rows, side)
    keys, queries = is_allowed.T.nonzero(as_tuple=True)
    codes[:, queries, keys] = read_bytes(packed["codes"]).reshape(heads, -1).float()
    return codes


def text_of(count):
    """So many words, the same ones each time."""
    numbers = torch.randint(4, VOCABULARY, (count,), generator=torch.Generator().manual_seed(count))
    return " ".join(f"w{n}" for n in numbers.tolist())


def data_of(page):
    return json.loads(re.findall(r'<script type="application/json">(.*?)</script>', page)[0])


def ids_of(text):
    return torch.tensor([TOKENIZER(text)["input_ids"]])


def read_eagerly(model, text=TEXT, **options):
    """What transformers says with its own attention."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        return model(input_ids=ids_of(text), output_attentions=True, **options)


def eager_weights(model, text=TEXT):
    """(layers, heads, tokens, tokens)."""
    return torch.cat(read_eagerly(model, text).attentions)


def assert_codes(codes, weights):
    assert codes.shape == weights.shape
    assert (codes - 255 * weights.float().sqrt()).abs().max() <= 0.501


def assert_drawn(data, weights):
    """Is each byte the weight, layer by layer? (layers, heads, q_len, kv_len)"""
    assert len(data["layers"]) == len(weights)
    for packed, one in zip(data["layers"], torch.as_tensor(weights), strict=True):
        assert_codes(unpack(packed, data["masks"], packed["heads"]), one)


@pytest.mark.parametrize("family", [*KINDS, "Mistral (window)", "Gemma 2 (soft-cap)"])
def test_each_byte_is_the_models_own_weight(family):
    data = data_of(make_look(tiny(family), TOKENIZER, TEXT, names=False).page)
    expected = eager_weights(tiny(family))
    assert data["side"] == len(data["tokens"]) == 11
    assert_drawn(data, expected)
    behind, first = expected[:, :, 1:, 0].mean(dim=-1), [one["first"] for one in data["layers"]]
    torch.testing.assert_close(torch.tensor(first), behind, atol=1e-4, rtol=0)


@pytest.mark.parametrize("layers", [[0], []], ids=["a layer", "the most telling one"])
def test_above_256_tokens_an_overview_has_the_largest_weight_of_each_block(layers):
    """And one layer is sent in full: without a choice, that of the most telling head."""
    model, text = tiny("GPT-2", n_positions=400), text_of(300)
    data = data_of(make_look(model, TOKENIZER, text, names=False, layers=layers).page)
    weights = eager_weights(model, text)
    assert (data["side"], len(data["tokens"])) == (64, 300)
    assert_drawn(data, nn.functional.adaptive_max_pool2d(weights, 64))
    places = torch.arange(300)
    is_far = (places[:, None] - places >= 300 // 16).tril()
    is_far[:, 0] = False
    told = weights.masked_fill(~is_far, 0)
    [whole] = layers or [int(told.amax(dim=(1, 2, 3)).argmax())]
    assert [*data["full"]] == [str(whole)]
    assert_codes(unpack(data["full"][str(whole)], data["masks"], 6), weights[whole])
    layer, head, query = data["telling"][0]
    assert {one[0] for one in data["telling"]} == {whole} == {layer}
    assert float(told[layer, head, query].max()) == pytest.approx(float(told[whole].max()))


def state_of(model):
    """All that a hook might leave behind."""
    dictionaries = [dict(one._forward_hooks) | one._forward_pre_hooks for one in model.modules()]
    own = [one.__dict__.get("forward") for one in model.modules()]
    kinds = [getattr(one, "config", model.config)._attn_implementation for one in model.modules()]
    return dictionaries, own, kinds, [one.training for one in model.modules()]


@pytest.mark.parametrize("is_training", [False, True])
@pytest.mark.parametrize("family", [*KINDS, "BLOOM (ALiBi)"])
def test_the_model_is_the_same_afterwards_and_after_an_error(family, is_training, monkeypatch):
    model, calls = tiny(family).train(is_training), []
    first_part = next(model.children())
    first_part.register_forward_hook(lambda *_: calls.append(1))
    weights = {name: one.clone() for name, one in model.state_dict().items()}
    before = state_of(model)
    make_look(model, TOKENIZER, TEXT, names=False)
    assert calls, "a hook of the owner's was not called"
    assert state_of(model) == before
    assert all(torch.equal(one, weights[name]) for name, one in model.state_dict().items())
    monkeypatch.setattr(attention_hook, "choose_function", lambda module, extra: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_look(model, TOKENIZER, TEXT, names=False)
    assert state_of(model) == before


def without_numbers():
    model = tiny("Llama")
    model.model.layers[1].self_attn.q_proj.weight.data[:] = torch.nan
    return model


BART = {"model": tiny("BART")}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no text model": ({"model": nn.Linear(2, 3)}, "Linear is not a model of the library tr"),
    "reads sound": ({"model": tiny("Whisper")}, "reads something else than text"),
    "no token": ({"text": ""}, "finds no token in this text"),
    "too long": ({"text": text_of(65)}, "reads at most 64 tokens; this text has 65."),
    "unknown id": ({"model": tiny("Llama", vocab_size=20)}, "has the id 40, and LlamaForCausalLM"),
    "NaN": ({"model": without_numbers()}, "Layer 1 has weights that are not numbers (NaN)"),
    "batch": ({"text": ["w7", "w8"]}, "one text at a time: this is a list of 2"),
    "chat": ({"text": [{"role": "user"}]}, "apply_chat_template(messages, tokenize=False)"),
    "ids": ({"text": [7, 8]}, "not its ids (list): tokenizer.decode"),
    "tensor": ({"text": torch.tensor([7])}, "not its ids (Tensor)"),
    "encoding": ({"text": TOKENIZER("w7 w8")}, "not its ids (BatchEncoding)"),
    "bytes": ({"text": b"w7"}, "Pass a text, a str: this is bytes."),
    "nothing": ({"text": None}, "Pass a text, a str: this is NoneType."),
    "half a character": ({"text": "w7 \ud800"}, "half a character"),
    "tokenizer's name": ({"tokenizer": "gpt2"}, "AutoTokenizer.from_pretrained('gpt2')"),
    "no tokenizer": ({"tokenizer": None}, "NoneType is not a tokenizer"),
    "bare tokenizer": ({"tokenizer": TOKENIZER.backend_tokenizer}, "Tokenizer is not a tok"),
    "model's name": ({"model": "gpt2"}, "AutoModel.from_pretrained('gpt2')"),
    "class": ({"model": type(tiny("Llama"))}, "LlamaForCausalLM.from_pretrained(…) returns"),
    "no weights": ({"model": tiny("Llama").to("meta")}, "LlamaForCausalLM has no weights"),
    "no such layer": ({"layers": [1, 7]}, "layers 0 to 2: there is no layer 7"),
    "layer": ({"layers": 1}, "layers=[0, 3]"),
    "layer's name": ({"layers": ["first"]}, "layers=[0, 3]"),
    "half a chat": ({"text": [{"role": "user", "content": TEXT}, TEXT]}, "not its ids (list)"),
    "half a pair": ({"model": tiny("BERT"), "pair": "\ud800"}, "half a character"),
    "no decoder": ({"attention": "cross"}, "has one kind of attention: leave attention"),
    "which": ({**BART, "attention": "self"}, "one of encoder, decoder, cross: not 'self'"),
    "no answer": ({**BART, "attention": "cross"}, "The decoder reads an answer"),
    "none written": ({"answer": -1}, "writes 1 to 4,096 tokens, if any at all: not -1"),
    "writes not": ({"model": tiny("BERT"), "answer": 3}, "BertForMaskedLM writes 1 to 4,096 tok"),
    "ids of an answer": ({"answer": [-1]}, "a text, a list of ids, or how many tokens"),
    "unknown answer": ({**BART, "answer": [99]}, "The tokenizer has the id 99"),
    "half an answer": ({"answer": "\ud800"}, "half a character"),
    "what": ({"answer": {"a": 1}}, "a text, a list of ids, or how many tokens"),
    "too long with it": ({"answer": "w7 " * 60}, "at most 64 tokens; this text has 71"),
    "rollout": ({**BART, "answer": "w8 w7 w30 w12", "show": "rollout"}, "4 queries and 11 keys"),
}


@pytest.mark.parametrize(("other", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_is_one_sentence_with_the_reason(other, reason, tmp_path):
    usual = {"model": tiny("Llama"), "tokenizer": TOKENIZER, "text": TEXT, "names": False} | other
    is_model = isinstance(getattr(usual["model"], "config", None), PreTrainedConfig)
    before = is_model and state_of(usual["model"])
    with pytest.raises(ModelError, match=re.escape(reason)):
        look(**usual)
    with pytest.raises(ModelError, match=re.escape(reason)):
        report(**usual, path=tmp_path / "heads.html")
    assert (is_model and state_of(usual["model"])) == before
    assert not list(tmp_path.iterdir())


def test_a_folder_with_an_adapter_is_none_with_a_model(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="holds an adapter: pass PeftModel"):
        look(tmp_path, TOKENIZER, TEXT)


def test_a_processor_has_a_tokenizer():
    processor = SimpleNamespace(tokenizer=TOKENIZER)
    page = make_look(tiny("Llama"), processor, TEXT, names=False).page
    assert data_of(page)["tokens"] == TEXT.split()


SMALL = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
SMALL |= {"intermediate_size": 16}
XLNET = {"vocab_size": 50, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 16}


def own_class(name, **sizes):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**sizes)
    return getattr(transformers, f"{name}Model")(config)


@pytest.mark.rotating(2)
@pytest.mark.parametrize(
    ("name", "sizes"), [("DebertaV2", SMALL), ("MPNet", SMALL), ("Luke", SMALL), ("XLNet", XLNET)]
)
def test_a_class_that_attends_by_itself_is_shown_with_its_own_weights(name, sizes):
    model = own_class(name, **sizes).train()
    before = state_of(model)
    picture = make_look(model, TOKENIZER, TEXT)
    assert state_of(model) == before
    with torch.no_grad():
        expected = model.eval()(ids_of(TEXT), output_attentions=True).attentions
    data = data_of(picture.page)
    assert picture.summary == f"{name}Model, its own attention: 4 heads on 11 tokens"
    assert data["roles"] == []
    assert data["unnamed"].startswith("These are the weights of the model's own attention.")
    assert_drawn(data, torch.cat(expected))


@pytest.mark.rotating(3)
@pytest.mark.parametrize(
    ("name", "sizes"), [("Longformer", SMALL), ("BigBird", SMALL), ("LED", {"vocab_size": 50})]
)
def test_or_refused_by_name_where_its_weights_are_no_square(name, sizes):
    model = own_class(name, **sizes)
    kind = getattr(model.config, "attention_type", None)
    with pytest.raises(RefusedModelError, match=f"{name}Model computes attention in its own"):
        make_look(model, TOKENIZER, TEXT)
    assert getattr(model.config, "attention_type", None) == kind


def test_of_an_encoder_and_a_decoder_it_is_the_encoder():
    """Its heads cannot be measured: they are shown with the reason."""
    data = data_of(make_look(tiny("BART"), TOKENIZER, TEXT).page)
    sizes = FAMILIES["BART"][2]
    assert [one["heads"] for one in data["layers"]] == (
        [sizes["encoder_attention_heads"]] * sizes["encoder_layers"]
    )
    assert (data["kind"], data["roles"]) == ("encoder", [])
    assert "has an encoder and a decoder" in data["unnamed"]


def count_tags(page):
    return Counter(re.findall(r"<([a-z]+)", page, re.IGNORECASE))


def test_text_of_a_user_is_never_html():
    words = HOSTILE.split()
    shown = make_look(tiny("Llama"), tokenizer_of(words), HOSTILE, names=False)
    harmless = make_look(tiny("Llama"), TOKENIZER, TEXT, names=False)
    assert data_of(shown.page)["tokens"] == words
    assert count_tags(shown.page) == count_tags(harmless.page)
    assert count_tags(shown.page)["script"] == 2
    frame = shown._repr_html_()
    assert count_tags(frame) == {"div": 2, "img": 1, "iframe": 1}
    [inside] = re.findall(r'srcdoc="(.*)"></iframe></div></div>$', frame, re.DOTALL)
    assert unescape(inside) == shown.page
    assert frame.isascii()
    assert 'sandbox="allow-scripts"' in frame
    model = tiny("Llama")
    model.config._name_or_path = "/home/jo/<script>hacked()</script>"
    page = make_look(model, TOKENIZER, TEXT, names=False).page
    assert count_tags(page)["script"] == 2
    assert "/home/jo" not in page, "where somebody's files are is nobody's business"


def test_it_says_how_large_it_is_and_the_report_is_the_same_page(capsys, tmp_path):
    from explainers import look

    shown = look(tiny("Llama"), TOKENIZER, TEXT, names=False)
    told = capsys.readouterr().out
    assert told == f"LlamaForCausalLM: 18 heads on 11 tokens, {shown.num_bytes / 1e6:.1f} MB\n"
    assert shown.num_bytes == len(shown._repr_html_())
    file = report(tiny("Llama"), TOKENIZER, TEXT, tmp_path / "heads.html", names=False)
    assert file.read_text(encoding="utf-8") == shown.page


@pytest.mark.nightly("a real model reads 256 tokens; what a byte is, small models tell daily")
def test_all_heads_of_smollm2_on_256_tokens_are_below_six_and_a_half_megabytes(smollm2):
    text = (TEXTS / "passages.txt").read_text(encoding="utf-8")
    ids = smollm2.tokenizer(text)["input_ids"][:MOST_IN_FULL]
    shown = make_look(smollm2.model, smollm2.tokenizer, smollm2.tokenizer.decode(ids), names=False)
    assert data_of(shown.page)["side"] == MOST_IN_FULL
    assert shown.num_bytes <= 6_500_000


def test_names_are_roles_with_their_level_of_chance():
    shipped = read_shipped_scores("HuggingFaceTB/SmolLM2-135M-Instruct")
    assert shipped
    place = "repeated", "induction"
    measured, chance = shipped.scores.select(*place), shipped.scores.find_chance_score(*place)
    roles = {role["name"]: role for role in name_heads(shipped.scores)}
    induction = roles["induction"]
    layer, head, score = induction["heads"][0]
    assert divmod(int(measured.argmax()), measured.shape[1]) == (layer, head)
    assert score == pytest.approx(float(measured.max()), abs=1e-4)
    assert induction["chance"] == pytest.approx(chance, abs=1e-4)
    above = measured > max(induction["threshold"], chance)
    assert len(induction["heads"]) == int(above.sum()) > 0
    assert set(roles) <= set(MEANINGS)
