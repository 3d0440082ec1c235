"""The hero: a passage as a ribbon, the keys that each policy keeps, and an indexer that learns."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.indexer import IndexInputs, index_scores, keep_best
from explainers.chapters.common import background_job
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.indexers import (
    FEW,
    FIRST,
    INDEXER,
    KEPT,
    MODEL,
    NUM_FIRST,
    ORACLE,
    POLICIES,
    PROSE,
    SHORT,
    STEPS,
    TWICE,
    USUAL,
    WINDOW,
    IndexerSize,
    Passage,
    Shipped,
    list_training_texts,
    project_text,
    read_layers,
    train_indexer,
)
from explainers.models.load import load_model
from explainers.models.registry import ModelError
from explainers.translations import _, say_value
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import Counter
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, show_hero
from explainers.ui.page import Prose
from explainers.ui.provenance import learned_numbers, shipped_run
from explainers.ui.session import INDEXER_JOB
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import write_percent

LOOKS = *range(9), 10, 12, 15, 20, 25, 30, 40, 60, 90, 120
"""The steps after which what is learned is looked at: most is learned in the first ones."""


class Snapshot(NamedTuple):
    """After so many steps: how far the indexer is from the heads, and what it compares."""

    step: int
    divergence: float
    inputs: IndexInputs


IndexerJob = Job[str, Snapshot, None]
"""Of the text that is shown; it reports what the indexer of its layer has learned."""


def make_indexer_job(name: str, passage: Passage) -> IndexerJob:
    """Reads the training texts up to the passage's layer, and trains the indexer of that layer."""
    looks = len(LOOKS) + 1  # and after the last step
    return Job(name, partial(train, passage), looks, readable_errors=(ModelError,))


def train(passage: Passage, job: IndexerJob) -> None:
    """Report each time that is looked at; elsewhere the job may be cancelled."""
    loaded, layer, readings = load_model(MODEL), passage.layer, []
    device = loaded.model.device
    for text in list_training_texts(loaded.tokenizer):
        readings.append(read_layers(loaded.model, text.to(device), layer)[layer])
        job.check()
    ids = torch.tensor([list(passage.ids)], device=device)
    shown = read_layers(loaded.model, ids, layer)[layer]
    for state in train_indexer(readings, IndexerSize(), passage.seed, STEPS):
        if state.step in (*LOOKS, STEPS):
            inputs = project_text(shown.x, state.indexer)
            job.report(Snapshot(state.step, state.divergence, inputs))
        else:
            job.check()


def describe_steps(job: IndexerJob) -> str:
    """How far it is: reading the texts comes first."""
    if not job.reports:
        return _("the model reads the training texts")
    last = job.reports[-1]
    told = {"step": last.step, "divergence": last.divergence}
    return _("step {step}, {divergence:.2f} nats from the heads", **told)


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


def make_hero(text: Prose, shipped: Shipped, name: str, job: IndexerJob | None) -> Hero:
    """One query of a text, and what each policy keeps for it; `job` trains the indexer here."""
    passage = shipped.passages[name]
    places = range(len(passage.tokens))
    control = replace(query_token, default=passage.query)
    query = control.resolve_among(places)
    choices = [
        HeroChoice(read_text, tuple(TEXT_NAMES), name, [*map(_, TEXT_NAMES.values())], True),
        HeroChoice.read(kept_by, POLICIES, list_labels()),
        HeroChoice.read(keys_kept, KEPT),
        HeroChoice(control, range(MOST_QUERIES), query, is_elsewhere=True),
    ]
    snapshots = list(job.reports) if job and job.subject == name else []
    measured = shipped_run(MODEL)
    learned = learned_numbers(_("indexer of layer {layer}", layer=passage.layer))
    return Hero(
        "reading",
        _("A text as a row of bars, and below it the keys that each of four policies keeps."),
        compute_numbers(passage, query, snapshots),
        choices,
        SENTENCES,
        list_experiments(text, shipped),
        f"{measured} · {learned}" if snapshots else measured,
        lambda: make_table(passage, query),
    )


def list_labels() -> list[str]:
    """The policies' names, as on the buttons."""
    return [_(POLICY_NAMES[name]) for name in POLICIES]


def compute_numbers(passage: Passage, query: int, snapshots: list[Snapshot]) -> dict[str, Any]:
    """The weights of one query, and the keys in the order in which they would be kept."""
    most, weights = KEPT[-1], passage.weights[query, : query + 1]
    frames = [
        {"step": one.step, "order": rank_keys(passage.score_keys(one.inputs)[query], query)[:most]}
        for one in snapshots
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


def read_loss(passage: Passage, policy: str, kept: int) -> float:
    """The loss of the whole model where every layer keeps so many keys."""
    return passage.losses[policy][KEPT.index(kept)]


def list_experiments(text: Prose, shipped: Shipped) -> list[Experiment]:
    """What a reader can try, each with the losses that it leads to."""
    prose, twice = (shipped.passages[name] for name in (PROSE, TWICE))
    seen = prose.weights[prose.query, : prose.query + 1]
    window = {
        "share": write_percent(shipped.numbers["weight"][WINDOW]),
        "kept": USUAL,
        "full": write_loss(prose.full_loss),
        "loss": write_loss(read_loss(prose, WINDOW, USUAL)),
        "own": write_percent(float(seen[-USUAL:].sum())),
        "place": prose.query + 1,
    }
    few = {name: write_loss(read_loss(prose, name, FEW)) for name in POLICIES}
    again = {name: write_loss(read_loss(twice, name, SHORT)) for name in POLICIES}
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
    tokens = [f"{place} {token}" for place, token in enumerate(passage.tokens[: query + 1])]
    columns = {
        _("key"): tokens,
        _("weight"): passage.weights[query, : query + 1].tolist(),
        _("index score"): passage.score_keys()[query, : query + 1].tolist(),
    }
    return tabulate(columns)


def choose_keys(
    query: Tensor, key: Tensor, share: Tensor, weights: Tensor, mask: Tensor, kept: int
) -> dict[str, Tensor]:
    """What an indexer keeps, what the weights would keep, and how much weight is on both."""
    scores = index_scores(query, key, share)
    found, best = keep_best(scores, kept, mask), keep_best(weights, kept, mask)
    on_found, on_best = ((weights * chosen).sum(dim=-1) for chosen in (found, best))
    return {"scores": scores, "kept": found, "weight kept": on_found, "oracle": on_best}


def show_trained_hero(text: Prose, shipped: Shipped, can_train: bool) -> None:
    """The keys of the indexer walk while it trains, and the reader can play that again."""
    job: IndexerJob | None = st.session_state.get(INDEXER_JOB)
    is_polled = job is not None and not job.is_over
    # Elsewhere the page follows the picture: what it asks below stands in the link that it changes.
    look = fragment(_look, run_every=background_job.POLL_SECONDS) if is_polled else _look
    name = read_text.resolve_among(tuple(TEXT_NAMES))
    look(text, shipped, name, is_polled)
    if not can_train:
        return
    passage = shipped.passages[name]
    label = _("Train the indexer of layer {layer}", layer=passage.layer)
    icon = ":material/model_training:"
    background_job.offer_job(INDEXER_JOB, label, make_indexer_job(name, passage), icon=icon)


def _look(text: Prose, shipped: Shipped, name: str, is_polled: bool) -> None:
    job: IndexerJob | None = st.session_state.get(INDEXER_JOB)
    if is_polled and job and job.is_over:
        st.rerun()  # nobody has to look again
    show_hero(text, hero := make_hero(text, shipped, name, job), "choosing")
    passage, query = shipped.passages[name], hero.numbers["query"]
    row, seen = slice(query, query + 1), slice(query + 1)
    weights = passage.weights[row, seen]  # of the model; its scores are computed again
    hand_over(
        "choosing",
        _("The keys of token {place}", place=query + 1),
        choose_keys,
        query=passage.inputs.query[:, row],
        key=passage.inputs.key[seen],
        share=passage.inputs.share[row],
        weights=weights,
        mask=weights > -1,
        kept=hero.chosen(keys_kept),
    )
    if not job or job.subject != name:
        return
    if job.state == "failed":
        background_job.show_problem(job)
        return
    st.progress(job.share, background_job.describe_state(job, describe_steps))
    if not job.is_over:
        background_job.show_cancel(INDEXER_JOB, job)
