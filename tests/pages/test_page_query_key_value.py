"""The page on queries, keys and values: its picture's numbers, its questions, its cards."""

import pytest
import torch

from explainers.attention.single_head import single_head
from explainers.chapters.common.one_head import attend
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.query_key_value import query_key_roles
from explainers.chapters.query_key_value.hero import LEARNED, compute_numbers, make_layers
from explainers.toys.readable_head import FILM_SEED, film_of, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.page_parts.check_yourself import seed_recall

TOKENS = tuple(SENTENCE.split())
READING = Reading(TOKENS, None, True)


@pytest.mark.parametrize("learned", LEARNED)
def test_the_picture_has_the_numbers_that_torch_computes(learned):
    shown = compute_numbers(make_layers(READING))["heads"][learned]
    x, matrices = torch.tensor(shown["x"]), shown["matrices"]
    for name in ("query", "key", "value"):
        made = x @ torch.tensor(matrices[name])
        torch.testing.assert_close(made, torch.tensor(shown[name]), atol=5e-3, rtol=1e-3)
    scores = torch.tensor(shown["query"]) @ torch.tensor(shown["key"]).T / 2
    torch.testing.assert_close(scores, torch.tensor(shown["scores"]), atol=5e-3, rtol=1e-3)
    weights = single_head(*make_layers(READING)[learned].single()).weights
    torch.testing.assert_close(torch.tensor(shown["weights"]), weights, atol=5e-5, rtol=0)


def test_trained_is_the_end_of_the_training_and_untrained_its_beginning():
    layers, film = make_layers(READING), film_of(TOKENS, "full")
    for learned, stage in LEARNED.items():
        weights = attend(layers[learned])[1].weights
        torch.testing.assert_close(weights, film.weights[stage])
    shipped = load_readable_layer(TOKENS, "full", FILM_SEED)
    assert torch.equal(layers["trained"].x, shipped.x)


def test_the_questions_at_the_end():
    for seed in range(20):
        shape = query_key_roles.recall_query_numbers(seed_recall("page", "shape", seed))
        words, d_model, d_k = (int(shape.given[name]) for name in ("words", "d_model", "d_k"))
        query = torch.zeros(words, d_model) @ torch.zeros(d_model, d_k)
        assert shape.answer == query.numel()
        assert shape.answer not in (words, d_model, d_k)
        growing = query_key_roles.recall_growing_matrix(seed_recall("page", "growing", seed))
        assert growing.answer in growing.options
