"""One row of weights as bars: how a single query divides its attention."""

from explainers.lessons.one_head import OneHead
from explainers.ui.language import said
from explainers.ui.picture import show_chart


def show_shares(one_head: OneHead, row: int, origin: str) -> None:
    """The weights of the query in `row`, a bar per token."""
    from explainers.charts.distribution import distribution, share_rows

    query = one_head.tokens[row]
    series = said("query {row}: {query}", row=row, query=query)
    rows = share_rows({series: one_head.numbers["weights"][row]}, one_head.tokens)
    alt = said(
        "How {query} divides its attention: a bar per token, the bars sum to 1.", query=query
    )
    show_chart(distribution, rows, alt, "shares", origin, length=len(one_head.tokens))
