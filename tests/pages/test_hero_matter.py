"""Does it matter: what is shown is what was measured, and a sample is measured again."""

import pytest

from explainers import kept
from explainers.chapters.does_it_matter import cards
from explainers.chapters.does_it_matter.hero import find_largest, read_shown
from explainers.models.layer_by_layer import compute_writing, find_decoder, go_on, read_stream
from explainers.models.replaced_heads import DRAWS, draw_null, read_pair
from explainers.models.shipped_measurements import PAIRS, WRITINGS, read_shipped_writings
from tests.support.opening import PAGES, opened
from tests.support.reading import said
from workshop.models import compute_writings, measure_ablations, measure_writing

PAGE = next(page for page in PAGES if page.stem == "21_does_it_matter")


@pytest.fixture(scope="module")
def shown():
    found = read_shown()
    assert found, "the numbers come with the app"
    return found


@pytest.mark.nightly("minutes; what runs the same code daily: a pair, below, and the other pages'")
@pytest.mark.parametrize(
    "command", [measure_ablations, compute_writings, measure_writing], ids=lambda one: one.__name__
)
@pytest.mark.usefixtures("smollm2")
def test_a_command_finds_what_it_has_kept(command):
    assert command.check() == 0


@pytest.fixture(scope="module")
def capital(smollm2):
    """The running pair, read again."""
    return read_pair(smollm2, find_decoder(smollm2), PAIRS["capital"])


def patch(decoder, read, source, place):
    """How far a head's output moves the lead, if it comes from another prompt."""
    layer, head = place
    outputs = read.stream.heads[layer].clone()
    outputs[:, :, head] = source.heads[layer][:, :, head]
    logits = decoder.compute_logits(go_on(decoder, read.stream, layer, outputs))[0, -1].detach()
    first, second = (float(logits[one]) for one in read.answers)
    return (first - second - read.leads[0]) / (read.leads[1] - read.leads[0])


def test_the_running_pair_is_patched_again(smollm2, capital, shown):
    assert capital.leads == pytest.approx(shown.patching.leads, abs=1e-2)
    place = find_largest(shown.patching)[0]
    effect = patch(find_decoder(smollm2), capital, capital.other, place)
    assert effect == pytest.approx(float(shown.patching.effects[place]), abs=5e-3)


@pytest.mark.parametrize(
    "draws", [2, pytest.param(DRAWS, marks=pytest.mark.nightly("the same, for every draw"))]
)
def test_random_words_move_a_head_as_far_as_was_kept(smollm2, capital, shown, draws):
    decoder, place = find_decoder(smollm2), (10, 6)
    moved = [
        abs(patch(decoder, capital, read_stream(decoder, ids), place))
        for ids in draw_null(smollm2, capital, 0)[:draws]
    ]
    assert moved == pytest.approx(shown.patching.null[:draws, *place].tolist(), abs=5e-3)


def test_what_the_heads_of_a_layer_write_is_computed_again(smollm2, capital, shown):
    shipped = read_shipped_writings()
    assert shipped
    found = compute_writing(find_decoder(smollm2), capital.stream, 23, capital.answers)
    one = type(found)(*(part[23] for part in shipped.writing))
    allowed = kept.read(WRITINGS).tolerance[compute_writings.LOGITS]
    assert compute_writings.find_difference(one, found) < allowed
    assert cards.read_writing(shown, 23, "The sun rises in the") is None


def test_a_token_that_is_not_in_the_prompt_is_told():
    """That of a link to another prompt, for example; the card tells of the chosen head."""
    link = {"matter_layer": "23", "matter_head": "3", "deep": "writes"}
    visit = opened(PAGE, link | {"written_from": "nonsense"})
    assert not visit.exception
    assert "**L23.H3** writes at the last token" in said(visit)
    assert any("written_from =" in note.value.replace("\\", "") for note in visit.info)
    assert visit.session_state["written_from"] != "nonsense"
