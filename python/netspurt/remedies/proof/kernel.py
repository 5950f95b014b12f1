"""The kernel's TCP set up as a scenario says: programs for the hosts, and settings of the kernel.

Lives here: the mapping from choices of the scenario to Linux. Must not live here: running anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netspurt.errors import RequestError
from netspurt.remedies.quantities import number
from netspurt.remedies.situation import Situation

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

NAMES = {"newreno": "reno", "reno-linux": "reno", "cubic-linux": "cubic"}
"""Congestion controls whose name in Linux is another."""

ECN = {"off": 0, "rfc3168": 1, "accept": 2, "rfc9768": 3, "accept-rfc9768": 5}

PROBING = {"icmp": 0, "probe-after-black-hole": 1, "probe": 2}

MOST_WRITES = 10_000


@dataclass(frozen=True)
class Plan:
    """What the hosts do.

    Attributes:
        tasks: the program of each host; the first host opens the connection.
        words: further options of ``netspurt emulate``.
        seconds: the quantity of the transfer, from the outcome of each host.
    """

    tasks: Mapping[str, Mapping[str, Any]]
    words: tuple[str, ...]
    seconds: Callable[[Mapping[str, Any]], float]


def plan_of(situation: Situation, exchanges: int | None = None) -> Plan:
    """The plan for a flow.

    Args:
        situation: the flow, with or without a remedy.
        exchanges: exchanges of the original, which the time is divided by; by default those of this flow.

    Raises:
        RequestError: the kernel cannot do what the scenario says; the message says why.
    """
    refuse(situation)
    app = situation.app
    if app["kind"] == "bulk":
        tasks, seconds = _bulk(situation)
    elif app["kind"] == "request-response" and isinstance(app.get("exchanges"), int):
        tasks, seconds = _exchanges(situation, exchanges or app["exchanges"])
    else:
        raise RequestError(
            f"--prove cannot carry out the application '{app['kind']}'"
            f"{' without end' if app['kind'] == 'request-response' else ''}: give a command with --with"
        )
    return Plan(tasks, words(situation), seconds)


def refuse(situation: Situation) -> None:
    """What the kernel, or the emulation, cannot do.

    Raises:
        RequestError: in a sentence.
    """
    flows = situation.tree["flow"]
    if len(flows) > 1 and not _together(flows):
        raise RequestError(
            "--prove carries out several flows only if all are bulk transfers with 'bytes' between the same two nodes, "
            "without 'tcp' of their own"
        )
    for node in situation.nodes:
        host = situation.tree.get("host", {}).get(node, {})
        for key in ("reader", "processor"):
            if host.get(key):
                raise RequestError(
                    f"--prove cannot carry out host.{node}.{key}: real programs run at their own pace"
                )
    control = congestion(situation)
    available = AVAILABLE.read_text(encoding="ascii").split() if AVAILABLE.exists() else []
    if control not in available:
        raise RequestError(
            f"this kernel has no congestion control '{control}': it has {', '.join(available) or 'none'}"
        )


def _together(flows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one program can carry out these flows."""
    ends = {(flow["from"], flow["to"]) for flow in flows}
    return len(ends) == 1 and all(
        flow["app"]["kind"] == "bulk" and number(flow["app"].get("bytes")) and not flow.get("tcp")
        for flow in flows
    )


def congestion(situation: Situation) -> str:
    """The congestion control of the sender, as Linux calls it."""
    name = str(situation.tcp(situation.sender).get("congestion"))
    return NAMES.get(name, name)


def words(situation: Situation) -> tuple[str, ...]:
    """The options of ``netspurt emulate`` for the kernels of all hosts."""
    sender, receiver = (situation.tcp(node) for node in situation.nodes)
    both = (sender, receiver)
    settings = {
        "tcp_window_scaling": int(all(each.get("window_option") != "none" for each in both)),
        "tcp_sack": int(all(bool(each.get("sack")) for each in both)),
        "tcp_timestamps": int(all(bool(each.get("timestamps")) for each in both)),
        "tcp_recovery": int(sender.get("recovery") == "rack"),
        "tcp_early_retrans": 3 if sender.get("tail_loss_probe") else 0,
        "tcp_slow_start_after_idle": int(bool(sender.get("idle_restart"))),
        "tcp_mtu_probing": PROBING.get(str(sender.get("path_mtu_discovery")), 0),
        "tcp_ecn": max(ECN.get(str(each.get("ecn")), 0) for each in both if each.get("ecn") != "accept")
        if any(each.get("ecn") != "accept" for each in both)
        else 2,
        "tcp_no_metrics_save": 1,
    }
    if _grows(receiver) and (most := number(receiver.get("receive_window"))):
        settings["tcp_rmem"] = f"4096 131072 {round(most)}"  # type: ignore[assignment]
    if "initial_send_buffer" in sender and (most := number(sender.get("send_buffer"))):
        settings["tcp_wmem"] = f"4096 16384 {round(most)}"  # type: ignore[assignment]
    found = [word for name, value in settings.items() for word in ("--sysctl", f"net.ipv4.{name}={value}")]
    return (*found, "--initial-window", str(initial_window(situation)))


def initial_window(situation: Situation) -> int:
    """The sender's initial window in segments."""
    value = situation.tcp(situation.sender).get("initial_window")
    if value in ("rfc2581", "rfc3390"):
        return {"rfc2581": 2, "rfc3390": 3}[str(value)]
    found = number(value)
    if found is None:
        return 10
    return round(found if "segments" in str(value) else found / situation.mss(situation.sender)) or 1


def _options(situation: Situation, node: str) -> dict[str, Any]:
    """Options of the sockets of a host."""
    tcp = situation.tcp(node)
    found: dict[str, Any] = {"nodelay": tcp.get("transmit") == "nodelay"}
    if (mss := round(situation.mss(node))) < 1460:
        found["mss"] = mss
    acking = tcp.get("acking")
    if acking == "every-segment" or (isinstance(acking, dict) and acking["kind"] == "every-segment"):
        found["quickack"] = situation.receiver if node == situation.sender else situation.sender
    if node == situation.sender:
        found["congestion"] = congestion(situation)
        found["pacing"] = bool(tcp.get("pacing"))
        if "initial_send_buffer" not in tcp and (buffer := number(tcp.get("send_buffer"))):
            # Linux doubles what SO_SNDBUF names.
            found["send_buffer"] = round(buffer / 2)
    return found


def _grows(receiver: Mapping[str, Any]) -> bool:
    """Whether the receive window grows: it begins below its largest size."""
    first = number(receiver.get("initial_receive_window"))
    return first is not None and first < (number(receiver.get("receive_window")) or 0.0)


def _window(situation: Situation) -> int | None:
    """The fixed receive window of the receiver; None if the buffer grows."""
    tcp = situation.tcp(situation.receiver)
    if _grows(tcp) or (size := number(tcp.get("receive_window"))) is None:
        return None
    return round(size)


def _bulk(situation: Situation) -> tuple[dict[str, dict[str, Any]], Callable[[Mapping[str, Any]], float]]:
    flows = situation.tree["flow"]
    if not all(number(flow["app"].get("bytes")) for flow in flows):
        raise RequestError("--prove carries out transfers that end: give the application 'bytes'")
    sender, receiver = situation.nodes
    tasks = {
        sender: {
            "program": "send_several",
            "to": receiver,
            "transfers": [
                {
                    "octets": round(number(flow["app"]["bytes"]) or 0),
                    "start_s": number(flow.get("start")) or 0.0,
                }
                for flow in flows
                for _ in range(int(flow.get("count", 1)))
            ],
            **_options(situation, sender),
        },
        receiver: {
            "program": "receive_several",
            "window": _window(situation),
            **_options(situation, receiver),
        },
    }
    return tasks, lambda found: float(found[sender]["ended"] - found[sender]["began"])


def _exchanges(
    situation: Situation, exchanges: int
) -> tuple[dict[str, dict[str, Any]], Callable[[Mapping[str, Any]], float]]:
    app = situation.app
    client, server = str(situation.entry["from"]), str(situation.entry["to"])
    request, response = (_writes(app[key]) for key in ("request", "response"))
    gap_s = number(app.get("gap")) or 0.0
    tasks = {
        client: {
            "program": "ask",
            "to": server,
            "request": request,
            "response": sum(response),
            "exchanges": app["exchanges"],
            "gap_s": gap_s,
            "write_gap_s": _gap(app["request"]),
            **_options(situation, client),
        },
        server: {
            "program": "respond",
            "request": sum(request),
            "response": response,
            "write_gap_s": _gap(app["response"]),
            **_options(situation, server),
        },
    }
    return tasks, lambda found: float(found[client]["ended"] - found[client]["began"]) / exchanges - gap_s


def _gap(message: Any) -> float:
    """Seconds from one write of a message to the next."""
    return (number(message.get("gap")) or 0.0) if isinstance(message, dict) else 0.0


def _writes(message: Any) -> list[int]:
    """The lengths of the writes of a message.

    Raises:
        RequestError: its length is drawn at random.
    """
    if (whole := number(message)) is not None:
        return [round(whole)]
    if not isinstance(message, dict):
        raise RequestError("--prove needs messages of a fixed length")
    writes = [round(number(each) or 0) for each in message.get("writes", ())]
    size = number(message["size"]) if "size" in message else float(sum(writes))
    if size is None:
        raise RequestError("--prove needs messages of a fixed length")
    piece = round(number(message.get("piece")) or size)
    found: list[int] = []
    left = round(size)
    for length in (*writes, *[piece] * MOST_WRITES):
        if left <= 0:
            break
        found.append(min(length, left))
        left -= found[-1]
    return found
