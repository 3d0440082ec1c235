"""What a deployment's numbers are made of, in lines that can be checked by hand."""

from decimal import Decimal
from fractions import Fraction

from explainers.memory.formats import format_of
from explainers.memory.serving import (
    Deployment,
    free_on_each,
    longest_context,
    sequence_on_each,
    users,
    weight_bytes,
    weights_on_each,
)
from explainers.memory.sizes import both, quotient
from explainers.memory.speed import (
    active_parameters,
    compute_bound_batch,
    computing_seconds,
    reading_seconds,
    tokens_per_second,
    weights_read,
)
from explainers.memory.working import many


def memory_lines(deployment: Deployment, tokens: int) -> tuple[str, ...]:
    """Weights, what is left, and how many texts of so many tokens go into it."""
    weights, free = weight_bytes(deployment), free_on_each(deployment)
    one, readers = sequence_on_each(deployment, tokens), users(deployment, tokens)
    exact = "" if deployment.shape.parameters_are_exact else " (a stated, rounded number)"
    format_, memory = format_of(deployment.weight_dtype), deployment.gpu.memory
    usable = memory * deployment.percent // 100
    lines = [
        f"{deployment.shape.parameters:,} parameters{exact} in {format_.name}: "
        f"{weights:,} bytes = {both(weights)}",
        f"usable on each GPU: {memory:,} bytes × {deployment.percent} % = {usable:,} bytes",
        f"left for caches: {usable:,} − {weights_on_each(deployment):,} weights "
        f"− {deployment.overhead:,} overhead (an estimate) = {free:,} bytes".replace("-", "−"),
        f"one text of {tokens:,} tokens on each GPU: {one:,} bytes = {both(one)}",
    ]
    if weights_on_each(deployment) > memory:
        return (*lines, "The weights alone are more than the memory.")
    if free < 0:
        return (*lines, "Weights and overhead are more than what is usable, without any text.")
    if readers is None:
        return (*lines, "A text takes no cache: memory sets no limit.")
    return (*lines, f"{free:,} ÷ {one:,} = {many(readers, 'text')} at once (rounded down)")


def context_line(deployment: Deployment, readers: int = 1) -> str:
    """The longest text, with the check that one more token would not fit."""
    longest = longest_context(deployment, readers)
    if longest is None:
        return "The cache stops growing before the memory is full: no limit on the length."
    if not longest:
        return "Not even one token fits."
    free = free_on_each(deployment)
    now = readers * sequence_on_each(deployment, longest)
    then = readers * sequence_on_each(deployment, longest + 1)
    return f"longest text: {longest:,} tokens ({now:,} ≤ {free:,} < {then:,} bytes)"


def speed_lines(deployment: Deployment, tokens: int, batch: int = 1) -> tuple[str, ...]:
    """The limit that bandwidth sets, the one that arithmetic sets, and which of them it is."""
    weights, one = weights_read(deployment), sequence_on_each(deployment, tokens)
    reading = reading_seconds(deployment, tokens, batch)
    computing = computing_seconds(deployment, batch)
    active, gpu = active_parameters(deployment), deployment.gpu
    turn = compute_bound_batch(deployment, tokens)
    in_batch = f"{batch:,}" + (f" × {deployment.beams:,} beams" if deployment.beams > 1 else "")
    at_best = " (at best: all texts choose the same experts)" if is_mixture(deployment) else ""
    return (
        f"read in a step by each GPU: {weights:,} of weights{at_best} "
        f"+ {batch:,} × {one:,} of caches = {weights + batch * one:,} bytes",
        f"÷ {gpu.bandwidth:,} bytes a second = {milliseconds(reading)} ms",
        f"computed with the weights in a step: 2 × {active:,} parameters × {in_batch} ÷ "
        f"({gpu.flops:,} × {deployment.gpus}) = {milliseconds(computing)} ms",
        f"at most {decimals(tokens_per_second(deployment, tokens, batch))} tokens a second: "
        f"limited by {'reading' if reading >= computing else 'computing'}",
        f"computing takes over from {turn:,} texts on"
        if turn is not None
        else "reading always takes longer than computing with the weights, for any number of texts",
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
