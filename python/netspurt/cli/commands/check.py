"""``netspurt check``: whether scenario files are correct, without running them."""

from __future__ import annotations

import argparse
import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

from netspurt.analysis import formats
from netspurt.cli.arguments.options import add_algorithms, add_input, add_json, add_settings
from netspurt.cli.exits import FELL_SHORT, FINE, WRONG_REQUEST
from netspurt.errors import RequestError

WITHOUT_FLOWS = "there is no flow: 'run' and 'sweep' need one in [[flow]], 'emulate' and 'shell' do not"


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_input(command, "files", nargs="+", metavar="FILE.toml", words="scenarios, or sweep files")
    add_settings(command)
    add_algorithms(command)


def command(options: argparse.Namespace) -> int:
    """Checks each file and prints what is wrong, what has no effect, and what is switched on by itself.

    Returns:
        ``WRONG_REQUEST`` if a file is wrong, ``FELL_SHORT`` if keys have no effect, ``FINE`` otherwise.
    """
    found = [_checked(file, options) for file in options.files]
    if options.json:
        print(json.dumps({"files": found}))
    else:
        for each in found:
            _print(each)
    if any(each["error"] for each in found):
        return WRONG_REQUEST
    return FELL_SHORT if any(each["warnings"] for each in found) else FINE


def _checked(file: str, options: argparse.Namespace) -> dict[str, Any]:
    from netspurt import _core

    found: dict[str, Any] = {"file": file, "error": None, "warnings": [], "notes": [], "contents": None}
    try:
        scenario, sweep = _read(Path(file), options)
    except (RequestError, _core.ScenarioError) as error:
        found["error"] = " ".join(str(error).split())
        return found
    for weight, sentence in scenario.remarks():
        found[f"{weight}s"].append(sentence)
    merged = tomllib.loads(scenario.merged())
    found["contents"] = sweep or _contents(scenario, merged)
    if not merged.get("flow"):
        found["notes"].append(f"{file}: {WITHOUT_FLOWS}")
    return found


def _read(file: Path, options: argparse.Namespace) -> tuple[Any, str]:
    """The scenario of a file, and a short description of the sweep if it is one."""
    from netspurt import _core
    from netspurt.algorithms import find
    from netspurt.inputs.kind import Kind, kind_of
    from netspurt.inputs.scenario_file import is_sweep
    from netspurt.sweeping import plan_of

    kind = kind_of(file)
    if kind is not Kind.SCENARIO and file.suffix != ".toml":
        raise RequestError(f"{file} is {kind.value}: give a scenario file (.toml)")
    if is_sweep(file):
        plan = plan_of(file, find(options.algorithms))
        counts = ((len(plan.points), "point"), (len(plan.request.seeds), "seed"), (len(plan), "run"))
        points, seeds, runs = itertools.starmap(formats.counted, counts)
        return plan.base, f"a sweep of {points} with {seeds}: {runs}"
    scenario = _core.Scenario.load(str(file), options.settings)
    if options.algorithms:
        scenario = scenario.given(find(options.algorithms))
    return scenario, ""


def _contents(scenario: Any, merged: dict[str, Any]) -> str:
    flows = sum(flow.get("count", 1) for flow in merged.get("flow", []))
    counts = [(len(scenario.hosts()), "host"), (len(merged.get("link", {})), "link"), (flows, "flow")]
    counts += [(len(merged["hub"]), "hub")] if "hub" in merged else []
    return ", ".join(itertools.starmap(formats.counted, counts))


def _print(found: dict[str, Any]) -> None:
    for key in ("warnings", "notes"):
        for sentence in found[key]:
            print(f"{key[:-1]}: {sentence}")
    if found["error"]:
        print(f"error: {found['error']}")
    else:
        kept = "correct" if not found["warnings"] else "correct, with keys that have no effect"
        print(f"{found['file']}: {kept} ({found['contents']})")
