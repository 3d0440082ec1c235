"""The hero of the page: what changes if one head's output comes from another prompt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from explainers.chapters.common.measured_heads import name_head
from explainers.messages import N_
from explainers.models import shipped_measurements
from explainers.models.registry import describe_package
from explainers.models.replaced_heads import Patching
from explainers.models.shipped_measurements import Ablations, Place
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import Counter
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, round_numbers
from explainers.ui.page import Prose
from explainers.ui.provenance import shipped_run
from explainers.ui.text.numbers import write_percent

PATCHED, DIRECT = N_("patched"), N_("direct effect")
LABELS = N_("from the other prompt"), N_("direct effect")
matter_layer = Counter("matter_layer", N_("Layer, from 0"), None)
matter_head = Counter("matter_head", N_("Head, from 0"), None)
"""Without a default: what is shown at first is what the numbers say."""
matter_view = Choice("matter_view", N_("Show"), PATCHED, (PATCHED, DIRECT))
own_layer, own_head = replace(matter_layer, key="own_layer"), replace(matter_head, key="own_head")
own_view = replace(matter_view, key="own_view")
controls.register(matter_layer, matter_head, matter_view, own_layer, own_head, own_view)
SENTENCES = "hero_caption", "hero_towards", "hero_against", "hero_nothing", "hero_direct"


Followed = tuple[Counter, Counter, Choice]
"""What is chosen in a picture, layer, head and view: of the running pair, or of the reader's."""
RUNNING: Followed = (matter_layer, matter_head, matter_view)
OWN: Followed = (own_layer, own_head, own_view)


@dataclass(frozen=True)
class Shown:
    """What was measured of a pair, and of heads on prose."""

    patching: Patching
    ablations: Ablations
    answers: tuple[str, str]
    origin: str


def read_shown() -> Shown | None:
    """The numbers that came with the app; none if the model here has other weights."""
    shipped = shipped_measurements.read_shipped_ablations()
    if not shipped:
        return None
    name, pair = next(iter(shipped_measurements.PAIRS.items()))
    answers = pair.answer, pair.other_answer
    origin = shipped_run(describe_package(shipped_measurements.MODEL))
    return Shown(shipped.pairs[name], shipped.ablations, answers, origin)


def make_hero(text: Prose, shown: Shown, followed: Followed = RUNNING) -> Hero:
    """Every head's effect. The running pair has experiments."""
    patching = shown.patching
    layers, heads = patching.effects.shape
    opens = find_largest(patching)[0]
    layer, head, view = followed
    choices = [
        HeroChoice.read(replace(layer, default=opens[0]), range(layers)),
        HeroChoice.read(replace(head, default=opens[1]), range(heads)),
        HeroChoice.read(view, (PATCHED, DIRECT), [*map(_, LABELS)]),
    ]
    numbers = {
        "layers": layers,
        "heads": heads,
        "prompts": patching.tokens,
        "answers": shown.answers,
        "leads": [round(lead, 4) for lead in patching.leads],
        "effects": round_numbers(patching.effects.flatten()),
        "chance": round_numbers(patching.chance.flatten()),
        "passes": patching.passes.flatten().tolist(),
        "draws": len(patching.null),
        "lucky": round(patching.lucky),
        "direct": round_numbers(patching.direct.heads.flatten()),
        "keys": [control.key for control in followed],
    }
    return Hero(
        "matter",
        _("A square for every head of a model, coloured by what it changes."),
        numbers,
        choices,
        SENTENCES,
        list_experiments(text, shown) if followed is RUNNING else [],
        shown.origin,
        lambda: make_table(shown),
    )


def find_head(hero: Hero) -> Place:
    """The head that is looked at."""
    return hero.chosen(matter_layer), hero.chosen(matter_head)


def find_largest(patching: Patching) -> list[Place]:
    """All heads, that with the largest effect first."""
    order: Sequence[int] = patching.effects.flatten().abs().argsort(descending=True).tolist()
    return [divmod(place, patching.effects.shape[1]) for place in order]


def list_experiments(text: Prose, shown: Shown) -> list[Experiment]:
    """A head against the answer, one that does nothing, and what heads write directly."""
    patching, direct = shown.patching, shown.patching.direct.heads
    against = next(one for one in find_largest(patching) if patching.effects[one] < 0)
    most = divmod(int(direct.argmax()), direct.shape[1])
    first = find_largest(patching)[0]
    told = {
        "head": name_head(*first),
        "share": write_percent(float(patching.effects[first])),
        "chance": write_percent(float(patching.chance[first])),
        "against": name_head(*against),
        "away": write_percent(float(-patching.effects[against])),
        "most": name_head(*most),
        "direct": f"{float(direct[most]):.2f}",
        "answer": shown.answers[0],
    }
    return [
        Experiment("against", text.fill("try_against", **told), _choose(against, PATCHED)),
        Experiment("random", text.fill("try_random", **told), _choose(first, PATCHED)),
        Experiment("direct", text.fill("try_direct", **told), _choose(most, DIRECT)),
    ]


def _choose(place: Place, view: str) -> dict[str, Any]:
    return {matter_layer.key: place[0], matter_head.key: place[1], matter_view.key: view}


def make_table(shown: Shown) -> Any:
    """A row for each head: its effect, its null, its direct effect."""
    patching = shown.patching
    rows = [
        (
            name_head(*place),
            float(patching.effects[place]),
            float(patching.chance[place]),
            bool(patching.passes[place]),
            float(patching.direct.heads[place]),
        )
        for place in find_largest(patching)
    ]
    columns = [_("head"), _("effect"), _("random words"), _("passes"), _("direct effect")]
    return tabulate(rows, columns)
