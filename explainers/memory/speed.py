"""How fast a GPU could generate at the most: everything is read once in each step."""

from decimal import Decimal
from fractions import Fraction

from explainers.memory.number_formats import format_of
from explainers.memory.serving import Deployment, sequence_on_each
from explainers.memory.sizes import quotient, whole
from explainers.messages import N_, Message


def active_parameters(deployment: Deployment) -> int:
    """The parameters that one token uses: of a mixture of experts, those of its own experts."""
    shape = deployment.shape
    found = shape.active_parameters or shape.parameters
    if found is None:
        raise ValueError(N_("{model}: parameters are not published; give a number", model=shape.id))
    return found


def weights_read(deployment: Deployment) -> int:
    """Bytes of weights that each GPU reads in a step, if all texts choose the same experts."""
    one = format_of(deployment.weight_dtype).vector_bytes(1, active_parameters(deployment))
    return -(-one // deployment.gpus)


def reading_seconds(deployment: Deployment, tokens: int, batch: int = 1) -> Fraction:
    """Reading weights and caches once, at the full bandwidth of the memory."""
    caches = whole("batch", batch) * sequence_on_each(deployment, tokens)
    return Fraction(weights_read(deployment) + caches, deployment.gpu.bandwidth)


def computing_seconds(deployment: Deployment, batch: int = 1) -> Fraction:
    """Two operations for each active parameter and beam; attention's own scores are left out."""
    beams = whole("batch", batch) * deployment.beams
    operations = 2 * active_parameters(deployment) * beams
    return Fraction(operations, deployment.gpu.flops * deployment.gpus)


def step_seconds(deployment: Deployment, tokens: int, batch: int = 1) -> Fraction:
    """The shortest time for one token of each text: the longer of reading and computing."""
    return max(reading_seconds(deployment, tokens, batch), computing_seconds(deployment, batch))


def tokens_per_second(deployment: Deployment, tokens: int, batch: int = 1) -> Fraction:
    """An upper bound for all texts together; what one measures is less."""
    return batch / step_seconds(deployment, tokens, batch)


def compute_bound_batch(deployment: Deployment, tokens: int) -> int | None:
    """The smallest batch that computes as long as it reads; None if caches always take longer."""
    weights = Fraction(weights_read(deployment), deployment.gpu.bandwidth)
    cache = Fraction(sequence_on_each(deployment, tokens), deployment.gpu.bandwidth)
    gained = computing_seconds(deployment) - cache
    if gained <= 0:
        return None
    return -(-weights // gained)


AT_BEST = Message(N_(" (at best: all texts choose the same experts)"), {})


def speed_lines(deployment: Deployment, tokens: int, batch: int = 1) -> tuple[str, ...]:
    """The limit that bandwidth sets, the one that arithmetic sets, and which of them it is."""
    weights, one = weights_read(deployment), sequence_on_each(deployment, tokens)
    reading = reading_seconds(deployment, tokens, batch)
    computing = computing_seconds(deployment, batch)
    active, gpu = active_parameters(deployment), deployment.gpu
    turn = compute_bound_batch(deployment, tokens)
    in_batch = f"{batch:,}"
    if deployment.beams > 1:
        in_batch = N_("{size} × {beams:,} beams", size=in_batch, beams=deployment.beams)
    speed = decimals(tokens_per_second(deployment, tokens, batch))
    return (
        N_(
            "read in a step by each GPU: {weights:,} of weights{at_best} + {batch:,} × {one:,} "
            "of caches = {sum:,} bytes",
            weights=weights,
            at_best=AT_BEST if is_mixture(deployment) else "",
            batch=batch,
            one=one,
            sum=weights + batch * one,
        ),
        N_(
            "÷ {bandwidth:,} bytes a second = {time} ms",
            bandwidth=gpu.bandwidth,
            time=milliseconds(reading),
        ),
        N_(
            "computed with the weights in a step: 2 × {active:,} parameters × {batch} ÷ "
            "({flops:,} × {gpus}) = {time} ms",
            active=active,
            batch=in_batch,
            flops=gpu.flops,
            gpus=deployment.gpus,
            time=milliseconds(computing),
        ),
        N_("at most {speed} tokens a second: limited by reading", speed=speed)
        if reading >= computing
        else N_("at most {speed} tokens a second: limited by computing", speed=speed),
        N_("computing takes over from {count:,} texts on", count=turn)
        if turn is not None
        else N_(
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
