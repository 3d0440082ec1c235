"""The container images that others make, by their digests: `python -m workshop.images`.

It says which are named by a tag alone: a tag can be moved to other bytes. With `--write` it asks
Docker what each tag means today, and writes the digest into the Dockerfile and compose.yaml.
"""

import re
import subprocess
import sys
from pathlib import Path

from explainers.folders import ROOT

FILES = (ROOT / "Dockerfile", ROOT / "deploy" / "compose.yaml")
IMAGE = re.compile(r"(?<=_IMAGE=)[\w./:@-]+|(?<=_IMAGE:-)[\w./:@-]+")
"""What a variable that ends in _IMAGE is, as `ARG` has it, and `${…:-…}` if it is not set."""


def ask_digest(image: str) -> str:
    """What a tag means now, for every kind of machine, as Docker hears it from the registry."""
    command = ["docker", "buildx", "imagetools", "inspect", image.partition("@")[0]]
    asked = [*command, "--format", "{{.Manifest.Digest}}"]
    told = subprocess.run(  # noqa: S603 - images of our own files
        asked, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    if not re.fullmatch("sha256:[0-9a-f]{64}", told.strip()):
        raise ValueError(f"{image} has no digest")
    return told.strip()


def write_digests(files: tuple[Path, ...] = FILES) -> None:
    """Name every image by its digest; nothing is written unless all of them are known."""
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    images = {image for text in texts.values() for image in IMAGE.findall(text)}
    named = {i: f"{i.partition('@')[0]}@{ask_digest(i)}" for i in sorted(images)}
    for file, text in texts.items():
        file.write_text(IMAGE.sub(lambda found: named[found[0]], text), encoding="utf-8")
        print(f"images: {file.name} names {', '.join(named[i] for i in IMAGE.findall(text))}")


def find_unpinned(files: tuple[Path, ...] = FILES) -> list[str]:
    images = {i for file in files for i in IMAGE.findall(file.read_text(encoding="utf-8"))}
    return sorted(i for i in images if not re.search("@sha256:[0-9a-f]{64}$", i))


def main() -> int:
    if "--write" in sys.argv:
        try:
            write_digests()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            print(f"images: nothing is written, Docker does not say: {error}")
            return 1
    for image in find_unpinned():
        print(f"images: {image} has no digest. Where its registry can be reached: make images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
