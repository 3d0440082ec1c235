"""What `python -m build` puts into the wheel: this tree, as a package with a name of its own.

In the repository the package is called `explainers`; installed beside others, a name that anybody
may use is not enough. So the wheel has all of it under the name of the project, and each file says
that name. Assets and pages, which lie beside the package here, lie in it there.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

HERE, NAME = "explainers", "attention_step_by_step"
IMPORTED = re.compile(rf"\b{HERE}\b|(?<=^from )app(?= import)", re.MULTILINE)
BESIDE = "assets", "pages", "app.py", "contents.py", ".streamlit"
OTHERS = "weights", "scores", "notebooks", "pyproject.toml", "__pycache__"
"""The first two are larger than all else: a wheel of their own, `assets/pyproject.toml`."""


class Renamed(build_py):  # type: ignore[misc]
    """Copies the tree, and writes the name into what is text."""

    def run(self) -> None:
        if self.editable_mode:
            raise SetupError(f"Work in this folder as it is, where it is called {HERE}: no -e.")
        root = Path(self.build_lib, NAME)
        shutil.rmtree(root, ignore_errors=True)  # what an earlier build has left
        shutil.copytree(HERE, root, ignore=shutil.ignore_patterns("__pycache__"))
        for name in BESIDE:
            if Path(name).is_dir():
                shutil.copytree(name, root / name, ignore=shutil.ignore_patterns(*OTHERS))
            else:
                shutil.copy(name, root)
        for file in [*root.rglob("*.py"), *root.glob("assets/text/**/*.[mp][do]")]:
            text = file.read_text(encoding="utf-8")
            text = IMPORTED.sub(lambda one: NAME if one[0] == HERE else f"{NAME}.{one[0]}", text)
            file.write_text(text, encoding="utf-8")


setup(cmdclass={"build_py": Renamed})
