"""Texts of the page for the reasons of segments and the causes of losses.

The names are those of the trace; the colours of retransmissions are those of the plots.
"""

from __future__ import annotations

from typing import Any

from netspurt.plot import palette

SENT = {
    "syn": "Opens the connection.",
    "syn-ack": "Accepts the connection and acknowledges the peer's SYN.",
    "new-data": "New data: the windows and the transmission policy allow it.",
    "limited-transmit": "New data on one of the first duplicate ACKs, to cause more of them (RFC 3042).",
    "fast-retransmit": "The number of duplicate ACKs reached the threshold for a loss (RFC 5681, 3.2).",
    "partial-ack": "A partial ACK in recovery: the next hole is at its edge (RFC 6582).",
    "sack-hole": "SACK reports leave a hole here (RFC 6675, NextSeg rules 1 and 3).",
    "sack-rescue": "The last outstanding segment, once per recovery, so that its ACK shows what is missing "
    "(RFC 6675, NextSeg rule 4).",
    "syn-data-again": "The SYN carried this data, and the server did not accept it (RFC 7413, 4.2.1).",
    "rack-loss": "A segment sent later arrived, and the reordering window has passed (RFC 8985, 6).",
    "tail-probe": "No ACK for two RTTs: the last segment again, to find out what is missing (RFC 8985, 7).",
    "tail-probe-data": "No ACK for two RTTs: new data, to find out what is missing (RFC 8985, 7).",
    "mtu-probe": "New data in a longer segment, to test whether the path accepts it (RFC 4821).",
    "too-big": "A router reported that the packet is larger than the MTU of the next link (RFC 1191).",
    "nak-resend": "The receiver requested it with a NAK (RFC 1106).",
    "timeout": "The retransmission timer expired (RFC 6298, 5.4).",
    "go-back-n": "It was outstanding when the retransmission timer expired, and all such data is retransmitted.",
    "window-probe": "The receive window is closed: tests whether it has opened (RFC 9293, 3.8.6.1).",
    "keep-alive": "The connection was idle for long: tests whether the peer is still there (RFC 9293, 3.8.4).",
    "fin": "There is no more data to send.",
    "ack": "An ACK that was due at once.",
    "delayed-ack": "A delayed ACK: no further data arrived or left before its timer expired.",
    "duplicate-ack": "A segment arrived out of order or twice: the ACK repeats what is missing.",
    "nak": "Data is missing, and this requests it (RFC 1106).",
    "window-update": "The application read data: the window has opened.",
    "challenge-ack": "The received segment may be forged: a genuine peer can answer this ACK (RFC 5961).",
    "reset": "The connection is aborted, or the received segment belongs to no connection.",
}
"""One sentence for each reason of the trace."""


def described() -> list[dict[str, Any]]:
    """For each reason: its ``name``, ``words``, and, for a retransmission, a ``colour`` and a short ``title``."""
    return [
        {
            "name": name,
            "words": words,
            "colour": palette.REASONS[name][0] if name in palette.REASONS else None,
            "title": palette.REASONS[name][2] if name in palette.REASONS else name.replace("-", " "),
        }
        for name, words in SENT.items()
    ]
