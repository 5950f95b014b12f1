"""The scenario of a fit as commented TOML.

Lives here: from estimates to text, one commented value a line. Must not live here: estimates, or simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from netspurt.fitting import hosts
from netspurt.fitting.capacity import Recording
from netspurt.fitting.facts import Facts
from netspurt.fitting.path import Path, unseen_limit

UNKNOWN = "the true limit is unknown; assumed is a bandwidth-delay product, or twice what waited"


@dataclass(frozen=True)
class Control:
    """A sender that may have sent the data.

    Attributes:
        name: for people.
        profile: TCP profile of the sender.
        more: further lines of its table.
    """

    name: str
    profile: str
    more: tuple[str, ...] = ()


CONTROLS = (
    Control("cubic", "linux"),
    Control("bbr", "bbr"),
    Control("reno", "linux", ('congestion = "reno-linux"',)),
    Control("cubic (RFC 9438)", "rfc"),
    Control("freebsd", "freebsd"),
)
"""The candidates of a connection with SACK, the usual ones first."""

WITHOUT_SACK = (
    Control("cubic", "linux"),
    Control("bbr", "bbr"),
    Control("reno", "linux", ('congestion = "reno-linux"',)),
    Control("newreno", "newreno"),
    Control("reno (RFC 5681)", "reno"),
)
"""The candidates of a connection without SACK."""


SYSTEMS: tuple[tuple[Control, bool, tuple[int, ...]], ...] = (
    (Control("cubic (Windows)", "windows"), False, (8,)),
    (Control("cubic (macOS)", "macos"), True, (5, 6)),
)
"""Systems whose SYN differs from that of others: a sender, whether it offers timestamps, and its window scales."""


def controls(facts: Facts) -> tuple[Control, ...]:
    """The senders that may have sent this connection's data; first those of a system that its SYN suggests."""
    if not _sack(facts):
        return WITHOUT_SACK
    syn = facts.options[0]
    return (
        *(control for control, stamps, scales in SYSTEMS if _offers(syn, stamps, scales)),
        *CONTROLS,
    )


def _offers(syn: Mapping[str, Any], stamps: bool, scales: Sequence[int]) -> bool:
    return bool(syn["timestamps"]) == stamps and syn["window_scale"] in scales


def _sack(facts: Facts) -> bool:
    return all(side["sack"] for side in facts.options)


@dataclass(frozen=True)
class Choice:
    """The choices that are made by simulation.

    Attributes:
        control: the sender.
        queue: whether losses at a full queue are left to the queue, or replayed as well.
        losses: "script", "rate", "bursts" or "none".
        paced: whether the application writes in pieces, with pauses; else all at once.
        longer: packets by which the queue is longer than its estimate.
        recording: the capacity over time, instead of a constant rate.
        held: the size of a send buffer that holds the flight, as a share of the ceiling that the capture shows; 0 for
            none.
        reads: whether the receiver's program reads slowly, in place of a small window.
        discipline: the queue discipline that drops, in place of a drop-tail queue; "" for that.
    """

    control: Control
    queue: bool
    losses: str
    paced: bool = False
    longer: int = 0
    recording: Recording | None = None
    held: float = 0.0
    reads: bool = False
    discipline: str = ""


def write(path: Path, flows: Sequence[Facts], choice: Choice, notes: Sequence[str] = ()) -> str:
    """The text; ``notes`` are comments for its head."""
    first = flows[0]
    longest = max(facts.start_s + facts.duration_s for facts in flows) - min(facts.start_s for facts in flows)
    lines = [*(f"# {note}" for note in notes), ""] if notes else []
    lines += [
        _line(f'duration = "{_seconds(max(4 * longest, longest + 10))}"', "more than the transfer needs"),
        "",
    ]
    lines += _link(path, flows, choice)
    lines += _change(path)
    lines += _hosts(first, choice)
    origin = min(facts.start_s for facts in flows)
    for facts in flows:
        lines += _flow(facts, origin, choice)
    return "\n".join(lines) + "\n"


def _link(path: Path, flows: Sequence[Facts], choice: Choice) -> list[str]:
    one_way, _ = _delays(path)
    sure = "sure" if path.rate_sure else "unsure: packets seldom waited, so the path may be faster"
    return [
        "[link.path]",
        'between = ["client", "server"]',
        _line(
            f'rate = "{path.rate_bps:.0f} bit/s"',
            f"dispersion of {path.trains} trains of packets; {path.rate_share:.0%} of them agree within 2 %; {sure}. "
            "The reverse direction is not visible and taken to be alike",
        ),
        _line(
            f'delay = "{one_way * 1e6:.3f} us"',
            "one way: half of the least round trip without the time to send a packet; sure. "
            "The split between the directions is unknown and does not matter",
        ),
        _queue(path, flows, choice),
        *_policer(path, flows, choice),
        *_shaper(path, flows),
        *_trace(flows, choice),
        *_reorder(path, flows),
        *_loss(path, flows, choice),
        "",
    ]


def _delays(path: Path) -> tuple[float, float]:
    """The one-way delay at first, and at the end."""
    if path.moved is None:
        return path.delay_s / 2, path.delay_s / 2
    _, before, after = path.moved
    least = min(before, after)
    return (path.delay_s + before - least) / 2, (path.delay_s + after - least) / 2


def _change(path: Path) -> list[str]:
    if path.moved is None:
        return []
    at, before, after = path.moved
    return [
        "[[change]]",
        _line(
            f'at = "{_seconds(at)}"', "from here on round trips differ by more than a queue explains; likely"
        ),
        _line(
            f'set = {{ "link.path.delay" = "{_delays(path)[1] * 1e6:.3f} us" }}',
            f"the median round trip without queueing went from {1e3 * before:.4g} to {1e3 * after:.4g} ms",
        ),
        "",
    ]


def _queue(path: Path, flows: Sequence[Facts], choice: Choice) -> str:
    held = path.queue_packets + choice.longer
    if choice.discipline:
        why = "losses while few packets waited, spread out; a discipline that keeps the queue short explains them"
        return _line(f'queue = {{ kind = "{choice.discipline}" }}', why)
    if path.overflows and choice.queue and path.policer is None:
        return _line(
            f'queue = {{ kind = "drop-tail", limit = "{max(held, 1)} packets" }}',
            f"queueing delay of {path.queue_s * 1e3:.2f} ms at {path.overflows} losses, times the rate; "
            "likely drop-tail",
        )
    limit = unseen_limit(path, flows[0].segment + flows[0].header)
    if path.policer is not None and choice.queue:
        return _line(
            f'queue = {{ kind = "drop-tail", limit = "{limit} packets" }}',
            f"at most {held} packets waited, and the losses are those of a policer; {UNKNOWN}",
        )
    return _line(
        f'queue = {{ kind = "drop-tail", limit = "{limit} packets" }}',
        f"never seen to overflow: at most {held} packets waited; {UNKNOWN}",
    )


def _policer(path: Path, flows: Sequence[Facts], choice: Choice) -> list[str]:
    if path.policer is None or not choice.queue:
        return []
    bucket = f'{{ rate = "{path.policer.rate_bps:.0f} bit/s", burst = "{path.policer.burst} B" }}'
    ways = f'[{bucket}, "none"]' if flows[0].sender == "client" else f'["none", {bucket}]'
    why = f"a token bucket of this rate and burst explains {path.policer.explained:.0%} of the losses; likely"
    return [_line(f"policer = {ways}", why)]


def _shaper(path: Path, flows: Sequence[Facts]) -> list[str]:
    if path.shaper is None:
        return []
    bucket = f'{{ rate = "{path.shaper.rate_bps:.0f} bit/s", burst = "{path.shaper.burst} B" }}'
    ways = f'[{bucket}, "none"]' if flows[0].sender == "client" else f'["none", {bucket}]'
    why = "a burst passed at the rate of the link, and later data at this rate, after a wait; likely"
    return [_line(f"shaper = {ways}", why)]


def _trace(flows: Sequence[Facts], choice: Choice) -> list[str]:
    if choice.recording is None:
        return []
    times = ", ".join(f'"{time:.4f} s"' for time in choice.recording.times)
    rates = ", ".join(f'"{rate:.0f} bit/s"' for rate in choice.recording.rates)
    return [
        _line(
            f'trace = {{ kind = "rates", times = [{times}], rates = [{rates}], direction = "{_towards(flows)}" }}',
            "deliveries over time while packets waited; the capacity is not visible elsewhere and taken to stay",
        )
    ]


def _reorder(path: Path, flows: Sequence[Facts]) -> list[str]:
    found = path.reordering
    if found is None:
        return []
    held = f'{{ probability = {found.share:.3g}, delay = "{found.extra_s * 1e6:.0f} us" }}'
    none = '{ probability = 0.0, delay = "0 s" }'
    ways = f"[{held}, {none}]" if flows[0].sender == "client" else f"[{none}, {held}]"
    low, high = interval(found.late, found.packets)
    why = f"{found.late} packets came late without a retransmission; 95 % interval {low:.3g} to {high:.3g}"
    return [_line(f"reorder = {ways}", why)]


def _towards(flows: Sequence[Facts]) -> str:
    return "client->server" if flows[0].sender == "client" else "server->client"


def _loss(path: Path, flows: Sequence[Facts], choice: Choice) -> list[str]:
    numbers = lost_numbers(path, flows, choice.queue)
    if not numbers or choice.losses == "none" or choice.discipline:
        return []
    towards = _towards(flows)
    if choice.losses == "rate":
        low, high = interval(len(numbers), path.packets)
        rate = f"{len(numbers) / path.packets:.3g}"
        return [
            _line(
                f'loss = {{ kind = "packet-error", rate = {rate}, direction = "{towards}" }}',
                f"{len(numbers)} of {path.packets} data packets were lost away from a full queue; "
                f"95 % interval {low:.3g} to {high:.3g}",
            )
        ]
    if choice.losses == "bursts":
        lost, bursts = len(numbers), runs(numbers)
        begins, ends = bursts / max(path.packets - lost, 1), bursts / lost
        return [
            _line(
                f'loss = {{ kind = "gilbert-elliott", good_to_bad = {begins:.3g}, bad_to_good = {ends:.3g}, '
                f'loss_bad = 1.0, direction = "{towards}" }}',
                f"{lost} of {path.packets} data packets were lost away from a full queue, in {bursts} bursts",
            )
        ]
    shown = ", ".join(map(str, numbers))
    return [
        _line(
            f'loss = {{ kind = "script", drop = [{shown}], direction = "{towards}" }}',
            f"the very packets that were lost{' away from a full queue' if choice.queue else ''}, counted from 1; "
            "likely as far as the sender behaves alike",
        )
    ]


def lost_numbers(path: Path, flows: Sequence[Facts], queue: bool) -> list[int]:
    """Numbers of lost packets among those of the direction, from 1; without those of a full queue if ``queue``.

    A lost answer to a SYN counts as a lost SYN: both delay the handshake alike.
    """
    times, lost, count = [], [], []
    for facts, full in zip(flows, path.full, strict=True):
        mine = facts.lost & ~full if queue else facts.lost
        times.append(facts.sent[0])
        lost.append(mine | facts.repeated_syns)
        count.append(np.maximum(np.ceil(facts.sent[2] / facts.segment), 1).astype(int))
    order = np.argsort(np.concatenate(times), kind="stable")
    numbers = np.cumsum(np.concatenate(count)[order])
    found: list[int] = numbers[np.concatenate(lost)[order]].tolist()
    return found


def runs(numbers: Sequence[int]) -> int:
    """The number of bursts of these packets."""
    return 1 + sum(after - before > 1 for before, after in pairwise(numbers))


def interval(lost: int, packets: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, share = 1.96, lost / packets
    centre = (share + z * z / (2 * packets)) / (1 + z * z / packets)
    half = (
        z / (1 + z * z / packets) * float(np.sqrt(share * (1 - share) / packets + z * z / (4 * packets**2)))
    )
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _flow(facts: Facts, origin: float, choice: Choice) -> list[str]:
    app, why = _app(facts, choice)
    lines = ["[[flow]]", f'name = "connection-{facts.number}"', _line(f"app = {app}", why)]
    lines += ['from = "client"', 'to = "server"']
    begins = facts.start_s - origin
    if begins > 0:
        lines.append(_line(f'start = "{_seconds(begins)}"', "time of its SYN; sure"))
    return [*lines, ""]


def _hosts(facts: Facts, choice: Choice) -> list[str]:
    """The tables of both hosts, from the connection with most data."""
    other = "server" if facts.sender == "client" else "client"
    return [
        *_sender(facts, choice),
        "",
        f"[host.{other}.tcp]",
        *_receiver(facts),
        "",
        *(_reader(facts, other) if choice.reads else ()),
    ]


def _reader(facts: Facts, host: str) -> list[str]:
    rate = hosts.reader(facts)
    if rate is None:
        return []
    why = "data that passed while the receiver's program kept the window small; likely"
    return [f"[host.{host}.reader]", _line(f'rate = "{rate:.0f} bit/s"', why), ""]


def _sender(facts: Facts, choice: Choice) -> list[str]:
    lines = [
        f"[host.{facts.sender}.tcp]",
        _line(
            f'profile = "{choice.control.profile}"',
            f"{choice.control.name} explains the capture best: see above",
        ),
        *choice.control.more,
        *_options(facts),
    ]
    segments = hosts.initial_window(facts)
    if segments is not None:
        why = "segments sent before the first ACK of data; sure"
        lines.append(_line(f'initial_window = "{segments} segments"', why))
    buffer = (
        None
        if choice.paced
        else hosts.send_buffer(facts) or round(choice.held * (hosts.ceiling(facts) or 0)) or None
    )
    if buffer is not None:
        lines.append(
            _line(f'send_buffer = "{buffer} B"', "the flight has a ceiling that it explains; likely")
        )
        lines.append(_line(f'initial_send_buffer = "{buffer} B"', "constant"))
    return lines


def _options(facts: Facts) -> list[str]:
    sender, receiver = facts.options
    stamped = facts.header in (52, 72)
    mss = facts.segment + (12 if stamped else 0)
    lines = [_line(f'mss = "{mss} B"', "the smaller MSS option, or the largest segment; sure")]
    for name in ("sack", "timestamps"):
        value = bool(sender[name] and receiver[name])
        lines.append(_line(f"{name} = {str(value).lower()}", "options of the SYN segments; sure"))
    return lines


def _receiver(facts: Facts) -> list[str]:
    offered = facts.options[1]
    modern = offered["sack"] or offered["timestamps"] or offered["window_scale"] is not None
    profile = "linux" if modern else "newreno"
    lines = [_line(f'profile = "{profile}"', "not visible in detail; what follows is"), *_options(facts)]
    window = hosts.receive_window(facts)
    if window is not None:
        lines.append(
            _line(
                f'receive_window = "{window} B"',
                "nine of ten ACKs announce no more than this, and it limited; sure",
            )
        )
        lines.append(_line(f'initial_receive_window = "{window} B"', "constant"))
    every = hosts.acknowledged_every(facts)
    if every < 1.3:
        lines.append(_line('acking = "every-segment"', "an ACK for each segment; sure"))
    elif every > 2.5:
        lines.append(
            _line(
                f'acking = {{ kind = "delayed", every = {round(every)}, delay = "40 ms" }}',
                f"the median ACK covers {every:.1f} segments; the delay is that of Linux; likely",
            )
        )
    return lines


def _app(facts: Facts, choice: Choice) -> tuple[str, str]:
    """The application, and where it comes from."""
    paced = hosts.writes(facts) if choice.paced else None
    data = f'"{facts.size} B"'
    why = "bytes acknowledged; sure"
    if paced is not None:
        size, every = paced
        data = f'{{ size = "{facts.size} B", piece = "{size} B", gap = "{every * 1e6:.0f} us" }}'
        why = "bytes acknowledged; median size and interval of writes that pauses separate; likely"
    if facts.sender == "client":
        if paced is None and not facts.asked:
            return f'{{ kind = "bulk", bytes = "{facts.size} B" }}', why
        answer = max(facts.asked, 1)
        return f'{{ kind = "request-response", request = {data}, response = "{answer} B" }}', why
    return f'{{ kind = "request-response", request = "{max(facts.asked, 1)} B", response = {data} }}', why


def _line(value: str, comment: str) -> str:
    return f"{value:<50}  # {comment}"


def _seconds(value: float) -> str:
    return f"{value:.6f} s"
