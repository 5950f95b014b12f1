"""Closed forms of the papers that the study compares with. Pure functions; packets, seconds, packets per second.

Lives here: formulas. Must not live here: anything simulated.
"""

from __future__ import annotations

import math

MATHIS = {("periodic", 1): 1.22, ("periodic", 2): 0.87, ("random", 1): 1.31, ("random", 2): 0.93}
"""The constant C of Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, table 1: by kind of loss and segments per ACK."""


VIRTUAL_RTT_MS, CLASSIC_TARGET_MS = 25.0, 15.0
"""The least RTT that Prague behaves like, and the target of the classic queue of DualPI2."""


PRAGUE_MARKS = math.sqrt(6)
"""Marks of a Prague flow in a virtual RTT at a constant probability of marks.

They come at equal distances, x in a virtual RTT, so W = x/p. The first one after a virtual RTT reduces the window: this
is ceil(x)/x virtual RTTs after the last reduction. In this time W grows by as many segments, and the reduction takes
W p/2 = x/2 of them: x² = 2 ceil(x), and ceil(x) = 3.
"""


def mathis_window(loss: float, per_ack: int, kind: str = "random") -> float:
    """Average window in segments: C / sqrt(p)."""
    return MATHIS[kind, per_ack] / math.sqrt(loss)


def padhye_window(loss: float, per_ack: int, rtt_s: float, rto_s: float) -> float:
    """Segments per RTT by the approximate model of Padhye, Firoiu, Towsley and Kurose, SIGCOMM 1998.

    Args:
        loss: the rate of loss events.
        per_ack: segments acknowledged by one ACK, b.
        rtt_s: the RTT.
        rto_s: T0, the retransmission timeout before any backoff.
    """
    congestion = rtt_s * math.sqrt(2 * per_ack * loss / 3)
    timeouts = rto_s * min(1.0, 3 * math.sqrt(3 * per_ack * loss / 8)) * loss * (1 + 32 * loss**2)
    return rtt_s / (congestion + timeouts)


def bbr_share(queue_bdps: float, bbr_flows: int, bdp_packets: float, rtt_s: float) -> float:
    """BBR's aggregate share of a link beside loss-based flows (Ware et al., IMC 2019, equations 9 to 11).

    Args:
        queue_bdps: X, the queue in bandwidth-delay products.
        bbr_flows: N.
        bdp_packets: the bandwidth-delay product.
        rtt_s: l, the RTT without a queue.
    """
    queue = queue_bdps * bdp_packets
    others = max(0.0, 0.5 - 1 / (2 * queue_bdps) - 4 * bbr_flows / queue)
    # Each 10 s a PROBE_RTT: the queue drains, then 200 ms and an RTT pass.
    probing = (queue_bdps * rtt_s + 0.2 + rtt_s) / 10
    return (1 - others) * (1 - probing)


def dctcp_queue(flows: int, bdp_packets: float, threshold: int) -> tuple[float, float]:
    """Least and largest queue in packets of synchronised DCTCP flows (Alizadeh et al., SIGCOMM 2010, section 3.3)."""
    swing = 0.5 * math.sqrt(2 * flows * (bdp_packets + threshold))
    top = threshold + flows
    return top - swing, top


def prague_ratio(rtt_ms: float) -> float:
    """Rate of Prague over rate of CUBIC at a constant p' of DualPI2 (RFC 9332), in CUBIC's Reno-friendly region.

    Prague has sqrt(6)/p_L segments in flight at an RTT of at least 25 ms, with p_L = 2p'. CUBIC has 1.22/p' at the RTT
    and the target of its queue.
    """
    prague, cubic = PRAGUE_MARKS / 2, MATHIS["periodic", 1]
    return prague * (rtt_ms + CLASSIC_TARGET_MS) / (cubic * max(rtt_ms, VIRTUAL_RTT_MS))
