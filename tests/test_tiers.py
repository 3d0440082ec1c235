"""What runs in which tier of the suite: tests/support/tiers.py."""

import pytest

from tests.support import tiers

pytest_plugins = ("pytester",)
SUITE = """
import pytest

@pytest.mark.rotating(3)
@pytest.mark.parametrize("case", range(7))
def test_in_turn(case):
    pass

@pytest.mark.nightly("it takes an hour")
def test_by_night():
    pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the suite above at a commit; how many tests passed."""
    pytester.makepyfile(SUITE)

    def passed(turn="a", everything=False, *, only=()):
        monkeypatch.setattr(tiers, "TURN", turn)
        monkeypatch.setattr(tiers, "EVERYTHING", everything)
        done = pytester.inline_run(*only, plugins=[tiers])
        return [one.nodeid.split("::")[1] for one in done.getreports("pytest_runtest_logreport")
                if one.when == "call" and one.passed]  # fmt: skip

    return passed


def test_each_case_has_its_turn_and_none_runs_at_every_commit(run):
    turns = [set(run(turn)) for turn in "abcdefgh"]
    assert set.union(*turns) == {f"test_in_turn[{case}]" for case in range(7)}
    assert set.intersection(*turns) == set()


def test_everything_runs_where_it_is_asked_for(run):
    assert len(run(everything=True)) == 7 + 1


def test_what_is_asked_for_by_its_name_runs(run):
    of_this_name = "test_what_is_asked_for_by_its_name_runs.py"  # where pytester writes the suite
    assert run(only=(f"{of_this_name}::test_by_night",)) == ["test_by_night"]
