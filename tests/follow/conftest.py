"""Boards, and what they stand on, for all tests of this folder."""

from tests.follow import boards

redis_server, server, board = boards.redis_server, boards.server, boards.board
beats, clock = boards.beats, boards.clock
