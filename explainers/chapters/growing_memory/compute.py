"""Two sentences in a memory by every rule, and one step of the delta rule."""

from torch import Tensor

from explainers.chapters.growing_memory.write_step import Step
from explainers.chapters.growing_memory.written_pairs import Story, answer_all, write_story
from explainers.toys.pair_memory import RULES, SOFTMAX


def write_by_all_rules(story: Story) -> dict[str, Tensor]:
    """The memory after the last pair, by each rule, and what it answers to every word."""
    states = {f"memory, {rule}": write_story(story, rule)[-1] for rule in RULES if rule != SOFTMAX}
    return states | {f"answers, {rule}": answer_all(story, rule)[0][-1] for rule in RULES}


def write_once_more(story: Story) -> dict[str, Tensor]:
    """The pair that writes a key again: what was there, what is missing, and what is there then."""
    step = Step.of(story)
    missing = (step.value - step.found)[:, None]
    columns = {"value v": step.value[:, None], "key k": step.key[:, None], "missing": missing}
    return {"memory S": step.before, **columns, "memory afterwards": step.after}
