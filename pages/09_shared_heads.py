"""Fewer keys and values: MHA, GQA, MQA and MLA."""

import streamlit as st

from explainers.attention import grouped_query as shared
from explainers.attention.latent import absorbed, compress, latent_attention, queries
from explainers.chapters.common import reader_sentence
from explainers.chapters.common.choose_layer import list_unknown, name_layer_origin, read_by_heads
from explainers.chapters.common.mask_names import choose_mask
from explainers.chapters.common.score_matrix import write_word_count
from explainers.chapters.exercises import predict, predict_cache
from explainers.chapters.shared_heads import dealt_heads, hero, kv_sharing, latent_heads
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads import uptraining_job as uptraining
from explainers.chapters.shared_heads.takeaway import D_MODEL, HEAD_DIM, NUM_HEADS, ROPE_DIM
from explainers.toys.grammar import NUM_WORDS
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

Tokens = tuple[str, ...]
text = page.open_prose(__file__)


@fragment
def ask_averaged(tokens: Tokens) -> None:
    """What is left of trained heads whose keys and values are averaged, asked first."""
    found = uptraining.average_nearest_heads(NUM_HEADS, 1, "full", 0, tokens)
    named = {**found.name_losses(), **found.name_wrong_words(), "heads": f"{NUM_HEADS}"}
    answer = uptraining.answer_averaging(found)
    if revealed(text, "averaged", uptraining.ANSWERS, answer, **named):
        uptraining.show_losses_of_averages(found)
        text("averaged_seen", **named)
        show_source(shared.average_kv_heads)


@fragment
def show_how(tokens: Tokens, picture: Hero) -> None:
    """Keys of the KV heads, dealt out to the query heads, and the weights that these get."""
    word, *sizes = hero.find_choices(picture, len(tokens))
    layer = hero.load_sharing(tokens, *sizes)
    dealing = dealt_heads.Dealing.of(layer, word)
    taken.take_learned(layer, dealing.run)
    text("how", **dealing.name_words())
    show_figure(dealt_heads.draw_dealing(dealing), name_layer_origin(layer), "dealing")
    show_source(shared.share, shared.grouped_query)


def show_weights(tokens: Tokens, heads: int, kv_heads: int) -> None:
    """Every head's weights: averaged, what that changed, and learned with sharing."""
    text("weights")
    with st.container(horizontal=True):
        is_trained, rule = controls.weights() == "trained", choose_mask(controls.mask)
    layer = read_by_heads(tokens, is_trained, D_MODEL, heads, D_MODEL // heads, rule)
    if layer.unknown:
        text("unknown", words=list_unknown(layer))
    averaged = kv_sharing.AveragedLayer(layer, kv_heads)
    show_figure(averaged.draw(page.has_queries_down()), averaged.origin, "shared")
    text("shared" if averaged.is_shared else "own", **averaged.name())
    if averaged.learned:
        text("learned", **averaged.name())
    show_source(shared.average_kv_heads, shared.share, shared.grouped_query)


def show_uptraining(tokens: Tokens, heads: int, kv_heads: int) -> None:
    """Averaged heads are trained a little more, beside random ones."""
    text("uptraining", tests=uptraining.TESTS)
    rule = choose_mask(controls.averaged_mask)
    if kv_heads == heads:
        text("nobody_to_share_with" if heads == 1 else "nothing_to_average")
        return
    found = uptraining.average_nearest_heads(heads, kv_heads, rule, page.read_seed(), tokens)
    if found.notes:
        st.caption(" ".join(found.notes))
    text("averaged", **found.name_losses())
    text(f"averaged_{found.verdict}", **found.name_wrong_words())
    uptraining.offer_uptraining(found, tokens, lambda **numbers: text("uptrained", **numbers))


def show_cache(tokens: Tokens) -> None:
    """What one KV head keeps, veiled; then all patterns."""
    words, amounts = len(tokens), kv_sharing.count_by_pattern(len(tokens))
    text("cache", heads=NUM_HEADS, d_k=HEAD_DIM, words=write_word_count(words))
    full, *_unused, least = amounts.values()
    options = [f"{full:,}", f"{full // 2:,}", f"{least:,}"]
    ask_veiled(text, "cache", f"{least:,}", options, heads=NUM_HEADS, full=f"{full:,}")
    taken.take_cached_numbers(words, HEAD_DIM, kv_sharing.list_kv_heads())
    kv_sharing.show_amounts(amounts, "cache")
    show_source(shared.cache_elements)


def show_mistake(tokens: Tokens) -> None:
    """Every head as it should be, and as it is if the KV heads are dealt out wrongly."""
    text("mistake", heads=NUM_HEADS, kv_heads=dealt_heads.NUM_KV_HEADS)
    mistake, seed = dealt_heads.Mistake.make(tokens, page.read_seed()), page.read_seed()
    origin = random_weights(seed, mistake.reader.x.device)
    show_figure(dealt_heads.draw_mistake(mistake, page.has_queries_down()), origin, "mistake")
    taken.take_mistake(mistake.reader, dealt_heads.NUM_KV_HEADS, mistake.changed)
    text("mistaken", **mistake.name_changes())
    show_source(shared.share, shared.share_wrongly)


def show_latent(tokens: Tokens) -> None:
    """One short row per word instead of keys and values."""
    text("latent", rope=ROPE_DIM, d_k=HEAD_DIM)
    latent_dim, seed = controls.latent_dim(), page.read_seed()
    given, run, short = latent_heads.run_both_ways(tokens, latent_dim, seed)
    taken.take_latent(tokens, latent_dim, seed, run, short)
    figure = latent_heads.draw_latent(tokens, run, given.mask, page.has_queries_down())
    show_figure(figure, random_weights(seed, given.x.device), "latent")
    text("latent_kept", **latent_heads.name_latent(tokens, run, short))
    show_source(compress, queries, latent_attention, absorbed)


text("question")
words = reader_sentence.choose_sentence(has_menus=False).tokens
picture = hero.make_hero(text, words)
if unknown := reader_sentence.list_unknown_words(words):
    text("own_words", known=NUM_WORDS, unknown=unknown)
    reader_sentence.offer_known_words(words)
else:
    show_hero(text, picture, "shared heads")
    text("learned_here")
ask_averaged(words)
show_how(words, picture)
word, num_heads, num_kv_heads = hero.find_choices(picture, len(words))
go_deeper(
    text,
    {
        "weights": lambda: show_weights(words, num_heads, num_kv_heads),
        "uptraining": lambda: show_uptraining(words, num_heads, num_kv_heads),
        "cache": lambda: show_cache(words),
        "mistake": lambda: show_mistake(words),
        "latent": lambda: show_latent(words),
    },
)
show_one_sentence(text)
questions = predict.query_heads_per_group, predict_cache.numbers_of_a_latent
check_yourself(text, dict(zip(("reads", "latent"), questions, strict=True)))
