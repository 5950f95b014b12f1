"""The results of a run for people: numbers with units, and no more rows than one can read.

Lives here: which numbers, in which order. Must not live here: simulation, or results for programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.views import tables

if TYPE_CHECKING:
    from rich.console import Console

    from netspurt import _core

MANY = 20
"""With more flows than this, groups and the worst flows are shown."""

WORST = 10

FLOWS = (
    *("flow", "from", "to", "bytes", "time", "goodput", "segments", "retransmitted", "timeouts"),
    *("RTT", "completed"),
)
GROUPS = ("flow", "flows", "completed", "bytes", "goodput", "median", "least", "retransmitted", "timeouts")
SESSIONS = (
    *("flow", "flows", "pages", "page delay", "95 %", "transfers", "transfer time", "connections"),
    *("bytes", "goodput"),
)
ARRIVALS = (*("flow", "class", "transfers", "time", "mean", "95 %", "99 %", "slowdown", "slowdown 99 %"),)
VIDEOS = ("flow", "flows", "segments", "quality", "switches", "start", "stalls", "stalled")
DATAGRAMS = (
    *("flow", "flows", "sent", "lost", "goodput", "delay", "95 %", "99 %", "jitter", "late", "R", "MOS"),
)
LINKS = (
    *("link", "direction", "packets", "bytes", "drops", "utilisation", "queue", "queueing delay", "95 %"),
    "longest queue",
)


def show(console: Console, run: _core.Run, whole: Mapping[str, Any], *, each: bool, queues: bool) -> None:
    """The tables of one run: flows, or their groups and the worst of them; sessions, videos, datagrams; links.

    ``each``: every flow, however many there are. ``queues``: the run has recorded its queues over time.
    """
    title = f"{whole['scenario']}, seed {whole['seed']}, digest {whole['digest']}"
    flows = whole["flows"]
    if each or len(flows) <= MANY:
        tables.show(console, title, [_flow(flow) for flow in flows], FLOWS)
    else:
        tables.show(console, title, [_group(group, flows) for group in whole["groups"]], GROUPS)
        worst = sorted(flows, key=lambda flow: flow["goodput_bps"])[:WORST]
        words = f"the {len(worst)} flows of {len(flows)} with the least goodput (--all: every flow)"
        tables.show(console, words, [_flow(flow) for flow in worst], FLOWS)
    groups = whole.get("groups", [])
    sessions = [_session(group) for group in groups if "pages" in group and not _has_own_table(group)]
    if sessions:
        tables.show(console, "", sessions, SESSIONS)
    arrivals = [row for group in groups if "arrivals" in group for row in _arrivals(group)]
    if arrivals:
        tables.show(console, "", arrivals, ARRIVALS)
    videos = [_video(group) for group in groups if "video_segments" in group]
    if videos:
        tables.show(console, "", videos, VIDEOS)
    datagrams = [_datagrams(group) for group in groups if "datagrams_sent" in group]
    if datagrams:
        calls = any(row["MOS"] is not None for row in datagrams)
        columns = [name for name in DATAGRAMS if calls or name not in ("late", "R", "MOS")]
        tables.show(console, "", datagrams, columns)
    recorded = _recorded(run) if queues else {}
    links = [_link(link, whole["active_s"], recorded) for link in whole["links"]]
    columns = [name for name in LINKS if name != "95 %" or recorded]
    tables.show(console, "", links, columns)


def _flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    sent, again = flow["segments_sent"], flow["retransmitted"]
    end = flow["end_s"]
    tcp = "datagrams_sent" not in flow
    return {
        "flow": f"{flow['flow']} {flow['index']}",
        "from": flow["from"],
        "to": flow["to"],
        "bytes": formats.size(flow["bytes_delivered"]),
        "time": None if end is None else formats.span(end - flow["start_s"]),
        "goodput": formats.rate(flow["goodput_bps"]),
        "segments": sent if tcp else None,
        "retransmitted": _resent(again, sent) if tcp else None,
        "timeouts": flow["timeouts"] if tcp else None,
        "RTT": formats.span(flow["rtt_mean_s"]),
        "completed": flow["completed"],
    }


def _resent(again: int, sent: int) -> str:
    return f"{again} ({formats.share(again / sent)})" if again and sent else "0"


def _group(group: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [flow for flow in flows if flow["flow"] == group["flow"]]
    rates = sorted(flow["goodput_bps"] for flow in own)
    sent, again = group["segments_sent"], group["retransmitted"]
    return {
        "flow": group["flow"],
        "flows": group["flows"],
        "completed": sum(flow["completed"] for flow in own),
        "bytes": formats.size(group["bytes_delivered"]),
        "goodput": formats.rate(group["goodput_bps"]),
        "median": formats.rate(rates[len(rates) // 2]),
        "least": formats.rate(rates[0]),
        "retransmitted": _resent(again, sent),
        "timeouts": group["timeouts"],
    }


def _session(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "flow": group["flow"],
        "flows": group["flows"],
        "pages": group["pages"],
        "page delay": formats.span(group.get("page_delay_median_s")),
        "95 %": formats.span(group.get("page_delay_p95_s")),
        "transfers": group.get("transfers"),
        "transfer time": formats.span(group.get("transfer_time_median_s")),
        "connections": group.get("connections"),
        "bytes": formats.size(group["bytes_delivered"]),
        "goodput": formats.rate(group["goodput_bps"]),
    }


def _has_own_table(group: Mapping[str, Any]) -> bool:
    return "video_segments" in group or "arrivals" in group


def _arrivals(group: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each class of transfers that has any, and one for all."""
    rows = [
        {
            "flow": group["flow"],
            "class": name,
            "transfers": group[f"{name}_transfers"],
            "time": formats.span(group[f"{name}_time_median_s"]),
            "mean": formats.span(group[f"{name}_time_mean_s"]),
            "95 %": formats.span(group[f"{name}_time_p95_s"]),
            "99 %": formats.span(group[f"{name}_time_p99_s"]),
            "slowdown": formats.number(group[f"{name}_slowdown_mean"], 3),
            "slowdown 99 %": formats.number(group[f"{name}_slowdown_p99"], 3),
        }
        for name in ("small", "medium", "large")
        if group[f"{name}_transfers"]
    ]
    whole = {
        "flow": group["flow"],
        "class": "all",
        "transfers": f"{group['transfers']} of {group['arrivals']}",
        "time": formats.span(group["page_delay_median_s"]),
        "mean": formats.span(group["page_delay_mean_s"]),
        "95 %": formats.span(group["page_delay_p95_s"]),
        "slowdown": formats.number(group["slowdown_mean"], 3),
        "slowdown 99 %": formats.number(group["slowdown_p99"], 3),
    }
    return [*rows, whole]


def _video(group: Mapping[str, Any]) -> dict[str, Any]:
    share = group["stalled_share"]
    return {
        "flow": group["flow"],
        "flows": group["flows"],
        "segments": group["video_segments"],
        "quality": formats.rate(group["video_rate_bps"]),
        "switches": group["quality_switches"],
        "start": formats.span(group["video_start_s"]),
        "stalls": group["stalls"],
        "stalled": formats.span(group["stalled_s"]) + (f" ({formats.share(share)})" if share else ""),
    }


def _datagrams(group: Mapping[str, Any]) -> dict[str, Any]:
    lost, loss, late = group["datagrams_lost"], group["datagram_loss"], group["call_late"]
    return {
        "flow": group["flow"],
        "flows": group["flows"],
        "sent": group["datagrams_sent"],
        "lost": f"{lost} ({formats.share(loss)})" if lost else "0",
        "goodput": formats.rate(group["goodput_bps"]),
        "delay": formats.span(group["delay_median_s"]),
        "95 %": formats.span(group["delay_p95_s"]),
        "99 %": formats.span(group["delay_p99_s"]),
        "jitter": formats.span(group["jitter_s"]),
        "late": None if late is None else f"{late:.0f}",
        "R": None if group["r_factor"] is None else f"{group['r_factor']:.1f}",
        "MOS": None if group["mos"] is None else f"{group['mos']:.2f}",
    }


def queueing_delay_s(link: Mapping[str, Any], active_s: float) -> float | None:
    """The mean time of a packet in the queue, by Little's law: packets that wait over packets a second."""
    packets = link["packets"]
    return link["queue_mean_packets"] * active_s / packets if packets else None


def _link(
    link: Mapping[str, Any], active_s: float, recorded: Mapping[tuple[str, str], float]
) -> dict[str, Any]:
    packets, busy = link["packets"], link["utilisation"]
    # The time that a packet of mean length takes to leave.
    service_s = busy * active_s / packets if packets else 0.0
    high = recorded.get((link["link"], link["direction"]), 0.0)
    return {
        "link": link["link"],
        "direction": link["direction"],
        "packets": packets,
        "bytes": formats.size(link["bytes"]),
        "drops": link["drops"],
        "utilisation": formats.share(busy),
        "queue": f"{link['queue_mean_packets']:.3g} packets",
        "queueing delay": formats.span(queueing_delay_s(link, active_s)),
        "95 %": formats.span(high * service_s),
        "longest queue": formats.counted(link["queue_max_packets"], "packet"),
    }


def _recorded(run: _core.Run) -> dict[tuple[str, str], float]:
    """By link and direction: the queue length that is exceeded 5 % of the time."""
    return {(link, direction): packets for link, direction, packets in run.queue_quantiles(0.95)}


def show_summary(console: Console, rows: Sequence[Mapping[str, Any]], seeds: int) -> None:
    """The means over seeds, with their intervals."""
    from rich.table import Table

    table = Table("flow", "quantity", "mean", "95 % interval", box=None, header_style="bold", pad_edge=False)
    table.title = f"{seeds} seeds"
    for row in rows:
        name = row["quantity"]
        ends = row["interval"]
        interval = "–" if ends is None else _interval([formats.quantity(name, end) for end in ends])
        words = formats.name(name)
        table.add_row(f"{row['flow']} {row['index']}", words, formats.quantity(name, row["mean"]), interval)
    console.print(table)


def _interval(ends: Sequence[str]) -> str:
    return "the same with every seed" if ends[0] == ends[1] else " … ".join(ends)
