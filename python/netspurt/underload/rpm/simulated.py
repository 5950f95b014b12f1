"""The test in a simulation: its flows on a scenario's network.

A foreign probe is a page of two files over a new connection: the first file stands for the TLS handshake, the second is
the small object. TCP handshake, TLS exchange and request have equal weights, so a third of the page's time is the mean
of the three. A self probe is a sample of the sender's round-trip time, as the draft permits where requests cannot be
multiplexed.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

from netspurt.scenario import Result, Scenario
from netspurt.settings import Value
from netspurt.underload.measuring import Test, with_hosts
from netspurt.underload.rpm.algorithm import Interval, Judge, Parameters, Responsiveness

if TYPE_CHECKING:
    import polars as pl

PROBE, DOWNLOAD, UPLOAD = "probe", "download", "upload"
"""The names of the flows."""

DIRECTIONS = {"both": (DOWNLOAD, UPLOAD), "download": (DOWNLOAD,), "upload": (UPLOAD,)}

HELLO, CERTIFICATE, SMALL = "400 B", "3600 B", "300 B"
"""A request, the server's half of a TLS handshake, and a response of one byte with its header: 5,000 bytes a probe with
all headers, as the draft estimates."""


def simulate(
    scenario: Scenario,
    *,
    client: str | None = None,
    server: str | None = None,
    direction: str = "both",
    tls: bool = True,
    limit_s: float = 60.0,
    seed: int = 1,
    parameters: Parameters | None = None,
) -> Responsiveness:
    """Runs the test on the network of a scenario, whose own flows are left out.

    Args:
        scenario: links and hosts; ``[tcp]`` says how all flows behave.
        client: the host that probes; by default the first.
        server: the other one; by default the last.
        direction: what loads the path: a key of ``DIRECTIONS``.
        tls: foreign probes have a TLS handshake.
        limit_s: the test ends at this time, stable or not.
        seed: of the run.
        parameters: the draft's.

    Raises:
        RequestError: an unknown host, or no two hosts.
        ScenarioError: the network cannot carry the flows.
    """
    chosen = parameters or Parameters()
    test = with_hosts(tomllib.loads(scenario.merged()), Test(client=client, server=server))
    names = DIRECTIONS[direction]
    # The goodput of the path limits the number of probes.
    loads = _loads(test, names, replace(chosen, first=4, most=4), chosen.interval_s)
    alone = scenario.set({"duration": f"{2 * chosen.interval_s} s", "flow": loads}).run(seed)
    goodput = 8 * sum(alone.flows["bytes_delivered"].to_list()) / (2 * chosen.interval_s)
    gap_s = 1 / chosen.probes_per_second(goodput / len(names))
    flows = [_probe(test, gap_s, tls), *_loads(test, names, chosen, limit_s)]
    result = scenario.set({"duration": f"{limit_s} s", "flow": flows}).run(
        seed, ["rtt", "pages", "segments", "arrivals"]
    )
    judged = Judge(chosen)
    for interval in intervals(result, chosen.interval_s, limit_s, tls=tls):
        judged.add(interval)
        if judged.is_over:
            break
    return judged.result()


def _probe(test: Test, gap_s: float, tls: bool) -> dict[str, Value]:
    app: dict[str, Value] = {"kind": "web", "request": HELLO, "size": SMALL, "think": f"{gap_s} s"}
    app |= {"files": 2, "primary": CERTIFICATE} if tls else {"files": 1}
    app["http"] = {"kind": "1.1"}
    return {"name": PROBE, "app": app, "from": str(test.client), "to": str(test.server)}


def _loads(test: Test, names: tuple[str, ...], chosen: Parameters, limit_s: float) -> list[dict[str, Value]]:
    """The first connections of each direction, and those that follow at each interval."""
    ends = {DOWNLOAD: (test.server, test.client), UPLOAD: (test.client, test.server)}
    flows: list[dict[str, Value]] = []
    for name in names:
        sender, receiver = ends[name]
        flow: dict[str, Value] = {"name": name, "app": {"kind": "bulk"}}
        flow |= {"from": str(sender), "to": str(receiver)}
        flows.append(flow | {"count": min(chosen.first, chosen.most)})
        start_s, left = chosen.interval_s, chosen.most - chosen.first
        while left > 0 and start_s < limit_s:
            flows.append(flow | {"count": min(chosen.more, left), "start": f"{start_s} s"})
            start_s, left = start_s + chosen.interval_s, left - chosen.more
    return flows


def intervals(result: Result, interval_s: float, limit_s: float, *, tls: bool) -> list[Interval]:
    """What was seen, by interval."""
    import polars as pl

    count = int(limit_s / interval_s + 1e-9)
    found = [Interval() for _ in range(count)]
    place = (pl.col("at_s") / interval_s).floor().cast(pl.Int64)

    def by_interval(rows: pl.DataFrame) -> list[tuple[int, pl.DataFrame]]:
        within = rows.with_columns(place.alias("interval")).filter(pl.col("interval") < count)
        return [(int(str(key[0])), group) for key, group in within.group_by(["interval"])]

    data = result.segments.filter(pl.col("flow") != PROBE, pl.col("arrives_s").is_not_nan())
    for number, rows in by_interval(data.with_columns(at_s=pl.col("arrives_s"))):
        found[number].goodput_bps = 8 * float(rows["length"].sum()) / interval_s
    trips = result.series("rtt").filter(_is_senders())
    for number, rows in by_interval(trips.with_columns(at_s=pl.col("time_s"))):
        found[number].self_ms = (1e3 * rows["value"]).to_list()
    pages = result.pages.filter(pl.col("flow") == PROBE)
    pages = pages.with_columns(at_s=pl.col("asked_s") + pl.col("delay_s"))
    for number, rows in by_interval(pages):
        parts = (1e3 * rows["delay_s"] / (3 if tls else 2)).to_list()
        found[number].tcp_ms = found[number].http_ms = parts
        found[number].tls_ms = parts if tls else []
    return found


def _is_senders() -> pl.Expr:
    """Samples of load-generating connections, at the end that sends: the one that has opened them."""
    import polars as pl

    return (pl.col("flow") != PROBE) & (pl.col("end") == "client")
