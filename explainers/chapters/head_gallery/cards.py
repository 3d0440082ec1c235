"""The cards: how a score is made, that of every head, and what a head's names rest on."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.choose_real_model import BY_MODEL, obtain_model
from explainers.chapters.common.measured_heads import (
    CODE_ROLE,
    PROBE_NAMES,
    SHARES,
    Gallery,
    count_texts,
    judge_share,
    name_head,
)
from explainers.chapters.common.recording import (
    describe_live_run,
    pack_weights,
    record_layer,
    tabulate_strongest_keys,
    to_cpu,
)
from explainers.chapters.head_gallery import hero
from explainers.chapters.head_gallery.hero import INDUCTION
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.models import head_scores
from explainers.models.attention_hook import RecordedAttention
from explainers.models.head_scores import EarnedRole, Role
from explainers.models.load import is_on_disk, load_model
from explainers.models.probes import Probe
from explainers.models.shipped_measurements import read_shipped_scores
from explainers.models.token_text import spell_token
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import SHARE
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

MOST_ROWS = 5


def show_score_steps(text: Prose, gallery: Gallery, place: tuple[int, int]) -> None:
    """How one head's score comes about, in three small matrices, if the model has an example."""
    take_scores(gallery, "repeated", place)
    shipped = read_shipped_scores(gallery.name)
    if not shipped:
        text("how_elsewhere")
        return
    example = shipped.example
    named = [hero.BY_NAME[one].score_name for one in hero.list_names(gallery.scores, place)]
    name = next((one for one in named if one in head_scores.PATTERNS), INDUCTION)
    every = example.weights[place][None, None]
    is_causal = not example.weights.triu(1).any()
    mask = torch.ones(every.shape[1:], dtype=torch.bool)
    marks = torch.tensor([[not token.strip().isalnum() for token in example.tokens]])
    probe = Probe(example.ids[None], marks)
    patterns = head_scores.build_patterns(probe, mask.tril() if is_causal else mask)
    pattern = patterns[name]  # (1, q_len, kv_len): which keys the name promises
    rows = [row for row, line in enumerate(pattern[0]) if line.any()][-MOST_ROWS:]
    masses = [[value] for value in head_scores.compute_mass(every, pattern)[0, 0][rows].tolist()]
    keys = [f"{n} {token.strip()}" for n, token in enumerate(example.tokens)]
    queries, axes = [keys[row] for row in rows], (_("query"), _("key"))

    def draw(name: str, formula: str, values: Values, columns: Sequence[str]) -> Matrix:
        return Matrix(name, formula, values, queries, columns, *axes, kind="weights")

    looked, promised = every[0, 0][rows].tolist(), pattern[0][rows].float().tolist()
    panels = [
        Panel("weights", draw(_("weights"), name_head(*place), looked, keys)),
        Panel("promised", draw(_("promised keys"), _(name), promised, keys), "·"),
        Panel("mass", draw(_("their weight"), _("sum of a row"), masses, [_("sum")]), "→"),
    ]
    # the mean over all such rows
    score = f"{float(head_scores.score_pattern(every, pattern)[0]):.2f}"
    alt = _("Weights, promised keys, and the weight on them: mean {score}.", score=score)
    show_figure(Figure(panels, alt), gallery.origin, "score steps")
    text("how_mean", head=name_head(*place), name=_(name), score=score)


def compute_scores(weights: Tensor, mask: Tensor, ids: Tensor, marks: Tensor) -> dict[str, Tensor]:
    """What a head does on all texts of a probe: weights (texts, tokens, tokens).

    `ids` are the tokens of the texts, `marks` says which are punctuation.
    """
    one, seen = weights[:, None], mask.expand(weights.shape)
    found = {
        name: head_scores.score_pattern(one, p)[0]
        for name, p in head_scores.build_patterns(Probe(ids, marks), seen).items()
    }
    found["entropy"] = head_scores.compute_entropy(one, seen).nanmean()
    found["distance"] = head_scores.measure_distance(one)[0]
    return found


def take_scores(gallery: Gallery, probe: str, place: tuple[int, int]) -> None:
    """The scores of the chosen head, of which the picture shows one for every head.

    The model is loaded when the file is made, not before.
    """
    title = _("The scores of {head}", head=name_head(*place))
    if gallery.loaded or is_on_disk(gallery.name):
        take("scores", partial(_make_scores, gallery, probe, place, title))


def _make_scores(gallery: Gallery, probe: str, place: tuple[int, int], title: str) -> Recipe:
    loaded, measured = gallery.loaded or load_model(gallery.name), gallery.scores
    (number, head), texts = place, head_scores.PROBES[probe](loaded)
    layer = record_layer(loaded, number, texts.ids)
    inputs: dict[str, Any] = {"weights": layer.weights[:, head], "mask": layer.mask[0, 0]}
    inputs = {name: to_cpu(one) for name, one in inputs.items()}
    inputs |= {"ids": texts.ids.cpu(), "marks": texts.marks.cpu()}
    names = compute_scores(*inputs.values())
    shown = {name: measured.select(probe, name)[number, head] for name in names}
    return Recipe(title, compute_scores, inputs, shown)


MAP = "heads"
AGAINST_CHANCE = (*head_scores.PATTERNS, N_("one offset"))
"""Scores that a head can reach by looking anywhere."""
SCORES = (
    *(*AGAINST_CHANCE, N_("sink"), N_("entropy")),
    *(N_("entropy without the first token"), N_("distance")),
)

NAMED = 5
"""So many of the highest are named below the picture."""
NOTHING_THERE = N_("prose seldom repeats a text, so there is little to find")
OTHER_HEADS, TOO_LONG = N_("other heads read the prose"), N_("prose is too long for it")


def follow_choice(
    cards: Mapping[str, Callable[[], None]], gallery: Gallery, chosen: tuple[int, int]
) -> dict[str, Callable[[], None]]:
    """Cards about a head: a click in one of them chooses another head for the whole page."""

    def draw(show: Callable[[], None]) -> None:
        controls_of_head = hero.gallery_layer, hero.gallery_head
        layer, head = (st.session_state.get(one.key) for one in controls_of_head)
        layers, heads = gallery.scores.shape
        is_head = layer in range(layers) and head in range(heads)
        if is_head and (layer, head) != chosen:
            st.rerun()
        show()

    return {name: partial(draw, show) for name, show in cards.items()}


def show_measures(text: Prose, gallery: Gallery, chosen: tuple[int, int]) -> None:
    """Every head by one score, with its null baseline: that of the best head at random.

    A cell per head; a click chooses one.
    """
    text("looking", **count_texts())
    scores = gallery.scores
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = controls.probe_text()
        probe = PROBE_NAMES[words]
        offered = [one for one in SCORES if not scores.select(probe, one).isnan().all()]
        what = controls.head_score(offered, INDUCTION if INDUCTION in offered else offered[0])
    text(f"score_{what.replace(' ', '_')}")
    take_scores(gallery, probe, chosen)
    found, (layers, heads) = scores.select(probe, what), scores.shape
    matrix = Matrix(
        f"{_(what)}: {_(words)}",
        _("a row per head, a column per layer"),
        [[None if math.isnan(one) else one for one in row] for row in found.T.tolist()],
        [_("head {head}", head=head) for head in range(heads)],
        [str(layer) for layer in range(layers)],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="signed" if what == "distance" else "weights",
    )
    best = hero.rank_heads(found, NAMED)
    highest = ", ".join(f"{name_head(*place)} {found[place]:.2f}" for place in best)
    alt = _(
        "{score} of every head of {model}; the highest: {highest}.",
        score=_(what),
        model=gallery.name,
        highest=highest,
    )

    def pick(cell: Cell) -> None:
        hero.gallery_layer.put(cell.column)
        hero.gallery_head.put(cell.row)

    figure = Figure([Panel(MAP, matrix)], alt, Cell(MAP, chosen[1], chosen[0]), pick)
    show_figure(figure, gallery.origin, MAP)
    text("map_seen", highest=highest, mean=f"{found.nanmean():.2f}")
    if what in AGAINST_CHANCE:
        text("map_chance", chance=f"{scores.find_chance_score(probe, what):.2f}")
    functions = head_scores.measure_layer, head_scores.score_pattern, head_scores.shuffle_weights
    show_source(*functions, that=CODE_ROLE)


def recall_baseline(draw: Random) -> Recall:
    """What a sharp head scores when its weights are shuffled."""
    keys = draw.choice([4, 5, 8, 10, 20, 25])
    return Recall(1 / keys, {"keys": f"{keys}"}, tolerance=0.005, unit=SHARE)


def recall_prose(draw: Random) -> Recall:
    """Why a surest head does little in prose."""
    high, low = draw.choice([0.72, 0.81, 0.88, 0.93]), draw.choice([0.02, 0.03, 0.05, 0.08])
    given = {"high": f"{high}", "low": f"{low}"}
    return Recall(NOTHING_THERE, given, [OTHER_HEADS, NOTHING_THERE, TOO_LONG])


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=BY_MODEL)
def spell_passages(loaded: "RealModel") -> list[list[str]]:
    """The tokens of each passage of prose, as they were measured."""
    passages = head_scores.PROBES["natural"](loaded).ids.tolist()
    return [[spell_token(loaded.tokenizer, one) for one in passage] for passage in passages]


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=BY_MODEL)
def read_passage(loaded: "RealModel", passage: int, layer: int) -> RecordedAttention:
    """One layer on one of them."""
    ids = head_scores.PROBES["natural"](loaded).ids[passage : passage + 1]
    return record_layer(loaded, layer, ids)


def show_prose(loaded: "RealModel", passage: int, place: tuple[int, int]) -> None:
    """One large image of a head on a passage, to be looked into."""
    (layer, head), tokens = place, spell_passages(loaded)[passage]
    seen, name = read_passage(loaded, passage, layer), name_head(*place)
    weights = seen.weights[0, head][None].float().cpu()
    alt = _("Weights of {head} between {count} tokens.", head=name, count=len(tokens))
    tiles = Tiles(pack_weights(weights, ~seen.mask[0].cpu()), tokens, [str(layer)], [name], alt)

    def tabulate() -> Any:
        return tabulate_strongest_keys(weights[None], [layer], tokens).assign(head=head)

    show_tiles(tiles, describe_live_run(loaded), "natural", tabulate)


WORDS = {probe: words for words, probe in PROBE_NAMES.items()}
UNKNOWN = "–"


def show_label(text: Prose, loaded: "RealModel", label: EarnedRole) -> None:
    """The score that a name is for, on both texts, what it needed; and what speaks against it."""
    role, elsewhere = hero.BY_NAME[label.role], label.other_probe_score
    text(
        "label",
        role=_(label.role),
        probe=_(WORDS[role.probe]),
        score=f"{label.score:.2f}",
        threshold=role.threshold,
        source=_(role.source),
        chance=f"{label.chance_score:.2f}",
        other=_(WORDS[head_scores.OTHER_PROBE[role.probe]]),
        elsewhere=UNKNOWN if math.isnan(elsewhere) else f"{elsewhere:.2f}",
    )
    against = label.counterexample
    if against is None:
        text("no_against")
        return
    tokens = spell_passages(loaded)[against.text_index]
    text(
        "row_fits" if against.mass >= against.weight else "row_against",
        role=_(label.role),
        passage=against.text_index,
        query=verbatim(tokens[against.query_index]),
        query_place=against.query_index,
        key=verbatim(tokens[against.key_index]),
        key_place=against.key_index,
        weight=f"{against.weight:.2f}",
        mass=f"{against.mass:.2f}",
    )


def show_evidence(text: Prose, gallery: Gallery, chosen: tuple[int, int]) -> None:
    """The names of a head, what speaks against each, its weights on texts."""
    loaded = gallery.loaded or obtain_model(gallery.name, "chosen")
    if not loaded:
        text("head")
        text("notice")
        return
    labels = head_scores.find_roles(gallery.scores, *chosen)
    every = hero.list_places(gallery.scores)
    told = {
        "head": name_head(*chosen),
        "names": _(" and ").join(f"**{_(label.role)}**" for label in labels) or _("no name"),
        "nameless": sum(not head_scores.find_roles(gallery.scores, *one) for one in every),
        "heads": len(every),
    }
    names, picture = st.columns([3, 2])
    with names:
        text("head")
        text("named" if labels else "no_name", **told)
        for label in labels:
            show_label(text, loaded, label)
            if label.role == "positional":  # how far away its largest weights are
                offset = gallery.scores.select("natural", "offset")[chosen]
                text("offset", offset=f"{offset:+.0f}")
        text("notice")
    with picture:  # with a counter-example to its first name, else the first passage
        against = (one.counterexample for one in labels if one.counterexample)
        passage = next((one.text_index for one in against), 0)
        text("patterns", passage=passage)
        show_prose(loaded, passage, chosen)
    show_source(head_scores.find_roles)


MOST_HEADS = 5


@fragment
def ask_keeps(text: Prose, gallery: Gallery) -> None:
    """Does the surest head keep its score in prose? Then the five surest, on both texts.

    Of induction if a head has that name, else of the role with the highest score.
    """
    scores = gallery.scores
    roles = [role for role in head_scores.ROLES if role.probe == "repeated"]

    def rank(role: Role) -> tuple[bool, float]:
        most = float(scores.select(role.probe, role.score_name).nan_to_num(0).max())
        return role.name == INDUCTION and most > role.threshold, most

    best = max(roles, key=rank)
    found, prose = (scores.select(probe, best.score_name) for probe in ("repeated", "natural"))
    heads = hero.rank_heads(found, MOST_HEADS)
    before, after = ([float(one[place]) for place in heads] for one in (found, prose))
    told = {
        "head": name_head(*heads[0]),
        "role": _(best.name),
        "before": f"{before[0]:.2f}",
        "after": f"{after[0]:.2f}",
        "first": f"{float(scores.select('natural', 'first token')[heads[0]]):.2f}",
    }
    answer = judge_share(after[0] / max(before[0], 1e-9))
    if not revealed(text, "keeps", SHARES, answer, **told):
        return
    matrix = Matrix(
        _(best.name),
        _("the heads with the highest scores"),
        [before, after],
        [_(controls.TWICE), _(controls.PROSE)],
        [name_head(*head) for head in heads],
        _("text"),
        _("head"),
        kind="weights",
    )
    alt = _("The same heads on random tokens and in prose.")
    show_figure(Figure([Panel("kept", matrix)], alt), gallery.origin, "kept")
