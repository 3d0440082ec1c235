"""The board of a lecture: the same for one process in memory and for several by way of Redis."""

import asyncio
import json

from explainers.ui.follow.board import Memory
from explainers.ui.follow.redis_board import PREFIX, Redis
from explainers.ui.follow.routes import BOARD_ADDRESS, open_board
from tests.follow.conftest import PATIENCE, ROOM, counted, heard, open_class, played, refused

OTHER = "bbcdefghijklmnop"


async def announced(board, room):
    """Wait until all processes know that somebody follows there; in memory there is no other."""
    while isinstance(board, Redis) and not await board._redis.exists(f"{PREFIX}followed:{room}"):
        await asyncio.sleep(0.005)


@played()
async def test_followers_hear_the_newest_that_the_lecturer_says(board):
    early, _ = await open_class(board)
    for number, said in enumerate(("one", "two"), 1):
        await board.lead(ROOM, "owner", number, said)
        assert await heard(early, "at") == said
    late = await board.join(ROOM)
    news = await late.hear(PATIENCE)
    assert news == {"room": ROOM, "ballot": late.ballot, "at": "two"}, "what was said last"
    for number in range(3, 9):
        await board.lead(ROOM, "owner", number, str(number))
    assert await heard(early, "at", lambda said: said == "8")
    assert len(early.news) <= 1, "nothing else is kept for one who does not listen"
    for number in (8, 7):
        await refused("older", board.lead(ROOM, "owner", number, "again"))
    assert (await (await board.join(ROOM)).hear(PATIENCE))["at"] == "8"
    await board.stop()
    assert "bye" in early.news, "told when the process ends"


@played()
async def test_another_device_leads_once_the_owner_has_typed_its_code(board):
    for attempt in (
        board.ask_to_lead(ROOM, "tablet", ""),
        board.lead(ROOM, "owner", 1, "one"),
        board.vote(ROOM, "q", "a", 0),
    ):
        await refused("unknown", attempt)
    follower, _ = await open_class(board)
    await board.open_room(ROOM, "owner", "here")  # again does no harm
    await refused("no stream", board.ask_to_lead(ROOM, "tablet", "0" * 32))
    code = await board.ask_to_lead(ROOM, "tablet", follower.ballot)
    other = await board.ask_to_lead(ROOM, "x", (await board.join(ROOM)).ballot)
    await refused("no device", board.hand_over(ROOM, "owner", "zzzzzz"))
    for owner, stranger in (("owner", "tablet"), ("tablet", "owner")):
        for attempt in (
            board.open_room(ROOM, stranger, "here"),
            board.lead(ROOM, stranger, 1, "one"),
            board.hand_over(ROOM, stranger, other),  # nobody accepts itself
            board.close_room(ROOM, stranger),
        ):
            await refused("not yours", attempt)
        if owner == "owner":
            await board.hand_over(ROOM, "owner", code)
            assert json.loads(await heard(follower, "handed")) == code
    await refused("no device", board.hand_over(ROOM, "tablet", code))
    await board.open_room(ROOM, "tablet", "here", may_begin=False)
    await board.lead(ROOM, "tablet", 2, "two")
    assert await heard(follower, "at") == "two"
    await board.close_room(ROOM, "tablet")
    await refused("unknown", board.open_room(ROOM, "tablet", "here", may_begin=False))


@played(seconds_to_lead=30)
async def test_a_code_to_lead_grows_old_and_a_stream_has_one(board, clock):
    first, second = (await open_class(board))[0].ballot, (await board.join(ROOM)).ballot
    await board.open_room(OTHER, "owner", "here")
    codes = [await board.ask_to_lead(ROOM, one, first) for one in ("one", "two")]
    kept = await board.ask_to_lead(ROOM, "three", second)
    for room, code in ((ROOM, codes[0]), (OTHER, codes[1])):
        await refused("no device", board.hand_over(room, "owner", code))
    await clock.skip(board, 31)
    for code in (codes[1], kept):
        await refused("no device", board.hand_over(ROOM, "owner", code))
    await board.hand_over(ROOM, "owner", await board.ask_to_lead(ROOM, "three", second))
    await board.lead(ROOM, "three", 1, "one")


@played()
async def test_a_room_is_found_by_its_first_letters_where_they_are_its_own(board):
    await board.open_room(ROOM, "owner", "here")
    assert await board.find_room(ROOM[:6]) == await board.find_room(ROOM) == ROOM
    twin = ROOM[:-1] + "q"
    await board.open_room(twin, "other owner", "here")
    for code in (ROOM[:6], ROOM[:5], "", "zzzzzz"):
        await refused("unknown", board.find_room(code))
    assert await board.find_room(twin) == twin


@played()
async def test_the_lecturer_hears_how_many_follow_and_how_they_vote(board):
    follower, lecturer = await open_class(board)
    others = [await board.join(ROOM) for _ in range(2)]
    await heard(lecturer, "count", lambda said: json.loads(said)["followers"] == 3)
    await board.leave(ROOM, follower)
    await heard(lecturer, "count", lambda said: json.loads(said)["followers"] == 2)
    a, b, c = others[0].ballot, others[1].ballot, (await board.join(ROOM)).ballot
    for ballot, option in [(a, 0), (b, 2), (c, 2), (b, 1)]:
        await board.vote(ROOM, "q", ballot, option)
    await board.vote(ROOM, "other", a, 5)
    votes = {"q": [1, 1, 1, 0, 0, 0], "other": [0, 0, 0, 0, 0, 1]}
    for listener in (lecturer, await board.join(ROOM, is_lecturer=True)):
        await heard(listener, "count", lambda said: json.loads(said)["votes"] == votes)
    assert not {"count"} & (await others[0].hear(0.01)).keys()


@played(rooms=2, rooms_of_address=2)
async def test_where_all_rooms_are_taken_the_oldest_without_followers_gives_way(board):
    rooms = [f"{letter}bcdefghijklmnop" for letter in "abcd"]

    for room in rooms[:2]:
        await board.open_room(room, "owner", "one address")
    await board.join(rooms[0])
    await announced(board, rooms[0])
    await refused("many rooms here", board.open_room(rooms[2], "owner", "one address"))
    await board.open_room(rooms[2], "owner", "another address")
    assert await board.find_room(rooms[0]) == rooms[0]
    await refused("unknown", board.find_room(rooms[1]))
    await board.join(rooms[2])
    await announced(board, rooms[2])
    await refused("many rooms", board.open_room(rooms[3], "owner", "a third address"))


@played(followers=2, messages=4, questions=2)
async def test_a_room_holds_so_many_and_who_is_in_it_says_so_much_in_a_second(board, clock):
    await board.open_room(ROOM, "owner", "here")
    first, second = [await board.join(ROOM) for _ in range(2)]
    await refused("full", board.join(ROOM))
    await board.leave(ROOM, first)
    first = await board.join(ROOM)
    for number in range(1, 5):
        await board.lead(ROOM, "owner", number, "said")
    await refused("too fast", board.lead(ROOM, "owner", 5, "said"))
    await clock.skip(board, 1)
    await board.lead(ROOM, "owner", 5, "said")

    for listener, question in ((first, "q"), (second, "q"), (first, "r")):
        await board.vote(ROOM, question, listener.ballot, 0)
    await refused("many votes", board.vote(ROOM, "s", first.ballot, 1))
    votes = (board.vote(ROOM, "q", second.ballot, option) for option in range(6))
    await refused("too fast", asyncio.gather(*votes))


@played()
async def test_a_vote_counts_by_its_open_stream_and_once(board):
    _, lecturer = await open_class(board)
    assert "ballot" not in await lecturer.hear(PATIENCE)
    for made_up in ("", "a", "0" * 32, lecturer.ballot):
        await refused("no stream", board.vote(ROOM, "q", made_up, 0))
    one, far = await board.join(ROOM, group="1"), await board.join(ROOM, group="2")
    for listener in (one, far):
        await board.vote(ROOM, "q", listener.ballot, 0)
    await board.leave(ROOM, one)
    await refused("no stream", board.vote(ROOM, "q", one.ballot, 1))
    assert await counted(board) == 2, "a phone that sleeps has voted"

    again = await board.join(ROOM, ballot=one.ballot, group="3")  # from another network
    assert again.ballot == one.ballot
    await board.vote(ROOM, "q", again.ballot, 1)
    newer = await board.join(ROOM, ballot=one.ballot, group="3")  # the old one is not gone yet
    await board.leave(ROOM, again)
    await board.vote(ROOM, "q", newer.ballot, 1)
    assert await counted(board) == 2
    await board.leave(ROOM, newer)

    forgetful = await board.join(ROOM, group="3")  # all that it kept is gone
    assert forgetful.ballot != newer.ballot
    await board.vote(ROOM, "q", forgetful.ballot, 2)
    assert await counted(board) == 2
    woken = await board.join(ROOM, ballot=newer.ballot, group="3")
    assert woken.ballot not in (newer.ballot, forgetful.ballot), "its seat is another's now"
    await board.vote(ROOM, "q", woken.ballot, 0)
    assert await counted(board) == 3


@played(followers=3)
async def test_a_room_whose_seats_are_taken_gives_the_one_that_was_left_first(board, clock):
    await board.open_room(ROOM, "owner", "here")
    early = [await board.join(ROOM, group=f"{number}") for number in range(3)]
    for listener in early:
        await board.vote(ROOM, "q", listener.ballot, 0)
    for listener in early[:2]:
        await board.leave(ROOM, listener)
        await clock.skip(board, 0.01)
    late = await board.join(ROOM, group="9")
    await board.vote(ROOM, "q", late.ballot, 1)
    assert (await board.join(ROOM, ballot=early[1].ballot)).ballot == early[1].ballot
    await refused("full", board.join(ROOM))


@played(seconds=3600)
async def test_a_room_ends_by_its_owner_or_by_its_age(board, clock, beats):
    listener, _ = await open_class(board)
    await board.close_room(ROOM, "owner")
    await heard(listener, "over")
    await board.open_room(OTHER, "owner", "here")
    old = await board.join(OTHER)
    await clock.skip(board, 3601)
    for _ in range(2):
        await beats.beat()
    await heard(old, "over")
    for room in (ROOM, OTHER):
        await refused("unknown", board.join(room))


def test_the_environment_chooses_the_board(redis_server, monkeypatch):
    monkeypatch.delenv(BOARD_ADDRESS, raising=False)
    assert isinstance(open_board(), Memory)
    monkeypatch.setenv(BOARD_ADDRESS, redis_server.url)
    assert isinstance(open_board(), Redis)
