"""What arrives from a browser, or from somebody who pretends to be one: read, and refused."""

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request

from explainers.ui.follow.board import LETTERS_OF_ROOM, RefusedError

MOST_BYTES, LONGEST_ADDRESS = 4096, 300
LONGEST_SECRET, SHORTEST_SECRET = 100, 32
MOST_CHOICES = 200
NO_CHOICES = {"embed", "embed_options", "follow", "go", "pages_done", "screen", "tour"}
"""Names in links that are each visitor's own, or do more than choose: a short link, a frame."""
ROOM = re.compile(f"[a-z2-7]{{1,{LETTERS_OF_ROOM}}}")


def name_room(secret: str) -> tuple[str, str]:
    """The room of a secret, and its owner: 80 bits that are public, and 256 that are not."""
    digest = hashlib.sha256(secret.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:LETTERS_OF_ROOM], digest.hex()


def name_group(address: str, room: str) -> str:
    """One of 4,096 groups of networks: whoever comes back has the same, and it names nobody."""
    return hashlib.sha256(f"{room} {address}".encode()).hexdigest()[:3]


async def read_message(request: Request) -> dict[str, Any]:
    """The object in the body, if it was sent by a page of this server."""
    refuse_elsewhere(request)
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RefusedError("no JSON")
    body = b""
    async for part in request.stream():  # a length in a header may lie
        body += part
        if len(body) > MOST_BYTES:
            raise RefusedError("too long")
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise RefusedError("wrong")
    return said


def refuse_elsewhere(request: Request) -> None:
    """A browser says which page a message comes from; what is no browser has nothing to abuse."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in (None, "same-origin"):
        raise RefusedError("elsewhere")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise RefusedError("elsewhere")


def read_secret(request: Request) -> str:
    secret = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET or not secret.isascii():
        raise RefusedError("not yours")
    return secret


def read_owner(request: Request) -> tuple[str, str]:
    """The room that is spoken of, and who speaks; whether it is its owner, the board knows."""
    return read_room(request), name_room(read_secret(request))[1]


def read_room(request: Request) -> str:
    room: str = request.path_params["room"]
    if len(room) != LETTERS_OF_ROOM or not ROOM.fullmatch(room):
        raise RefusedError("unknown")
    return room


def keep_choices(query: str) -> str:
    """A lecturer's choices, without names that are each visitor's own or do more than choose."""
    try:
        choices = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_CHOICES)
    except ValueError:
        raise RefusedError("wrong") from None
    return urlencode([one for one in choices if one[0].lower() not in NO_CHOICES])


def read_ballot(said: dict[str, Any]) -> str:
    """What an open stream was told; anything else is the ballot of no stream."""
    ballot = said.get("ballot")
    if not isinstance(ballot, str) or not ballot.isascii():
        raise RefusedError("wrong")
    return ballot


def read_whole(said: dict[str, Any], name: str, most: int) -> int:
    number = said.get(name)
    if type(number) is not int or not 0 <= number <= most:  # True is an int as well
        raise RefusedError("wrong")
    return number


def read_letters(said: dict[str, Any], name: str, usual: str = "") -> str:
    """A room's name, or a code that a device shows."""
    letters = said.get(name, usual)
    if not isinstance(letters, str) or not ROOM.fullmatch(letters):
        raise RefusedError("wrong")
    return letters


def read_address(said: dict[str, Any]) -> str:
    """Of the app, as the lecturer's browser has it: it is written into codes to scan."""
    address = said.get("address")
    if not isinstance(address, str) or len(address) > LONGEST_ADDRESS:
        raise RefusedError("wrong")
    if urlsplit(address).scheme not in ("http", "https"):
        raise RefusedError("wrong")
    return address
