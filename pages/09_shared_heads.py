"""Fewer keys and values: MHA, GQA, MQA and MLA."""

import streamlit as st

from explainers.attention import grouped_query, latent
from explainers.attention.cache import compression
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.exercises import predict, predict_cache
from explainers.chapters.shared_heads import cards, hero
from explainers.chapters.shared_heads import uptraining_job as uptraining
from explainers.chapters.shared_heads.cards import HEAD_DIM, NUM_HEADS, ROPE_DIM
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, show_chosen, show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.language import fragment

Tokens = tuple[str, ...]
text = page.Prose(__file__)


@fragment
def ask_averaged(tokens: Tokens) -> None:
    """What is left of trained heads whose keys and values are averaged, asked first."""
    found = uptraining.average_nearest_heads(NUM_HEADS, 1, 0, tokens)
    named = {**found.name_numbers(), "heads": f"{NUM_HEADS}"}
    if revealed(text, "averaged", uptraining.ANSWERS, uptraining.answer_averaging(found), **named):
        uptraining.show_losses_of_averages(found)
        text("averaged_seen", **named)
        show_source(grouped_query.average_kv_heads)


def show_how(reading: Reading, picture: Hero) -> None:
    """Keys of the KV heads, dealt out to the query heads, and the weights that these get."""
    layer, word = hero.load_shown(picture, reading)
    title = _("Heads that learned to share keys and values")
    hand_over("learned", title, cards.read_learned_heads, layer=layer)
    cards.show_dealing(text, layer, word)
    show_source(grouped_query.share, grouped_query.grouped_query, grouped_query.cache_elements)


def show_uptraining(tokens: Tokens, heads: int, kv_heads: int) -> None:
    """Averaged heads are trained a little more, beside random ones."""
    text("uptraining", tests=uptraining.TESTS)
    if kv_heads == heads:
        text("nobody_to_share_with" if heads == 1 else "nothing_to_average")
        return
    found = uptraining.average_nearest_heads(heads, kv_heads, page.read_seed(), tokens)
    if found.notes:
        st.caption(" ".join(found.notes))
    text("averaged", **found.name_numbers())
    text(f"averaged_{found.verdict}", **found.name_numbers())
    uptraining.offer_uptraining(found, tokens, text)


def show_latent(tokens: Tokens) -> None:
    """One short row per word instead of keys and values."""
    text("latent", rope=ROPE_DIM, d_k=HEAD_DIM)
    place, seed = controls.latent_dim(), page.read_seed()
    sizes = cards.run_all_sizes(tokens, seed)
    size = {"latent_dim": int(controls.latent_dim.steps[place]), "seed": seed}
    title, compute = _("Multi-head latent attention"), cards.compute_latent_heads
    hand_over("latent", title, compute, tokens=tokens, **size)
    of_text = text.template("latent_kept")
    figure = cards.draw_latent(tokens, sizes, place, of_text)
    show_figure(figure, random_weights(seed, sizes[place][0].output.device), "latent")
    show_source(latent.compress, latent.queries, latent.latent_attention, latent.absorbed)


def show_rows(tokens: Tokens) -> None:
    """Words that share a row, and layers that keep none."""
    text("rows")
    width, seed = controls.row_width(), page.read_seed()
    inputs = {"tokens": tokens, "width": width, "seed": seed}
    title, compute = _("Words that share a row"), cards.compute_merged_rows
    found = run_and_hand_over("rows", title, compute, **inputs)
    words, full = len(tokens), len(found["merged"])
    thought = [f"{count}" for count in sorted({full, full + 1, words})]
    if ask_veiled(text, "rows", f"{full}", thought, words=words, width=width):
        origin = random_weights(seed, found["rows"].device)
        show_figure(cards.draw_rows(tokens, width, found), origin, "rows")
        text("rows_seen", **cards.name_rows(tokens, width))
    show_source(compression.merge_rows)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that show_chosen it, which nothing outside of it depends on."""
    show_hero(text, picture := hero.make_hero(text, reading), "shared heads")
    text("learned_here" if reading.is_small else "averaged_here", sentence=" ".join(reading.known))
    sentence_reading.show_reader(reading, has_all_heads=True)
    ask_averaged(reading.known)
    show_chosen("dealing", lambda: show_how(reading, picture))
    deeper: Cards = {
        "uptraining": lambda: show_uptraining(
            reading.known, *hero.find_small_sizes(picture, reading)
        ),
        "latent": lambda: show_latent(reading.words),
        "rows": lambda: show_rows(reading.words),
    }
    go_deeper(text, deeper)


text("question", **hero.name_price())
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence(), has_all_heads=True))
show_one_sentence(text)
questions = predict.query_heads_per_group, predict_cache.numbers_of_a_latent
check_yourself(text, dict(zip(("reads", "latent"), questions, strict=True)))
