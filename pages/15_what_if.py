"""What if: a real model whose attention is changed, and what it says then."""

from typing import TYPE_CHECKING

from explainers.chapters.common.choose_real_model import choose_model
from explainers.chapters.what_if.before_after import show_outcome
from explainers.chapters.what_if.choose_changes import chosen_changes, find_shape_or_explain
from explainers.chapters.what_if.silenced_heads import show_silencing
from explainers.chapters.what_if.two_windows import show_two_windows
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

if TYPE_CHECKING:
    from explainers.models.changes import HeadCounts
    from explainers.models.load import RealModel

text = page.open_prose(__file__)


@fragment
def changing(loaded: "RealModel", shape: "HeadCounts") -> None:
    """Any change or several, on any text: before and after."""
    text("changing")
    take("outcome")  # until what is asked about these changes is answered
    written = controls.prompt()
    changes = chosen_changes(loaded.name, shape)
    if changes:
        show_outcome(text, loaded, written, changes)
    else:
        text("nothing_changed")


@fragment
def silencing(loaded: "RealModel") -> None:
    """What a few heads are needed for, and what not."""
    show_silencing(text, loaded, page.read_seed())


def tell_two_windows() -> None:
    """What a window of four tokens breaks, and one more token mends."""
    if named := show_two_windows():
        text("two_windows", **named)


text("question")
end_stop(text, tell_two_windows)
loaded = choose_model()
shape = find_shape_or_explain(loaded) if loaded else None
if loaded and shape:
    changing(loaded, shape)
    silencing(loaded)
show_one_sentence(text)
text("notice")
