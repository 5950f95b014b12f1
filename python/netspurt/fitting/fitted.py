"""From a capture to a scenario that behaves like it.

Lives here: the order of the work, and the result. Must not live here: single estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from pathlib import Path as File
from typing import Any

from netspurt import display
from netspurt.analysis import formats
from netspurt.errors import RequestError
from netspurt.fitting import draft
from netspurt.fitting.checking import Row, compare, measure
from netspurt.fitting.departures import relocated
from netspurt.fitting.doubts import disagreement, doubts
from netspurt.fitting.draft import Choice
from netspurt.fitting.facts import read
from netspurt.fitting.path import MOSTLY, capacity, estimate, shaped
from netspurt.fitting.path import Path as Estimate
from netspurt.fitting.polls import fit_polls, is_polls, is_table
from netspurt.fitting.search import CLOSE, SPREAD, Search, Tried, names
from netspurt.scenario import Scenario, parse

RATES = ("constant", "trace")
"""How the capacity of the path is replayed."""

LOSSES = ("script", "rate")
"""How losses away from a full queue are replayed."""

BETTER = 0.5
"""A recorded capacity must lessen the distance to this part, unless it explains the capture."""

SHAPED = 0.8
"""A shaper must lessen the distance to this part."""

SINGLE = 0.5
"""Independent losses at a small rate come in more bursts than this share of their number: most are one packet."""

ELSEWHERE = (
    "the capture was not taken at the sender, so the fit is less exact: losses before the place of capture and the "
    "sender's own pauses are inferred"
)
BY_CHANCE = (
    "packets were lost at random: remedies are tried with as large a share of them lost, not with the very packets of "
    "the capture"
)
BY_QUEUE = (
    "a list of the lost packets explains the capture best, but a full queue dropped them: remedies are tried with the "
    "queue"
)


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
        for_remedies: the scenario that remedies are tried on where the losses of ``scenario`` are a list of packets,
            which a sender that behaves otherwise would not meet; None if it is ``scenario``.
        losses_then: a sentence on the losses of that scenario, or "".
        predicts: whether the fit explains its capture, and no warning says that another sender would meet another path.
        waited: the most packets that waited in the queue, where no loss shows how many can; else None.
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
    for_remedies: Scenario | None = None
    losses_then: str = ""
    predicts: bool = True
    waited: int | None = None

    def __repr__(self) -> str:
        return f"Fit({self.source!r}, explains={self.explains})"

    def _repr_html_(self) -> str:
        return display.shown("fit", self)

    @property
    def summary(self) -> str:
        """The path and the congestion control in a line."""
        path = self.estimate
        best, *others = self.candidates
        also = f" (also possible: {', '.join(others)})" if others else ""
        return (
            f"{path.rate_bps / 1e6:.4g} Mbit/s, least RTT {path.delay_s * 1e3:.4g} ms, queueing delay up to "
            f"{path.queue_s * 1e3:.4g} ms; {formats.counted(path.overflows, 'packet')} lost at a full queue and "
            f"{formats.count(path.stray)} elsewhere, of {formats.count(path.packets)}; congestion control: {best}{also}"
        )

    def document(self) -> dict[str, Any]:
        """The JSON document of ``netspurt fit --json``."""
        path = self.estimate
        return {
            "file": self.source,
            "explains": self.explains,
            "predicts": self.predicts,
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


def fit(
    path: str | Path,
    *,
    connection: int | None = None,
    loss: str = "script",
    rate: str | None = None,
    advance: Callable[[int, int], object] | None = None,
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
    flows = [replace(facts, lost=lost) for facts, lost in zip(flows, found.lost, strict=True)]
    captured = measure(flows)
    search = Search(flows, captured, loss, advance or (lambda _done, _whole: None))
    found, tried = _best_path(search, path, found, rate)
    _, choice, simulated = tried[0]
    if simulated is None:
        raise RequestError(f"{path} cannot be fitted: no candidate delivers the data of the capture")
    candidates = names(tried)
    check = compare(captured, simulated)
    explains = search.explains(simulated)
    warnings += _changes(found, choice)
    if flows[0].vantage != "sender":
        warnings.append(ELSEWHERE)
    if not explains:
        wrong = [row.quantity for row in check if not row.agrees] or ["time budget"]
        warnings.insert(
            0,
            f"the fit does not explain the capture ({', '.join(wrong)} differ): do not trust predictions from it",
        )
    basis = basis_of(search, found, choice)
    doubtful = _doubtful(search, found, tried[0], basis) if explains else []
    warnings = [*doubtful, *warnings]
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
        None
        if basis.choice is None
        else parse(draft.write(basis.path, flows, replace(basis.choice, longer=0)), scenario.name),
        basis.sentence,
        predicts=explains and not doubtful,
        waited=_waited(found, choice),
    )


def _best_path(
    search: Search, name: str | Path, path: Estimate, rate: str | None
) -> tuple[Estimate, list[Tried]]:
    """The path as first estimated, or changed so that it explains the capture better, and its candidates, best first.

    The changes, in their order: a queue that the losses show once the times of sending are simulated, a shaper, and a
    recorded capacity.
    """
    tried = [] if rate == "trace" else search.on(path)
    if tried and search.flows[0].vantage != "sender":
        path, tried = _departed(search, path, tried)
    if tried and (with_shaper := shaped(search.flows, path)) is not None:
        again = search.on(with_shaper)
        if again[0][0] < SHAPED * tried[0][0]:
            path, tried = with_shaper, again
    if not tried or (rate is None and not search.explains(tried[0][2])):
        tried = _varied(search, name, path, rate, tried)
    return path, tried


def _doubtful(search: Search, path: Estimate, best: Tried, basis: Basis) -> list[str]:
    """Why another sender may meet another path, although the best candidate explains the capture."""
    _, choice, simulated = best
    assert simulated is not None
    found = doubts(search.captured, simulated, path, choice)
    if not basis.explains:
        found.append("with a full queue alone the simulation does not behave like the capture")
    if not found and path.moved is not None:
        _still(search, replace(path, moved=None))
    if not found and (other := disagreement(search, basis.path, best, basis.choice)):
        found.append(other)
    return found


def _waited(path: Estimate, choice: Choice) -> int | None:
    """The most packets that waited, where the limit of the queue is unknown."""
    known = path.overflows or path.shaper is not None or choice.discipline or choice.recording is not None
    return None if known else path.queue_packets + 1


@dataclass(frozen=True)
class Basis:
    """What remedies are tried on.

    Attributes:
        path: the path.
        choice: the candidate in place of a list of losses; None if that of the fit serves.
        sentence: about its losses, or "".
        explains: whether it behaves like the capture too.
    """

    path: Estimate
    choice: Choice | None = None
    sentence: str = ""
    explains: bool = True


def basis_of(search: Search, path: Estimate, choice: Choice) -> Basis:
    """What remedies are tried on where a fit loses the very packets of the capture.

    A sender that a remedy changes sends other packets at other times, so the numbers of the list mean nothing to it.
    Losses that a replay finds at a full queue come from the queue: the nearest candidate that leaves them to it is
    taken. Others are random if they are independent of each other, which losses in bursts, and losses at a queue that
    the fit does not explain, are not.
    """
    if choice.losses != "script" or choice.discipline:
        return Basis(path)
    if path.overflows and not choice.queue:
        own = path.replayed and path.policer is None
        if own and path.overflows >= MOSTLY * (path.overflows + path.stray):
            near = sorted(search.seen, key=lambda each: each[1][0])
            loaded, (_, then, simulated) = next(each for each in near if each[1][1].queue)
            return Basis(loaded, then, BY_QUEUE, search.explains(simulated))
        return Basis(path)
    if not independent(draft.lost_numbers(path, search.flows, choice.queue)):
        return Basis(path)
    return Basis(path, replace(choice, losses="rate"), BY_CHANCE)


def independent(numbers: Sequence[int]) -> bool:
    """Whether lost packets, by number, are enough to show a rate, and most of them are single."""
    return len(numbers) >= SPREAD and draft.runs(numbers) > SINGLE * len(numbers)


def _departed(search: Search, path: Estimate, tried: list[Tried]) -> tuple[Estimate, list[Tried]]:
    """The path and candidates with the queue that the losses show once the times of sending are simulated."""
    if not path.overflows + path.stray:
        return path, tried
    # A candidate that loses the same packets is judged by what it does, not by the queue.
    scripted = [each for each in tried if not each[1].queue or not path.overflows]
    choice = min(scripted, key=lambda each: each[0])[1]
    choice = replace(choice, queue=False, losses="script", longer=0, discipline="")
    found = relocated(path, search.flows, parse(draft.write(path, search.flows, choice)))
    if found is None or (found.overflows, found.queue_packets) == (path.overflows, path.queue_packets):
        return path, tried
    again = search.on(found)
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
        predicts=found.explains,
    )


def _varied(
    search: Search, name: str | Path, path: Estimate, rate: str | None, constant: list[Tried]
) -> list[Tried]:
    """The candidates with a recorded capacity, if that was demanded or explains the capture much better."""
    # Round trips of a path whose delay changed do not show where packets waited.
    recording = capacity(search.flows, path) if path.moved is None or rate == "trace" else None
    if recording is None:
        if rate == "trace":
            raise RequestError(
                f"{name} does not show the capacity over time: packets waited too seldom, or the capture was not "
                "taken at the sender; use --rate constant"
            )
        return constant
    tried = search.on(replace(path, policer=None), recording)
    if rate == "trace" or search.explains(tried[0][2]) or tried[0][0] < BETTER * constant[0][0]:
        return tried
    return constant


def _still(search: Search, path: Estimate) -> None:
    """Tries the path with one delay, so that the search has seen it: a capacity that changed moves round trips too."""
    search.on(path)
    if (with_shaper := shaped(search.flows, path)) is not None:
        search.on(with_shaper)
    if (recording := capacity(search.flows, path)) is not None:
        search.on(replace(path, policer=None), recording)


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
