"""Choosing what to read: a query needs few of its keys, and a tiny model can learn which."""

from explainers.chapters.choosing import cards
from explainers.chapters.choosing.hero import keys_kept, show_trained_hero
from explainers.models.indexers import KEPT, MODEL, PROSE, read_indexers, read_shipped_indexers
from explainers.models.load import is_on_disk
from explainers.ui import page
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper

text = page.Prose(__file__)


text("question")
shipped = read_indexers()
can_train = is_on_disk(MODEL) and read_shipped_indexers(MODEL) is not None
show_trained_hero(text, shipped, can_train)
if not can_train:
    text("train_elsewhere")
cards.ask_sharing(text, shipped)
cards.show_how(text, shipped.passages[PROSE])
go_deeper(
    text,
    {
        "evicted": lambda: cards.show_evicted(text, shipped, keys_kept.resolve_among(KEPT)),
        "blocks": lambda: cards.show_blocks(text, shipped),
    },
)
show_one_sentence(text)
check_yourself(text, {"index": cards.recall_index, "skipped": cards.recall_skipped})
