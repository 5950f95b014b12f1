"""The test: its flows on a scenario's network, and the result.

A probe sends a small request over TCP and gets a small response, again and again. First it is alone; then transfers run
in both directions as well. A round trip is measured from each request to the ACK in its response.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import display
from netspurt.errors import RequestError, nearest
from netspurt.scenario import Result, Scenario, load
from netspurt.settings import Value, several

if TYPE_CHECKING:
    import polars as pl

PROBE, DOWNLOAD, UPLOAD = "probe", "download", "upload"
"""The names of the flows."""

CLASSES = ("CS0", "CS1", "CS5", "EF")
"""The code points of RRUL's four transfers: best effort, background, broadcast video, and expedited forwarding."""

SMALL = "64 B"
"""A request, and a response."""

MINUTE_S = 60.0


@dataclass(frozen=True)
class Test:
    """What is done.

    Attributes:
        client: the host at the user's side: it downloads and uploads; by default the first host.
        server: the other one; by default the last host.
        streams: transfers in each direction.
        idle_s: seconds of the probe alone, before the load.
        load_s: seconds of the load.
        every_s: pause of the probe after each response.
        diffserv: whether the transfers of a direction have the code points of ``CLASSES``, in turn.
    """

    client: str | None = None
    server: str | None = None
    streams: int = 4
    idle_s: float = 5.0
    load_s: float = 30.0
    every_s: float = 0.1
    diffserv: bool = False


@dataclass(frozen=True)
class Latency:
    """Round trips of the probe, in seconds; None where there was none.

    Attributes:
        samples: how many.
        mean_s: their mean.
        p50_s: the median.
        p95_s: the 95th percentile.
        p99_s: the 99th percentile.
        most_s: the longest.
    """

    samples: int
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    most_s: float | None

    @property
    def per_minute(self) -> float | None:
        """Round trips per minute, as draft-ietf-ippm-responsiveness reports latency."""
        return MINUTE_S / self.mean_s if self.mean_s else None


@dataclass(frozen=True, repr=False)
class UnderLoad:
    """The result of ``rrul``: goodput and round trips, idle and under load.

    Attributes:
        result: the run, with its flows, links and records.
        test: what was done; ``client`` and ``server`` are names of hosts.
        download_bps: data that arrived at the client during the load, of all transfers together.
        upload_bps: data that arrived at the server.
        idle: round trips before the load.
        loaded: round trips during the load.
    """

    result: Result
    test: Test
    download_bps: float
    upload_bps: float
    idle: Latency
    loaded: Latency

    def __repr__(self) -> str:
        """The scenario, and by how much the load lengthens the median round trip."""
        added = "" if self.added_s is None else f": the load adds {1e3 * self.added_s:.3g} ms"
        return f"<UnderLoad of {self.result.scenario.name}{added}>"

    def _repr_html_(self) -> str:
        """The HTML form for notebooks: goodput and round trips."""
        return display.shown("under-load", self)

    @property
    def added_s(self) -> float | None:
        """By how much the load lengthens the median round trip."""
        if self.idle.p50_s is None or self.loaded.p50_s is None:
            return None
        return self.loaded.p50_s - self.idle.p50_s

    @property
    def longest_queue(self) -> dict[str, Any] | None:
        """The row of ``result.links`` with the longest mean queue; None if no packet ever waited."""
        rows = (
            self.result.links.sort("queue_mean_packets", descending=True, nulls_last=True).head(1).to_dicts()
        )
        return rows[0] if rows and (rows[0]["queue_mean_packets"] or 0) > 0 else None

    def document(self) -> dict[str, Any]:
        """The JSON document of ``netspurt rrul --json``."""
        latency = {
            name: {**asdict(each), "round_trips_per_minute": each.per_minute}
            for name, each in (("idle", self.idle), ("loaded", self.loaded))
        }
        names = ("client", "server", "streams", "idle_s", "load_s", "diffserv")
        return {
            **{"scenario": self.result.scenario.name, "seed": self.result.seed, "digest": self.result.digest},
            **{name: getattr(self.test, name) for name in names},
            **{"download_bps": self.download_bps, "upload_bps": self.upload_bps},
            **latency,
            "links": self.result.links.to_dicts(),
        }


def rrul(
    scenario: Scenario | str | Path,
    test: Test | None = None,
    seed: int = 1,
    record: str | Sequence[str] = (),
) -> UnderLoad:
    """Runs the test on the network of a scenario, whose own flows are left out.

    Args:
        scenario: links and hosts, or the file; ``[tcp]`` says how all flows behave.
        test: what is done.
        seed: of the run.
        record: records for plots, such as ``segments``.

    Raises:
        RequestError: an unknown host, or no two hosts.
        ScenarioError: the network cannot carry the flows, such as hosts that no path joins.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    test = with_hosts(tomllib.loads(scenario.merged()), test or Test())
    result = scenario.set(_settings(test)).run(seed, [*dict.fromkeys(("rtt", *several(record)))])
    idle, loaded = _latencies(result, test)
    received = _received(result)
    rates = {name: 8 * received.get(name, 0) / test.load_s for name in (DOWNLOAD, UPLOAD)}
    return UnderLoad(result, test, rates[DOWNLOAD], rates[UPLOAD], idle, loaded)


def with_hosts(scenario: Mapping[str, Any], test: Test) -> Test:
    """The test with the names of both hosts.

    Raises:
        RequestError: see ``rrul``.
    """
    ends = [end for link in scenario.get("link", {}).values() for end in link["between"]]
    ends += [station for hub in scenario.get("hub", {}).values() for station in hub["stations"]]
    nodes = list(dict.fromkeys(ends))
    flows = scenario.get("flow", [])
    first, last = (flows[0]["from"], flows[0]["to"]) if flows else (nodes[0], nodes[-1])
    client, server = test.client or first, test.server or last
    for option, name in (("client", client), ("server", server)):
        if name not in nodes:
            raise RequestError(
                f"there is no host '{name}' for the {option}{nearest(name, nodes)} (the hosts are: {', '.join(nodes)})"
            )
    if client == server:
        raise RequestError(
            f"client and server are both '{client}': name another host with --client or --server"
        )
    return Test(**{**asdict(test), "client": client, "server": server})


def _settings(test: Test) -> dict[str, Value]:
    end_s = test.idle_s + test.load_s
    probe: dict[str, Value] = {"kind": "request-response", "request": SMALL, "response": SMALL}
    # More exchanges than there is time for.
    probe |= {"gap": f"{test.every_s} s", "exchanges": int(end_s / test.every_s) + 1}
    flows: list[dict[str, Value]] = [
        {"name": PROBE, "app": probe, "from": str(test.client), "to": str(test.server)}
    ]
    for name, sender, receiver in ((DOWNLOAD, test.server, test.client), (UPLOAD, test.client, test.server)):
        flow: dict[str, Value] = {"name": name, "app": {"kind": "bulk"}, "start": f"{test.idle_s} s"}
        flow |= {"from": str(sender), "to": str(receiver)}
        if test.diffserv:
            marks = [CLASSES[number % len(CLASSES)] for number in range(test.streams)]
            flows += [flow | {"dscp": mark} for mark in marks]
        else:
            flows.append(flow | {"count": test.streams})
    return {"duration": f"{end_s} s", "flow": flows}


def _latencies(result: Result, test: Test) -> tuple[Latency, Latency]:
    import polars as pl

    rows = result.series("rtt").filter(pl.col("flow") == PROBE, pl.col("end") == "client")
    before = pl.col("time_s") <= test.idle_s
    return _latency(rows.filter(before)), _latency(rows.filter(~before))


def _latency(rows: pl.DataFrame) -> Latency:
    import numpy as np

    values = rows["value"].to_numpy()
    if not values.size:
        return Latency(0, None, None, None, None, None)
    p50, p95, p99 = (float(each) for each in np.quantile(values, (0.5, 0.95, 0.99)))
    return Latency(values.size, float(values.mean()), p50, p95, p99, float(values.max()))


def _received(result: Result) -> dict[str, int]:
    """Bytes that arrived, by the name of the flow."""
    rows = result.flows.group_by("flow").agg(_sum("bytes_delivered"))
    return {str(row["flow"]): int(row["bytes_delivered"]) for row in rows.to_dicts()}


def _sum(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).sum()
