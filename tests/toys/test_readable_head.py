"""The small trained head whose numbers can be read: its training, its report, and its film."""

from dataclasses import asdict

import pytest
import torch

from explainers import kept
from explainers.attention import masks
from explainers.attention.single_head import single_head
from explainers.toys import layers
from explainers.toys.grammar import ENGLISH, GRAMMARS
from explainers.toys.training import draw_pool, run_heads
from workshop.toys import readable_training
from workshop.toys.readable_training import (
    MEASURED,
    STAGES,
    make_readable_task,
    measure_readable_head,
    read_readable_rows,
    train_readable_head,
)

RUNNING, WORDS = ENGLISH.running.tokens, ENGLISH.words
ALL_RULES = ("full", "causal", "window of 3", "prefix of 3", "chunk of 3")
each_language = pytest.mark.parametrize("language", GRAMMARS)
each_seed = pytest.mark.parametrize("seed", layers.READABLE_SEEDS)


@each_language
def test_a_few_batches_give_the_shipped_numbers_again(language):
    """Every stage up to the fourth; another processor may add in another order."""
    again = train_readable_head(0, STAGES[:4], language)
    _, shipped = layers.read_tensors(list(again), layers.name_weights("readable", language))
    for name, tensor in again.items():
        torch.testing.assert_close(tensor, shipped[name][:4], rtol=1e-3, atol=1e-4, msg=name)


@pytest.mark.rotating(3)
@each_language
@each_seed
def test_the_report_is_what_the_shipped_head_does(seed, language):
    allowed = kept.read(layers.name_weights("readable", language)).tolerance[MEASURED]
    row = read_readable_rows(language)[layers.READABLE_SEEDS.index(seed)]
    assert asdict(measure_readable_head(seed, language)) == pytest.approx(asdict(row), abs=allowed)
    assert row.seed == seed
    assert row.verbs_two_largest > {"en": 0.9, "vi": 0.8}[language]
    assert row.tokens_largest > 0.95
    assert row.time_to_verb > {"en": 0.9, "vi": 0.89}[language]
    running = GRAMMARS[language].running
    layer = layers.load_readable_layer(running.tokens, "full", seed)
    assert not layer.unknown
    weights = single_head(*layer.single()).weights
    assert set(weights[running.verb].topk(2).indices.tolist()) == running.related[running.verb]
    assert weights[6].argmax() == running.verb


def test_any_mask_may_hide_what_it_learned_to_read():
    for rule in ALL_RULES:
        layer = layers.load_readable_layer(RUNNING, rule, 0)
        assert torch.equal(layer.mask.cpu(), masks.build(masks.RULES[rule], 7, 7))
        attended = single_head(*layer.single())
        many = run_heads(layer.x, layer.heads, layer.mask)
        torch.testing.assert_close(attended.weights, many.weights[0])
        torch.testing.assert_close(attended.output, many.output[:, :4])
        assert not many.output[:, 4:].any()
    with pytest.raises(ValueError, match="seed 5: trained are 0, 1, 2, 3, 4"):
        layers.load_readable_layer(RUNNING, "full", 5)


@pytest.mark.parametrize(
    ("tokens", "rule"), [(RUNNING, "full"), (("Two", "zebra", "CEO"), "causal")]
)
def test_every_frame_of_the_film_is_the_head_at_that_stage(tokens, rule):
    film, task = layers.film_of(tokens, rule), make_readable_task(draw_pool(True, "en"))
    assert film.batches == STAGES
    assert film.weights.shape == (40, len(tokens), len(tokens))
    assert film.losses[0] > 3 * film.losses[-1]
    end = single_head(*layers.load_readable_layer(tokens, rule, 0).single()).weights
    torch.testing.assert_close(film.weights[-1], end)
    names = [layers.name_readable_part(0, part) for part in layers.READABLE_PARTS]
    words, tensors = layers.read_tensors(names, layers.name_weights("readable", "en"))
    for stage in (0, 17):
        parts = (part[stage].float() for part in tensors.values())
        learned = layers.ReadableHead.from_parts(words, parts)
        x, _ = learned.read_words(tokens)
        mask = masks.build(masks.RULES[rule], len(tokens), len(tokens))
        alone = single_head(x, learned.head, mask).weights
        torch.testing.assert_close(film.weights[stage].cpu(), alone, atol=1e-5, rtol=1e-4)
        loss = readable_training.compute_readable_loss(learned, task).item()
        assert loss == pytest.approx(film.losses[stage], abs=1e-3)
