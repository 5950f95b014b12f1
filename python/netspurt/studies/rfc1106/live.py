"""Beyond the document: current Linux TCP, and our TCP with NAKs on real devices, over the emulated satellite link."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from netspurt.analysis.statistics import mean_interval
from netspurt.emulation.emulating import Task
from netspurt.emulation.paths import OUR_NAMES
from netspurt.studies import live
from netspurt.studies.experiment import AnyExperiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table
from netspurt.studies.rfc1106.setting import (
    ERROR_RATES,
    FIGURE1,
    FIGURE2,
    ErrorRate,
    published,
)

ASKED = {True: "live_quick.toml", False: "live.toml"}
"""By ``quick``."""

OURS = "NAKs, ours"


@dataclass(frozen=True)
class Lane:
    """A transfer over its own satellite link."""

    number: int
    tcp: str
    window_kib: int
    error: ErrorRate


def _lanes(request: Mapping[str, Any]) -> list[Lane]:
    """The requested number of transfers; one without errors, because it has no randomness."""
    cells = product(request["tcp"], request["windows_kib"], ERROR_RATES)
    repeated = [cell for cell in cells for _ in range(request["repeats"] if cell[2].bits else 1)]
    return [Lane(number, *cell) for number, cell in enumerate(repeated)]


def _groups(request: Mapping[str, Any]) -> list[list[Lane]]:
    """Lanes that the machine can serve at once without late packets."""
    lanes, most = _lanes(request), request["at_once"]
    return [lanes[first : first + most] for first in range(0, len(lanes), most)]


def _plan(group: int, request: Mapping[str, Any]) -> live.Emulation:
    lanes = _groups(request)[group]
    tasks: dict[str, Task] = {}
    for lane in lanes:
        tasks |= _tasks(lane, request["octets"])
    return live.Emulation(
        "\n".join(_scenario(lanes, request["octets"])), tasks, request["limit_s"], _simulate
    )


def _simulate(scenario: str) -> list[float]:
    """Seconds of each transfer, in order."""
    from netspurt.scenario import parse

    return [float(end) for end in parse(scenario).native.run(1, [], None).flows()["end_s"]]


def _scenario(lanes: Sequence[Lane], octets: int) -> Iterator[str]:
    """Each lane is the path of ``satellite.toml``, including the fitted host processing time."""
    yield 'duration = "36000 s"'
    for lane in lanes:
        here, there = f"e{lane.number}", f"s{lane.number}"
        yield f'[link.l{lane.number}]\nbetween = ["{here}", "{there}"]'
        yield 'rate = "1.544 Mbit/s"\ndelay = "290 ms"'
        if lane.error.bits:
            yield f'loss = {{ kind = "bit-error", rate = {lane.error.bits!r} }}'
        yield f'[host.{here}]\nlatency = "40 ms"\n[host.{there}]\nlatency = "40 ms"'
    for lane in lanes:
        yield f'[[flow]]\nfrom = "e{lane.number}"\nto = "s{lane.number}"'
        yield f'app = {{ kind = "bulk", bytes = "{octets} B" }}'
        yield "[flow.tcp]"
        yield from (f"{key} = {json.dumps(value)}" for key, value in _tcp(lane).items())


def _tcp(lane: Lane) -> dict[str, str]:
    """Our TCP, or in a simulation our model of the kernel's."""
    window = {"receive_window": f"{lane.window_kib} KiB"}
    if lane.tcp == OURS:
        old = {"mss": "1024 B", "initial_window": "1 segments", "acking": "every-segment"}
        return {"profile": FIGURE2.profile, **old, **window}
    if lane.tcp == "bbr":
        return {"profile": "bbr", **window}
    return {"profile": "linux", "congestion": OUR_NAMES.get(lane.tcp, lane.tcp), **window}


def _tasks(lane: Lane, octets: int) -> dict[str, Task]:
    here, there = f"e{lane.number}", f"s{lane.number}"
    if lane.tcp == OURS:
        chosen = _tcp(lane)
        ours = {"profile": chosen.pop("profile"), "tcp": chosen}
        return {
            here: {"program": "our_source", "to": f"guest.{there}", "octets": octets, **ours},
            there: {"program": "our_sink", **ours},
        }
    clamp = lane.window_kib * 1024
    return {
        here: {"program": "send", "to": there, "octets": octets, "congestion": lane.tcp},
        there: {"program": "receive", "window": clamp},
    }


class Live:
    """Transfer rates of the kernel's TCP and ours, beside the published and the simulated ones."""

    def __init__(self) -> None:
        self._quick = False
        self._keys: list[Key] = []

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """Emulations of many transfers at once, and their simulations."""
        self._quick = plan.quick
        groups = range(len(_groups(_request(plan.quick)))) if plan.live else ()
        self._keys = [("live", str(group)) for group in groups]
        for group, key in zip(groups, self._keys, strict=True):
            yield live.experiment(key, ASKED[plan.quick], partial(_plan, group), slow=True)

    def evaluate(self, samples: Samples) -> Findings:
        """A table; where no measurement was possible, the reason."""
        seen, notes = live.seen(samples, *self._keys)
        if seen is None:
            return Findings(notes=notes)
        request = _request(self._quick)
        table = Table(
            "beyond_live",
            "The kernel's TCP and ours through the emulated satellite, measured while the study ran",
            tuple(_cells(seen, request)),
            kind="beyond",
            note=(
                f"Live: transfers of {request['octets'] / 2**20:g} MiB, {request['repeats']} of each with errors, over "
                "links of their own with the fitted path of the study. TCP_WINDOW_CLAMP limits the window that the "
                "kernel announces. Its segments have 1448 bytes, those of the document and ours 1024. "
                "Simulated: the same links with the profiles linux and bbr, and the same TCP with NAKs. Published: for "
                "cubic, bbr and reno the column without NAKs, for ours the column with NAKs." + seen.doubt
            ),
        )
        return Findings(tables=(table,))


def _request(quick: bool) -> Mapping[str, Any]:
    import tomllib

    from netspurt.studies.experiment import DATA

    return tomllib.loads((DATA / "rfc1106" / ASKED[quick]).read_text(encoding="utf-8"))


def _cells(seen: live.Seen, request: Mapping[str, Any]) -> Iterable[Cell]:
    lanes = _lanes(request)
    fox = {False: published(FIGURE1), True: published(FIGURE2)}
    for tcp, window, error in product(request["tcp"], request["windows_kib"], ERROR_RATES):
        alike = [lane for lane in lanes if (lane.tcp, lane.window_kib, lane.error) == (tcp, window, error)]
        rates = [request["octets"] / 1024 / _seconds(seen.found[f"e{lane.number}"][0]) for lane in alike]
        estimate = mean_interval(rates)
        yield Cell(
            {"tcp": tcp, "window": f"{window}K", "error_rate": error.name},
            "live rate",
            "KiB/s",
            fox[tcp == OURS][window, error.name],
            estimate.mean,
            interval=estimate.interval,
            runs=len(rates),
            reason=live.REASON,
        )
        row = {"tcp": tcp, "window": f"{window}K", "error_rate": error.name}
        simulated = [request["octets"] / 1024 / seen.simulated[lane.number] for lane in alike]
        yield live.estimated(row, "simulated rate", "KiB/s", simulated)


def _seconds(found: Mapping[str, float]) -> float:
    """Time from the SYN to the end: the kernel's sender reports start and end, ours its duration."""
    return found["seconds"] if "seconds" in found else found["ended"] - found["began"]
