"""Does it matter: a head's output replaced, and whether the next token follows."""

import streamlit as st

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.measured_heads import CODE_ROLE, name_head
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.does_it_matter import own_pair, three_ways, what_it_writes
from explainers.chapters.does_it_matter.hero import Place, Shown, make_hero, read_shown
from explainers.models.direct_effect import compute_direct_effects, freeze_norm
from explainers.models.head_ablation import measure_head, replace_output, summarise
from explainers.models.output_circuit import compute_promoted, compute_writing, write_by_key
from explainers.models.patching import (
    DRAWS,
    LEAST_LEAD,
    MOST_TOKENS,
    patch_heads,
    refuse_small_leads,
)
from explainers.models.probes import NUM_TEXTS
from explainers.models.shipped_ablations import MODEL
from explainers.translations import _
from explainers.ui import page
from explainers.ui.figure.hero import show_hero, show_picture
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_zero(shown: Shown) -> None:
    """Zeros cost a lot: does the mean?"""
    ways = three_ways.read_ways(shown, three_ways.MISLED)
    told = three_ways.describe_ways(ways) | {"texts": f"{NUM_TEXTS}"}
    if revealed(text, "zero", three_ways.SHARES, three_ways.answer_mean(ways), **told):
        text("zero_seen", **told)
        three_ways.draw_ways(ways, shown.origin, "misled")


def show_writing(shown: Shown, place: Place) -> None:
    """What the chosen head writes, token by token, and what that promotes."""
    text("writes")
    prompt = what_it_writes.written_prompt()
    found, origin = what_it_writes.read_writing(shown, place, prompt), shown.origin
    if not found:
        if not (loaded := obtain_model(MODEL, "written")):
            return
        found = what_it_writes.compute_live(loaded, prompt, place)
        origin = describe_live_run(loaded)
    if found is None:
        return
    table, picture = st.columns(2)
    with table:
        text("writes_sum", **what_it_writes.describe_writing(found))
    with picture:
        source = what_it_writes.choose_source(found)
        promoted = what_it_writes.draw_promoted(found, source, origin)
    text("writes_seen", **promoted)
    show_source(compute_writing, write_by_key, compute_promoted, that=CODE_ROLE)


def show_ways(shown: Shown, place: Place) -> None:
    """Three replacements of the chosen head."""
    text("ways", texts=NUM_TEXTS)
    ways = three_ways.read_ways(shown, place)
    three_ways.draw_ways(ways, shown.origin, "ways")
    text("ways_seen", **three_ways.describe_ways(ways))
    text("ways_counted", **three_ways.count_heads(shown))
    show_source(replace_output, measure_head, that=CODE_ROLE)
    show_source(summarise)


def show_pair(shown: Shown) -> None:
    """Two prompts of the reader's, and the first picture of them."""
    text("pair", least=f"{LEAST_LEAD:g}", most=MOST_TOKENS, draws=DRAWS)
    pair = own_pair.choose_pair()
    loaded = obtain_model(MODEL, "beside")
    if loaded and (found := own_pair.measure_pair(pair, page.read_seed())):
        picture = own_pair.make_picture(text, shown, pair, found, describe_live_run(loaded))
        show_picture(text, picture, "own matter")


@fragment
def show_page(shown: Shown) -> None:
    """The picture, the question, and the cards."""
    hero, place = make_hero(text, shown)
    show_hero(text, hero, "matter")
    rises = shown.ablations.rises[(slice(None), *three_ways.MISLED)]
    title = _("What replacing {head} costs", head=name_head(*three_ways.MISLED))
    hand_over("rises", title, three_ways.compare_replacements, rises=rises)
    ask_zero(shown)
    text("how")
    show_source(patch_heads, refuse_small_leads, that=CODE_ROLE)
    show_source(compute_direct_effects, freeze_norm, that=CODE_ROLE)
    go_deeper(
        text,
        {
            "writes": lambda: show_writing(shown, place),
            "ways": lambda: show_ways(shown, place),
            "pair": lambda: show_pair(shown),
        },
    )


text("question")
if shown := read_shown():
    show_page(shown)
else:
    st.container(key="hero")
    text("other_weights")
show_one_sentence(text)
recalls = {"effect": three_ways.recall_effect, "null": three_ways.recall_null}
check_yourself(text, recalls)
