"""python -m explainers.takeaway: write the example notebook."""

from explainers.takeaway.example import FILE, example

FILE.parent.mkdir(parents=True, exist_ok=True)
FILE.write_text(example() + "\n", encoding="utf-8")
