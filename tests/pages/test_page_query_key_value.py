"""The page on queries, keys and values: its picture's numbers, its questions, its cards."""

import torch

from explainers.chapters.query_key_value import query_key_roles
from explainers.ui.page_parts.check_yourself import seed_recall


def test_the_questions_at_the_end():
    for seed in range(20):
        shape = query_key_roles.recall_query_numbers(seed_recall("page", "shape", seed))
        words, d_model, d_k = (int(shape.given[name]) for name in ("words", "d_model", "d_k"))
        query = torch.zeros(words, d_model) @ torch.zeros(d_model, d_k)
        assert shape.answer == query.numel()
        assert shape.answer not in (words, d_model, d_k)
        growing = query_key_roles.recall_growing_matrix(seed_recall("page", "growing", seed))
        assert growing.answer in growing.options
