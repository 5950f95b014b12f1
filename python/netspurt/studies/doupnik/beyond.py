"""Beyond the document: write–write–read with current delayed ACKs, and a storm of single-byte writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netspurt.settings import Value
from netspurt.studies.doupnik.setting import LAN, Rate, rate
from netspurt.studies.doupnik.wire import POLICIES
from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Table

if TYPE_CHECKING:
    from netspurt import _core

ACKINGS: dict[str, Value] = {
    "40 ms": {"kind": "delayed", "every": 2, "delay": "40 ms"},
    "200 ms": {"kind": "delayed", "every": 2, "delay": "200 ms"},
    "adaptive": "adaptive",
    "every segment": "every-segment",
}


class WriteWriteRead:
    """A client that sends its request in two writes, and the server's delayed ACK."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Each policy of the client with each delayed ACK of the server."""
        for policy in POLICIES:
            for name, acking in ACKINGS.items():
                yield Experiment(
                    key=("write-write-read", policy, name),
                    scenario=LAN,
                    settings={
                        "host.client.tcp.transmit": policy,
                        "host.server.tcp.acking": acking,
                        "flow.0.app.request": {"writes": ["100 B", "100 B"]},
                        "flow.0.app.response": "200 B",
                        "duration": "10 s",
                    },
                    record=("pages",),
                    measure=rate,
                )

    def evaluate(self, samples: Samples) -> Findings:
        """Requests per second, and the draft's claim about them in section 2.3."""
        rates = {
            (policy, name): samples.one(("write-write-read", policy, name), Rate)
            for policy in POLICIES
            for name in ACKINGS
        }
        cells = tuple(
            Cell(
                {"policy": policy, "delayed_ack": name},
                "requests",
                "1/s",
                None,
                None if found is None else found.requests,
                reason="" if found is None else f"{found.held_tails} held tails",
            )
            for (policy, name), found in rates.items()
        )
        table = Table(
            "beyond_write_write_read",
            "Write, write, read: requests per second by the client's policy and the server's delayed ACK",
            cells,
            kind="beyond",
        )
        words = "write–write–read waits for the delayed ACK under every form of Nagle's rule, and under no other policy"
        known = {row: found for row, found in rates.items() if found is not None}
        if len(known) < len(rates):
            return Findings(tables=(table,), checks=(Check(words, None),))
        free = ("nodelay", "doupnik", "doupnik-liberal")
        wrong = [
            f"{policy} with {name}: {found.requests:.0f} a second"
            for (policy, name), found in known.items()
            if name in ("40 ms", "200 ms") and (found.held_tails == 0) != (policy in free)
        ]
        return Findings(tables=(table,), checks=(Check(words, not wrong, "; ".join(wrong)),))


OCTETS = 20_000


class Storm:
    """The cost of a sequence of single-byte writes."""

    def __init__(self, run: _core.Run) -> None:
        flows = run.flows()
        self.segments = int(flows["segments_sent"][0])
        self.seconds = float(flows["end_s"][0] or "nan")


class SmallWrites:
    """An application that writes single bytes as fast as its host allows (section 2.2)."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One reply of single-byte writes under each policy."""
        for policy in POLICIES:
            yield Experiment(
                key=("storm", policy),
                scenario=LAN,
                settings={
                    "host.client.tcp.acking": ACKINGS["40 ms"],
                    "host.server.tcp.transmit": policy,
                    "host.server.processor": {"write": "2 us", "segment_out": "3 us", "ack_in": "2 us"},
                    "flow.0.app.response": {"size": f"{OCTETS} B", "piece": "1 B"},
                    "flow.0.app.exchanges": 1,
                    "duration": "100 s",
                },
                measure=Storm,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Segments and time for each policy; the draft says that the new policy and no Nagle send tinygrams."""
        storms = {policy: samples.one(("storm", policy), Storm) for policy in POLICIES}
        cells = []
        for policy, storm in storms.items():
            for quantity, unit, value in (
                ("segments", "segments", None if storm is None else float(storm.segments)),
                ("time", "s", None if storm is None else storm.seconds),
            ):
                cells.append(Cell({"policy": policy}, quantity, unit, None, value))
        table = Table(
            "beyond_storm",
            f"A storm of {OCTETS:,} single-byte writes under each policy",
            tuple(cells),
            kind="beyond",
            note="A write takes 2 µs and a segment 3 µs, so the network drains what the application writes.",
        )
        words = "in a storm of single bytes the new policy sends tinygrams like no Nagle, and Nagle's rule joins them"
        known = {policy: storm.segments for policy, storm in storms.items() if storm is not None}
        if len(known) < len(storms):
            return Findings(tables=(table,), checks=(Check(words, None),))
        tiny = min(known[policy] for policy in ("nodelay", "doupnik", "doupnik-liberal"))
        joined = max(known[policy] for policy in ("nagle-strict", "nagle-liberal", "linux22", "minshall"))
        found = f"at least {tiny:,} segments against at most {joined:,}"
        return Findings(tables=(table,), checks=(Check(words, tiny > 10 * joined, found),))
