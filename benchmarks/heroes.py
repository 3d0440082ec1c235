"""From a key press to the frame that shows it, for the pictures that the browser draws by itself.

One page at a time is open beside the bare app, and they take turns, so that whatever else the
machine does meets both alike; what a page tells the server of a change is answered before the next
turn. Motion is off: what is timed is the change, not the way to it.
"""

from contextlib import ExitStack
from typing import NamedTuple

from playwright.sync_api import Page

from benchmarks import report
from benchmarks.browser import ROOT, bare_options, chromium, server, visit, wait_until_healthy
from benchmarks.walkers import Hand, Slider

WARM_UP = 5
"""Changes that are not counted."""
BARE = "bare app"
TELL_AFTER = 400
"""Milliseconds after which the server has heard of a change (picture/hero.js)."""
IDLE = (
    "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
)


class Target(NamedTuple):
    """Where a picture stands, and what has the focus when a key is pressed."""

    link: str
    control: str


WORDS = ".hero [role=radiogroup] [tabindex='0']"
CHIPS = ".hero .bar [role=radio][aria-checked=true]"
TARGETS = {
    "start: word": Target("/", WORDS),
    "start: batches learned": Target("/", ".hero input[type=range]"),
    "query_key_value: word": Target("/query_key_value", WORDS),
    "scores: word": Target("/scores", WORDS),
    "scores: temperature": Target("/scores", ".hero input[type=range]"),
    "masks: mask": Target("/masks", CHIPS),
    "many_heads: heads": Target("/many_heads", CHIPS),
    "relative_positions: move both": Target(
        "/relative_positions", ".hero input[type=range] >> nth=0"
    ),
    "shared_heads: KV heads": Target("/shared_heads", CHIPS + " >> nth=1"),
    "kv_cache: step": Target("/kv_cache", ".hero input[type=range]"),
    "long_sequences: tokens n": Target("/long_sequences", ".hero .bar input[type=range]"),
    "long_sequences: tiles read": Target("/long_sequences", ".hero .film input[type=range]"),
    "growing_memory: pairs": Target("/growing_memory", ".hero input[type=range]"),
    "growing_memory: written by": Target("/growing_memory", CHIPS + " >> nth=0"),
    "choosing: keys kept": Target("/choosing", ".hero input[type=range] >> nth=0"),
    # The trick itself asks the server as soon as the model is loaded.
    "serving: how drafts are read": Target("/serving?trick=drafts", CHIPS + " >> nth=2"),
    "cross_attention: syllables": Target("/cross_attention", ".hero input[type=range]"),
    "cache_memory: tokens": Target("/cache_memory", ".hero input[type=range]"),
    "cache_memory: point on the map": Target("/cache_memory", ".hero .memory-point"),
    "inspector: word": Target("/inspector", WORDS),
    "head_gallery: head": Target("/head_gallery", ".hero .gallery-cell[tabindex='0']"),
    "head_gallery: word": Target("/head_gallery", ".hero .words [tabindex='0']"),
    "what_if: change": Target("/what_if", CHIPS),
    "what_if: token": Target("/what_if", WORDS.replace("radiogroup]", "radiogroup].words")),
    "why_it_looked: cell": Target("/why_it_looked", CHIPS),
    "does_it_matter: head": Target("/does_it_matter", ".hero .gallery-cell[tabindex='0']"),
    "exercises: card": Target("/exercises", ".hero .deck-card[tabindex='0']"),
    "claims: subject": Target("/claims", ".hero [role=radio][aria-checked=true]"),
    "tokens: merges": Target("/tokens", ".hero input[type=range]"),
}


def walk(
    page: Page, reference: Slider, targets: dict[str, Target], changes: int
) -> dict[str, Hand]:
    """Whoever changes the controls of an open page, in turn with the bare app."""
    hands = {
        name: Hand(page, page.locator(target.control).first, ".hero")
        for name, target in targets.items()
    }
    for change in range(WARM_UP + changes):
        for name, walker in {BARE: reference, **hands}.items():
            took = walker.walk(name)
            if change >= WARM_UP:
                walker.times.append(took)
            if name != BARE:
                page.wait_for_timeout(TELL_AFTER)
                page.wait_for_function(IDLE)
    return hands


def measure(changes: int) -> str:
    """The report's section."""
    minimal = ROOT / "benchmarks" / "minimal_app.py"
    reference_times: list[float] = []
    rows: dict[str, str] = {}
    with ExitStack() as stack:
        bare = stack.enter_context(server(minimal, stack.enter_context(bare_options())))
        ours = stack.enter_context(server(ROOT / "app.py", ROOT))
        browser = stack.enter_context(chromium())
        for address in (bare, ours):
            wait_until_healthy(address)
        for link in dict.fromkeys(target.link for target in TARGETS.values()):
            targets = {name: target for name, target in TARGETS.items() if target.link == link}
            # A page of the bare app that has drawn hundreds of charts is slower than a new one.
            with visit(browser, bare) as beside, visit(browser, ours + link, is_still=True) as page:
                reference = Slider(beside, beside.get_by_role("slider", name="Factor").first, None)
                hands = walk(page, reference, targets, changes)
            reference_times += reference.times
            rows |= {
                name: hand.row(name, reference) + hand.scripts_row() for name, hand in hands.items()
            }
        reference.times = reference_times
        return report.section(
            "Heroes",
            browser.version,
            f"Milliseconds from a key press to the first frame that shows the change, in pictures "
            f"that the browser draws by itself, {changes} changes of each after {WARM_UP} that do "
            f"not count; of these, the script's. The bare app is Streamlit with one slider and one "
            f"Altair heat map, up to its last frame. It takes turns with each page, and a page's "
            f"numbers are divided by what it took in these turns; its own row has all of them. "
            f"Aims: p50 ÷ bare ≤ 0.2, script ≤ 16.",
            " page, control | p50 | p95 | p50 ÷ bare | p95 ÷ bare | script p50 | script, most ",
            [reference.row(BARE, reference) + "| – | – ", *(rows[name] for name in TARGETS)],
        )


if __name__ == "__main__":
    arguments = report.options(__doc__, 40, "changes")
    report.publish(measure(arguments.changes), arguments.write)
