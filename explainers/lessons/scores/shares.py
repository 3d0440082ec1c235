"""One row of weights as bars: how a single query divides its attention."""

from explainers.lessons.one_head import OneHead
from explainers.ui.picture import show_chart


def show_shares(one_head: OneHead, row: int, origin: str) -> None:
    """The weights of the query in `row`, a bar per token."""
    from explainers.charts.distribution import distribution, share_rows

    query = one_head.tokens[row]
    rows = share_rows({f"query {row}: {query}": one_head.numbers["weights"][row]}, one_head.tokens)
    alt = f"How {query} divides its attention: a bar per token, the bars sum to 1."
    show_chart(distribution, rows, alt, "shares", origin, length=len(one_head.tokens))
