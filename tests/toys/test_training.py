"""The task that toy weights are trained on, the training, also where it is watched, its weights."""

import statistics
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given as for_any
from hypothesis import strategies as st
from safetensors import safe_open

from explainers import kept
from explainers.attention import masks
from explainers.folders import ASSETS
from explainers.job_queue import Job
from explainers.toys import layers
from explainers.toys.grammar import (
    ENGLISH,
    GRAMMARS,
    NUM_WORDS,
    VIETNAMESE,
    find_language,
    split_list,
)
from explainers.toys.idle_head import IDLE_HEADS
from explainers.toys.layers import PART_NAMES, SEEDS, Configuration, list_configurations, load_heads
from explainers.toys.training import (
    MAX_NEWS_TOKENS,
    NUM_CHOICES,
    Training,
    TrainingRequest,
    attend,
    compute_mean_loss,
    draw_news,
    draw_pool,
    encode_news,
    is_held_out,
    list_losses,
    list_parts,
    list_snapshots,
    make_targets,
    make_task,
    make_training_job,
    measure_heads,
    read_report,
    train_in_steps,
)
from tests.support.waiting import over
from workshop import keep
from workshop.toys import train_heads, weight_check
from workshop.toys.measure_longer_texts import format_longer_section
from workshop.toys.measure_memories import format_results_section
from workshop.toys.readable_training import format_readable_section
from workshop.toys.rotary_training import format_rotary_section
from workshop.toys.tolerance import find_mean_difference, format_tolerances, read_tolerance

MANY = Configuration(4, 4, 16, "full")
SMALL = Configuration(2, 1, 4, "causal")
SENTENCE = ("The", "CEO", "announced", "record", "earnings", "on", "Friday")
numbers = st.lists(st.integers(0, 2**31), min_size=NUM_CHOICES, max_size=NUM_CHOICES)
each_language = pytest.mark.parametrize("language", GRAMMARS)


def seeded(seed=3):
    return torch.Generator().manual_seed(seed)


@each_language
@for_any(numbers)
def test_relations_are_mutual_but_for_the_time(language, choices):
    grammar = GRAMMARS[language]
    one = grammar.write_news(choices)
    assert 5 <= len(one.tokens) <= MAX_NEWS_TOKENS
    assert one.tokens[0][0].isupper()
    assert len({token.casefold() for token in one.tokens}) == len(one.tokens)
    for place, others in enumerate(one.related):
        assert others
        assert place not in others
    pairs = {(i, j) for i, others in enumerate(one.related) for j in others}
    alone = {one.tokens[i].casefold() for i, j in pairs if (j, i) not in pairs}
    times = [*grammar.list_words("preposition"), *grammar.list_words("time")]
    assert alone <= {word.casefold() for word in times}
    for place, part in {one.verb: "verb", min(one.related[one.verb]): "subject"}.items():
        words = (grammar.list_words(part, topic) for topic in range(len(grammar.topics)))
        assert one.tokens[place] in {word for listed in words for word in listed}


def test_the_relations_of_the_running_sentences():
    """What a thing is like stands after it in Vietnamese."""
    english = "CEO | The announced | CEO earnings | earnings | announced record | announced Friday"
    vietnamese = "CEO | Vị công_bố | CEO lợi_nhuận | công_bố kỷ_lục | lợi_nhuận | công_bố thứ_Sáu"
    told = {ENGLISH: f"{english} | announced on", VIETNAMESE: f"{vietnamese} | công_bố vào"}
    assert ENGLISH.running.tokens == SENTENCE
    for grammar, by_hand in told.items():
        tokens = grammar.running.tokens
        named = [{tokens[j].replace(" ", "_") for j in js} for js in grammar.running.related]
        assert named == [set(one.split()) for one in by_hand.split(" | ")]
        assert grammar.running.verb == 2


def test_the_language_is_that_of_most_known_words():
    assert find_language(("CEO", "announced"), "vi") == "en"
    assert find_language(("CEO", "công bố"), "en") == "vi"
    assert find_language(("zebra",), "vi") == "vi"
    assert find_language(("zebra",), "fr") == "en"


@each_language
@for_any(numbers, st.sampled_from(layers.MASK_NAMES))
def test_only_what_the_mask_shows_is_asked_for(language, choices, rule):
    words, word_ids = GRAMMARS[language].words, GRAMMARS[language].word_ids
    one = GRAMMARS[language].write_news(choices)
    wanted = make_targets(encode_news(language, [one]), rule)[0]
    for i in range(len(one.tokens)):
        named = {(side, words[n]) for side in (0, 1) for n in wanted[i].view(2, -1)[side].nonzero()}
        visible = {
            (int(j > i), words[word_ids[one.tokens[j].casefold()]])
            for j in one.related[i]
            if masks.RULES[rule](torch.tensor(i), torch.tensor(j))
        }
        assert named == visible
    assert not wanted[len(one.tokens) :].any(), "filling is asked for nothing"


@each_language
def test_no_held_out_sentence_is_ever_trained_on(language):
    running = GRAMMARS[language].running.tokens
    found = draw_news(language, 2_000, False, seeded())
    assert not any(is_held_out(one.tokens) for one in found)
    assert running not in {one.tokens for one in found}
    assert is_held_out(running)
    tested = draw_news(language, 100, True, seeded())
    assert all(is_held_out(one.tokens) for one in tested)


@pytest.mark.parametrize("rule", layers.MASK_NAMES)
def test_filling_changes_nothing(rule):
    short, longer = (ENGLISH.write_news(form + [0] * 9) for form in ([1, 1, 0], [1, 0, 1]))
    assert len(short.tokens) < len(longer.tokens) == MAX_NEWS_TOKENS
    known = learned_now(SMALL._replace(rule=rule))
    losses = [
        compute_mean_loss(known, make_task(encode_news("en", some), rule))
        for some in ([short], [longer])
    ]
    sizes = [len(short.tokens), len(longer.tokens)]
    both = compute_mean_loss(known, make_task(encode_news("en", [short, longer]), rule))
    mean = (torch.stack(losses) @ torch.tensor(sizes).float()) / sum(sizes)
    assert both.item() == pytest.approx(mean.item(), rel=1e-5)


def learned_now(configuration, steps=0, seed=0):
    training = Training(configuration, [seed])
    for _ in range(steps):
        training.step()
    return training.export_heads(0)


def test_training_again_gives_the_same_and_more_of_it_begins_with_what_is_known():
    first, again = (list_parts(learned_now(SMALL, steps=5)) for _ in range(2))
    assert all(map(torch.equal, first, again))
    other = list_parts(learned_now(SMALL, steps=5, seed=1))
    assert not any(map(torch.equal, first[:-1], other[:-1]))
    known = learned_now(SMALL, steps=5)
    more = Training(SMALL, [0], [known])
    assert all(map(torch.equal, list_parts(more.export_heads(0)), first))
    losses = [more.step()[0] for _ in range(60)]
    assert statistics.mean(losses[-5:]) < 0.7 * statistics.mean(losses[:5])
    assert torch.equal(known.embedding, first[0])


def test_seeds_side_by_side_learn_as_if_alone():
    together = Training(SMALL, [0, 3])
    for _ in range(3):
        together.step()
    for place, seed in enumerate([0, 3]):
        alone = list_parts(learned_now(SMALL, 3, seed))
        for part, other in zip(list_parts(together.export_heads(place)), alone, strict=True):
            torch.testing.assert_close(part, other, atol=1e-4, rtol=1e-3)
    known = learned_now(SMALL)
    losses = Training(SMALL, [0, 1], [known, known]).step()
    assert losses[0] != losses[1], "each seed has its own batches"


@each_language
def test_what_is_shipped_is_whole_and_one_head_cannot_keep_who_and_whom_apart(language):
    """It hands over an average, whatever its d_k; four heads hand over two things."""
    shipped = ASSETS / f"{layers.name_weights('relations', language)}.safetensors"
    assert shipped.stat().st_size < 5_000_000
    assert len(GRAMMARS[language].words) == NUM_WORDS <= 80, "a reader can survey them"
    report = read_report(language)
    assert list(report) == list_configurations()
    each = product(report, SEEDS, PART_NAMES)
    with safe_open(shipped, framework="pt") as file:
        assert set(file.keys()) == {layers.name_part(*one) for one in each}
        assert split_list(file.metadata()["words"]) == list(GRAMMARS[language].words)
    most = {"en": 0.5, "vi": 0.6}[language]  # more Vietnamese nouns do something, or have it done
    for head_dim in layers.HEAD_DIMS:
        one, four = report[Configuration(1, 1, head_dim, "full")], report[MANY]
        assert min(one.verb_loss) > 1 > 10 * max(four.verb_loss)
        assert max(one.verb_accuracy) < most < 0.95 < min(four.verb_accuracy)


@pytest.mark.rotating(2)
@pytest.mark.parametrize("configuration", [MANY, Configuration(8, 2, 8, "causal")], ids=str)
@each_language
def test_the_report_is_what_the_shipped_weights_do(language, configuration):
    again = measure_heads(
        configuration, [load_heads(configuration, seed, language) for seed in SEEDS]
    )
    reported = read_report(language)[configuration]
    for name in ("loss", "accuracy", "verb_loss", "verb_accuracy"):
        kept = getattr(reported, name)[: len(SEEDS)]
        assert getattr(again, name) == pytest.approx(kept, abs=2e-3), name
    assert again.found == (reported.found and reported.found[: len(SEEDS)])


def test_accuracy_is_that_of_the_tokens_that_are_asked_for_something():
    """Half-trained heads: by naming nothing they are right where nothing is asked."""
    configuration = Configuration(1, 1, 8, "causal")
    known = load_heads(configuration, 0, "en")
    task = make_task(draw_pool(True, "en"), "causal")
    answers = known.score_words(attend(known, task.words, task.mask).output) > 0
    hits, silent = [], 0
    for said, wanted, length in zip(answers, task.targets.bool(), task.lengths, strict=True):
        for token in range(length):
            if wanted[token].any():
                hits.append(torch.equal(said[token], wanted[token]))
            else:
                silent += 1
    assert silent >= len(task.words), "the first word of every sentence"
    [accuracy] = measure_heads(configuration, [known]).accuracy
    assert accuracy == pytest.approx(statistics.mean(hits), abs=1e-4)
    assert 0.1 < accuracy < 0.9


def test_the_weights_can_be_made_again(monkeypatch, tmp_path):
    """The whole way with a few steps: shipped halves and a row of the report."""
    report = train_heads.format_report() + format_readable_section() + format_rotary_section()
    report += format_results_section() + format_longer_section() + format_tolerances()
    assert train_heads.MARKDOWN_REPORT.read_text(encoding="utf-8") == report
    monkeypatch.setattr(train_heads, "MEASURED_SEEDS", 2)
    shipped, row = train_heads.train_configuration(SMALL, steps=3)
    assert {tensor.dtype for tensor in shipped.values()} == {torch.float16}
    assert set(shipped) == {layers.name_part(SMALL, s, part) for s in SEEDS for part in PART_NAMES}
    assert row.configuration == SMALL
    assert len(row.loss) == 2
    again, _ = train_heads.train_configuration(SMALL, steps=3)
    assert all(torch.equal(again[name], tensor) for name, tensor in shipped.items())
    for module in (keep, kept):
        monkeypatch.setattr(module, "ASSETS", tmp_path)
    kept.read.cache_clear()
    try:
        train_heads.keep_rows("en", "made by a test", [row])
        assert read_report("en") == {SMALL: row}
        assert kept.read(layers.name_weights("relations", "en")).origin == "made by a test"
    finally:
        kept.read.cache_clear()
        read_report.cache_clear()


@pytest.mark.parametrize(("times", "is_right"), [(0.5, True), (2.0, False)])
def test_a_change_is_noticed_and_rounding_is_not(monkeypatch, times, is_right):
    for checked in weight_check.CHECKS:
        one = read_tolerance(checked)
        assert 0 < one.by_processor < one.allowed < one.by_a_batch, checked
    some = {"a": torch.zeros(4).half(), "b": torch.zeros(2, 2)}
    others = {"a": torch.zeros(4), "b": torch.tensor([[0, 0.25], [-0.75, 0]])}
    assert find_mean_difference(some, others) == 1 / 8
    assert find_mean_difference(some, {"a": others["a"]}) == torch.inf
    name = IDLE_HEADS
    stored = kept.read(name).read_tensors()
    part = next(one for one in stored if one.endswith("query"))
    moved = stored[part].float()
    moved += times * read_tolerance(name).allowed
    monkeypatch.setitem(weight_check.CHECKS, name, lambda _less: {part: moved})
    assert weight_check.check_weights(name) is is_right


TOKENS = ("The", "zebra", "announced", "earnings")


def job(steps, seed=0):
    return make_training_job(TrainingRequest(SMALL, seed, TOKENS), steps)


def test_it_learns_what_training_elsewhere_learns_also_beside_what_goes_on():
    """The same heads from random weights, beside those that another training has left."""
    first = over(job(steps=3, seed=1).start())
    elsewhere = Training(SMALL, [1])
    assert (first.state, first.problem, first.share) == ("done", "", 1)
    assert list_losses(first) == [elsewhere.step()[0] for _ in range(3)]
    [begin] = first.result
    for ours, theirs in zip(*map(list_parts, (begin, elsewhere.export_heads(0))), strict=True):
        assert torch.equal(ours, theirs)
    beside: Job[Any, Any, Any] = Job(
        TrainingRequest(SMALL, 0, TOKENS), lambda one: train_in_steps(one, 4, begin), 5
    )
    done = over(beside.start())
    assert (done.state, done.problem) == ("done", "")
    both = list_losses(done), list_losses(done, 1)
    goes_on, afresh = Training(SMALL, [0], [begin]), Training(SMALL, [0])
    for alone, losses, learned in zip((goes_on, afresh), both, done.result, strict=True):
        assert losses == pytest.approx([alone.step()[0] for _ in range(4)], rel=1e-5)
        assert learned.bias.tolist() == pytest.approx(alone.export_heads(0).bias.tolist(), rel=1e-4)
    assert both[0] != both[1]
    without = over(job(steps=1).start())
    assert [len(step.losses) for step in without.reports] == [0, 1]
    assert len(without.result) == 1


def test_the_weights_can_be_seen_on_the_way_and_before_the_first_batch(monkeypatch):
    one, learn, seen = job(steps=50), Training.step, []

    def step(training):
        seen.append(len(list_snapshots(one)))
        return learn(training)

    monkeypatch.setattr(Training, "step", step)
    snapshots = list_snapshots(over(one.start()))
    assert seen[0] == 1, "a server's first training writes its sentences, which takes a moment"
    assert [snapshot.step for snapshot in snapshots] == [*range(0, 50, 2), 50]
    for snapshot in snapshots:
        assert len(snapshot.weights) == SMALL.num_heads
        for head in snapshot.weights:
            assert [len(row) for row in head] == [4] * 4
            assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in head)
            assert head[0][1:] == [0, 0, 0], "the mask is kept"
    assert snapshots[0].weights != snapshots[-1].weights
