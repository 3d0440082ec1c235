"""Seeded tensors: the same words and numbers give the same rows, whoever asks, and when."""

import pytest
import torch

from explainers import device
from explainers.toys import examples

BANK = ("the", "bank", "raised", "the", "rate")


def test_the_same_word_has_the_same_row_wherever_it_stands():
    rows = examples.draw_embeddings(BANK, 8, seed=3)
    assert rows.shape == (5, 8)
    assert torch.equal(rows[0], rows[3])
    assert len({tuple(row) for row in rows.tolist()}) == 4
    assert torch.equal(rows[1], examples.draw_embeddings(("bank", "holiday"), 8, seed=3)[0])
    composed, apart, capital = examples.draw_embeddings(
        ("\u1ec7", "e\u0323\u0302", "\u1ec6"), 8, seed=3
    )
    assert not any(torch.equal(composed, other) for other in (apart, capital))


def test_torchs_own_generator_is_neither_asked_nor_moved():
    torch.manual_seed(1)
    before, first = torch.get_rng_state(), examples.draw_embeddings(BANK, 8, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    head, second = examples.random_head(8, 6, 4, seed=3), examples.draw_embeddings(BANK, 8, seed=3)
    assert torch.equal(first, second)
    assert torch.equal(head.w_value, examples.random_head(8, 6, 4, seed=3).w_value)


def test_seeds_are_told_apart():
    names = [("token", 1, "a"), ("token", 11, "a"), ("token", 1, "1a"), ("a", 1, "token")]
    assert len({examples.make_generator(*name).initial_seed() for name in names}) == len(names)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_the_fastest_device_is_taken(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "a card")
    best = device.choose_device()
    assert best.type == expected
    assert device.describe_device(best) == ("cuda (a card)" if expected == "cuda" else expected)


def test_a_random_layer_makes_numbers_of_variance_one():
    layer = examples.random_heads(96, 40, 20, 20, seed=3)
    device = layer.w_query.device
    x = torch.randn(60, 96, generator=examples.make_generator("x")).to(device)
    heads = torch.randn(60, 800, generator=examples.make_generator("heads")).to(device)
    made = [x @ layer.w_query, x @ layer.w_key, x @ layer.w_value, heads @ layer.w_output]
    latent = examples.random_latent(
        d_model=96, num_heads=30, head_dim=20, latent_dim=400, rope_dim=600, seed=3
    )
    made += [x @ latent.w_query, x @ latent.w_down, x @ latent.w_rotary_key]
    made += [heads[:, :400] @ latent.w_up_key]
    assert [each.var().item() for each in made] == pytest.approx([1] * 8, rel=0.1)
