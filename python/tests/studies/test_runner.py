"""The order in which studies run: simulations, then measurements over slow paths at once, then the others alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from netspurt.studies.experiment import (
    AnyExperiment,
    LiveExperiment,
    LiveRequest,
    Native,
    Plan,
    Samples,
    Study,
)
from netspurt.studies.model import Findings
from netspurt.studies.runner import prepare, run_all


@dataclass(frozen=True)
class Simulated:
    """An experiment without a simulator."""

    key: tuple[str, ...]
    measure: Callable[[], Any]
    scenario: str = "nothing.toml"
    settings: dict[str, Any] = field(default_factory=dict)
    seeds: int = 1

    def load(self, _path: Path) -> Native:
        return LiveRequest("")

    def perform(self, _native: Native, _seed: int) -> Any:
        return self.measure()


@dataclass
class OnePart:
    """A part with these experiments; keeps its samples."""

    has: list[Any]
    samples: Samples | None = None

    def experiments(self, _plan: Plan) -> Iterable[AnyExperiment]:
        return self.has

    def evaluate(self, samples: Samples) -> Findings:
        self.samples = samples
        return Findings()


def live(name: str, measure: Callable[[], Any], *, slow: bool) -> Any:
    @dataclass(frozen=True)
    class WithoutAFile(LiveExperiment):
        def load(self, _path: Path) -> Native:
            return LiveRequest("")

    return WithoutAFile(key=(name,), scenario="nothing.toml", measure=lambda _text: measure(), slow=slow)


def study(name: str, *experiments: Any) -> tuple[Study, OnePart]:
    part = OnePart(list(experiments))
    return Study(name, name, name, name, (part,)), part


def quietly(_label: str) -> None:
    """Shows no progress."""


def test_everything_is_simulated_before_the_first_measurement_of_any_study() -> None:
    order: list[str] = []
    first, _ = study(
        "first",
        live("slow", lambda: order.append("slow"), slow=True),
        Simulated(("one",), lambda: order.append("one")),
    )
    second, _ = study(
        "second",
        live("alone", lambda: order.append("alone"), slow=False),
        Simulated(("two",), lambda: order.append("two")),
    )
    run_all([prepare(each, Plan()) for each in (first, second)], 1, quietly)
    assert order == ["one", "two", "slow", "alone"]


def test_slow_measurements_of_different_studies_run_at_once_and_those_of_one_study_in_turn() -> None:
    meet = threading.Barrier(2, timeout=30)
    inside: list[str] = []

    def first_of_two() -> str:
        meet.wait()
        assert "later" not in inside
        return "met"

    def later() -> None:
        inside.append("later")

    one, kept = study("one", live("a", first_of_two, slow=True), live("b", later, slow=True))
    other, _ = study("other", live("c", meet.wait, slow=True))
    results = run_all([prepare(each, Plan()) for each in (one, other)], 1, quietly)
    assert kept.samples is not None
    assert kept.samples.one(("a",), str) == "met"
    assert [result.interrupted for result in results] == [False, False]
    assert [result.runs for result in results] == [2, 1]


def test_other_measurements_run_one_at_a_time() -> None:
    lock = threading.Lock()

    def alone() -> None:
        assert lock.acquire(blocking=False)
        lock.release()
        assert threading.active_count() == threads

    studies = [study(name, live("alone", alone, slow=False))[0] for name in ("one", "other")]
    threads = threading.active_count()
    run_all([prepare(each, Plan()) for each in studies], 2, quietly)


def test_ctrl_c_during_a_measurement_keeps_what_is_finished_and_drops_what_comes_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from netspurt.studies import runner

    ended: list[bool] = []
    monkeypatch.setattr(runner, "end_all", lambda: ended.append(True))

    def interrupt() -> None:
        raise KeyboardInterrupt

    one, kept = study(
        "one",
        Simulated(("simulated",), lambda: "kept"),
        live("interrupted", interrupt, slow=False),
        live("later", lambda: "never", slow=False),
    )
    other, _ = study("other", Simulated(("simulated",), lambda: "kept"))
    results = run_all([prepare(each, Plan()) for each in (one, other)], 1, quietly)
    assert [result.interrupted for result in results] == [True, False]
    assert kept.samples is not None
    assert kept.samples.one(("simulated",), str) == "kept"
    assert not kept.samples.complete(("later",))
    assert ended == [True]


def test_the_seconds_of_measurements_are_told_apart() -> None:
    simulated, _ = study("simulated", Simulated(("one",), lambda: None))
    measured, _ = study("measured", live("alone", lambda: None, slow=False))
    results = run_all([prepare(each, Plan()) for each in (simulated, measured)], 1, quietly)
    assert results[0].live_seconds == 0 < results[0].seconds
    assert 0 < results[1].live_seconds <= results[1].seconds


def test_an_error_in_one_measurement_ends_the_emulations_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from netspurt.studies import runner

    ended = threading.Event()
    monkeypatch.setattr(runner, "end_all", ended.set)

    def fail() -> None:
        raise ValueError("the measurement broke")

    one, _ = study("one", live("broken", fail, slow=True))
    other, _ = study("other", live("endless", lambda: ended.wait(30), slow=True))
    with pytest.raises(ValueError, match="the measurement broke"):
        run_all([prepare(each, Plan()) for each in (one, other)], 1, quietly)
    assert ended.is_set()
