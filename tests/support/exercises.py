"""Exercises with the numbers of a seed, by what is asked for."""

from explainers.chapters.exercises.deck import Prediction, read_exercises


def ask(name: str, seed: int) -> Prediction:
    """One that asks for a number or for one of some answers."""
    task = read_exercises()[name].task(seed)
    assert isinstance(task, Prediction)
    return task
