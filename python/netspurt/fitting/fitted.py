"""From a capture to a scenario that behaves like it.

Lives here: the order of the work, and the result. Must not live here: single estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from pathlib import Path as File
from typing import Any

from netspurt.errors import RequestError
from netspurt.fitting import draft, hosts
from netspurt.fitting.capacity import Recording
from netspurt.fitting.checking import Measured, Row, compare, distance, measure, overlap, simulate
from netspurt.fitting.departures import relocated
from netspurt.fitting.draft import Choice, controls
from netspurt.fitting.facts import Facts, read
from netspurt.fitting.path import Path as Estimate
from netspurt.fitting.path import capacity, estimate, shaped
from netspurt.fitting.polls import fit_polls, is_polls, is_table
from netspurt.scenario import Scenario, parse

RATES = ("constant", "trace")
"""How the capacity of the path is replayed."""

LOSSES = ("script", "rate")
"""How losses away from a full queue are replayed."""

CLOSE = 0.02
"""Candidates whose distances differ by less explain a capture alike."""

EQUAL = 0.005
"""Candidates whose distances differ by less are equally good: the most usual one is taken."""

DECISIVE = ("duration", "rtt_median", "lost")
"""Quantities that must agree for a fit to explain its capture."""

OVERLAP = 0.6
"""The least share of the time budget that capture and simulation must have in common."""

BETTER = 0.5
"""A recorded capacity must lessen the distance to this part, unless it explains the capture."""

SHAPED = 0.8
"""A shaper must lessen the distance to this part."""

REPLAYED = 0.15
"""The improvement that a list of losses at a full queue must bring to be preferred to the queue."""

SPREAD = 3
"""So many losses away from a full queue, and packets waiting at most, suggest a discipline that drops early."""

SINGLE = 0.5
"""Independent losses at a small rate come in more bursts than this share of their number: most are one packet."""

DISCIPLINES = ("fq-codel", "pie")

PAUSES = 0.15
"""The improvement that pauses of the application must bring to be preferred to a send buffer."""

UNKNOWN = 0.5
"""A candidate that is further away than this does not explain what the sender did."""


@dataclass(frozen=True)
class Fit:
    """A scenario that was fitted to a capture, and how well it explains it.

    Attributes:
        source: the capture.
        scenario: ready to run.
        text: the scenario as commented TOML.
        check: captured beside simulated.
        explains: whether the simulation behaves like the capture.
        warnings: sentences on what is uncertain, the one on a failed check first.
        baseline_seconds: the captured duration.
        estimate: the path.
        candidates: names of the congestion controls that explain the capture, the best first; "unknown" if none does.
        connections: numbers of the connections in the capture.
        vantage: where the capture was taken.
        chance: the scenario with as large a share of packets lost at random, where the capture shows random losses.
    """

    source: str
    scenario: Scenario
    text: str
    check: list[Row]
    explains: bool
    warnings: list[str]
    baseline_seconds: float
    estimate: Estimate
    candidates: list[str]
    connections: list[int]
    vantage: str
    chance: Scenario | None = None

    def document(self) -> dict[str, Any]:
        """The JSON document of ``netspurt fit --json``."""
        path = self.estimate
        return {
            "file": self.source,
            "explains": self.explains,
            "warnings": self.warnings,
            "baseline_seconds": self.baseline_seconds,
            "connections": self.connections,
            "vantage": self.vantage,
            "path": {
                "rate_bps": path.rate_bps,
                "rate_share": path.rate_share,
                "rtt_base_s": path.delay_s,
                "queue_s": path.queue_s,
                "queue_packets": path.queue_packets,
                "overflowed": path.overflows > 0,
                "lost_at_full_queue": path.overflows,
                "lost_elsewhere": path.stray,
                "data_packets": path.packets,
            },
            "congestion_control": self.candidates,
            "check": [row.document() for row in self.check],
            "scenario": self.text,
        }


Tried = tuple[float, Choice, Measured | None]


def fit(
    path: str | Path,
    *,
    connection: int | None = None,
    loss: str = "script",
    rate: str | None = None,
    advance: Callable[[int, int], object] = lambda done, whole: None,
) -> Fit:
    """Fits a scenario to a capture, simulates it and compares.

    Args:
        path: a capture, best taken at the sender of the data; or the table of ``netspurt why --sockets --out``.
        connection: only this connection; by default the largest one and those between the same hosts.
        loss: "script" loses the very packets that were lost, "rate" as large a share of them at random.
        rate: "constant" has one rate for the path, "trace" its capacity over time, as a recording; by default a
            constant rate, and a recording only where that explains the capture and a constant rate does not.
        advance: called with the number of simulations done, and of all.

    Raises:
        RequestError: the file is no capture, or shows too little.
        ValueError: ``loss`` or ``rate`` is unknown.
    """
    if rate not in (None, *RATES):
        raise ValueError(f"unknown rate '{rate}'; the ways to replay the rate are: {', '.join(RATES)}")
    if loss not in LOSSES:
        raise ValueError(f"unknown loss '{loss}'; the ways to replay losses are: {', '.join(LOSSES)}")
    if is_table(File(path)):
        return _of_polls(File(path), connection, rate)
    flows, warnings = read(path, connection)
    found = estimate(flows)
    if found.rate_bps <= 0:
        raise RequestError(f"{path} shows no rate: no two packets followed each other closely enough")
    captured = measure(flows)
    tried = [] if rate == "trace" else _try(found, flows, captured, loss, None, advance)
    if tried and flows[0].vantage != "sender":
        found, tried = _departed(found, flows, captured, loss, tried, advance)
    if tried and (path_shaped := shaped(flows, found)) is not None:
        again = _try(path_shaped, flows, captured, loss, None, advance)
        if again[0][0] < SHAPED * tried[0][0]:
            found, tried = path_shaped, again
    if not tried or (rate is None and not _explains(captured, tried[0][2])):
        tried = _varied(path, found, flows, captured, loss, rate, tried, advance)
    _, choice, simulated = tried[0]
    if simulated is None:
        raise RequestError(f"{path} cannot be fitted: no candidate delivers the data of the capture")
    candidates = _names(tried)
    check = compare(captured, simulated)
    explains = _explains(captured, simulated)
    warnings += _changes(found, choice)
    if flows[0].vantage != "sender":
        warnings.append(
            "the capture was not taken at the sender, so the fit is less exact: losses before the place of capture "
            "and the sender's own pauses are inferred"
        )
    if not explains:
        wrong = [row.quantity for row in check if not row.agrees] or ["time budget"]
        warnings.insert(
            0,
            f"the fit does not explain the capture ({', '.join(wrong)} differ): do not trust predictions from it",
        )
    found = replace(found, queue_packets=max(found.queue_packets + choice.longer, 0))
    text = draft.write(found, flows, replace(choice, longer=0), _notes(path, candidates, warnings, check))
    scenario = parse(text, f"fit of {Path(path).name}")
    return Fit(
        str(path),
        scenario,
        text,
        check,
        explains,
        warnings,
        captured.duration_s,
        found,
        candidates,
        [facts.number for facts in flows],
        flows[0].vantage,
        _by_chance(found, flows, replace(choice, longer=0), f"fit of {Path(path).name}"),
    )


def _by_chance(path: Estimate, flows: Sequence[Facts], choice: Choice, name: str) -> Scenario | None:
    """The fit with random losses in place of a list of them; None where the list does not show random losses.

    A sender that a remedy changes sends other packets at other times, so the numbers of the list mean nothing to it.
    Losses at a queue that the fit does not explain, and losses in bursts, are not independent of each other.
    """
    if choice.losses != "script" or choice.discipline or (path.overflows and not choice.queue):
        return None
    numbers = draft.lost_numbers(path, flows, choice.queue)
    if not independent(numbers):
        return None
    return parse(draft.write(path, flows, replace(choice, losses="rate")), name)


def independent(numbers: Sequence[int]) -> bool:
    """Whether lost packets, by number, are enough to show a rate, and most of them are single."""
    bursts = 1 + sum(after - before > 1 for before, after in pairwise(numbers))
    return len(numbers) >= SPREAD and bursts > SINGLE * len(numbers)


def _departed(
    path: Estimate,
    flows: Sequence[Facts],
    captured: Measured,
    loss: str,
    tried: list[Tried],
    advance: Callable[[int, int], object],
) -> tuple[Estimate, list[Tried]]:
    """The path and candidates with the queue that the losses show once the times of sending are simulated."""
    if not path.overflows + path.stray:
        return path, tried
    # A candidate that loses the same packets is judged by what it does, not by the queue.
    scripted = [each for each in tried if not each[1].queue or not path.overflows]
    choice = min(scripted, key=lambda each: each[0])[1]
    choice = replace(choice, queue=False, losses="script", longer=0, discipline="")
    found = relocated(path, flows, parse(draft.write(path, flows, choice)))
    if found is None or (found.overflows, found.queue_packets) == (path.overflows, path.queue_packets):
        return path, tried
    again = _try(found, flows, captured, loss, None, advance)
    return (found, again) if again[0][0] <= tried[0][0] + CLOSE else (path, tried)


def _of_polls(path: File, socket: int | None, rate: str | None) -> Fit:
    if not is_polls(path):
        raise RequestError(
            f"{path} is neither a capture nor the table of 'why --sockets --out'. The table of 'netspurt ping' "
            "shows delays and losses, and no rate: see docs/how-to/measured-path.md"
        )
    if rate == "trace":
        raise RequestError(
            f"{path} holds polls of a socket, which have no recording of the capacity: leave --rate out"
        )
    found = fit_polls(path, socket)
    notes = _notes(path, [found.control], found.warnings, found.check)
    return Fit(
        str(path),
        found.scenario,
        "".join(f"# {note}\n" for note in notes) + "\n" + found.text,
        found.check,
        found.explains,
        found.warnings,
        found.seconds,
        found.estimate,
        [found.control],
        [found.socket],
        "sender",
    )


def _explains(captured: Measured, simulated: Measured | None) -> bool:
    return (
        simulated is not None
        and overlap(captured, simulated) >= OVERLAP
        and all(row.agrees for row in compare(captured, simulated) if row.quantity in DECISIVE)
    )


def _varied(
    name: str | Path,
    path: Estimate,
    flows: Sequence[Facts],
    captured: Measured,
    loss: str,
    rate: str | None,
    constant: list[Tried],
    advance: Callable[[int, int], object],
) -> list[Tried]:
    """The candidates with a recorded capacity, if that was demanded or explains the capture much better."""
    # Round trips of a path whose delay changed do not show where packets waited.
    recording = capacity(flows, path) if path.moved is None or rate == "trace" else None
    if recording is None:
        if rate == "trace":
            raise RequestError(
                f"{name} does not show the capacity over time: packets waited too seldom, or the capture was not "
                "taken at the sender; use --rate constant"
            )
        return constant
    tried = _try(replace(path, policer=None), flows, captured, loss, recording, advance)
    if rate == "trace" or _explains(captured, tried[0][2]) or tried[0][0] < BETTER * constant[0][0]:
        return tried
    return constant


def _changes(path: Estimate, choice: Choice) -> list[str]:
    """Sentences on a path that changed."""
    found = []
    if choice.recording is not None:
        rates = choice.recording.rates
        found.append(
            f"the capacity of the path varied between {min(rates) / 1e6:.3g} and {max(rates) / 1e6:.3g} Mbit/s, "
            f"because of others or of the path itself: the fit replays it as a recording of {len(rates)} rates"
        )
    if path.shaper is not None:
        found.append(
            f"a shaper lets {path.shaper.burst / 1e3:.3g} kB pass at once, and then "
            f"{path.shaper.rate_bps / 1e6:.3g} Mbit/s; a capacity that fell once would look alike"
        )
    if path.moved is not None:
        at, before, after = path.moved
        found.append(
            f"the path changed {at:.3g} s after the capture began: its delay went from {1e3 * before:.3g} to "
            f"{1e3 * after:.3g} ms. The fit changes it there, and remedies are tried on a path that changes"
        )
    return found


def _try(
    path: Estimate,
    flows: Sequence[Facts],
    captured: Measured,
    loss: str,
    recording: Recording | None,
    advance: Callable[[int, int], object],
) -> list[Tried]:
    """Every candidate with its distance, the nearest first."""
    queues = (True, False) if path.overflows else (True,)
    paces = (True, False) if any(hosts.writes(facts) for facts in flows) else (False,)
    helds = (True, False) if hosts.ceiling(flows[0]) else (False,)
    choices = [
        Choice(control, queue, loss, paced, recording=recording, held=held)
        for control in controls(flows[0])
        for queue in queues
        for paced in paces
        for held in (helds if not paced else (False,))
    ]
    if path.stray >= SPREAD and path.stray > path.overflows and path.queue_packets >= SPREAD:
        choices += [
            Choice(control, True, loss, recording=recording, discipline=discipline)
            for control in controls(flows[0])
            for discipline in DISCIPLINES
        ]
    tried: list[Tried] = []

    def attempt(choice: Choice) -> None:
        simulated = simulate(parse(draft.write(path, flows, choice)), flows)
        # A queue that overflows by itself predicts more than a list of its losses.
        replayed = 0.0 if choice.queue else REPLAYED
        # Writes with pauses imitate any rate; a buffer that holds the flight predicts more.
        imitated = PAUSES if choice.paced and True in helds else 0.0
        tried.append((distance(captured, simulated) + replayed + imitated, choice, simulated))

    whole = len(choices) + (2 if path.overflows and not path.replayed else 0)
    for done, choice in enumerate(choices):
        advance(done, whole)
        attempt(choice)
    best = min(tried, key=lambda each: each[0])[1]
    if path.overflows and best.queue and not path.replayed:
        # ACKs show the longest queue to a packet or two.
        step = max(1, round(path.queue_packets * 0.03))
        for longer in (-step, step):
            if path.queue_packets + longer > 0:
                attempt(replace(best, longer=longer))
    advance(whole, whole)
    return _ordered(tried)


def _ordered(tried: Sequence[Tried]) -> list[Tried]:
    """The nearest first; of those that are equally near, the most usual one."""
    nearest = sorted(tried, key=lambda each: each[0])
    equal = [each for each in nearest if each[0] <= nearest[0][0] + EQUAL]
    usual = (*draft.CONTROLS, *draft.WITHOUT_SACK)
    first = min(equal, key=lambda each: usual.index(each[1].control))
    return [first, *(each for each in nearest if each is not first)]


def _names(tried: Sequence[Tried]) -> list[str]:
    best = min(far for far, _, _ in tried)
    names = [choice.control.name for far, choice, _ in tried if far <= 1.25 * best + CLOSE]
    names = list(dict.fromkeys(names))
    return [*names, "unknown"] if best > UNKNOWN else names


def _notes(
    path: str | Path, candidates: Sequence[str], warnings: Sequence[str], check: Sequence[Row]
) -> list[str]:
    notes = [f"A scenario that behaves like {Path(path).name}."]
    notes += [f"Warning: {warning}." for warning in warnings]
    notes += [f"Congestion control: one of {', '.join(candidates)}.", "", "The check: captured, simulated."]
    for row in check:
        verdict = "" if row.agrees else "  differs"
        notes.append(f"  {row.quantity:<28} {row.captured:>14.6g} {row.simulated:>14.6g} {row.unit}{verdict}")
    return notes
