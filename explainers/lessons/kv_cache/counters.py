"""What reading a text has cost so far, in a line beside the slider."""

from explainers.attention.cache_costs import cache_bytes, with_cache, without_cache
from explainers.lessons.kv_cache.written import Written
from explainers.ui.language import said


def counters(run: Written, place: int) -> str:
    """What has been done so far, with the cache and without one; and the proof."""
    length = place + 1
    both = [[work(length, layer) for layer in run.layers] for work in (with_cache, without_cache)]
    rows, rows_again = (sum(work.rows for work in way) for way in both)
    adds, adds_again = (sum(work.projections + work.scores for work in way) for way in both)
    held = sum(cache_bytes(length, layer) for layer in run.layers)
    return said(
        "{length}: “{word}” · so far {rows:,} rows of K (without a cache {rows_again:,}), {adds:,} "
        "multiply-adds ({adds_again:,}) · {held:,} bytes held (0) · "
        "largest |cached − recomputed| = {difference:g}",
        length=length,
        word=run.tokens[place],
        rows=rows,
        rows_again=rows_again,
        adds=adds,
        adds_again=adds_again,
        held=held,
        difference=run.row_by_row[place],
    )
