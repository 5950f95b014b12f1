"""The same transfers simulated, emulated with our TCP, and emulated with the kernel's, side by side.

Lives here: running the family and comparing. Must not live here: which paths, or how it is printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, NamedTuple

import numpy as np

from netspurt.analysis.statistics import mean_interval
from netspurt.emulation.emulating import Emulated, Task, emulated
from netspurt.emulation.packets import conversations
from netspurt.emulation.paths import OUR_NAMES, Lane, Path, lanes, scenario

Ends = Literal["ours", "ours to kernel", "kernel to ours", "kernel"]
"""Whose TCP sends and receives in an emulation."""

SIMULATED = "simulated"

MOST_MBPS = 60.0
"""What is emulated at once, all told: more would measure this machine."""

LIMIT_S = 900.0

PUNCTUAL_S = 0.002
"""Who is later than this may answer behind what comes next."""


class Sent(NamedTuple):
    """A segment with data: where it begins and its length; or an answer: what it acknowledges. When it was sent."""

    seq: int
    length: int
    at_s: float


@dataclass(frozen=True)
class Transfer:
    """What both ends sent, and how long it took from the first SYN to the ACK of the last byte."""

    data: Sequence[Sent]
    answers: Sequence[Sent]
    seconds: float

    @property
    def resent(self) -> int:
        """Segments that began before the furthest byte sent before them."""
        furthest, count = 0, 0
        for segment in self.data:
            count += segment.seq < furthest
            furthest = max(furthest, segment.seq + segment.length)
        return count


@dataclass(frozen=True)
class Outcome:
    """A lane's transfer in each world, by name: ``simulated`` or one of ``Ends``."""

    lane: Lane
    worlds: Mapping[str, Transfer]
    latest_s: Mapping[str, float]
    """For each emulation, the latest that a packet or a program was in it."""

    def spoiled(self, world: str) -> bool:
        """Whether the machine was too late for this emulation to be held against what it should have been."""
        return self.latest_s[world] > PUNCTUAL_S

    def goodput_bps(self, world: str) -> float:
        """From the first SYN to the ACK of the last byte."""
        return 8 * self.lane.path.octets / self.worlds[world].seconds


def compare(
    paths: Sequence[Path],
    tcp: str,
    ends: Sequence[Ends],
    *,
    seed: int = 1,
    words: Sequence[str] = (),
    tries: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Carries out all transfers over ``paths`` in every world.

    Args:
        paths: as often each as they say.
        tcp: ``newreno`` or ``cubic``.
        ends: whose TCPs are emulated.
        seed: of the losses, which are the same in every world as long as packets are.
        words: more options of ``netspurt emulate``.
        tries: how often an emulation is carried out at most if something was late in it. The most punctual counts,
            whatever it has shown.
        tell: hears what is begun.

    Raises:
        NotPossible: nothing can be emulated here.
    """
    outcomes: list[Outcome] = []
    for batch in _batches(lanes(paths, tcp)):
        text = scenario(batch)
        worlds: dict[str, list[Transfer]] = {SIMULATED: _simulated(text, batch, seed)}
        latest_s: dict[str, float] = {}
        for pair in ends:
            tell(f"{tcp}, {pair}: {len(batch)} transfers at once")
            worlds[pair], latest_s[pair] = min(
                _attempts(tries, text, batch, pair, seed, words), key=lambda found: found[1]
            )
        for place, lane in enumerate(batch):
            outcomes.append(Outcome(lane, {world: found[place] for world, found in worlds.items()}, latest_s))
    return outcomes


def _attempts(
    tries: int, text: str, batch: Sequence[Lane], ends: Ends, seed: int, words: Sequence[str]
) -> Iterator[tuple[list[Transfer], float]]:
    """Up to so many, the last of them one in which nothing was late."""
    for _ in range(tries):
        transfers, latest_s = _emulated(text, batch, ends, seed, words)
        yield transfers, latest_s
        if latest_s <= PUNCTUAL_S:
            break


def _batches(all_lanes: Sequence[Lane]) -> Iterator[list[Lane]]:
    """Lanes that together ask for no more than any machine holds; slow ones together, since they last long."""
    batch: list[Lane] = []
    for lane in sorted(all_lanes, key=lambda lane: (lane.path.rate_mbps, lane.number)):
        if batch and sum(other.path.rate_mbps for other in batch) + lane.path.rate_mbps > MOST_MBPS:
            yield batch
            batch = []
        batch.append(lane)
    if batch:
        yield batch


def _simulated(text: str, batch: Sequence[Lane], seed: int) -> list[Transfer]:
    from netspurt.scenario import parse

    run = parse(text).native.run(seed, ["segments"], None)
    flows, segments = run.flows(), run.segments()
    index = np.asarray(segments["index"])
    columns = [
        np.asarray(segments[name]).tolist() for name in ("from_client", "seq", "length", "ack", "time_s")
    ]
    found = []
    for place in range(len(batch)):
        data: list[Sent] = []
        answers: list[Sent] = []
        for at in np.flatnonzero(index == place):
            from_client, seq, length, ack, at_s = (column[at] for column in columns)
            if from_client and length:
                data.append(Sent(seq, length, at_s))
            elif not from_client and ack > 0:
                answers.append(Sent(ack, 0, at_s))
        found.append(Transfer(data, answers, float(flows["end_s"][place])))
    return found


def _emulated(
    text: str, batch: Sequence[Lane], ends: Ends, seed: int, words: Sequence[str]
) -> tuple[list[Transfer], float]:
    tasks: dict[str, Task] = {}
    for lane in batch:
        tasks |= {host: {**task, "prompt": True} for host, task in _tasks(lane, ends).items()}
    with emulated(text, tasks, limit_s=LIMIT_S, seed=seed, captures=list(tasks), words=words) as done:
        return [_transfer(done, lane) for lane in batch], done.latest_s


def _transfer(done: Emulated, lane: Lane) -> Transfer:
    """What each end sent, as seen beside it: lost packets are there as well."""
    (here,) = conversations(done.captures[lane.sender]).values()
    (there,) = conversations(done.captures[lane.receiver]).values()
    data = [Sent(segment.seq - 1, segment.length, segment.at_s) for segment in here.sent if segment.length]
    answers = [Sent(segment.ack - 1, 0, segment.at_s) for segment in there.answered if segment.ack > 1]
    return Transfer(data, answers, here.seconds)


def _tasks(lane: Lane, ends: Ends) -> dict[str, Task]:
    ours_receives = ends in ("ours", "kernel to ours")
    to = f"guest.{lane.receiver}" if ours_receives else lane.receiver
    octets = lane.path.octets
    tcp = {"congestion": OUR_NAMES.get(lane.tcp, lane.tcp)}
    if ends in ("ours", "ours to kernel"):
        sender: Task = {"program": "our_source", "to": to, "octets": octets, "tcp": tcp}
    else:
        kernel = {"newreno": "reno"}.get(lane.tcp, lane.tcp)
        sender = {"program": "send", "to": to, "octets": octets, "congestion": kernel}
    receiver = {"program": "our_sink", "tcp": tcp} if ours_receives else {"program": "receive"}
    return {lane.sender: sender, lane.receiver: receiver}


@dataclass(frozen=True)
class Parting:
    """Where two worlds sent something else for the first time: whose segment, which, when, and what each was."""

    way: Literal["data", "answers"]
    number: int
    at_s: float
    one: Sent | None
    other: Sent | None


def parting(one: Transfer, other: Transfer) -> Parting | None:
    """The first segment in which two transfers differ, the data first; None if they are the same.

    Of data, what is compared is where it begins and its length; of answers, what they acknowledge. Times, ports and
    windows may differ.
    """
    for way in ("data", "answers"):
        mine, theirs = getattr(one, way), getattr(other, way)
        for number, (a, b) in enumerate(zip_longest(mine, theirs)):
            if a is None or b is None or (a.seq, a.length) != (b.seq, b.length):
                at_s = min(each.at_s for each in (a, b) if each is not None)
                return Parting(way, number, at_s, a, b)
    return None


@dataclass(frozen=True)
class Row:
    """A path: goodputs in each world, and one over the simulated one with a 95 % interval over the repeats."""

    path: Path
    tcp: str
    world: str
    simulated_bps: float
    measured_bps: float
    ratio: float
    interval: tuple[float, float] | None
    same: int
    """Of how many repeats every segment was the same."""
    latest_s: float
    """The latest that a packet or a program was in any of them."""

    def agrees(self, within: float) -> bool:
        """Whether the goodputs are within a fraction of one another."""
        return abs(self.ratio - 1) <= within


def rows(outcomes: Sequence[Outcome], world: str) -> list[Row]:
    """One world against the simulated one, path by path."""
    found = []
    for path in dict.fromkeys(outcome.lane.path for outcome in outcomes):
        of_path = [outcome for outcome in outcomes if outcome.lane.path == path]
        simulated, measured = (
            np.array([outcome.goodput_bps(which) for outcome in of_path]) for which in (SIMULATED, world)
        )
        logs = np.log(measured / simulated)
        between = mean_interval(logs).interval
        interval = None if between is None else (math.exp(between[0]), math.exp(between[1]))
        same = sum(parting(outcome.worlds[SIMULATED], outcome.worlds[world]) is None for outcome in of_path)
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
