"""Why segments are sent and packets lost, in words for the page.

The names are those of the trace; colours of what is sent again are those of the pictures on paper.
"""

from __future__ import annotations

from typing import Any

from netspurt.plot import palette

SENT = {
    "syn": "It opens the connection.",
    "syn-ack": "It accepts the connection, and acknowledges the peer's SYN.",
    "new-data": "Data that was never sent before: the windows had room, and the policy let it go.",
    "limited-transmit": "New data on one of the first duplicate ACKs, to bring about more of them (RFC 3042).",
    "fast-retransmit": "As many duplicate ACKs had come as are taken for a loss (RFC 5681, 3.2).",
    "partial-ack": "An ACK in recovery stopped short of its end: the next hole is at its edge (RFC 6582).",
    "sack-hole": "SACK reports leave a hole here (RFC 6675, NextSeg rules 1 and 3).",
    "sack-rescue": "The last outstanding segment, once in a recovery, so that its ACK may show what is missing "
    "(RFC 6675, NextSeg rule 4).",
    "syn-data-again": "The SYN carried it, and the server did not take it (RFC 7413, 4.2.1).",
    "rack-loss": "Something that left later has arrived, and long enough ago (RFC 8985, 6).",
    "tail-probe": "Nothing came back for two round trips: the last segment once more, to learn what is missing "
    "(RFC 8985, 7).",
    "tail-probe-data": "Nothing came back for two round trips: new data, to learn what is missing (RFC 8985, 7).",
    "mtu-probe": "New data in a longer segment, to learn whether the path takes it (RFC 4821).",
    "too-big": "A router said that it was longer than the next link takes (RFC 1191).",
    "nak-resend": "The receiver asked for it with a NAK (RFC 1106).",
    "timeout": "The retransmission timer ran out (RFC 6298, 5.4).",
    "go-back-n": "It was outstanding when the retransmission timer ran out, and all of that goes again.",
    "window-probe": "The peer's window is closed: has it opened? (RFC 9293, 3.8.6.1)",
    "keep-alive": "Nothing was heard for long: is the peer still there? (RFC 9293, 3.8.4)",
    "fin": "There is no more to send.",
    "ack": "An ACK that was due at once.",
    "delayed-ack": "An ACK that had waited for more data, or for something to ride on, until its timer ran out.",
    "duplicate-ack": "What arrived was out of order, or had arrived before: the ACK says again what is missing.",
    "nak": "Something is missing, and this asks for it (RFC 1106).",
    "window-update": "The reader has made room: the window has opened.",
    "challenge-ack": "What arrived could be forged: a genuine peer will know how to answer (RFC 5961).",
    "reset": "The connection is given up, or the segment that came had no business here.",
}
"""One sentence for each reason of the trace."""


def told() -> list[dict[str, Any]]:
    """For each reason: its ``name``, ``words``, and, if data goes again, a ``colour`` and a short ``title``."""
    return [
        {
            "name": name,
            "words": words,
            "colour": palette.REASONS[name][0] if name in palette.REASONS else None,
            "title": palette.REASONS[name][2] if name in palette.REASONS else name.replace("-", " "),
        }
        for name, words in SENT.items()
    ]
