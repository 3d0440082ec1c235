"""Runs two models on the running sentence, and keeps how their heads read it."""

import json
from pathlib import Path

from explainers.chapters.common.recording import record_text
from explainers.chapters.inspector.hero import cut_heads
from explainers.chapters.inspector.sentence_run import locate_shipped_sentence
from explainers.toys.sentence import SENTENCE
from workshop.models.measure_scores import write_each, write_tensors


def write_shipped_sentence(model: str) -> Path:
    """Run a model on the running sentence and write its file."""
    from explainers.models.load import load_model

    heads = cut_heads(record_text(load_model(model), SENTENCE))
    tensors = {"weights": heads.weights.half().contiguous(), "hidden": heads.hidden.contiguous()}
    described = {"name": heads.name, "group_size": f"{heads.group_size}"}
    described["tokens"] = json.dumps(heads.tokens)
    return write_tensors(locate_shipped_sentence(model), model, tensors, described)


if __name__ == "__main__":
    write_each(write_shipped_sentence)
