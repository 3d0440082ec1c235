"""Claims about real models, and about the sentence in another language."""

from explainers.claims.finding import CONDITION, FAILS, HOLDS, Finding, found, judged
from explainers.models.compare import differences
from explainers.models.head_scores import of_layer
from explainers.models.load import load
from explainers.models.probes import natural
from explainers.models.reading import read
from explainers.models.run import run
from explainers.sentence import SENTENCE
from explainers.translation.corpus import RUNNING

ROUNDING = 1e-5


def ours_gives_their_output(model: str) -> Finding:
    """Every layer and the output, against the model's own attention."""
    loaded = load(model)
    ids = read(loaded, SENTENCE).ids
    rows = differences(loaded.model, input_ids=ids)
    worst = max(row.largest for row in rows)
    share = max(row.largest / row.size for row in rows)
    holds = share < ROUNDING
    return judged(holds, holds, worst=worst, share=share, compared=len(rows))


def heads_park_on_the_first(model: str, least: float) -> Finding:
    """Of how many heads more than that share of natural text's weight is on the first token."""
    loaded = load(model)
    texts = natural(loaded).ids
    parked = run(
        loaded.model,
        read=lambda layer: layer.weights[..., 0].mean(dim=(0, -1)),
        input_ids=texts,
    ).layers
    shares = [share for layer in parked for share in layer.tolist()]
    many = sum(share > least for share in shares)
    return judged(many > 0.1 * len(shares), many > 0.5 * len(shares), many=many, all=len(shares))


def first_diffuse_last_sharp(model: str) -> Finding:
    """Mean entropy of a layer's rows, as a share of the most that each row could have."""
    loaded = load(model)
    probe = natural(loaded)
    layers = run(
        loaded.model, read=lambda layer: of_layer(layer, probe), input_ids=probe.ids
    ).layers
    whole, without = (
        [layer[name].mean().item() for layer in layers]
        for name in ("entropy", "entropy without the first token")
    )
    most, least = whole.index(max(whole)), whole.index(min(whole))
    is_first, is_last = most == 0, least == len(whole) - 1
    verdict = HOLDS if is_first and is_last else CONDITION if is_first else FAILS
    return found(
        verdict,
        diffuse=most,
        sharp=least,
        last=len(whole) - 1,
        first=whole[0],
        sharpest=whole[least],
        freed=without[least],
    )


def thirteen_by_seven(counted: str) -> Finding:
    """Rows and columns of the translation's weights, for a way to count its length."""
    text = " ".join(RUNNING.target)
    rows = len(RUNNING.target) if counted == "syllables" else len(text.replace(" ", ""))
    holds = (rows, len(RUNNING.source)) == (13, 7)
    return judged(holds, False, rows=rows, columns=len(RUNNING.source))
