"""The hero of the page: a query and a key as hands of four dials, moved along a long text."""

import functools
import math
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import streamlit as st
import torch

from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.single_head import SingleHead
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.own_words import pair_neighbours, run_beginning
from explainers.chapters.common.score_matrix import choose_pair
from explainers.chapters.common.sentence_reading import choose_causal_reader, drop_end_marks
from explainers.chapters.relative_positions.compute import (
    DIALS,
    FARTHEST_APART,
    FARTHEST_SHIFT,
    MovedPair,
    RotaryHead,
    compute_moved_pair,
    draw_rotary_head,
    shift_words,
)
from explainers.toys.examples import LONGEST
from explainers.toys.grammar import find_language, find_unknown_words
from explainers.toys.rotary_layers import ROTARY_SEED, load_finder
from explainers.toys.sentence import Sentence, is_word
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import (
    Experiment,
    Hero,
    HeroChoice,
    begin_again,
    choose_word,
    round_numbers,
)
from explainers.ui.page import Prose, read_seed
from explainers.ui.provenance import random_weights, trained_weights
from explainers.ui.session import ROTATED
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.numbers import bound_rounding, write_decimals
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

LEAST_CHANGE = 0.1
"""Of a score, to be seen in a picture: of some pairs it is next to nothing, by chance."""
SENTENCES = ("hero_caption", "hero_start", "hero_moved", "hero_apart", "hero_both")


UNTRAINED_ASKED = 4
"""The word whose key is used at first where no score tells words apart, if there are so many."""
RELATION = "object → verb"
"""The head finds this best: in a model that writes, a word sees none behind it."""


def name_origin(head: RotaryHead) -> str:
    """The badge of the pictures."""
    if head.seed is not None:
        return random_weights(head.seed, head.x.device)
    if head.is_small:
        return trained_weights(_("a head with RoPE"), ROTARY_SEED, 0, head.x.device)
    from explainers.chapters.common.recording import describe_live_numbers

    return describe_live_numbers(head.provenance, head.x.device)


def name_head(head: RotaryHead) -> str:
    """Of a model: which head of which model."""
    return _("head {head} of {model}", head=head.name, model=head.model) if head.name else ""


@st.cache_resource(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def read_rotary_head(loaded: "RealModel", sentence: str) -> RotaryHead | None:
    """A sentence in the head of a Llama that finds verbs best.

    None if its scores are not known, or its pairs cannot be dealt to the dials.
    """
    from explainers.models.head_scores import find_relation_heads
    from explainers.models.shipped_measurements import find_known_scores

    scores = find_known_scores(loaded.name)
    if not scores or loaded.model.config.head_dim % (2 * DIALS):
        return None
    best = next(one for one in find_relation_heads(scores) if one.relation == RELATION)
    layer, number = best.layer_index, best.head_index
    tokens, _own, _count, read = run_beginning(loaded, sentence, layer)
    model: Any = loaded.model
    block, config = model.model.layers[layer], model.config
    size, shared = config.head_dim, config.num_attention_heads // config.num_key_value_heads
    own, kv = (slice(n * size, (n + 1) * size) for n in (number, number // shared))
    attention = block.self_attn
    w_query = pair_neighbours(attention.q_proj.weight[own], size)
    w_key = pair_neighbours(attention.k_proj.weight[kv], size)
    weights = SingleHead(w_query, w_key, attention.v_proj.weight[kv].T.detach().float())
    with torch.no_grad():
        x = block.input_layernorm(read)
    base, named = float(config.rope_parameters["rope_theta"]), f"L{layer}.H{number}"
    model_name = loaded.name.split("/")[-1]
    return RotaryHead(tokens, x, weights, base, None, named, model_name, loaded.provenance)


def choose_rotary_head(sentence: Sentence) -> tuple[RotaryHead, bool]:
    """Who reads the sentence, which is said in a line; and is a real model wanted?"""
    found, wants_model = choose_causal_reader(sentence, read_rotary_head, name_head)
    return found or read_with_small_head(sentence.tokens, read_seed()), wants_model


@functools.lru_cache(maxsize=64)
def read_with_small_head(tokens: tuple[str, ...], seed: int) -> RotaryHead:
    """A sentence in the head that learned its words, or in an untrained one if that lacks some."""
    words = drop_end_marks(tokens)
    if find_unknown_words(words):
        return draw_rotary_head(tokens, seed)
    finder = load_finder(find_language(words))
    return RotaryHead(words, finder.embed(words), finder.head, LONGEST)


def choose_words(head: RotaryHead) -> list[HeroChoice]:
    """Which word asks, and which is asked.

    At first it is the one that fits best. In a model that writes, a word sees those before it
    alone, and the last word asks. The first token is left out: what finds nothing looks there.
    """
    places, asked = range(len(head.tokens)), controls.asked_word
    if not {controls.followed_word.key, asked.key} & set(st.query_params):  # nobody chose them
        begin_again(ROTATED, (head.name, head.tokens), controls.followed_word, asked)
    words = [place for place in places if is_word(head.tokens[place])]
    asking = choose_word(len(places), words[-1] if head.name and words else None)
    last, before = min(UNTRAINED_ASKED, len(places) - 1), asking.value
    if head.name and before > 1:
        scores = shift_words(head, (0,))[0][0, before, 1:before]
        last = 1 + int(scores.argmax())
    elif head.is_small:
        scores = shift_words(head, (0,))[0][0, before].clone()
        scores[before] = -torch.inf  # the other word is another one
        last = int(scores.argmax())
    return [
        replace(asking, is_elsewhere=True),
        HeroChoice.read(asked, places, opening=last, is_elsewhere=True),
    ]


def make_hero(text: Prose, head: RotaryHead) -> tuple[Hero, MovedPair]:
    """The two words wherever they can be moved; returned with the tensors that it was made of."""
    words = choose_words(head)
    moved = MovedPair.of(head, (words[0].value, words[1].value))
    shifts, alone = range(FARTHEST_SHIFT + 1), range(moved.least, FARTHEST_APART + 1)
    shift, apart = HeroChoice.read(controls.shift, shifts), HeroChoice.read(controls.apart, alone)
    hero = Hero(
        "dials",
        _("The hands of a query and of a key on four dials, and the parts of their score."),
        compute_numbers(moved),
        [*words, shift, apart],
        SENTENCES,
        list_experiments(text, moved),
        name_origin(head),
        lambda: make_table(moved, apart.value, shift.value),
    )
    return hero, moved


def compute_numbers(moved: MovedPair) -> dict[str, Any]:
    """All that the picture shows: each move of one word alone, with each move of both."""
    head, (rotary, added) = moved.head, moved.scores()  # (moves alone, shifts)
    largest = (rotary - rotary[:, :1]).abs().amax(dim=-1).tolist()
    drawn = slice(None, None, head.head_dim // 2 // DIALS)  # the first pair of each dial
    speeds = angles(torch.ones(1), head.head_dim, head.base)[0][drawn].tolist()
    turns = [math.tau / speed for speed in speeds]
    query, key = (  # where they point, in radians (positions, dials)
        torch.atan2(x[..., 1::2], x[..., 0::2])[..., drawn] for x in (moved.query, moved.key)
    )
    apart = query.unfold(0, len(key), 1).transpose(1, 2) - key  # (moves alone, shifts, dials)
    between = torch.atan2(apart.sin(), apart.cos()).abs().rad2deg()  # from 0 to 180 degrees
    return {
        "tokens": list(moved.tokens),
        "heads": name_dials(moved),
        "pair": list(moved.words),
        "least": moved.least,
        "turns": [f"{turn:,.{1 if turn < 100 else 0}f}" for turn in turns],
        "query": round_numbers(query),
        "key": round_numbers(key),
        "between": between.round().long().tolist(),
        "parts": round_numbers(moved.parts[0], 5),
        "rotary": round_numbers(rotary, 6),
        "added": round_numbers(added, 6),
        "roundings": [bound_rounding(change) for change in largest],
    }


def name_dials(moved: MovedPair) -> list[str]:
    """What each dial draws, and what its bar adds up, where that is more than a pair."""
    pairs = moved.head.head_dim // 2
    each = pairs // DIALS
    if each == 1:
        return []
    starts = range(1, pairs + 1, each)
    return [_("Pair {first} of {first}–{last}", first=n, last=n + each - 1) for n in starts]


def list_experiments(text: Prose, moved: MovedPair) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    shift, apart = controls.shift.key, controls.apart.key
    (rotary, added), asking = moved.scores(), moved.tokens[moved.words[0]]
    start = -moved.least
    far = {
        "shift": f"{FARTHEST_SHIFT}",
        "score": write_decimals(rotary[start, FARTHEST_SHIFT].item()),
        "before": write_decimals(added[start, 0].item()),
        "after": write_decimals(added[start, FARTHEST_SHIFT].item()),
    }
    further = {
        "word": asking,
        "apart": f"{FARTHEST_APART}",
        "before": write_decimals(rotary[start, 0].item()),
        "after": write_decimals(rotary[start + FARTHEST_APART, 0].item()),
    }
    return [
        Experiment("far", text.fill("try_far", **far), {shift: FARTHEST_SHIFT, apart: 0}),
        Experiment("apart", text.fill("try_apart", **further), {shift: 0, apart: FARTHEST_APART}),
        *_swap_words(text, moved),
    ]


def _swap_words(text: Prose, moved: MovedPair) -> list[Experiment]:
    """The same distance the other way around: of these words, or of the first that show it."""
    for words in (
        moved.words,
        choose_pair(moved.tokens),
        *permutations(range(len(moved.tokens)), 2),
    ):
        asking, asked = words
        there = 2 * (asked - asking)
        if not there or there < -asking or abs(there) > FARTHEST_APART:
            continue
        of_words = MovedPair.of(moved.head, words)
        rotary, start = of_words.scores()[0], -of_words.least
        before, after = rotary[start, 0].item(), rotary[start + there, 0].item()
        if abs(after - before) >= LEAST_CHANGE:
            break
    else:
        return []
    first, second = (asking, asked) if there < 0 else (asked, asking)
    named = {
        "first": moved.tokens[first],
        "second": moved.tokens[second],
        "before": write_decimals(before),
        "after": write_decimals(after),
    }
    choices = {
        controls.followed_word.key: asking,
        controls.asked_word.key: asked,
        controls.shift.key: 0,
        controls.apart.key: there,
    }
    return [Experiment("swap", text.fill("try_swap", **named), choices)]


def show_how(text: Prose, moved: MovedPair, apart: int, shift: int) -> None:
    """The arithmetic of the first pair of numbers, rotated and multiplied, as a table."""
    (asking, asked), at = moved.words, shift + apart - moved.least
    inputs = {"head": moved.head, "words": moved.words, "apart": apart, "shift": shift}
    hand_over("pair", _("Two words moved along"), compute_moved_pair, **inputs)
    head_dim = moved.head.head_dim
    part = (moved.query[at, :2] @ moved.key[shift, :2]) / head_dim**0.5
    rows = {
        "query": (moved.plain[0], moved.query[at], asking + shift + apart),
        "key": (moved.plain[1], moved.key[shift], asked + shift),
    }
    named = {
        # a bar would begin the next cell
        "asking": verbatim(moved.tokens[asking]).replace("|", r"\|"),
        "asked": verbatim(moved.tokens[asked]).replace("|", r"\|"),
        "part": write_decimals(part.item()),
        "d_k": f"{head_dim}",
        "pairs": f"{head_dim // 2}",
        "slower": f"{moved.head.base ** (2 / head_dim):.3g}",
    }
    for name, (before, after, position) in rows.items():
        named[f"{name}_position"] = f"{position}"
        for when, vector in (("before", before), ("after", after)):
            for axis, number in zip("xy", vector[:2].tolist(), strict=True):
                named[f"{name}_{when}_{axis}"] = write_decimals(number, 3)
    text("how", **named)
    show_source(angles, rotate, rotary_attention)


def make_table(moved: MovedPair, apart: int, shift: int) -> Any:
    """The parts of the score that is shown, and their sum."""
    columns = name_dials(moved) or [_("pair {number}", number=n + 1) for n in range(DIALS)]
    rows = [_("RoPE"), _("positions added")]
    found = compute_moved_pair(moved.head, moved.words, apart, shift)["parts"]
    return tabulate(found.tolist(), [*columns, _("sum")], rows, _("position"))
