"""What a notebook takes from here. Neither function imports torch before it is called."""

from explainers.notebook.look import Look, look, report

__all__ = ["Look", "look", "report"]
