"""Nothing was lost when the published configurations and figures were put in our own words."""

import json
from pathlib import Path
from typing import Any

import pytest

from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.published_figures import read_figures
from explainers.memory.serving import read_gpus

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
ORIGINALS = [SHARED / "model_configs.json", SHARED / "cache_reference_figures.json"]
with_originals = pytest.mark.skipif(
    not all(path.exists() for path in ORIGINALS), reason="the originals are not beside this folder"
)
MODEL_WORDS = {
    "kind": "architecture", "n_layers": "layers", "n_encoder_layers": "encoder_layers",
    "n_query_heads": "num_heads", "n_kv_heads": "num_kv_heads", "max_context": "context",
    "sliding_window": "window", "layer_pattern": "pattern", "global_layer_indices": "full_layers",
    "kv_lora_rank": "latent_dim", "q_lora_rank": "query_latent_dim", "vocab_size": "vocabulary",
    "qk_rope_head_dim": "rope_dim", "qk_nope_head_dim": "nope_dim", "v_head_dim": "value_dim",
    "n_params_exact": "parameters", "n_params": "parameters_stated", "rope_theta": "rope_base",
    "n_params_active": "active_parameters_stated", "source": "sources",
}  # fmt: skip
GROUP_WORDS = {
    "n_kv_heads": "num_kv_heads", "kv_lora_rank": "latent_dim", "qk_rope_head_dim": "rope_dim",
    "bytes_per_token_fp8": "token_bytes", "state": "state_note",
}  # fmt: skip
KINDS = {"mla": "latent", "indexer_keys": "index"}
COUNTED = {"n_global_layers", "n_local_layers", "n_linear_layers"}
ELEMENTS = "kv_elements_per_token_if_all_layers_full"
LEARNED_SINCE = {"deepseek-v4-flash", "kimi-linear-48b-a3b"}
"""Models of which more was published after the originals were written."""
FIGURE_WORDS = {
    "kind": "about", "T": "tokens", "expected_value": "published", "unit_that_fits": "unit_meant",
    "computed_base_units": "computed", "usable_as_test": "testable",
}  # fmt: skip


def ours(file):
    return json.loads((ROOT / "assets" / file).read_text(encoding="utf-8"))


def originals(path):
    return json.loads(path.read_text(encoding="utf-8"))


@with_originals
def test_every_field_of_every_configuration_is_there_or_follows_from_the_groups():
    published, kept = originals(ORIGINALS[0]), ours("models.json")
    assert [entry["id"] for entry in kept][: len(published)] == [e["id"] for e in published]
    for old, new in zip(published, kept, strict=False):
        if old["id"] in LEARNED_SINCE:
            continue
        for field, value in old.items():
            if field == "cache_groups":
                check_groups(value, new.get("groups"))
            elif field not in {*COUNTED, ELEMENTS}:
                assert new.get(MODEL_WORDS.get(field, field)) == spell(value), (old["id"], field)
        check_counted(old, find_shape(old["id"]))


def spell(value):
    """As the app writes a percentage: with a space that does not break."""
    return value.replace("% ", "\xa0% ") if isinstance(value, str) else value


def check_groups(old, new):
    assert (old is None) == (new is None)
    for group, kept in zip(old or [], new or [], strict=True):
        for field, value in group.items():
            if field == "kind":
                assert kept["kind"] == KINDS.get(value, value)
            elif field == "state_elements":
                state = {part["name"]: part["elements"] for part in kept.get("state", [])}
                assert state == (value or {})
            elif (group["kind"], field) == ("indexer_keys", "n_kv_heads"):
                assert value == 1  # an index has one key for all heads: the kind says so
            else:
                assert kept.get(GROUP_WORDS.get(field, field)) == value


def check_counted(old, shape):
    """What is not copied."""
    elements = [
        group.count * sum(heads * head_dim for heads, head_dim in group.vectors)
        for group in shape.require_groups()
        if group.kind != "cross"
    ]
    assert sum(elements) == old[ELEMENTS], old["id"]
    if old["n_global_layers"] is not None:
        assert counted(shape, "full", "latent") == old["n_global_layers"], old["id"]
        assert counted(shape, "sliding", "chunked") == old["n_local_layers"], old["id"]
        assert counted(shape, "recurrent") == old["n_linear_layers"], old["id"]


def counted(shape, *kinds):
    return sum(group.count for group in shape.groups if group.kind in kinds)


@with_originals
def test_every_field_of_every_figure_is_there():
    published, kept = originals(ORIGINALS[1]), ours("figures.json")["figures"]
    assert [entry["id"] for entry in kept][: len(published)] == [e["id"] for e in published]
    for old, new in zip(published, kept, strict=False):
        for field, value in old.items():
            if field == "source":  # without notes on where a log was looked up
                assert new["source"][:7] in (value[:7], "vLLM log"[:7]), old["id"]
            elif field not in {"computed_value", "published_over_computed"}:
                assert new.get(FIGURE_WORDS.get(field, field)) == (value or new_empty(value))


def new_empty(value):
    """Empty texts are not written down; false and 0 are."""
    return None if value == "" else value


def test_a_state_kept_in_float32_says_so():
    state = {part.name: part for part in find_shape("qwen3-next-80b-a3b").require_groups()[1].state}
    assert state["recurrent"].dtype == "float32"
    assert state["conv"].dtype == "bfloat16"


@pytest.mark.parametrize(
    ("model", "parameters", "exact"),
    [
        ("llama-3-8b", 8_030_261_248, True),
        ("mixtral-8x7b", 46_700_000_000, False),
        ("kimi-k2", 1_000_000_000_000, False),
        ("glm-5", None, False),
    ],
)
def test_stated_numbers_of_parameters_are_read_exactly(model, parameters, exact):
    shape = find_shape(model)
    assert (shape.parameters, shape.has_exact_parameters) == (parameters, exact)


def test_everything_published_has_a_source():
    assert len(list_model_ids()) == 83
    shapes = [find_shape(model) for model in list_model_ids()]
    assert all(shape.sources and shape.verified for shape in shapes)
    assert all(figure.source for figure in read_figures().values())
    assert all(gpu.sources for gpu in read_gpus().values())


def test_an_unknown_model_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no model 'llama-9'.*llama-3-8b"):
        find_shape("llama-9")
    nothing: Any = ["gpt2"]
    with pytest.raises(ValueError, match=r"no model \['gpt2'\]"):
        find_shape(nothing)
