"""What ``what_if`` begins with: a scenario, the flow in question, and what limits it.

Lives here: reading a scenario, a run or a capture, and choosing the flow. Must not live here: remedies.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netspurt.diagnosing.limits import NOT_LOST
from netspurt.errors import RequestError
from netspurt.fitting import Fit, fit
from netspurt.inputs.kind import Kind, kind_of
from netspurt.remedies.situation import Situation
from netspurt.scenario import Result, Scenario, load

RUN_SCENARIO = "scenario.toml"
"""The scenario in the folder of a run."""


@dataclass(frozen=True)
class Start:
    """A scenario and where it comes from.

    Attributes:
        scenario: what is simulated.
        name: for people.
        captured_s: the duration in the capture; None if there is no capture.
        explains: whether the scenario behaves like the capture.
        warnings: sentences about the fit.
        predicts: whether no warning says that another sender would meet another path.
        waited: of a capture that does not show the limit of the queue, the packets that waited in it at most.
        for_remedies: of a capture, the scenario that remedies are tried on if it is not ``scenario``: see `Fit`.
    """

    scenario: Scenario
    name: str
    captured_s: float | None = None
    explains: bool = True
    warnings: Sequence[str] = field(default_factory=list)
    for_remedies: Scenario | None = None
    predicts: bool = True
    waited: int | None = None


def start_of(source: str | Path | Scenario | Result | Fit, connection: int | None = None) -> Start:
    """Reads what remedies are tried on.

    Args:
        source: a scenario, the folder of a run, a capture, or one of the objects of the API.
        connection: of a capture, the number of the connection.

    Raises:
        RequestError: the file is none of these, or the capture cannot be fitted.
        ScenarioError: the scenario is wrong.
    """
    if connection is not None and (isinstance(source, Result | Scenario | Fit) or not _is_capture(source)):
        raise RequestError(
            "--connection chooses a connection of a capture: a scenario has flows, which --flow chooses"
        )
    if isinstance(source, Result):
        return Start(source.scenario, source.scenario.name)
    if isinstance(source, Scenario):
        return Start(source, source.name)
    if isinstance(source, Fit):
        return _of_fit(source)
    path = Path(source)
    kind = Kind.CAPTURE if _is_capture(source) else kind_of(path)
    if kind is Kind.SCENARIO:
        return Start(load(path), str(path))
    if kind is Kind.RUN_FOLDER:
        return Start(load(path / RUN_SCENARIO), str(path))
    if kind is Kind.CAPTURE:
        return _fitted(path, connection)
    raise RequestError(
        f"{path} is {kind.value}: name a scenario, the folder of a run, a capture, or the table of "
        "'why --sockets --out'"
    )


def _is_capture(source: str | Path) -> bool:
    """Whether a path is fitted to it: a capture, or a table of polled sockets."""
    return str(source) == "-" or kind_of(Path(source)) in (Kind.CAPTURE, Kind.PARQUET)


def _fitted(path: Path, connection: int | None) -> Start:
    return _of_fit(fit(path, connection=connection))


def _of_fit(found: Fit) -> Start:
    warnings = list(found.warnings)
    if found.losses_then:
        warnings.append(found.losses_then)
    return Start(
        found.scenario,
        found.source,
        found.baseline_seconds,
        found.explains,
        warnings,
        found.for_remedies,
        found.predicts,
        found.waited,
    )


def situation_of(scenario: Scenario, result: Result, flow: str | None) -> Situation:
    """The flow in question, and what limits it.

    Args:
        scenario: the scenario.
        result: its run with ``record=["limits"]``.
        flow: the name of the flow, or its number among those of the file; by default the one that lost most time.

    Raises:
        RequestError: there is no such flow, or none that sent data.
    """
    tree = tomllib.loads(scenario.merged())
    columns = result.native.flows()
    entries = [n for n, each in enumerate(tree["flow"]) for _ in range(int(each.get("count", 1)))]
    entry_of = {
        (name, int(index)): entry
        for name, index, entry in zip(columns["flow"], columns["index"], entries, strict=True)
    }
    rows: dict[int, list[Mapping[str, Any]]] = {}
    for row in json.loads(result.native.limits()):
        rows.setdefault(entry_of[row["flow"], row["index"]], []).append(row)
    if not rows:
        raise RequestError(f"{scenario.name}: no flow has opened a connection: there is nothing to improve")
    names = {entry: name for (name, _index), entry in entry_of.items()}
    chosen = max(rows, key=lambda entry: _lost(rows[entry])) if flow is None else _named(flow, names, rows)
    sender = _sender(rows[chosen])
    least = [each["rtt_min_s"] for row in rows[chosen] for each in row["directions"] if each["rtt_min_s"]]
    return Situation(
        scenario,
        chosen,
        sender,
        _shares(rows[chosen]),
        min(least) if least else None,
        _goodput_bps(rows[chosen], columns, entries, chosen),
    )


def _goodput_bps(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any], entries: Sequence[int], entry: int
) -> float:
    """The bytes of the larger direction over the time of all instances of the flow; 0 if one has not ended."""
    places = [place for place, each in enumerate(entries) if each == entry]
    ends = [columns["end_s"][place] for place in places]
    if any(end is None or math.isnan(end) for end in ends):
        return 0.0
    seconds = max(ends) - min(float(columns["start_s"][place]) for place in places)
    return 8 * max(_bytes(rows).values()) / seconds if seconds else 0.0


def _named(flow: str, names: Mapping[int, str], rows: Mapping[int, Any]) -> int:
    for entry, name in sorted(names.items()):
        if flow in (name, str(entry)):
            if entry in rows:
                return entry
            raise RequestError(f"the flow '{flow}' has opened no connection: there is nothing to improve")
    raise RequestError(f"there is no flow '{flow}': the flows are {', '.join(sorted(set(names.values())))}")


def _bytes(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The bytes that each node sent."""
    found: dict[str, int] = {}
    for row in rows:
        for each in row["directions"]:
            found[each["from"]] = found.get(each["from"], 0) + each["bytes"]
    return found


def _sender(rows: Sequence[Mapping[str, Any]]) -> str:
    sent = _bytes(rows)
    side = max(sent, key=lambda name: sent[name])
    return {"client": str(rows[0]["from"]), "server": str(rows[0]["to"])}.get(side, side)


def _lost(rows: Sequence[Mapping[str, Any]]) -> float:
    sent = _bytes(rows)
    side = max(sent, key=lambda name: sent[name])
    return sum(
        float(line["seconds"])
        for row in rows
        for each in row["directions"]
        if each["from"] == side
        for line in each["budget"]
        if line["limit"] not in NOT_LOST
    )


def _shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """For each limit the share of the time of all connections, of the direction in which it is larger.

    A direction in which no data was sent is limited by nothing: its time ends with the handshake.
    """
    found: dict[str, float] = {}
    main = max(sent := _bytes(rows), key=lambda name: sent[name])
    for side in {each["from"] for row in rows for each in row["directions"]}:
        if side != main and not sent[side]:
            continue
        directions = [each for row in rows for each in row["directions"] if each["from"] == side]
        whole = sum(each["duration_s"] for each in directions)
        seconds: dict[str, float] = {}
        for each in directions:
            for line in each["budget"]:
                seconds[line["limit"]] = seconds.get(line["limit"], 0.0) + line["seconds"]
        for limit, value in seconds.items():
            if limit == "application" and side != main:
                continue  # The receiver of the data has nothing to send.
            found[limit] = max(found.get(limit, 0.0), value / whole if whole else 0.0)
    return found
