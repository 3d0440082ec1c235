"""For which heads a weight falls without its largest sources: what was measured beforehand."""

from explainers.models.removals_by_role import ALIKE, ALL, RoleResult, read_roles
from explainers.translations import _
from explainers.ui.text.numbers import join_rows, write_percent

SHOWN = "query", "query, others", "key", "key, others"
HOLDS = 0.8
"""Below this share of its weights, a role is shown as one for which it does not hold."""


def find_roles_without(results: list[RoleResult]) -> list[RoleResult]:
    """The roles for which it does not hold on one side or the other, the worst first."""
    worst = {one.role: min(one.share("query"), one.share("key")) for one in results}
    return sorted(
        (one for one in results if worst[one.role] < HOLDS), key=lambda one: worst[one.role]
    )


def describe_roles() -> dict[str, str] | None:
    """The slots of the text about roles; None where this machine's model is another."""
    results = read_roles()
    if not results:
        return None
    everything, alike = (next(one for one in results if one.role == role) for role in (ALL, ALIKE))
    worst, *_rest = find_roles_without(results)
    return {
        "count": f"{everything.cells:,}",
        "query": write_percent(everything.share("query")),
        "raw": write_percent(alike.share("query, raw")),
        "query_others": write_percent(everything.share("query, others")),
        "key": write_percent(everything.share("key")),
        "key_others": write_percent(everything.share("key, others")),
        "alike_query": write_percent(alike.share("query")),
        "alike_key": write_percent(alike.share("key")),
        "into_query": write_percent(alike.share("query, into the head")),
        "into_key": write_percent(alike.share("key, into the head")),
        "worst": _(worst.role),
        "worst_key": write_percent(worst.share("key")),
        "worst_others": write_percent(worst.share("key, others")),
        "roles": ", ".join(_(one.role) for one in find_roles_without(results)),
    }


def make_role_table() -> str:
    """A row for each role: in which share of its weights they fall; bold where it does not hold."""
    results = read_roles() or []
    head = (
        *(_("role of the head"), _("weights"), _("query: first 3"), _("query: 3 at random")),
        *(_("key: first 3"), _("key: 3 at random")),
    )
    rows = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for one in results:
        shares = [one.share(way) for way in SHOWN]
        told = [write_percent(share) for share in shares]
        for place in (0, 2):
            told[place] = f"**{told[place]}**" if shares[place] < HOLDS else told[place]
        rows.append(f"| {' | '.join([_(one.role), _(f'{one.cells:,}'), *told])} |")
    return join_rows(rows)
