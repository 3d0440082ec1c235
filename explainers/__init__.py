"""What a notebook takes from here. Neither function imports torch before it is called."""

from explainers.notebook.head_picture import Look
from explainers.notebook.look import look, report

__all__ = ["Look", "look", "report"]
