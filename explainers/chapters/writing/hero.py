"""The hero of the page: a text as it was written, each token with its candidates and its cache."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from explainers.chapters.common.measured_heads import show_token
from explainers.messages import N_
from explainers.models.shipped_measurements import GREEDY, HOT, USUAL, WrittenText
from explainers.models.written_tokens import TEMPERATURES, TOP_KS, TOP_PS, Sampling
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import Counter
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again
from explainers.ui.page import Prose
from explainers.ui.session import WRITTEN_SHOWN
from explainers.ui.text.numbers import write_percent

OPENS = 5
"""The token that is looked at first: a head finds what followed the same word before."""
ALL, EVERY, OWN = "all", "every", "yours"
LABELS = {USUAL: N_("usual"), GREEDY: N_("greedy"), HOT: N_("hot"), OWN: N_("yours")}
HEATS = tuple(f"{one:g}" for one in TEMPERATURES)
COUNTS = tuple(f"{one}" if one else EVERY for one in TOP_KS)
SHARES = tuple(f"{one:g}" for one in TOP_PS)
written_text = Choice("write_text", N_("Text"), USUAL, tuple(LABELS))
written_step = Counter("write_step", N_("Token, from 0"), OPENS)
looking_head = Choice("write_head", N_("Head"), ALL)
heat = Choice("write_heat", N_("Temperature"), None, HEATS)
best_count = Choice("write_k", N_("Top-k"), None, COUNTS)
best_share = Choice("write_p", N_("Top-p"), None, SHARES)
"""Without a default: at first they are those that the text was drawn with."""
SETTINGS = heat, best_count, best_share
controls.register(written_text, written_step, looking_head, *SETTINGS)
SENTENCES = "hero_caption", "hero_drawn", "hero_only", "hero_changed", "hero_cut"
TOLD = "token", "probability", "candidates", "place", "logit", "kept", "looks"
"""Of each step, what the browser reads."""


def choose_own() -> None:
    """The reader's text, from its first token on, as it was drawn."""
    written_text.put(OWN)
    written_step.put(0)
    for control in (looking_head, *SETTINGS):
        Control.put(control, None)


def name_settings(sampling: Sampling) -> dict[str, str]:
    """How a text was drawn, as the sliders have it."""
    return {
        heat.key: f"{sampling.temperature:g}",
        best_count.key: f"{sampling.top_k}" if sampling.top_k else EVERY,
        best_share.key: f"{sampling.top_p:g}",
    }


def make_hero(text: Prose, texts: Mapping[str, WrittenText], origin: str) -> Hero:
    """The texts that came with the app; the chosen one is drawn."""
    names = tuple(texts)
    name = HeroChoice.read(
        written_text, names, [_(LABELS[one]) for one in names], is_elsewhere=True
    )
    shown = texts[name.value]
    written = [step.token for step in shown.steps]
    begin_again(WRITTEN_SHOWN, (name.value, shown.sampling, shown.seed, written), *SETTINGS)
    steps = range(len(shown.steps))
    looking = sorted({head for step in shown.steps for _word, _weight, head, _row in step.looks})
    drawn = name_settings(shown.sampling)
    own = [replace(control, default=drawn[control.key]) for control in SETTINGS]
    within = [
        HeroChoice.read(written_step, steps, opening=min(OPENS, len(steps) - 1)),
        HeroChoice.read(looking_head, (ALL, *looking)),
        *(HeroChoice.read(control, control.options) for control in own),
    ]
    for choice in within:  # what is followed is chosen from now on: each can be changed alone
        st.session_state[choice.control.key] = choice.value
    numbers = {
        "prompt": shown.prompt,
        "steps": [
            {name: getattr(step, name) for name in TOLD} | {"bytes": step.num_bytes}
            for step in shown.steps
        ],
        "heats": TEMPERATURES[1:],
        "shares": TOP_PS,
        "scales": {heat.key: HEATS, best_count.key: COUNTS, best_share.key: SHARES},
        "drawn": drawn,
    }
    return Hero(
        "writing",
        _("A text that a model wrote token by token: candidates, words looked at, and the cache."),
        numbers,
        [name, *within],
        SENTENCES,
        list_experiments(text, texts),
        origin,
        lambda: make_table(shown),
    )


def list_experiments(text: Prose, texts: Mapping[str, WrittenText]) -> list[Experiment]:
    """A head that finds the token before it is written, a hot text, and the nucleus alone."""
    greedy, first = texts[GREEDY], texts[USUAL].steps[0]
    at, head, weight = find_copy(greedy)
    few, every = (first.kept[HEATS.index("1") - 1][SHARES.index(one)][0] for one in ("0.5", "1"))
    told = {
        "token": show_token(greedy.steps[at].token),
        "head": head,
        "weight": write_percent(weight),
        "few": f"{few:,}",
        "all": f"{every:,}",
    }
    copied = {written_text.key: GREEDY, written_step.key: at, looking_head.key: head}
    start = {written_step.key: 0, looking_head.key: ALL}
    nucleus = {heat.key: "1", best_count.key: EVERY, best_share.key: "0.5"}
    hot = {written_text.key: HOT} | start | name_settings(texts[HOT].sampling)
    return [
        Experiment(
            "greedy", text.fill("try_greedy", **told), copied | name_settings(greedy.sampling)
        ),
        Experiment("hot", text.fill("try_hot", **told), hot),
        Experiment("nucleus", text.fill("try_nucleus", **told), start | nucleus),
    ]


def find_copy(shown: WrittenText) -> tuple[int, str, float]:
    """Where a head looked hardest at the token that was then written: step, head, weight."""
    words = [*shown.prompt, *(step.token for step in shown.steps)]
    found = [
        (weight, at, head)
        for at, step in enumerate(shown.steps)
        for word, weight, head, _row in step.looks
        if words[word] == step.token
    ]
    weight, at, head = max(found)
    return at, head, weight


def make_table(shown: WrittenText) -> Any:
    """A row for each token: its probability, the head that looked hardest, and the bytes."""
    words = [*shown.prompt, *(step.token for step in shown.steps)]
    rows = []
    for place, step in enumerate(shown.steps):
        word, weight, head, _row = step.looks[0]
        token, looked = show_token(step.token), show_token(words[word])
        rows.append((place, token, step.probability, head, looked, weight, step.num_bytes))
    columns = [
        *(_("step"), _("token"), _("probability"), _("head")),
        *(_("looked at"), _("weight"), _("bytes of the cache")),
    ]
    return tabulate(rows, columns)
