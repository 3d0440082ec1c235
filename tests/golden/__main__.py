"""`python -m tests.golden record|check [05_masks …]`: keep what pages send, or compare with it.

Their first pictures are drawn from it (`tests/heroes`), and their scenes are kept as well. Both
commands print what differs from what is kept; `record` then keeps it.
"""

import sys

from tests.golden.kept import FOLDER, keep, list_differences, read_kept, take
from tests.heroes.scenes import SCENES, draw
from tests.support.opening import PAGES


def main(command: str, *stems: str) -> int:
    """Go through the pages; the number of differences."""
    differences = 0
    for page in (one for one in PAGES if not stems or one.stem in stems):
        for folder, look in ((FOLDER, take), (SCENES, draw)):
            now, before = look(page), read_kept(page, folder)
            if command == "record" and not before:
                print(f"{page.stem} · {folder.name}: recorded for the first time")
            for line in list_differences(page, before, now) if before else ():
                differences += 1
                print(f"{page.stem} · {line}", flush=True)
            if command == "record":
                keep(page, now, folder)
    print(f"{differences} differences")
    return differences


if __name__ == "__main__":
    if sys.argv[1:2] not in (["record"], ["check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]) > 0 and sys.argv[1] == "check")
