"""Choosing what to read: a query needs few of its keys, and a tiny model can learn which."""

from functools import partial

from explainers.attention.eviction import evict_least_read
from explainers.attention.indexer import index_scores, keep_best, project_index, turn_first
from explainers.attention.key_blocks import choose_blocks, score_blocks
from explainers.chapters.choosing import cards
from explainers.chapters.choosing.hero import find_shown, show_trained_hero
from explainers.chapters.common.measured_heads import CODE_ROLE
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
    answer = cards.answer_sharing(shipped)
    named = cards.name_sharing(shipped)
    if revealed(text, "shared_keys", cards.ANSWERS, answer, **named):
        cards.draw_sharing(shipped)


@fragment
def show_how(shipped: Shipped) -> None:
    """Five keys of one query, from products to a mask."""
    text("how")
    text("how_seen", **cards.show_row(shipped.passages[PROSE]), **cards.name_costs())
    show_source(index_scores, keep_best)
    show_source(project_index, turn_first, compute_kl, train_indexer, that=CODE_ROLE)


def show_evicted(shipped: Shipped) -> None:
    """What may be thrown away from a cache of fixed size."""
    shown = find_shown(shipped)[2]
    text("evicted", rows=cards.list_evictions(shipped, shown))
    text("evicted_seen", **cards.name_evictions(shipped))
    show_source(evict_least_read, that=CODE_ROLE)


def show_blocks(shipped: Shipped) -> None:
    """Whole blocks of keys, found without any training."""
    text("blocks", rows=cards.list_blocks(shipped), kept=USUAL)
    show_source(score_blocks, choose_blocks, that=CODE_ROLE)


text("question")
shipped = read_files()
can_train = is_on_disk(MODEL) and read_shipped_indexers(MODEL) is not None
show_trained_hero(text, shipped, can_train)
if not can_train:
    text("train_elsewhere")
ask_shared(shipped)
show_how(shipped)
go_deeper(
    text, {"evicted": partial(show_evicted, shipped), "blocks": partial(show_blocks, shipped)}
)
show_one_sentence(text)
check_yourself(text, {"index": cards.recall_index, "skipped": cards.recall_skipped})
