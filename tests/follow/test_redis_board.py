"""The board of several processes: what one says reaches the others, and Redis may go away."""

import asyncio
import functools
import json
import signal
from unittest import mock

import pytest

from explainers.ui.follow import redis_board
from explainers.ui.follow.redis_board import Redis
from tests.follow.conftest import PATIENCE, ROOM, counted, heard, open_class, played, refused, until


@pytest.fixture
def board(server):
    return functools.partial(Redis, server.url)


@played()
async def test_several_processes_are_one_board_and_a_vote_may_reach_any(
    board, server, clock, beats
):
    other = Redis(server.url)
    await other.start()
    await until(lambda: other.is_well)
    await board.open_room(ROOM, "owner", "here")
    follower, lecturer = await other.join(ROOM), await board.join(ROOM, is_lecturer=True)
    await board.lead(ROOM, "owner", 1, "one")
    assert await heard(follower, "at") == "one"
    await board.vote(ROOM, "q", follower.ballot, 1)
    await board.join(ROOM)
    found = {"followers": 2, "votes": {"q": [0, 1, 0, 0, 0, 0]}}
    await heard(lecturer, "count", lambda said: json.loads(said) == found)

    for _ in range(2):
        await clock.skip(board, redis_board.FORGET_AFTER - 10)
        await beats.beat()
    await board.vote(ROOM, "q", follower.ballot, 1)  # it is still open, and said so
    other._background.stop()  # killed, without a word
    await clock.skip(board, redis_board.FORGET_AFTER + 1)
    await refused("no stream", board.vote(ROOM, "q", follower.ballot, 2))
    back = await board.join(ROOM, ballot=follower.ballot)
    await board.vote(ROOM, "q", back.ballot, 2)
    assert await counted(board) == 1
    await other.stop()


@played()
async def test_a_closed_room_leaves_nothing_at_redis(board):
    follower, lecturer = await open_class(board)
    await board.vote(ROOM, "q", follower.ballot, 1)
    await board.lead(ROOM, "owner", 1, "one")
    await board.close_room(ROOM, "owner")
    for listener in (follower, lecturer):
        await heard(listener, "over")
        await board.leave(ROOM, listener)
    kept = [key for key in await board._redis.keys() if ":pace:" not in key]  # for a second
    assert kept == []
    remembered = board._others, board._votes, board._changed, board.audience.rooms
    await until(lambda: not any(remembered))


@played()
async def test_without_redis_the_lecturer_is_told_at_once_and_says_it_again_later(board, server):
    follower, lecturer = await open_class(board)
    server.stop()
    for attempt in (board.lead(ROOM, "owner", 1, "one"), board.join(ROOM)):
        await refused("away", asyncio.wait_for(attempt, PATIENCE))
    for listener in (follower, lecturer):
        await heard(listener, "away")
    await asyncio.to_thread(server.start)
    assert await heard(follower, "room") == ROOM
    await heard(lecturer, "lost")
    await board.open_room(ROOM, "owner", "here")
    await board.lead(ROOM, "owner", 1, "one")
    assert await heard(follower, "at") == "one"


BAD_MESSAGES = {
    "no JSON": b"secret words",  # the first one is told
    "nothing": b"",
    "no text": b"\xff\xfe\x00\x9f",
    "a list": b'["kind", "at"]',
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


@played(messages=100)
async def test_a_message_that_cannot_be_read_ends_no_lecture(board, server, caplog):
    follower, lecturer = await open_class(board)
    for number, data in enumerate(BAD_MESSAGES.values(), 1):
        for room in (ROOM, "?", ""):
            channel = (redis_board.CHANNEL + room).encode()
            await asyncio.to_thread(server.ask, b"PUBLISH", channel, data)
        await board.lead(ROOM, "owner", number, str(number))
        await heard(follower, "at", str(number).__eq__)
    await heard(lecturer, "count")
    assert board.is_well
    assert not {"away", "lost"} & {*follower.news, *lecturer.news}
    assert caplog.text.count("skipped") == 1, "however many there are"
    assert "secret words" not in caplog.text


@pytest.mark.parametrize("how", ["killed", "RuntimeError"])
@pytest.mark.parametrize(("task", "broken"), [("_listen", "_pass_on"), ("_beat", "_announce")])
@mock.patch.object(redis_board, "BEAT", 0.1)
@played()
async def test_a_task_that_ends_is_begun_anew_and_says_so(board, caplog, how, task, broken):
    follower, lecturer = await open_class(board)
    for number in (1, 2):
        before = board._background._tasks[task]
        if how == "killed":
            while not before.done():  # the client of Redis may swallow it
                before.cancel()
                await asyncio.sleep(0.01)
        else:
            with mock.patch.object(board, broken, side_effect=RuntimeError("secret words")):
                await board.lead(ROOM, "owner", 10 * number, "lost on the way")
                await asyncio.wait([before], timeout=PATIENCE)
        if task == "_listen":
            for listener in (follower, lecturer):
                await heard(listener, "away")
        await until(lambda: not board._background._tasks[task].done() and board.is_well)
        await board.lead(ROOM, "owner", 10 * number + 1, f"{number}")
        await heard(follower, "at", str(number).__eq__)
    assert f"The task {task} has ended ({how})" in caplog.text
    assert "secret words" not in caplog.text


@mock.patch.multiple(redis_board, QUIET=0.2, PATIENCE=0.2)
@played()
async def test_a_connection_that_is_dead_without_a_word_is_given_up(board, server):
    """The machine of Redis is gone: nothing is closed, and nothing answers."""
    follower, _ = await open_class(board)
    server.process.send_signal(signal.SIGSTOP)
    try:
        await heard(follower, "away")
        assert not board.is_well
        await refused("away", board.lead(ROOM, "owner", 2, "two"))
    finally:
        server.process.send_signal(signal.SIGCONT)
    await heard(follower, "room")
    assert board.is_well


@played()
async def test_a_room_that_redis_forgot_is_not_over_before_it_could_be_opened(board, server, beats):
    follower, _ = await open_class(board)
    server.empty()
    await beats.beat()
    await board.open_room(ROOM, "owner", "here")
    for _ in range(2):
        await beats.beat()
    assert "over" not in follower.news
    server.empty()
    for _ in range(2):
        await beats.beat()
    assert "over" in follower.news
