"""The same transfers simulated, emulated with our TCP, and emulated with the kernel's.

Lives here: running the transfers and comparing them. Must not live here: the choice of paths, printing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from netspurt.analysis.statistics import mean_interval
from netspurt.emulation.divergence import Divergence, first_divergence
from netspurt.emulation.emulating import Task, emulated
from netspurt.emulation.paths import Lane, Path, lanes, our_tcp, scenario
from netspurt.emulation.transfers import Transfer, emulated_transfer, simulated

Ends = Literal["ours", "ours to kernel", "kernel to ours", "kernel"]
"""The TCPs of sender and receiver in an emulation."""

SIMULATED = "simulated"

MOST_MBPS = 60.0
"""The total rate of transfers emulated at once: with more, the machine itself limits them."""

LIMIT_S = 900.0

PUNCTUAL_S = 0.002
"""With a larger lateness, an answer may leave after the next packet arrives."""


@dataclass(frozen=True)
class Outcome:
    """The transfer of a lane in each world, by name: ``simulated`` or one of ``Ends``."""

    lane: Lane
    worlds: Mapping[str, Transfer]
    latest_s: Mapping[str, float]
    """For each emulation, the largest lateness of a packet or a program."""

    def spoiled(self, world: str) -> bool:
        """Whether the machine was too late in this emulation for a comparison."""
        return self.latest_s[world] > PUNCTUAL_S

    def divergence(self, world: str) -> Divergence | None:
        """The first segment in which this emulation differs from the simulation."""
        return first_divergence(self.worlds[SIMULATED], self.worlds[world])

    def goodput_bps(self, world: str) -> float:
        """Goodput from the first SYN to the ACK of the last byte."""
        return 8 * self.lane.path.octets / self.worlds[world].seconds


def compare(
    paths: Sequence[Path],
    tcp: str,
    ends: Sequence[Ends],
    *,
    seed: int = 1,
    words: Sequence[str] = (),
    tries: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Runs all transfers over ``paths`` in every world.

    Args:
        paths: the paths with their numbers of repeats.
        tcp: ``reno``, ``cubic`` or ``bbr``.
        ends: the emulated pairs of TCPs.
        seed: seed of the losses, which are equal in every world as long as the packets are equal.
        words: further options of ``netspurt emulate``.
        tries: maximal number of attempts for an emulation with late packets. The attempt with the smallest lateness
            counts, whatever its result.
        report: receives progress messages.

    Raises:
        NotPossible: this machine cannot emulate.
    """
    outcomes: list[Outcome] = []
    for batch in _batches(lanes(paths, tcp)):
        # Bursts of a sender with segmentation offload overflow a small queue sooner.
        text = scenario(batch, offload=not any(pair.startswith("ours") for pair in ends))
        worlds: dict[str, list[Transfer]] = {SIMULATED: simulated(text, batch, seed)}
        latest_s: dict[str, float] = {}
        for pair in ends:
            report(f"{tcp}, {pair}: {len(batch)} transfers at once")
            worlds[pair], latest_s[pair] = min(
                _attempts(tries, text, batch, pair, seed, words), key=lambda found: found[1]
            )
        for place, lane in enumerate(batch):
            outcomes.append(Outcome(lane, {world: found[place] for world, found in worlds.items()}, latest_s))
    return outcomes


def _attempts(
    tries: int, text: str, batch: Sequence[Lane], ends: Ends, seed: int, words: Sequence[str]
) -> Iterator[tuple[list[Transfer], float]]:
    """Up to this many attempts; the last is the first one without lateness."""
    for _ in range(tries):
        transfers, latest_s = _emulated(text, batch, ends, seed, words)
        yield transfers, latest_s
        if latest_s <= PUNCTUAL_S:
            break


def _batches(all_lanes: Sequence[Lane]) -> Iterator[list[Lane]]:
    """Groups lanes whose total rate any machine supports; slow lanes together, because they take long."""
    batch: list[Lane] = []
    for lane in sorted(all_lanes, key=lambda lane: (lane.path.rate_mbps, lane.number)):
        if batch and sum(other.path.rate_mbps for other in batch) + lane.path.rate_mbps > MOST_MBPS:
            yield batch
            batch = []
        batch.append(lane)
    if batch:
        yield batch


def _emulated(
    text: str, batch: Sequence[Lane], ends: Ends, seed: int, words: Sequence[str]
) -> tuple[list[Transfer], float]:
    tasks: dict[str, Task] = {}
    for lane in batch:
        tasks |= {host: {**task, "prompt": True} for host, task in _tasks(lane, ends).items()}
    with emulated(text, tasks, limit_s=LIMIT_S, seed=seed, captures=list(tasks), words=words) as done:
        return [emulated_transfer(done, lane) for lane in batch], done.latest_s


def _tasks(lane: Lane, ends: Ends) -> dict[str, Task]:
    ours_receives = ends in ("ours", "kernel to ours")
    to = f"guest.{lane.receiver}" if ours_receives else lane.receiver
    octets = lane.path.octets
    tcp = our_tcp(lane.tcp)
    if ends in ("ours", "ours to kernel"):
        sender: Task = {"program": "our_source", "to": to, "octets": octets, "tcp": tcp}
    else:
        sender = {"program": "send", "to": to, "octets": octets, "congestion": lane.tcp}
    receiver = {"program": "our_sink", "tcp": tcp} if ours_receives else {"program": "receive"}
    return {lane.sender: sender, lane.receiver: receiver}


@dataclass(frozen=True)
class Row:
    """A path: goodput in each world, and its ratio to the simulated goodput with a 95 % interval over the repeats."""

    path: Path
    tcp: str
    world: str
    simulated_bps: float
    measured_bps: float
    ratio: float
    interval: tuple[float, float] | None
    same: int
    """The number of repeats in which every segment was equal."""
    latest_s: float
    """The largest lateness of a packet or a program in any repeat."""

    def agrees(self, within: float) -> bool:
        """Whether the goodputs differ by at most this fraction."""
        return abs(self.ratio - 1) <= within


def rows(outcomes: Sequence[Outcome], world: str) -> list[Row]:
    """One world compared with the simulated one, path by path."""
    found = []
    for path in dict.fromkeys(outcome.lane.path for outcome in outcomes):
        of_path = [outcome for outcome in outcomes if outcome.lane.path == path]
        simulated, measured = (
            np.array([outcome.goodput_bps(which) for outcome in of_path]) for which in (SIMULATED, world)
        )
        logs = np.log(measured / simulated)
        between = mean_interval(logs).interval
        interval = None if between is None else (math.exp(between[0]), math.exp(between[1]))
        same = sum(outcome.divergence(world) is None for outcome in of_path)
        found.append(
            Row(
                path=path,
                tcp=of_path[0].lane.tcp,
                world=world,
                simulated_bps=float(simulated.mean()),
                measured_bps=float(measured.mean()),
                ratio=float(np.exp(logs.mean())),
                interval=interval,
                same=same,
                latest_s=max(outcome.latest_s[world] for outcome in of_path),
            )
        )
    return found
