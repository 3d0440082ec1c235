"""The container images that others make, by their digests: `python -m tests.house.images`.

It says which are named by a tag alone: a tag can be moved to other bytes. With `--write` it asks
the registry what each tag means today, and writes the digest into the Dockerfile and compose.yaml.
"""

import hashlib
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = (ROOT / "Dockerfile", ROOT / "deploy" / "compose.yaml")
REGISTRY = os.environ.get("ATTENTION_REGISTRY", "https://registry-1.docker.io")
IMAGE = re.compile(r"(?<=_IMAGE=)[\w./:@-]+|(?<=_IMAGE:-)[\w./:@-]+")
"""What a variable that ends in _IMAGE is, as `ARG` has it, and `${…:-…}` if it is not set."""
KINDS = ", ".join(
    f"application/vnd.{kind}+json"
    for kind in ("oci.image.index.v1", "docker.distribution.manifest.list.v2")
)
"""A list of images, one for each kind of machine: its digest is good for all of them."""


def ask_digest(image: str, registry: str = REGISTRY) -> str:
    """What a tag means now, by the bytes of the answer and not by what the answer says of them."""
    name, tag = image.partition("@")[0].split(":")
    name = name if "/" in name else f"library/{name}"
    address, headers = f"{registry}/v2/{name}/manifests/{tag}", {"Accept": KINDS}
    try:
        listed = read(address, headers)
    except urllib.error.HTTPError as refused:
        asked = dict(re.findall(r'(\w+)="([^"]*)"', refused.headers.get("WWW-Authenticate", "")))
        if refused.code != 401 or not asked.keys() >= {"realm", "service"}:
            raise
        pull = f"{asked['realm']}?service={asked['service']}&scope=repository:{name}:pull"
        token = json.loads(read(pull, {}))["token"]
        listed = read(address, headers | {"Authorization": f"Bearer {token}"})
    if not json.loads(listed).get("manifests"):
        raise ValueError(f"{image} is no list of images")
    return f"sha256:{hashlib.sha256(listed).hexdigest()}"


def read(address: str, headers: dict[str, str]) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as a:
        content: bytes = a.read()
    return content


def write_digests(files: tuple[Path, ...] = FILES, registry: str = REGISTRY) -> None:
    """Name every image by its digest; nothing is written unless all of them are known."""
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    images = {image for text in texts.values() for image in IMAGE.findall(text)}
    named = {i: f"{i.partition('@')[0]}@{ask_digest(i, registry)}" for i in sorted(images)}
    for file, text in texts.items():
        file.write_text(IMAGE.sub(lambda found: named[found[0]], text), encoding="utf-8")
        print(f"images: {file.name} names {', '.join(named[i] for i in IMAGE.findall(text))}")


def find_unpinned(files: tuple[Path, ...] = FILES) -> list[str]:
    """The images that are named by a tag alone."""
    images = {i for file in files for i in IMAGE.findall(file.read_text(encoding="utf-8"))}
    return sorted(i for i in images if not re.search("@sha256:[0-9a-f]{64}$", i))


def main() -> int:
    """Run a command; what it returns is how the process ends."""
    if "--write" in sys.argv:
        try:
            write_digests()
        except (OSError, ValueError) as error:
            print(f"images: nothing is written, the registry does not say: {error}")
            return 1
    for image in find_unpinned():
        print(f"images: {image} has no digest. Where its registry can be reached: make images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
