"""Runs two models on the running sentence, and keeps how their heads read it."""

from explainers.chapters.common.recording import record_text
from explainers.chapters.inspector.hero import cut_heads
from explainers.chapters.inspector.sentence_run import name_sentence
from explainers.models.registry import WHEEL_MODELS
from explainers.toys.sentence import SENTENCE
from workshop.keep import keep_of_model

COMMAND, TOLERANCE = "python -m workshop.sentence_heads", {"weights": 1e-3}


def write_shipped_sentence(model: str) -> None:
    """Run a model on the running sentence and keep what its heads do."""
    from explainers.models.load import load_model

    heads = cut_heads(record_text(load_model(model), SENTENCE))
    numbers = {"name": heads.name, "group_size": heads.group_size, "tokens": heads.tokens}
    tensors = {"weights": heads.weights.half(), "hidden": heads.hidden}
    keep_of_model(name_sentence(model), model, COMMAND, TOLERANCE, numbers, tensors)


if __name__ == "__main__":
    for one in WHEEL_MODELS:
        write_shipped_sentence(one.id)
