"""Would the tests notice? Break the code on purpose, run one of them, and it must fail."""

import inspect
from functools import partial

import pytest
import test_attention
import test_masks
import test_positions
import test_scaling
import test_shapes
import test_single_head
import test_tokens
from torch import float32

from explainers import tokens
from explainers.attention import masks, positions, scaled_dot_product, scaling, single_head, steps
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import attention_steps

AGREES = test_attention.test_agrees_with_torch_under_every_rule
WHOLE = partial(AGREES, "causal", float32, attention)
STEPS = partial(AGREES, "causal", float32, attention_steps)
HUGE = partial(test_attention.test_huge_scores_do_not_overflow, float32, attention_steps)
COMMENTS = partial(test_shapes.test_comments_are_true, attention, ())
DRAWS = partial(test_shapes.test_comments_are_true, scaling.random_scores, ())
WINDOW = test_masks.test_a_window_as_long_as_the_text_is_causal
PREFIX = partial(test_masks.test_rules_in_pictures, "prefix of 3")
DECODING = partial(test_masks.test_while_decoding_the_queries_are_the_last_positions, "causal")
HEAD = test_single_head.test_agrees_with_torch
JACOBIAN = test_scaling.test_gradient_size_is_the_norm_of_torchs_jacobian
FORMULA = partial(test_positions.test_the_papers_formula, 100.0, 8)
COUNTED = test_tokens.test_each_merge_is_the_most_frequent_pair

# Where KV heads are shared, `repeat` for `repeat_interleave` belongs here; no code does so yet.
FAULTS = [
    (scaled_dot_product, "softmax(dim=-1)", "softmax(dim=-2)", WHOLE),
    (scaled_dot_product, " / math.sqrt(head_dim)", "", WHOLE),
    (scaled_dot_product, "~mask", "mask", WHOLE),
    (scaled_dot_product, "# (..., q_len, value_dim)", "# (..., q_len, head_dim)", COMMENTS),
    (steps, "powers.sum(dim=-1,", "powers.sum(dim=-2,", STEPS),
    (steps, "allowed - largest", "allowed", HUGE),
    (masks, "> query_pos - width", ">= query_pos - width", WINDOW),
    (masks, "key_pos <= query_pos", "key_pos < query_pos", PREFIX),
    (masks, "arange(kv_len - q_len, kv_len)", "arange(q_len)", DECODING),
    (single_head, "x @ head.w_key", "x @ head.w_query", HEAD),
    (scaling, "diag_embed(weights) - outer", "diag_embed(weights) + outer", JACOBIAN),
    (scaling, "# (draws, 1, head_dim)", "# (draws, head_dim)", DRAWS),
    (positions, "column % 2 == 0", "column % 2 == 1", FORMULA),
    (tokens, "words = recounted", "pass", COUNTED),
]


@pytest.mark.parametrize(
    ("module", "old", "new", "test"), FAULTS, ids=[f"{old} → {new}" for _, old, new, _ in FAULTS]
)
def test_a_fault_is_noticed(module, old, new, test, tmp_path, monkeypatch):
    test()
    put_in(module, old, new, tmp_path, monkeypatch)
    with pytest.raises(AssertionError):
        test()


def put_in(module, old, new, folder, monkeypatch):
    """Give every function of the module the code that the changed text compiles to."""
    text = inspect.getsource(module)
    assert text.count(old) == 1, f"{text.count(old)} places read {old!r}"
    changed = folder / "changed.py"  # a file, so that its comments can be read as well
    changed.write_text(text.replace(old, new), encoding="utf-8")
    namespace = {"__name__": module.__name__}
    exec(compile(changed.read_bytes(), changed, "exec"), namespace)
    for name, thing in vars(module).items():
        function = inspect.unwrap(thing) if callable(thing) else None  # a rule wraps a function
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            monkeypatch.setattr(function, "__code__", inspect.unwrap(namespace[name]).__code__)
