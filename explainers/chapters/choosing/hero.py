"""The hero of the page: a passage as a ribbon, and the keys that each policy keeps of it."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from explainers.chapters.choosing.indexer_job import IndexerJob, Snapshot
from explainers.messages import N_
from explainers.models.shipped_indexers import (
    FEW,
    FIRST,
    INDEXER,
    KEPT,
    NUM_FIRST,
    ORACLE,
    POLICIES,
    PROSE,
    SHORT,
    TWICE,
    USUAL,
    WINDOW,
    Passage,
    Shipped,
)
from explainers.translations import _, say_value
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import Counter
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, read_choice
from explainers.ui.page import Prose
from explainers.ui.provenance import learned_numbers, shipped_run
from explainers.ui.text.numbers import write_percent

MOST_QUERIES = 512
SENTENCES = (
    *("hero_caption", "hero_same", "hero_other", "hero_all"),
    *("hero_oracle", "hero_first", "hero_window"),
)
POLICY_NAMES = {
    ORACLE: N_("oracle"),
    INDEXER: N_("indexer"),
    FIRST: N_("first tokens + window"),
    WINDOW: N_("window"),
}
TEXT_NAMES = {PROSE: N_("prose"), TWICE: N_("a text, repeated")}

read_text = Choice("read_text", N_("Text"), PROSE)
kept_by = Choice("kept_by", N_("Keys kept by"), INDEXER)
keys_kept = Control("keys_kept", N_("Keys kept"), USUAL)
query_token = Counter("query_token", N_("Token that asks, from 0"), None)
controls.register(read_text, kept_by, keys_kept, query_token)


def choose_passage(shipped: Shipped) -> tuple[str, Passage]:
    """The text that is shown, by its name."""
    name = read_choice(read_text, tuple(TEXT_NAMES))
    return name, shipped.passages[name]


def make_hero(text: Prose, shipped: Shipped, job: IndexerJob | None) -> Hero:
    """One query of a passage, and what each policy keeps for it; `job` trains the indexer here."""
    name, passage = choose_passage(shipped)
    places = range(len(passage.tokens))
    control = replace(query_token, default=passage.query)
    query = read_choice(control, places)
    choices = [
        HeroChoice(read_text, tuple(TEXT_NAMES), name, [*map(_, TEXT_NAMES.values())], True),
        HeroChoice(kept_by, POLICIES, read_choice(kept_by, POLICIES), list_labels()),
        HeroChoice(keys_kept, KEPT, read_choice(keys_kept, KEPT)),
        HeroChoice(control, range(MOST_QUERIES), query, is_elsewhere=True),
    ]
    snapshots = job.reports if job and job.subject == name else []
    return Hero(
        "reading",
        _("A text as a row of bars, and below it the keys that each of four policies keeps."),
        compute_numbers(passage, query, snapshots),
        choices,
        SENTENCES,
        list_experiments(text, shipped),
        name_origin(shipped.numbers["model"], passage.layer, bool(snapshots)),
        lambda: make_table(passage, query),
    )


def name_origin(model: str, layer: int, is_trained_here: bool) -> str:
    """The badge: measured beforehand, and the indexer perhaps just now."""
    learned = learned_numbers(_("indexer of layer {layer}", layer=layer))
    return f"{shipped_run(model)} · {learned}" if is_trained_here else shipped_run(model)


def list_labels() -> list[str]:
    """The policies' names, as on the buttons."""
    return [_(POLICY_NAMES[name]) for name in POLICIES]


def compute_numbers(
    passage: Passage, query: int, snapshots: "list[Snapshot] | None" = None
) -> dict[str, Any]:
    """The weights of one query, and the keys in the order in which they would be kept."""
    most, weights = KEPT[-1], passage.weights[query, : query + 1]
    frames = [
        {"step": one.step, "order": rank_keys(passage.score_keys(one.inputs)[query], query)[:most]}
        for one in snapshots or []
    ]
    return {
        "tokens": passage.tokens,
        "layer": passage.layer,
        "query": query,
        "weights": [round(weight, 6) for weight in weights.tolist()],
        "orders": {
            ORACLE: rank_keys(passage.weights[query], query)[:most],
            INDEXER: rank_keys(passage.score_keys()[query], query)[:most],
        },
        "frames": frames,
        "policies": list(POLICIES),
        "labels": list_labels(),
        "kept": list(KEPT),
        "first": NUM_FIRST,
        "losses": {name: list(map(write_loss, passage.losses[name])) for name in POLICIES},
        "full": write_loss(passage.full_loss),
    }


def write_loss(loss: float) -> str:
    """In nats per token, with the visitor's decimal mark, as the picture prints it."""
    return say_value(f"{loss:.2f}")


def rank_keys(row: Tensor, query: int) -> list[int]:
    """The keys that a query sees, the one with the largest number first."""
    order: list[int] = row[: query + 1].sort(descending=True, stable=True).indices.tolist()
    return order


def read_loss(passage: Passage, policy: str, kept: int) -> str:
    """The loss of the whole model where every layer keeps so many keys."""
    return write_loss(passage.losses[policy][KEPT.index(kept)])


def list_experiments(text: Prose, shipped: Shipped) -> list[Experiment]:
    """What a reader can try, each with the losses that it leads to."""
    prose, twice = (shipped.passages[name] for name in (PROSE, TWICE))
    window = {"share": write_percent(shipped.numbers["weight"][WINDOW]), "kept": USUAL}
    window |= {"full": write_loss(prose.full_loss), "loss": read_loss(prose, WINDOW, USUAL)}
    seen = prose.weights[prose.query, : prose.query + 1]
    window["own"] = write_percent(float(seen[-USUAL:].sum()))
    window["place"] = prose.query + 1
    few = {name: read_loss(prose, name, FEW) for name in POLICIES}
    again = {name: read_loss(twice, name, SHORT) for name in POLICIES}
    again |= {"full": write_loss(twice.full_loss), "kept": f"{SHORT}"}
    here = {read_text.key: PROSE, kept_by.key: INDEXER}
    there = {read_text.key: TWICE, kept_by.key: INDEXER, query_token.key: twice.query}
    return [
        Experiment(
            "window",
            text.fill("try_window", **window),
            {**here, kept_by.key: WINDOW, keys_kept.key: USUAL, query_token.key: prose.query},
        ),
        Experiment("few", text.fill("try_few", kept=FEW, **few), {**here, keys_kept.key: FEW}),
        Experiment("twice", text.fill("try_twice", **again), {**there, keys_kept.key: SHORT}),
    ]


def make_table(passage: Passage, query: int) -> Any:
    """Each key of the query: its token, its weight and its index score."""
    import pandas as pd  # the first paint needs no tables

    tokens = [f"{place} {token}" for place, token in enumerate(passage.tokens[: query + 1])]
    columns = {
        _("key"): tokens,
        _("weight"): passage.weights[query, : query + 1].tolist(),
        _("index score"): passage.score_keys()[query, : query + 1].tolist(),
    }
    return pd.DataFrame(columns)


def find_shown(shipped: Shipped) -> tuple[Passage, int, int]:
    """The passage, the query and the number of keys that the picture shows."""
    _name, passage = choose_passage(shipped)
    control = replace(query_token, default=passage.query)
    query = read_choice(control, range(len(passage.tokens)))
    return passage, query, read_choice(keys_kept, KEPT)
