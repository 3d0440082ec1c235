"""*Choosing what to read*: five keys, orders, weights and losses, the cards, the training."""

import re

from explainers.chapters.choosing import cards
from explainers.chapters.choosing.hero import LOOKS, compute_numbers, make_indexer_job
from explainers.models.indexers import KEPT, PROSE, STEPS, read_indexers
from explainers.ui.text.numbers import A_LITTLE_WORSE, MUCH_WORSE, NO_WORSE, judge_rise
from tests.support.opening import PAGES, ROOT, opened
from tests.support.reading import hero, said

PAGE = next(page for page in PAGES if page.stem == "13_choosing")
SHIPPED = read_indexers()
PASSAGE = SHIPPED.passages[PROSE]


def test_a_rise_of_the_loss_is_called_by_its_size():
    rises = -1, 0.0099, 0.01, 0.2499, 0.25
    words = NO_WORSE, NO_WORSE, A_LITTLE_WORSE, A_LITTLE_WORSE, MUCH_WORSE
    assert tuple(map(judge_rise, rises)) == words


def test_streaming_llm_renumbers_so_no_column_has_its_name():
    for file in (ROOT / "assets" / "text" / "en").glob("*.md"):
        for named in re.findall("StreamingLLM.{0,200}", file.read_text("utf-8"), re.DOTALL):
            assert "Xiao et al. 2023" in named, file.name
            assert "positions" in named or "anew" in named, file.name


def test_h2o_is_called_better_only_where_it_is():
    first = PASSAGE.losses["first"]
    for wins in (0, 3, len(KEPT)):
        shifts = [-0.011] * wins + [-0.009] * (len(KEPT) - wins)
        losses = {f"{kept}": one + by for kept, one, by in zip(KEPT, first, shifts, strict=True)}
        assert cards.count_h2o_wins(SHIPPED._replace(numbers={"evicted": losses})) == wins


def test_training_walks_from_a_drawn_indexer_to_one_that_finds_the_keys(smollm2):
    job = make_indexer_job(PROSE, PASSAGE)
    assert job.run() == "done"
    assert [one.step for one in job.reports] == [*LOOKS, STEPS]
    assert job.total == len(job.reports)
    assert job.reports[-1].divergence < job.reports[0].divergence / 2
    sent = compute_numbers(PASSAGE, PASSAGE.query, job.reports)
    kept = [sum(sent["weights"][key] for key in one["order"][:64]) for one in sent["frames"]]
    assert kept[0] < 0.5 < kept[-1]


def test_a_machine_without_the_model_says_how_to_get_it(no_models):
    visit = opened(PAGE)
    assert "python -m explainers.models fetch" in said(visit)
    assert hero(visit)["tokens"]
    assert not visit.exception
