"""Beyond the document: its exchange live. The kernel is the client of our server and of the kernel's own."""

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
"""The kernel's servers: name, and mode in ``programs``."""

SERVERS = (*POLICIES, *KERNEL)
CASES = tuple(product(SERVERS, REPLIES))

WRITES = (*HEADERS, PIECE)

HEAD = len("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")
"""The approximate size of the response header."""

CONGESTION = "cubic"
"""Of the kernel's ends: the default of most systems, also used in the simulation. A system may differ."""

STALL_S = 0.035
"""A longer exchange waited for a delayed ACK: Linux delays by 40 ms, and the path takes about one."""


def _plan(request: Mapping[str, Any]) -> live.Emulation:
    lines = ['duration = "1 s"']
    tasks: dict[str, Task] = {}
    for number, (server, reply) in enumerate(CASES):
        lines.append(f'[link.l{number}]\nbetween = ["c{number}", "s{number}"]')
        lines.append(f'rate = "{request["rate"]}"\ndelay = "{request["delay"]}"')
        ours = server in POLICIES
        tasks[f"c{number}"] = {
            "program": "fetch",
            "to": f"guest.s{number}" if ours else f"s{number}",
            "path": f"/{reply.bytes - HEAD}",
            "requests": request["requests"],
            "congestion": CONGESTION,
        } | ({"after": f"c{number - 1}"} if number else {})
        tasks[f"s{number}"] = _ours(server) if ours else _kernels(server, reply)
    lines.append('[[flow]]\nfrom = "c0"\nto = "s0"\napp = { kind = "bulk" }')
    return live.Emulation("\n".join(lines), tasks, request["limit_s"])


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
    """Each policy in our server and each mode of the kernel's server, with the kernel as client."""

    def experiments(self, plan: Plan) -> Iterable[AnyExperiment]:
        """One emulation of all cases at once, and simulations of the same exchange."""
        if not plan.live:
            return
        yield live.experiment(("live",), ASKED, _plan, slow=False)
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
        """Exchange times and shares of stalls, live and simulated; where no measurement was possible, the reason."""
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
                "Live, over emulated links of 100 Mbit/s and 0.25 ms one-way delay. The client is the kernel's, with a "
                "delayed ACK of 40 ms and CUBIC as congestion control. The first exchanges are excluded, because the "
                "kernel acknowledges at once there. Linux delays by 40 ms, the document's systems by 200 ms. "
                "Simulated: Linux at both ends except for the policy, and no time spent in hosts. The simulation "
                "acknowledges each pair of segments; the kernel acknowledges all segments that arrive together, so "
                "chance decides whether an odd segment waits." + seen.doubt
            ),
        )
        return Findings(tables=(table,), notes=(_note(seen),))


def _times(seen: live.Seen, number: int) -> list[float]:
    """Excludes the first quarter: Linux acknowledges quickly at first."""
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
    """The document's claim on real hosts. It has no bar: the number of stalls depends on when the client reads."""
    stalls = {
        case: float(np.mean(np.asarray(_times(seen, number)) > STALL_S)) for number, case in enumerate(CASES)
    }
    new = max(stalls["doupnik", reply] for reply in REPLIES)
    strict = max(stalls["nagle-strict", reply] for reply in REPLIES)
    shares = f"the new policy stalls in {100 * new:.0f} % of exchanges at most, strict Nagle in {100 * strict:.0f} %"
    return f"Live, {shares}."
