"""To take away: two sentences in a memory by every rule, and one step of the delta rule."""

from torch import Tensor

from explainers.chapters.growing_memory.write_step import Step
from explainers.chapters.growing_memory.written_pairs import Story, answer_all, write_story
from explainers.takeaway.recipe import Recipe
from explainers.toys.pair_memory import RULES, SOFTMAX
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]
Sentences = tuple[tuple[str, ...], tuple[str, ...]]


def write_by_all_rules(sentences: Sentences, seed: int, key_kind: str) -> Computed:
    """The memory after the last pair, by each rule, and what it answers to every word."""
    return list_memories(Story(sentences, seed, key_kind))


def list_memories(story: Story) -> Computed:
    """The same of a story."""
    states = {f"memory, {rule}": write_story(story, rule)[-1] for rule in RULES if rule != SOFTMAX}
    return states | {f"answers, {rule}": answer_all(story, rule)[0][-1] for rule in RULES}


def write_once_more(sentences: Sentences, seed: int, key_kind: str) -> Computed:
    """The pair that writes a key again: what was there, what is missing, and what is there then."""
    return list_step(Step.of(Story(sentences, seed, key_kind)))


def list_step(step: Step) -> Computed:
    """The same of a step."""
    missing = (step.value - step.found)[:, None]
    columns = {"value v": step.value[:, None], "key k": step.key[:, None], "missing": missing}
    return {"memory S": step.before, **columns, "memory afterwards": step.after}


def _list_inputs(story: Story) -> dict[str, object]:
    return {"sentences": story.sentences, "seed": story.seed, "key_kind": story.key_kind}


def take_story(story: Story) -> None:
    """Both sentences."""
    title, inputs = _("Two sentences in one matrix"), _list_inputs(story)
    take("story", Recipe(title, write_by_all_rules, inputs, list_memories(story)))


def take_step(step: Step) -> None:
    """One step of the delta rule."""
    title, inputs = _("A key is written again"), _list_inputs(step.story)
    take("step", Recipe(title, write_once_more, inputs, list_step(step)))
