"""The live halves of studies: what is asked, and what is said where nothing can be measured; nothing is emulated."""

from __future__ import annotations

import importlib
import tomllib
from typing import Any

import pytest

from netspurt.studies import find, live
from netspurt.studies.experiment import LiveExperiment, Plan, Samples

pytest.importorskip("netspurt._core")

HALVES = ("rfc1106", "doupnik", "rfc2415")


def half(study: str) -> tuple[Any, LiveExperiment]:
    """A study's live half and its emulation."""
    part = importlib.import_module(f"netspurt.studies.{study}.live").Live()
    (experiment,) = [each for each in part.experiments(Plan(quick=True)) if isinstance(each, LiveExperiment)]
    return part, experiment


@pytest.mark.parametrize("study", HALVES)
def test_a_host_has_a_task_if_and_only_if_it_is_in_the_scenario(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netspurt.scenario import parse

    _, experiment = half(study)
    asked: list[live.Emulation] = []

    def refuse(scenario: str, tasks: Any, *, limit_s: float) -> Any:
        asked.append(live.Emulation(scenario, tasks, limit_s))
        raise live.NotPossible("nobody may")

    monkeypatch.setattr(live, "emulated", refuse)
    seen = experiment.measure(find(study).path(experiment.scenario).read_text(encoding="utf-8"))
    assert seen.why_not == "nobody may"
    (emulation,) = asked
    assert parse(emulation.scenario).name
    links = tomllib.loads(emulation.scenario)["link"].values()
    assert sorted(host for link in links for host in link["between"]) == sorted(emulation.tasks)


@pytest.mark.parametrize("study", HALVES)
def test_without_a_measurement_a_note_gives_the_reason(study: str) -> None:
    part, experiment = half(study)
    samples = Samples(part.experiments(Plan(quick=True)))
    samples.put(experiment.key, 1, live.Seen({}, why_not="there is no /dev/net/tun here"))
    findings = part.evaluate(samples)
    assert findings.notes == ("Not measured live, since there is no /dev/net/tun here.",)
    assert not findings.tables
    assert not findings.checks


@pytest.mark.parametrize("study", [*HALVES, "rfc889"])
def test_both_forms_of_the_request_are_parsed(study: str) -> None:
    for file in find(study).path("").glob("*live*.toml"):
        assert tomllib.loads(file.read_text(encoding="utf-8")), file


def test_a_machine_that_was_late_is_named_in_the_table() -> None:
    assert not live.Seen({}, late=0.01).doubt
    assert "10 %" in live.Seen({}, late=0.1).doubt


@pytest.mark.parametrize("study", ["rfc1106", "doupnik", "rfc2415", "rfc889"])
def test_no_live_measurement_is_made_with_the_option_no_live(study: str) -> None:
    parts = find(study).parts
    experiments = [each for part in parts for each in part.experiments(Plan(quick=True, live=False))]
    assert not [each for each in experiments if isinstance(each, LiveExperiment)]
    samples = Samples(experiments)
    tables = [table.name for part in parts for table in part.evaluate(samples).tables]
    assert not [name for name in tables if "live" in name]
