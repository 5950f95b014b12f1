"""Beyond the document: its exchange live, our server under each policy and the kernel's own, the kernel as client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from netspurt.analysis.statistics import quantile_interval
from netspurt.emulation.emulating import Task
from netspurt.studies import live
from netspurt.studies.doupnik.setting import HEADERS, LAN, PIECE, REPLIES, Reply
from netspurt.studies.doupnik.wire import POLICIES
from netspurt.studies.experiment import AnyExperiment, Experiment, Plan, Samples
from netspurt.studies.model import Cell, Findings, Table

ASKED = "live.toml"

KERNEL = {"kernel, nodelay": "nodelay", "kernel, Nagle": "nagle", "kernel, cork": "cork"}
"""Servers of the kernel's: how each is named, and its mode in ``programs``."""

SERVERS = (*POLICIES, *KERNEL)
CASES = tuple(product(SERVERS, REPLIES))

WRITES = (*HEADERS, PIECE)

HEAD = len("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")
"""About what a head takes of the reply."""

CONGESTION = "cubic"
"""Of the kernel's ends: most systems' default, and what is simulated beside them. A system may have another."""

STALL_S = 0.035
"""An exchange that lasts longer has waited for a delayed ACK: Linux delays by 40 ms, and the path takes one."""


def _plan(asked: Mapping[str, Any]) -> live.Emulation:
    lines = ['duration = "1 s"']
    tasks: dict[str, Task] = {}
    for number, (server, reply) in enumerate(CASES):
        lines.append(f'[link.l{number}]\nbetween = ["c{number}", "s{number}"]')
        lines.append(f'rate = "{asked["rate"]}"\ndelay = "{asked["delay"]}"')
        ours = server in POLICIES
        tasks[f"c{number}"] = {
            "program": "fetch",
            "to": f"guest.s{number}" if ours else f"s{number}",
            "path": f"/{reply.bytes - HEAD}",
            "requests": asked["requests"],
            "congestion": CONGESTION,
        } | ({"after": f"c{number - 1}"} if number else {})
        tasks[f"s{number}"] = _ours(server) if ours else _kernels(server, reply)
    lines.append('[[flow]]\nfrom = "c0"\nto = "s0"\napp = { kind = "bulk" }')
    return live.Emulation("\n".join(lines), tasks, asked["limit_s"])


def _ours(policy: str) -> Task:
    files = [reply.bytes - HEAD for reply in REPLIES]
    writes = ",".join(map(str, WRITES))
    return {"program": "our_http", "writes": writes, "files": files, "tcp": {"transmit": policy}}


def _kernels(server: str, reply: Reply) -> Task:
    return {
        "program": "http",
        "octets": reply.bytes - HEAD,
        "pattern": list(WRITES),
        "mode": KERNEL[server],
        "congestion": CONGESTION,
    }


def _simulated(run: Any) -> list[float]:
    return [float(each) for each in run.pages()["delay_s"]]


class Live:
    """Each policy in our server and each mode of the kernel's, against the kernel as client."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """One emulation of all cases at once, and the same exchange simulated."""
        if not plan.live:
            return
        yield live.experiment(("live",), ASKED, _plan)
        for policy, reply in product(POLICIES, REPLIES):
            yield Experiment(
                key=("live simulated", policy, reply.name),
                scenario=LAN,
                settings={
                    "tcp.profile": "linux",
                    "tcp.transmit": policy,
                    "tcp.initial_window": "10 segments",
                    "link.lan.rate": "100 Mbit/s",
                    "flow.0.app.response": {
                        "size": f"{reply.bytes} B",
                        "writes": [f"{octets} B" for octets in HEADERS],
                        "piece": f"{PIECE} B",
                    },
                    "flow.0.app.exchanges": 40,
                },
                record=("pages",),
                measure=_simulated,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Time of an exchange and how many stalled, live and simulated; where nothing could be measured, why."""
        seen, notes = live.seen(samples, ("live",))
        if seen is None:
            return Findings(notes=notes)
        cells = [cell for number, case in enumerate(CASES) for cell in _cells(samples, seen, number, *case)]
        table = Table(
            "beyond_live",
            "The exchange live: our server under each policy and the kernel's, the kernel as client",
            tuple(cells),
            kind="beyond",
            note=(
                "Live, over emulated links of 100 Mbit/s and 0.25 ms each way. The client is the kernel's, with its "
                "delayed ACK of 40 ms and cubic as congestion control; the first exchanges do not count, in which it "
                "acknowledges at once. Where Linux delays for 40 ms the document's systems did for 200. Simulated: "
                "Linux at both ends but for the policy, and no time spent in hosts; there each pair of segments is "
                "acknowledged, live all those that reach the client together, so that chance decides whether an odd "
                "one waits." + seen.doubt
            ),
        )
        return Findings(tables=(table,), notes=(_note(seen),))


def _times(seen: live.Seen, number: int) -> list[float]:
    """Without the first quarter: Linux acknowledges quickly at first."""
    took: list[float] = seen.found[f"c{number}"]
    return took[len(took) // 4 :]


def _cells(samples: Samples, seen: live.Seen, number: int, server: str, reply: Reply) -> Iterable[Cell]:
    row = {"server": server, "reply": reply.name}
    took = _times(seen, number)
    median = quantile_interval([1e3 * each for each in took], 50)
    stalled = 100 * float(np.mean(np.asarray(took) > STALL_S))
    yield Cell(
        row,
        "live median",
        "ms",
        None,
        median.value,
        interval=median.interval,
        runs=len(took),
        reason=live.REASON,
    )
    yield Cell(row, "live stalls", "%", None, stalled, runs=len(took), reason=live.REASON)
    key = ("live simulated", server, reply.name)
    if samples.knows(key) and (simulated := samples.one(key, list)) is not None:
        later = simulated[len(simulated) // 4 :]
        yield Cell(row, "simulated median", "ms", None, 1e3 * float(np.median(later)))


def _note(seen: live.Seen) -> str:
    """The document's claim, among real hosts. No bar: how often there is a stall depends on when the client reads."""
    stalls = {
        case: float(np.mean(np.asarray(_times(seen, number)) > STALL_S)) for number, case in enumerate(CASES)
    }
    new = max(stalls["doupnik", reply] for reply in REPLIES)
    strict = max(stalls["nagle-strict", reply] for reply in REPLIES)
    shares = f"the new policy stalls in {100 * new:.0f} % of exchanges at most, strict Nagle in {100 * strict:.0f} %"
    return f"Live, {shares}."
