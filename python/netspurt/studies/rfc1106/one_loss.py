"""What one loss in mid-transfer costs with NAKs: section 4.1's claim about windows of one and two pipes.

With a window W on a pipe of Z bytes the line is kept busy for W after the lost packet left. The NAK is back after
one round trip, and the resent packet's ACK after two; so if the resend overtakes what the sender itself has queued,
the line stands idle for 2Z − W, that is 2 − W/Z round trips, and not at all beyond 2Z. A resend that waits behind the
sender's own queue of W − Z costs a round trip, however large the window.
"""

from __future__ import annotations

from collections.abc import Iterable

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Check, Findings
from netspurt.studies.rfc1106.setting import (
    ACK_PACKET_BYTES,
    DATA_PACKET_BYTES,
    FIGURE2,
    LINE_BPS,
    MSS_BYTES,
    NO_ERROR,
    ROUND_TRIP_S,
    SCENARIO,
    settings,
)

PACKET_S = 8 * DATA_PACKET_BYTES / LINE_BPS
PIPE_S = ROUND_TRIP_S + PACKET_S + 8 * ACK_PACKET_BYTES / LINE_BPS
"""The round trip of a data packet and its ACK on an idle line without time in hosts."""
PIPE_SEGMENTS = PIPE_S / PACKET_S

WINDOWS = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""In pipes."""
LOST = 3000
"""The ordinal of the packet lost on its way up: mid-transfer, well after slow start."""
TOLERANCE = 0.05
"""Round trips; some packets' worth of rounding to whole segments, and the resent packet itself."""

_COST = "one loss in mid-transfer costs 2 − W/Z round trips with a NAK whose resend overtakes, and nothing above 2Z"
_QUEUED = "a resend that waits behind the sender's own queue costs one round trip, whatever the window"


class OneLoss:
    """Pairs of runs that differ in one packet."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each window without loss, and with one loss under both orders of the queue."""
        for pipes in WINDOWS:
            for variant in ("lossless", "overtaking", "queued"):
                yield Experiment(
                    key=_key(pipes, variant), scenario=SCENARIO, settings=_settings(pipes, variant)
                )

    def evaluate(self, samples: Samples) -> Findings:
        """Differences in time, in round trips of the pipe."""
        return Findings(
            checks=(
                _compare(samples, "overtaking", _COST, [max(0.0, 2.0 - pipes) for pipes in WINDOWS]),
                _compare(samples, "queued", _QUEUED, [1.0 for _ in WINDOWS]),
            )
        )


def _key(pipes: float, variant: str) -> Key:
    return ("one-loss", f"{pipes:g}Z", variant)


def _settings(pipes: float, variant: str) -> dict[str, Value]:
    window_bytes = round(pipes * PIPE_SEGMENTS) * MSS_BYTES
    lost: dict[str, Value] = {"kind": "script", "drop": [LOST], "direction": "earth->space"}
    return {
        **settings(0, NO_ERROR, FIGURE2.profile),
        "tcp.receive_window": f"{window_bytes} B",
        "host.earth.latency": "0 ms",
        "host.space.latency": "0 ms",
        "link.satellite.loss": {"kind": "none"} if variant == "lossless" else lost,
        "link.satellite.queue": {
            "kind": "drop-tail",
            "retransmissions": "first" if variant == "overtaking" else "in-order",
        },
    }


def _compare(samples: Samples, variant: str, words: str, expected: list[float]) -> Check:
    costs = []
    for pipes in WINDOWS:
        lossless, lossy = samples.transfers(_key(pipes, "lossless")), samples.transfers(_key(pipes, variant))
        if lossless is None or lossy is None:
            return Check(words, None)
        costs.append((lossy[0].seconds - lossless[0].seconds) / PIPE_S)
    holds = all(abs(cost - wanted) <= TOLERANCE for cost, wanted in zip(costs, expected, strict=True))
    found = ", ".join(f"{pipes:g}Z: {cost:.2f}" for pipes, cost in zip(WINDOWS, costs, strict=True))
    return Check(words, holds, f"{found} round trips")
