"""Short links: the same one for the same page and choices, a bounded number of them."""

from explainers.ui.lecture.share_link import (
    LONGEST_CODE_TEXT,
    LONGEST_LINK,
    MOST_LINKS,
    RIM_WIDTH,
    Link,
    ShortLinks,
    draw_code,
    get_short_links,
    share_address,
)
from tests.support.opening import PAGES, opened
from tests.support.reading import sizes


def test_a_code_is_found_again_and_always_the_same():
    links, link = ShortLinks(), Link("scores", "d_k=8&mask=causal")
    code = links.keep(link)
    assert links.find(code) == link
    assert links.keep(link) == code == ShortLinks().keep(link)
    assert links.keep(Link("scores", "d_k=8")) != code
    assert code.isalnum()
    assert len(code) == 6


def test_the_oldest_goes_and_what_is_used_stays():
    links = ShortLinks()
    first, second = (links.keep(Link("", f"seed={n}")) for n in (0, 1))
    for n in range(2, MOST_LINKS):
        links.keep(Link("", f"seed={n}"))
    links.keep(Link("", "seed=0"))
    links.keep(Link("", f"seed={MOST_LINKS}"))
    assert links.find(first)
    assert links.find(second) is None


def test_one_that_begins_alike_does_not_take_the_place_of_another():
    links, mine = ShortLinks(), Link("", "seed=1")
    code = links.keep(mine)
    links._links[code] = other = Link("", "somebody's")
    longer = links.keep(mine)
    assert longer.startswith(code)
    assert links.find(code) == other
    assert links.find(longer) == mine


def test_the_code_holds_the_full_link_while_it_can_be_read():
    address = "http://lecture.example/app/scores?d_k=8"
    told = share_address(address, "scores")
    assert told["links"][0].startswith("http://lecture.example/app/?go=")
    assert told["notes"] == []
    assert (told["path"], told["side"]) == draw_code(address)
    assert told["side"] > 2 * RIM_WIDTH
    long = share_address("http://lecture.example/?text=" + "x" * LONGEST_CODE_TEXT, "")
    assert long["path"] == draw_code(long["links"][0])[0]
    longest = share_address("http://lecture.example/?text=" + "x" * LONGEST_LINK, "")
    assert (longest["path"], bool(longest["notes"])) == ("", True)


def test_a_short_link_opens_its_page_with_its_choices():
    """Also of a control in a card; what says how a page stands in another one is left out."""
    chosen = "d_k=8&weights=untrained&deep=steps&seed=3&predict=false&off=0&off=1"
    chosen += "&embed=true&Embed_Options=show_footer"
    code = get_short_links().keep(Link("scores", chosen))
    visit = opened(PAGES[0], {"go": code})
    assert not visit.exception
    assert visit.title[0].value == "From scores to output"
    assert sizes(visit)[0] == 8
    assert visit.slider("seed").value == 3


def test_an_unknown_one_is_told_and_the_rest_holds():
    visit = opened(PAGES[0], {"go": "**x**", "mask": "causal"})
    assert not visit.exception
    assert "` **x** `" in visit.info[0].value
    assert visit.query_params["mask"] == "causal"
