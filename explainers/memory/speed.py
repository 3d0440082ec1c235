"""How fast a GPU could generate at the most: everything is read once in each step."""

from fractions import Fraction

from explainers.memory.checks import whole
from explainers.memory.formats import format_of
from explainers.memory.serving import Deployment, sequence_on_each
from explainers.phrase import phrase


def active_parameters(deployment: Deployment) -> int:
    """The parameters that one token uses: of a mixture of experts, those of its own experts."""
    shape = deployment.shape
    found = shape.active_parameters or shape.parameters
    if found is None:
        raise ValueError(
            phrase("{model}: parameters are not published; give a number", model=shape.id)
        )
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
