"""What goes into a deployment's memory, in lines that can be checked by hand."""

from explainers.many import many
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
from explainers.memory.terms import in_both
from explainers.phrase import Phrase, phrase

STATED = Phrase(phrase(" (a stated, rounded number)"), {})


def memory_lines(deployment: Deployment, tokens: int) -> tuple[str, ...]:
    """Weights, what is left, and how many texts of so many tokens go into it."""
    weights, free = weight_bytes(deployment), free_on_each(deployment)
    one = sequence_on_each(deployment, tokens)
    exact = "" if deployment.shape.parameters_are_exact else STATED
    format_, memory = format_of(deployment.weight_dtype), deployment.gpu.memory
    usable = memory * deployment.percent // 100
    lines = [
        phrase(
            "{count:,} parameters{exact} in {format}: {size}",
            count=deployment.shape.parameters,
            exact=exact,
            format=format_.name,
            size=in_both(weights),
        ),
        phrase(
            "usable on each GPU: {memory:,} bytes × {percent} % = {usable:,} bytes",
            memory=memory,
            percent=deployment.percent,
            usable=usable,
        ),
        phrase(
            "left for caches: {usable:,} − {weights:,} weights − {overhead:,} overhead "
            "(an estimate) = {free} bytes",
            usable=usable,
            weights=weights_on_each(deployment),
            overhead=deployment.overhead,
            free=f"{free:,}".replace("-", "−"),
        ),
        phrase(
            "one text of {tokens:,} tokens on each GPU: {size}", tokens=tokens, size=in_both(one)
        ),
    ]
    return (*lines, verdict(deployment, tokens))


def verdict(deployment: Deployment, tokens: int) -> str:
    """How many texts of so many tokens go into what is left."""
    free, one = free_on_each(deployment), sequence_on_each(deployment, tokens)
    if weights_on_each(deployment) > deployment.gpu.memory:
        return phrase("The weights alone are more than the memory.")
    if free < 0:
        return phrase("Weights and overhead are more than what is usable, without any text.")
    readers = users(deployment, tokens)
    if readers is None:
        return phrase("A text takes no cache: memory sets no limit.")
    return phrase(
        "{free:,} ÷ {one:,} = {texts} at once (rounded down)",
        free=free,
        one=one,
        texts=many(readers, "text"),
    )


def context_line(deployment: Deployment, readers: int = 1) -> str:
    """The longest text, with the check that one more token would not fit."""
    longest = longest_context(deployment, readers)
    if longest is None:
        return phrase("The cache stops growing before the memory is full: no limit on the length.")
    if not longest:
        return phrase("Not even one token fits.")
    free = free_on_each(deployment)
    now = readers * sequence_on_each(deployment, longest)
    then = readers * sequence_on_each(deployment, longest + 1)
    return phrase(
        "longest text: {longest:,} tokens ({now:,} ≤ {free:,} < {then:,} bytes)",
        longest=longest,
        now=now,
        free=free,
        then=then,
    )
