"""The candidates of a fit: each is simulated and compared with the capture.

Lives here: which candidates there are, and their order. Must not live here: estimates, or text about a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from netspurt.fitting import draft, hosts
from netspurt.fitting.capacity import Recording
from netspurt.fitting.checking import Measured, compare, distance, overlap, simulate
from netspurt.fitting.draft import Choice, controls
from netspurt.fitting.facts import Facts
from netspurt.fitting.path import Path as Estimate
from netspurt.scenario import parse

CLOSE = 0.02
"""Candidates whose distances differ by less explain a capture alike."""

EQUAL = 0.005
"""Candidates whose distances differ by less are equally good: the most usual one is taken."""

DECISIVE = ("duration", "rtt_median", "lost")
"""Quantities that must agree for a fit to explain its capture."""

OVERLAP = 0.6
"""The least share of the time budget that capture and simulation must have in common."""

REPLAYED = 0.15
"""The improvement that a list of losses at a full queue must bring to be preferred to the queue."""

SPREAD = 3
"""So many losses away from a full queue, and packets waiting at most, suggest a discipline that drops early."""

DISCIPLINES = ("fq-codel", "pie")

PAUSES = 0.15
"""The improvement that pauses of the application must bring to be preferred to a send buffer."""

HELD = (1.0, 0.5)
"""Sizes of a send buffer, in parts of the ceiling of the flight: Linux holds a packet of 64 KB more than fits."""

UNKNOWN = 0.5
"""A candidate that is further away than this does not explain what the sender did."""

Tried = tuple[float, Choice, Measured | None]


@dataclass
class Search:
    """The search for the candidate that is nearest to a capture.

    Attributes:
        flows: the captured connections.
        captured: what is compared.
        loss: how losses away from a full queue are replayed.
        advance: called with the number of simulations done, and of all.
        seen: every candidate that was simulated, with its path.
    """

    flows: Sequence[Facts]
    captured: Measured
    loss: str
    advance: Callable[[int, int], object]
    seen: list[tuple[Estimate, Tried]] = field(default_factory=list)

    def on(self, path: Estimate, recording: Recording | None = None) -> list[Tried]:
        """Every candidate on this path with its distance, the nearest first."""
        choices = self._choices(path, recording)
        tried: list[Tried] = []
        whole = len(choices) + (2 if path.overflows and not path.replayed else 0)
        for done, choice in enumerate(choices):
            self.advance(done, whole)
            tried.append(self._attempt(path, choice))
        best = min(tried, key=lambda each: each[0])[1]
        if path.overflows and best.queue and not path.replayed:
            # ACKs show the longest queue to a packet or two.
            step = max(1, round(path.queue_packets * 0.03))
            for longer in (-step, step):
                if path.queue_packets + longer > 0:
                    tried.append(self._attempt(path, replace(best, longer=longer)))
        self.advance(whole, whole)
        self.seen += [(path, each) for each in tried]
        return ordered(tried)

    def _choices(self, path: Estimate, recording: Recording | None) -> list[Choice]:
        first = self.flows[0]
        queues = (True, False) if path.overflows else (True,)
        paces = (True, False) if any(hosts.writes(facts) for facts in self.flows) else (False,)
        choices = [
            Choice(control, queue, self.loss, paced, recording=recording, held=held, reads=reads)
            for control in controls(first)
            for queue in queues
            for paced in paces
            for held in (self._helds if not paced else (0.0,))
            for reads in ((True, False) if hosts.reader(first) else (False,))
        ]
        if path.stray >= SPREAD and path.stray > path.overflows and path.queue_packets >= SPREAD:
            choices += [
                Choice(control, True, self.loss, recording=recording, discipline=discipline)
                for control in controls(first)
                for discipline in DISCIPLINES
            ]
        return choices

    @property
    def _helds(self) -> tuple[float, ...]:
        return (*HELD, 0.0) if hosts.ceiling(self.flows[0]) else (0.0,)

    def _attempt(self, path: Estimate, choice: Choice) -> Tried:
        simulated = simulate(parse(draft.write(path, self.flows, choice)), self.flows)
        # A queue that overflows by itself predicts more than a list of its losses.
        replayed = 0.0 if choice.queue else REPLAYED
        # Writes with pauses imitate any rate; a buffer that holds the flight predicts more.
        imitated = PAUSES if choice.paced and len(self._helds) > 1 else 0.0
        return distance(self.captured, simulated) + replayed + imitated, choice, simulated

    def explains(self, simulated: Measured | None) -> bool:
        """Whether a simulation behaves like the capture."""
        return (
            simulated is not None
            and overlap(self.captured, simulated) >= OVERLAP
            and all(row.agrees for row in compare(self.captured, simulated) if row.quantity in DECISIVE)
        )


def ordered(tried: Sequence[Tried]) -> list[Tried]:
    """The nearest first; of those that are equally near, the most usual one."""
    nearest = sorted(tried, key=lambda each: each[0])
    equal = [each for each in nearest if each[0] <= nearest[0][0] + EQUAL]
    usual = (*(control for control, *_ in draft.SYSTEMS), *draft.CONTROLS, *draft.WITHOUT_SACK)
    first = min(equal, key=lambda each: usual.index(each[1].control))
    return [first, *(each for each in nearest if each is not first)]


def names(tried: Sequence[Tried]) -> list[str]:
    """Names of the senders that explain the capture, the best first; with "unknown" if none does."""
    best = min(far for far, _, _ in tried)
    found = [choice.control.name for far, choice, _ in tried if far <= 1.25 * best + CLOSE]
    found = list(dict.fromkeys(found))
    return [*found, "unknown"] if best > UNKNOWN else found
