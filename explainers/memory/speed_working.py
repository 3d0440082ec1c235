"""How fast a deployment can be at the most, in lines that can be checked by hand."""

from decimal import Decimal
from fractions import Fraction

from explainers.memory.serving import Deployment, sequence_on_each
from explainers.memory.sizes import quotient
from explainers.memory.speed import (
    active_parameters,
    compute_bound_batch,
    computing_seconds,
    reading_seconds,
    tokens_per_second,
    weights_read,
)
from explainers.phrase import Phrase, phrase

AT_BEST = Phrase(phrase(" (at best: all texts choose the same experts)"), {})


def speed_lines(deployment: Deployment, tokens: int, batch: int = 1) -> tuple[str, ...]:
    """The limit that bandwidth sets, the one that arithmetic sets, and which of them it is."""
    weights, one = weights_read(deployment), sequence_on_each(deployment, tokens)
    reading = reading_seconds(deployment, tokens, batch)
    computing = computing_seconds(deployment, batch)
    active, gpu = active_parameters(deployment), deployment.gpu
    turn = compute_bound_batch(deployment, tokens)
    in_batch = f"{batch:,}"
    if deployment.beams > 1:
        in_batch = phrase("{size} × {beams:,} beams", size=in_batch, beams=deployment.beams)
    speed = decimals(tokens_per_second(deployment, tokens, batch))
    return (
        phrase(
            "read in a step by each GPU: {weights:,} of weights{at_best} + {batch:,} × {one:,} "
            "of caches = {sum:,} bytes",
            weights=weights,
            at_best=AT_BEST if is_mixture(deployment) else "",
            batch=batch,
            one=one,
            sum=weights + batch * one,
        ),
        phrase(
            "÷ {bandwidth:,} bytes a second = {time} ms",
            bandwidth=gpu.bandwidth,
            time=milliseconds(reading),
        ),
        phrase(
            "computed with the weights in a step: 2 × {active:,} parameters × {batch} ÷ "
            "({flops:,} × {gpus}) = {time} ms",
            active=active,
            batch=in_batch,
            flops=gpu.flops,
            gpus=deployment.gpus,
            time=milliseconds(computing),
        ),
        phrase("at most {speed} tokens a second: limited by reading", speed=speed)
        if reading >= computing
        else phrase("at most {speed} tokens a second: limited by computing", speed=speed),
        phrase("computing takes over from {count:,} texts on", count=turn)
        if turn is not None
        else phrase(
            "reading always takes longer than computing with the weights, for any number of texts"
        ),
    )


def is_mixture(deployment: Deployment) -> bool:
    """Whether a token uses only some of the parameters."""
    return deployment.shape.active_parameters is not None


def milliseconds(seconds: Fraction) -> Decimal:
    """To a thousandth."""
    return decimals(seconds * 1000, 3)


def decimals(number: Fraction, places: int = 1) -> Decimal:
    """A fraction with so many decimals."""
    return quotient(number.numerator, number.denominator, places)
