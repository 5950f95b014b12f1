"""Work on several threads: all of it, its errors, and its end by Ctrl-C."""

from __future__ import annotations

import threading
import time

import pytest

from netspurt.threads import for_each


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_everything_is_done_once(jobs: int) -> None:
    done: dict[int, int] = {}
    assert for_each(range(50), lambda n: n * n, lambda n, square: done.update({n: square}), jobs)
    assert done == {n: n * n for n in range(50)}


def test_nothing_to_do_is_done_at_once() -> None:
    assert for_each([], lambda n: n, lambda _n, _r: None, 2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_the_work_is_raised_to_the_caller(jobs: int) -> None:
    def work(number: int) -> int:
        if number == 3:
            raise ValueError("the third")
        return number

    with pytest.raises(ValueError, match="the third"):
        for_each(range(20), work, lambda _n, _r: None, jobs)


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_was_done_and_begins_nothing_more(jobs: int) -> None:
    begun: list[int] = []
    done: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        time.sleep(0.001)
        return number

    def keep(number: int, _value: int) -> None:
        done.append(number)
        if len(done) == 5:
            raise KeyboardInterrupt

    assert not for_each(range(1000), work, keep, jobs)
    time.sleep(0.05)
    assert len(done) == 5
    assert len(begun) < 100


def test_a_simulation_that_does_not_end_is_abandoned() -> None:
    never = threading.Event()

    def work(number: int) -> int:
        if number == 1:
            never.wait()
        return number

    def keep(_number: int, _value: int) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    assert not for_each(range(2), work, keep, 2)
    assert time.monotonic() - began < 5
    never.set()
