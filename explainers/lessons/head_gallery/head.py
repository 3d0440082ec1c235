"""One head: the names it has earned, what speaks against them, and its pattern on three texts."""

from itertools import product

from explainers.lessons.head_gallery.measured import PROBE_OF, Gallery, named
from explainers.lessons.head_gallery.seen import probe_texts, spelled
from explainers.models.labels import OTHER, ROLES, Label, labels
from explainers.phrase import phrase
from explainers.ui.language import said, translated
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

WORDS = {probe: words for words, probe in PROBE_OF.items()}
KEEPS, LESS, MORE = phrase("about as much"), phrase("clearly less"), phrase("clearly more")
ALIKE = 0.1
"""Shares that are closer than this are called alike."""
UNKNOWN, NEEDS = "–", "\N{NO-BREAK SPACE}(>\N{NO-BREAK SPACE}"


def ask_keeps(text: Prose, gallery: Gallery) -> bool:
    """A guess about the surest head of the random tokens: does it do the same in prose?"""
    scores = gallery.scores
    roles = [role for role in ROLES if role.probe == "repeated"]
    best = max(roles, key=lambda role: float(scores.of(role.probe, role.what).nan_to_num(0).max()))
    there = scores.of(best.probe, best.what)
    layer, head = divmod(int(there.nan_to_num(-1).argmax()), gallery.heads)
    before, after = (float(scores.of(p, best.what)[layer, head]) for p in ("repeated", "natural"))
    first = float(scores.of("natural", "first token")[layer, head])
    moved = after - before
    return revealed(
        text,
        "keeps",
        (KEEPS, LESS, MORE),
        KEEPS if abs(moved) < ALIKE else MORE if moved > 0 else LESS,
        head=named(layer, head),
        role=translated(best.name),
        before=f"{before:.2f}",
        after=f"{after:.2f}",
        first=f"{first:.2f}",
    )


def show_labels(text: Prose, gallery: Gallery, chosen: tuple[int, int]) -> None:
    """All names of a head, each with what speaks against it; and all scores that names are for."""
    found = labels(gallery.scores, *chosen)
    names = said(" and ").join(f"**{translated(label.role)}**" for label in found)
    text("named", head=named(*chosen), names=names or said("no name"))
    for label in found:
        _show_label(text, gallery, label)
        if label.role == "positional":
            text("offset", offset=f"{gallery.scores.of('natural', 'offset')[chosen]:+.0f}")
    if not found:
        every = list(product(range(gallery.layers), range(gallery.heads)))
        nameless = sum(not labels(gallery.scores, *one) for one in every)
        text("no_name", nameless=nameless, heads=len(every))
    rows = []
    for role in ROLES:
        earned = any(label.role == role.name for label in found)
        both = [gallery.scores.of(probe, role.what)[chosen] for probe in ("repeated", "natural")]
        shown = [UNKNOWN if one.isnan() else f"{one:.2f}" for one in both]
        place = ("repeated", "natural").index(role.probe)
        bold = "**" if earned else ""
        shown[place] = f"{bold}{shown[place]}{bold}{NEEDS}{role.threshold:g})"
        rows.append(f"| {translated(role.name)} | {' | '.join(shown)} |")
    text("roles", rows="\n".join(rows))
    show_source(labels)


def _show_label(text: Prose, gallery: Gallery, label: Label) -> None:
    role = next(one for one in ROLES if one.name == label.role)
    text(
        "label",
        role=translated(label.role),
        probe=translated(WORDS[role.probe]),
        score=f"{label.score:.2f}",
        threshold=role.threshold,
        source=translated(role.source),
        chance=f"{label.by_chance:.2f}",
        other=translated(WORDS[OTHER[role.probe]]),
        elsewhere=UNKNOWN if label.elsewhere != label.elsewhere else f"{label.elsewhere:.2f}",
    )
    if label.against is None:
        text("no_against")
        return
    against = label.against
    tokens = spelled(gallery.loaded, probe_texts(gallery.loaded)["natural"][against.text])
    text(
        f"row_{'fits' if against.mass >= against.weight else 'against'}",
        role=translated(label.role),
        passage=against.text,
        query=verbatim(tokens[against.query]),
        query_place=against.query,
        key=verbatim(tokens[against.key]),
        key_place=against.key,
        weight=f"{against.weight:.2f}",
        mass=f"{against.mass:.2f}",
    )
