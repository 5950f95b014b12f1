"""The cost of one loss in mid-transfer with NAKs: section 4.1's claim about windows of one and two BDPs.

With a window W on a path with a BDP of Z bytes, the line stays busy for W bytes after the lost packet left. The NAK
arrives after one RTT, the ACK of the retransmission after two. If the retransmission overtakes the sender's own queue,
the line is idle for 2Z − W, that is 2 − W/Z RTTs, and never idle above 2Z. A retransmission that waits behind the
sender's own queue of W − Z costs one RTT, for any window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Check, Findings
from netspurt.studies.rfc1106.setting import (
    ACK_PACKET_BYTES,
    DATA_PACKET_BYTES,
    FIGURE2,
    LINE_BPS,
    MSS_BYTES,
    ROUND_TRIP_S,
    SCENARIO,
)

PACKET_S = 8 * DATA_PACKET_BYTES / LINE_BPS
PIPE_S = ROUND_TRIP_S + PACKET_S + 8 * ACK_PACKET_BYTES / LINE_BPS
"""The RTT of a data packet and its ACK on an idle line without host processing time."""
PIPE_SEGMENTS = PIPE_S / PACKET_S

WINDOWS = {"overtaking": (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0), "queued": (1.0, 1.5, 2.0)}
"""In BDPs, for each queue order of a retransmission at the sender."""
LOST = 3000
"""The ordinal of the packet lost on the uplink: mid-transfer, well after slow start."""
TOLERANCE = 0.05
"""RTTs; the rounding to whole segments, and the retransmitted packet itself."""

_COST = "one loss in mid-transfer costs 2 − W/Z round trips with a NAK whose resend overtakes, and nothing above 2Z"
_QUEUED = "a resend that waits behind the sender's own queue costs one round trip, whatever the window"


class OneLoss:
    """Pairs of runs that differ in one packet."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each window without loss, and with one loss under both queue orders."""
        for pipes in WINDOWS["overtaking"]:
            yield Experiment(
                key=_key(pipes, "lossless"), scenario=SCENARIO, settings=_settings(pipes, {"kind": "none"})
            )
        lost: dict[str, Value] = {"kind": "script", "drop": [LOST], "direction": "earth->space"}
        for order, windows in WINDOWS.items():
            for pipes in windows:
                queue: dict[str, Value] = {"link.satellite.queue": {"kind": "resend-first"}}
                yield Experiment(
                    key=_key(pipes, order),
                    scenario=SCENARIO,
                    settings=_settings(pipes, lost) | (queue if order == "overtaking" else {}),
                )

    def evaluate(self, samples: Samples) -> Findings:
        """Differences in time, in RTTs of the path."""
        return Findings(
            checks=(
                _compare(samples, "overtaking", _COST, lambda pipes: max(0.0, 2.0 - pipes)),
                _compare(samples, "queued", _QUEUED, lambda _pipes: 1.0),
            )
        )


def _key(pipes: float, variant: str) -> Key:
    return ("one-loss", f"{pipes:g}Z", variant)


def _settings(pipes: float, loss: dict[str, Value]) -> dict[str, Value]:
    window_bytes = round(pipes * PIPE_SEGMENTS) * MSS_BYTES
    return {
        "tcp.profile": FIGURE2.profile,
        "tcp.receive_window": f"{window_bytes} B",
        "host.earth.latency": "0 ms",
        "host.space.latency": "0 ms",
        "link.satellite.loss": loss,
    }


def _compare(samples: Samples, order: str, words: str, expected: Callable[[float], float]) -> Check:
    costs: dict[float, float] = {}
    for pipes in WINDOWS[order]:
        lossless, lossy = samples.transfers(_key(pipes, "lossless")), samples.transfers(_key(pipes, order))
        if lossless is None or lossy is None:
            return Check(words, None)
        costs[pipes] = (lossy[0].seconds - lossless[0].seconds) / PIPE_S
    holds = all(abs(cost - expected(pipes)) <= TOLERANCE for pipes, cost in costs.items())
    found = ", ".join(f"{pipes:g}Z: {cost:.2f}" for pipes, cost in costs.items())
    return Check(words, holds, f"{found} round trips")
