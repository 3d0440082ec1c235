"""Choosing what to read: a query needs few of its keys, and a tiny model can learn which."""

from functools import partial

from explainers.attention.eviction import evict_least_read, keep_observed
from explainers.attention.group_rounding import round_in_channels, round_in_groups, round_in_tokens
from explainers.attention.indexer import index_scores, keep_best, project_index, turn_first
from explainers.attention.key_blocks import choose_blocks, score_blocks
from explainers.chapters.choosing import cost_tables, five_keys, questions
from explainers.chapters.choosing.hero import find_shown, make_hero
from explainers.chapters.choosing.trained_hero import show_trained_hero
from explainers.chapters.common.measured_heads import CODE_ROLE
from explainers.models.chosen_keys import ROUNDED_GROUP
from explainers.models.indexer_training import compute_kl, train_indexer
from explainers.models.load import is_on_disk
from explainers.models.shipped_indexers import (
    MODEL,
    PROSE,
    USUAL,
    Shipped,
    read_files,
    read_shipped_indexers,
)
from explainers.ui import page
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_shared(shipped: Shipped) -> None:
    """One set of keys for all heads, or a set for each?"""
    answer = questions.answer_sharing(shipped)
    named = questions.name_sharing(shipped)
    if revealed(text, "shared_keys", questions.ANSWERS, answer, **named):
        questions.draw_sharing(shipped)


@fragment
def show_how(shipped: Shipped) -> None:
    """Five keys of one query, from products to a mask."""
    text("how")
    text("how_seen", **five_keys.show_row(shipped.passages[PROSE]))
    show_source(index_scores, keep_best)


def show_learned(shipped: Shipped) -> None:
    """Indexers trained in four ways, beside no training at all."""
    rows = cost_tables.list_trainings(shipped)
    text("learned_by", rows=rows, **cost_tables.name_trainings(shipped))
    text("learned_seen", **cost_tables.name_baselines(shipped))
    show_source(project_index, turn_first, compute_kl, train_indexer, that=CODE_ROLE)


def show_repeats(shipped: Shipped) -> None:
    """The same text again: whoever has never met a repetition does not look for one."""
    named = cost_tables.name_repeats(shipped)
    text("repeats", **named)
    cost_tables.show_repeats(shipped)
    text("repeats_seen", **named)


def show_evicted(shipped: Shipped) -> None:
    """What may be thrown away: from a cache of fixed size, and once, from a prompt."""
    shown = find_shown(shipped)[2]
    text("evicted", rows=cost_tables.list_evictions(shipped, shown))
    text("evicted_seen", **cost_tables.name_evictions(shipped))
    named = cost_tables.name_thinned(shipped)
    text("thinned", rows=cost_tables.list_thinned(shipped), **named)
    text("thinned_seen", **named)
    show_source(evict_least_read, keep_observed, that=CODE_ROLE)


def show_rounded(shipped: Shipped) -> None:
    """Fewer bits instead of fewer rows."""
    named = cost_tables.name_roundings(shipped)
    text("rounded", rows=cost_tables.list_roundings(shipped), group=ROUNDED_GROUP, **named)
    show_source(round_in_groups, round_in_tokens, round_in_channels, that=CODE_ROLE)


def show_blocks(shipped: Shipped) -> None:
    """Whole blocks of keys, found without any training."""
    text("blocks", rows=cost_tables.list_blocks(shipped), kept=USUAL)
    show_source(score_blocks, choose_blocks, that=CODE_ROLE)


text("question")
shipped = read_files()
can_train = is_on_disk(MODEL) and read_shipped_indexers(MODEL) is not None
show_trained_hero(text, shipped, make_hero, can_train)
if not can_train:
    text("train_elsewhere")
ask_shared(shipped)
show_how(shipped)
go_deeper(
    text,
    {
        "learned": partial(show_learned, shipped),
        "repeats": partial(show_repeats, shipped),
        "evicted": partial(show_evicted, shipped),
        "rounded": partial(show_rounded, shipped),
        "blocks": partial(show_blocks, shipped),
        "skipped": lambda: text("skipped", **cost_tables.name_costs()),
    },
)
show_one_sentence(text)
check_yourself(text, {"index": questions.recall_index, "skipped": questions.recall_skipped})
