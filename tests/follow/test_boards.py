"""The board of a lecture: the same for one process in memory and for several by way of Redis."""

import asyncio
import contextlib
import json
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from explainers.ui.follow import redis_board
from explainers.ui.follow.board import Limits, Memory, RefusedError
from explainers.ui.follow.redis_board import Redis
from tests.follow import boards

redis_server, kind, make_board = boards.redis_server, boards.kind, boards.make_board
ROOM, OTHER = "abcdefghijklmnop", "bbcdefghijklmnop"
PATIENCE = 10


def runs(board, act):
    """Let `act` happen with a board that has been started."""

    async def all_of_it():
        await board.start()
        try:
            async with asyncio.timeout(60):
                return await act(board)
        finally:
            await board.stop()

    # In a thread: where a browser has been driven before, this one has a loop that runs.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(all_of_it())).result()


@contextlib.contextmanager
def refused(reason):
    with pytest.raises(RefusedError) as found:
        yield
    assert found.value.reason == reason


async def heard(listener, kind, holds=lambda said: True):
    """The next that a listener hears of a kind, and of which `holds` is true."""
    async with asyncio.timeout(PATIENCE):
        while True:
            news = await listener.hear(PATIENCE)
            if kind in news and holds(news[kind]):
                return news[kind]


async def subscribed(board):
    """Wait until a board hears what is said elsewhere; in memory that is at once."""
    if isinstance(board, Redis):
        async with asyncio.timeout(PATIENCE):
            while not (await board._redis.pubsub_numpat()):
                await asyncio.sleep(0.01)


def test_followers_hear_what_the_lecturer_says_and_late_ones_what_was_said_last(make_board):
    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        early = await board.join(ROOM)
        await board.lead(ROOM, "owner", 1, "one")
        assert await heard(early, "at") == "one"
        await board.lead(ROOM, "owner", 2, "two")
        assert await heard(early, "at") == "two"
        late = await board.join(ROOM)
        news = await late.hear(PATIENCE)
        assert news == {"room": ROOM, "ballot": late.ballot, "at": "two"}

    runs(make_board(), act)


def test_only_the_newest_is_kept_for_one_who_does_not_listen(make_board):
    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        slow = await board.join(ROOM)
        for number in range(1, 9):
            await board.lead(ROOM, "owner", number, str(number))
        assert await heard(slow, "at", lambda said: said == "8")
        assert len(slow.news) <= 1

    runs(make_board(), act)


def test_an_older_or_repeated_message_does_nothing(make_board):
    async def act(board):
        await board.open_room(ROOM, "owner", "here")
        await board.lead(ROOM, "owner", 5, "five")
        for number in (5, 4):
            with refused("older"):
                await board.lead(ROOM, "owner", number, "again")
        assert (await (await board.join(ROOM)).hear(PATIENCE))["at"] == "five"

    runs(make_board(), act)


def test_nobody_leads_without_the_secret(make_board):
    async def act(board):
        with refused("unknown"):
            await board.lead(ROOM, "owner", 1, "one")
        await board.open_room(ROOM, "owner", "here")
        await board.open_room(ROOM, "owner", "here")  # again does no harm
        with refused("not yours"):
            await board.open_room(ROOM, "somebody", "here")
        with refused("not yours"):
            await board.lead(ROOM, "somebody", 1, "one")
        with refused("not yours"):
            await board.close_room(ROOM, "somebody")
        assert "at" not in await (await board.join(ROOM)).hear(PATIENCE)

    runs(make_board(), act)


def test_another_device_leads_once_the_owner_has_typed_its_code(make_board):
    async def act(board):
        await subscribed(board)
        with refused("unknown"):
            await board.ask_to_lead(ROOM, "tablet", "")
        await board.open_room(ROOM, "owner", "here")
        with refused("no stream"):
            await board.ask_to_lead(ROOM, "tablet", "0" * 32)
        follower = await board.join(ROOM)
        code = await board.ask_to_lead(ROOM, "tablet", follower.ballot)
        other = await board.ask_to_lead(ROOM, "x", (await board.join(ROOM)).ballot)
        with refused("not yours"):
            await board.hand_over(ROOM, "tablet", code)  # nobody accepts itself
        with refused("not yours"):
            await board.lead(ROOM, "tablet", 1, "one")
        with refused("no device"):
            await board.hand_over(ROOM, "owner", "zzzzzz")
        await board.hand_over(ROOM, "owner", code)
        assert json.loads(await heard(follower, "handed")) == code
        for attempt in (
            board.lead(ROOM, "owner", 2, "two"),
            board.hand_over(ROOM, "owner", other),
            board.close_room(ROOM, "owner"),
            board.open_room(ROOM, "owner", "here"),
        ):
            with refused("not yours"):
                await attempt
        with refused("no device"):
            await board.hand_over(ROOM, "tablet", code)
        await board.open_room(ROOM, "tablet", "here", may_begin=False)
        await board.lead(ROOM, "tablet", 2, "two")
        assert await heard(follower, "at") == "two"
        await board.close_room(ROOM, "tablet")
        with refused("unknown"):
            await board.open_room(ROOM, "tablet", "here", may_begin=False)

    runs(make_board(), act)


def test_a_code_to_lead_grows_old_and_a_stream_has_one(make_board):
    async def act(board):
        await board.open_room(ROOM, "owner", "here")
        await board.open_room(OTHER, "owner", "here")
        first, second = [(await board.join(ROOM)).ballot for _ in range(2)]
        codes = [await board.ask_to_lead(ROOM, one, first) for one in ("one", "two")]
        assert len(set(codes)) == 2
        kept = await board.ask_to_lead(ROOM, "three", second)
        with refused("no device"):
            await board.hand_over(ROOM, "owner", codes[0])
        with refused("no device"):
            await board.hand_over(OTHER, "owner", codes[1])
        await asyncio.sleep(0.6)
        for code in (codes[1], kept):
            with refused("no device"):
                await board.hand_over(ROOM, "owner", code)
        await board.hand_over(ROOM, "owner", await board.ask_to_lead(ROOM, "three", second))
        await board.lead(ROOM, "three", 1, "one")

    runs(make_board(seconds_to_lead=0.5), act)


def test_a_room_is_found_by_its_first_letters_where_they_are_its_own(make_board):
    async def act(board):
        await board.open_room(ROOM, "owner", "here")
        assert await board.find_room(ROOM[:6]) == await board.find_room(ROOM) == ROOM
        for code in (ROOM[:5], "", "zzzzzz"):
            with refused("unknown"):
                await board.find_room(code)
        twin = ROOM[:-1] + "q"
        await board.open_room(twin, "other owner", "here")
        with refused("unknown"):
            await board.find_room(ROOM[:6])
        assert await board.find_room(twin) == twin

    runs(make_board(), act)


def test_the_lecturer_hears_how_many_follow_and_how_they_vote(make_board):
    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        lecturer = await board.join(ROOM, is_lecturer=True)
        followers = [await board.join(ROOM) for _ in range(3)]
        await heard(lecturer, "count", lambda said: json.loads(said)["followers"] == 3)
        await board.leave(ROOM, followers[0])
        await heard(lecturer, "count", lambda said: json.loads(said)["followers"] == 2)
        a, b, c = followers[1].ballot, followers[2].ballot, (await board.join(ROOM)).ballot
        for ballot, option in [(a, 0), (b, 2), (c, 2), (b, 1)]:
            await board.vote(ROOM, "q", ballot, option)
        await board.vote(ROOM, "other", a, 5)
        votes = {"q": [1, 1, 1, 0, 0, 0], "other": [0, 0, 0, 0, 0, 1]}
        await heard(lecturer, "count", lambda said: json.loads(said)["votes"] == votes)
        late = await board.join(ROOM, is_lecturer=True)
        await heard(late, "count", lambda said: json.loads(said)["votes"] == votes)
        assert not {"count"} & (await followers[1].hear(0.01)).keys()

    runs(make_board(), act)


def test_where_all_rooms_are_taken_the_oldest_without_followers_gives_way(make_board):
    rooms = [f"{letter}bcdefghijklmnop" for letter in "abcd"]

    async def act(board):
        await subscribed(board)
        for room in rooms[:2]:
            await board.open_room(room, "owner", "here")
        await board.join(rooms[0])
        await asyncio.sleep(0.4)  # other processes have heard of it
        await board.open_room(rooms[2], "owner", "here")
        assert await board.find_room(rooms[0]) == rooms[0]
        with refused("unknown"):
            await board.find_room(rooms[1])
        await board.join(rooms[2])
        await asyncio.sleep(0.4)
        with refused("many rooms"):
            await board.open_room(rooms[3], "owner", "here")

    runs(make_board(rooms=2), act)


def test_one_address_cannot_take_all_rooms(make_board):
    async def act(board):
        for letter in "ab":
            await board.open_room(f"{letter}bcdefghijklmnop", "owner", "one address")
        with refused("many rooms here"):
            await board.open_room("cbcdefghijklmnop", "owner", "one address")
        await board.open_room("cbcdefghijklmnop", "owner", "another address")

    runs(make_board(rooms_of_address=2), act)


def test_a_room_holds_so_many_and_a_lecturer_says_so_much_in_a_second(make_board):
    async def act(board):
        await board.open_room(ROOM, "owner", "here")
        first = await board.join(ROOM)
        await board.join(ROOM)
        with refused("full"):
            await board.join(ROOM)
        await board.leave(ROOM, first)
        await board.join(ROOM)
        for number in range(1, 4):
            await board.lead(ROOM, "owner", number, "said")
        with refused("too fast"):
            await board.lead(ROOM, "owner", 4, "said")
        await asyncio.sleep(1.1)
        await board.lead(ROOM, "owner", 4, "said")

    runs(make_board(followers=2, messages=3), act)


def test_votes_and_questions_are_bounded(make_board):
    async def act(board):
        with refused("unknown"):
            await board.vote(ROOM, "q", "a", 0)
        await board.open_room(ROOM, "owner", "here")
        a, b = [(await board.join(ROOM)).ballot for _ in range(2)]
        for ballot, question in ((a, "q"), (b, "q"), (a, "r")):
            await board.vote(ROOM, question, ballot, 0)
        with refused("many votes"):
            await board.vote(ROOM, "s", a, 1)
        with refused("too fast"):
            for option in range(6):
                await board.vote(ROOM, "q", b, option)

    runs(make_board(questions=2, messages=4), act)


async def counted(board, question="q"):
    """The votes that a lecturer who comes now sees."""
    said = json.loads(await heard(await board.join(ROOM, is_lecturer=True), "count"))
    return sum(said["votes"].get(question, ()))


def test_a_vote_counts_by_its_open_stream_and_once(make_board):
    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        lecturer = await board.join(ROOM, is_lecturer=True)
        assert "ballot" not in await lecturer.hear(PATIENCE)
        for made_up in ("", "a", "0" * 32, lecturer.ballot):
            with refused("no stream"):
                await board.vote(ROOM, "q", made_up, 0)
        one, far = await board.join(ROOM, group="1"), await board.join(ROOM, group="2")
        for listener in (one, far):
            await board.vote(ROOM, "q", listener.ballot, 0)
        await board.leave(ROOM, one)
        with refused("no stream"):
            await board.vote(ROOM, "q", one.ballot, 1)
        assert await counted(board) == 2, "a phone that sleeps has voted"

        again = await board.join(ROOM, ballot=one.ballot, group="3")  # from another network
        assert again.ballot == one.ballot
        await board.vote(ROOM, "q", again.ballot, 1)
        assert await counted(board) == 2
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

    runs(make_board(), act)


def test_a_room_whose_seats_are_taken_gives_the_one_that_was_left_first(make_board):
    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        early = [await board.join(ROOM, group=f"{number}") for number in range(3)]
        for listener in early:
            await board.vote(ROOM, "q", listener.ballot, 0)
        for listener in early[:2]:
            await board.leave(ROOM, listener)
            await asyncio.sleep(0.005)
        late = await board.join(ROOM, group="9")
        await board.vote(ROOM, "q", late.ballot, 1)
        assert (await board.join(ROOM, ballot=early[1].ballot)).ballot == early[1].ballot
        with refused("full"):
            await board.join(ROOM)

    runs(make_board(followers=3), act)


def test_a_vote_may_reach_another_process_than_its_stream(redis_server, monkeypatch):
    redis_server.empty()
    monkeypatch.setattr(redis_board, "BEAT", 0.2)
    monkeypatch.setattr(redis_board, "FORGET_AFTER", 0.6)

    async def act(board):
        other = Redis(redis_server.url)
        await other.start()
        await subscribed(other)
        await board.open_room(ROOM, "owner", "here")
        stream = await other.join(ROOM, group="1")
        await board.vote(ROOM, "q", stream.ballot, 1)
        await asyncio.sleep(1)
        await board.vote(ROOM, "q", stream.ballot, 1)  # it is still open, and said so
        other._background.stop()  # killed, without a word
        await asyncio.sleep(1)
        with refused("no stream"):
            await board.vote(ROOM, "q", stream.ballot, 2)
        back = await board.join(ROOM, ballot=stream.ballot, group="1")
        await board.vote(ROOM, "q", back.ballot, 2)
        assert await counted(board) == 1
        await other.stop()

    runs(Redis(redis_server.url), act)


def test_a_closed_room_leaves_nothing_at_redis(redis_server):
    redis_server.empty()

    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        stream, lecturer = await board.join(ROOM), await board.join(ROOM, is_lecturer=True)
        await board.vote(ROOM, "q", stream.ballot, 1)
        await board.lead(ROOM, "owner", 1, "one")
        await board.close_room(ROOM, "owner")
        for listener in (stream, lecturer):
            await heard(listener, "over")
            await board.leave(ROOM, listener)
        kept = [key for key in await board._redis.keys() if ":pace:" not in key]  # for a second
        assert kept == []
        await asyncio.sleep(0.3)
        assert not {*board._others, *board._votes, *board._changed, *board.audience.rooms}

    runs(Redis(redis_server.url), act)


def test_a_room_ends_by_its_owner_or_by_its_age(make_board):
    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        listener = await board.join(ROOM)
        await board.vote(ROOM, "q", listener.ballot, 0)
        await board.close_room(ROOM, "owner")
        await heard(listener, "over")
        await board.open_room(OTHER, "owner", "here")
        old = await board.join(OTHER)
        await heard(old, "over")
        for room in (ROOM, OTHER):
            with refused("unknown"):
                await board.join(room)

    runs(make_board(seconds=1), act)


def test_streams_are_told_when_the_process_ends(make_board):
    async def act(board):
        await board.open_room(ROOM, "owner", "here")
        return await board.join(ROOM)

    assert "bye" in runs(make_board(), act).news


def test_several_processes_are_one_board(redis_server):
    redis_server.empty()

    async def act(board):
        other = Redis(redis_server.url)
        await other.start()
        await subscribed(other)
        await asyncio.sleep(0.2)
        await board.open_room(ROOM, "owner", "here")
        follower, lecturer = await other.join(ROOM), await board.join(ROOM, is_lecturer=True)
        await board.lead(ROOM, "owner", 1, "one")
        assert await heard(follower, "at") == "one"
        await other.vote(ROOM, "q", follower.ballot, 1)
        await board.join(ROOM)
        found = {"followers": 2, "votes": {"q": [0, 1, 0, 0, 0, 0]}}
        await heard(lecturer, "count", lambda said: json.loads(said) == found)
        await other.stop()

    runs(Redis(redis_server.url), act)


def test_without_redis_the_lecturer_is_told_at_once_and_says_it_again_afterwards(redis_server):
    redis_server.empty()

    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        follower, lecturer = await board.join(ROOM), await board.join(ROOM, is_lecturer=True)
        redis_server.stop()
        loop = asyncio.get_running_loop()
        before = loop.time()
        for attempt in (board.lead(ROOM, "owner", 1, "one"), board.join(ROOM)):
            with refused("away"):
                await attempt
        assert loop.time() - before < 3
        for listener in (follower, lecturer):
            await heard(listener, "away")
            await listener.hear(PATIENCE / 5)
        await asyncio.to_thread(redis_server.start)
        assert await heard(follower, "room") == ROOM
        await heard(lecturer, "lost")
        await board.open_room(ROOM, "owner", "here")
        await board.lead(ROOM, "owner", 1, "one")
        assert await heard(follower, "at") == "one"

    runs(Redis(redis_server.url), act)


BAD_MESSAGES = {
    "no JSON": b"not JSON at all",
    "nothing": b"",
    "no text": b"\xff\xfe\x00\x9f",
    "a list": b'["kind", "at"]',
    "a number": b"3",
    "without a kind": b'{"text": "secret words"}',
    "a kind of another version": b'{"kind": "at-2", "text": "secret words"}',
    "a field of another version": b'{"kind": "at", "place": {"page": "secret words"}}',
    "another type": b'{"kind": "at", "text": {"page": "secret words"}}',
    "no number of followers": b'{"kind": "followers", "process": "x", "text": "secret words"}',
    "no process": b'{"kind": "followers", "text": 3}',
    "no question": b'{"kind": "votes", "text": null}',
    "deep": b"[" * 9000,
    "huge": b'{"kind": "at", "text": "' + b"x" * 2_000_000 + b'"}',
}


def publish(redis_server, channel, data):
    """As somebody else than the app may do."""
    parts = [b"PUBLISH", channel.encode(), data]
    with socket.create_connection(("127.0.0.1", redis_server.port)) as talk:
        talk.sendall(b"*3\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        assert talk.recv(100).startswith(b":")


def test_a_message_that_cannot_be_read_ends_no_lecture(redis_server, caplog):
    redis_server.empty()

    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        follower, lecturer = await board.join(ROOM), await board.join(ROOM, is_lecturer=True)
        for number, data in enumerate(BAD_MESSAGES.values(), 1):
            for room in (ROOM, "?", ""):
                await asyncio.to_thread(publish, redis_server, redis_board.CHANNEL + room, data)
            await board.lead(ROOM, "owner", number, str(number))
            await heard(follower, "at", str(number).__eq__)
        await heard(lecturer, "count")
        assert board.is_well
        assert not {"away", "lost"} & {*follower.news, *lecturer.news}

    runs(Redis(redis_server.url, Limits(messages=100)), act)
    told = [record.getMessage() for record in caplog.records if "skipped" in record.getMessage()]
    assert len(told) == 1, "however many there are"
    assert "secret words" not in caplog.text


@pytest.mark.parametrize("how", ["killed", "RuntimeError"])
@pytest.mark.parametrize("task", ["_listen", "_beat"])
def test_a_task_that_ends_is_begun_anew_and_says_so(redis_server, monkeypatch, caplog, how, task):
    redis_server.empty()
    monkeypatch.setattr(redis_board, "BEAT", 0.1)

    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        follower, lecturer = await board.join(ROOM), await board.join(ROOM, is_lecturer=True)
        for number in range(1, 4):
            before = board._background._tasks[task]
            if how == "killed":
                while not before.done():  # the client of Redis may swallow it
                    before.cancel()
                    await asyncio.sleep(0.01)
            else:
                broken = "_announce" if task == "_beat" else "_pass_on"
                with monkeypatch.context() as patch:
                    patch.setattr(board, broken, fail)
                    await board.lead(ROOM, "owner", 10 * number, "lost on the way")
                    await asyncio.wait([before], timeout=PATIENCE)
            if task == "_listen":
                for listener in (follower, lecturer):
                    await heard(listener, "away")
            async with asyncio.timeout(PATIENCE):
                while board._background._tasks[task].done() or not board.is_well:
                    await asyncio.sleep(0.01)
            await board.lead(ROOM, "owner", 10 * number + 1, f"{number}")
            await heard(follower, "at", str(number).__eq__)

    def fail(*_):
        raise RuntimeError("secret words")

    runs(Redis(redis_server.url), act)
    assert f"The task {task} has ended ({how})" in caplog.text
    assert "secret words" not in caplog.text


def test_a_connection_that_is_dead_without_a_word_is_given_up(redis_server, monkeypatch):
    """The machine of Redis is gone: nothing is closed, and nothing answers."""
    redis_server.empty()
    for name in ("QUIET", "PATIENCE"):
        monkeypatch.setattr(redis_board, name, 0.2)

    async def act(board):
        await subscribed(board)
        await board.open_room(ROOM, "owner", "here")
        follower = await board.join(ROOM)
        await board.lead(ROOM, "owner", 1, "one")
        await heard(follower, "at")
        redis_server.process.send_signal(signal.SIGSTOP)
        try:
            await heard(follower, "away")
            assert not board.is_well
            with refused("away"):
                await board.lead(ROOM, "owner", 2, "two")
        finally:
            redis_server.process.send_signal(signal.SIGCONT)
        assert await heard(follower, "at") in ("one", "two"), "it may have been taken all the same"
        assert board.is_well

    runs(Redis(redis_server.url), act)


def test_a_room_that_redis_forgot_is_not_over_before_its_lecturer_could_open_it(
    redis_server, monkeypatch
):
    monkeypatch.setattr(redis_board, "BEAT", 1.0)
    redis_server.empty()

    async def act(board):
        await board.open_room(ROOM, "owner", "here")
        follower = await board.join(ROOM)
        redis_server.empty()
        await asyncio.sleep(1.3)  # a beat
        await board.open_room(ROOM, "owner", "here")
        await asyncio.sleep(1.0)  # another one
        assert "over" not in follower.news
        redis_server.empty()
        await heard(follower, "over")

    runs(Redis(redis_server.url), act)


def test_the_environment_chooses_the_board(redis_server, monkeypatch):
    from explainers.ui.follow.routes import BOARD_ADDRESS, open_board

    monkeypatch.delenv(BOARD_ADDRESS, raising=False)
    assert isinstance(open_board(), Memory)
    monkeypatch.setenv(BOARD_ADDRESS, redis_server.url)
    assert isinstance(open_board(), Redis)
