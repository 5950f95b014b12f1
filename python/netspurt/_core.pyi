"""The native module: scenario types, the simulator and its tables, written in Rust (crates/python)."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Action",
    "AlgorithmError",
    "Capture",
    "CaptureError",
    "Delays",
    "Diagnosis",
    "Estimator",
    "Host",
    "Packets",
    "Prober",
    "Run",
    "Scenario",
    "ScenarioError",
    "Situation",
    "Socket",
    "Sockets",
    "Start",
    "SyntheticPath",
    "Tasks",
    "View",
    "commit",
    "mechanisms",
    "paths",
    "profiles",
    "schema",
    "version",
]

class ScenarioError(ValueError):
    """A scenario that cannot be: ``str(error)`` is ``file:line:column: message``."""

    file: str | None
    line: int | None
    column: int | None
    path: str | None  # the override at fault
    message: str

class AlgorithmError(ValueError):
    """An algorithm in Python that cannot take part, or does what cannot be."""

@final
class Start:
    """What a congestion control begins with, in bytes; ``seed`` differs from connection to connection."""

    cwnd: int
    ssthresh: int
    seed: int

@final
class View:
    """What a congestion control may know of its connection. Times in picoseconds, lengths in bytes."""

    now_ps: int
    mss: int
    flight: int  # unacknowledged before what happened took effect; on_exit_recovery alone: after it
    window: int  # the smallest of cwnd, the peer's window and an own cap
    srtt_ps: int | None
    rtt_ps: int | None  # of the last ACK, where every one shows one
    paced: bool
    acknowledged: int
    sent: int
    cwnd_limited: bool  # whether all of cwnd was used when the acknowledged data left

@final
class Situation:
    """What a transmission policy may look at. Lengths in bytes."""

    available: int  # written and not yet sent
    allowed: int  # what the windows permit
    mss: int
    unacknowledged: int
    short_unacknowledged: int  # of these, up to the end of the last short segment
    behind_full_segments: bool  # a full segment left at this opportunity
    ends_data: bool  # the application has promised nothing more
    max_window: int  # the largest that the peer ever offered

@final
class Socket:
    """A connection as its application sees it. Lengths in bytes."""

    room: int  # that a write would find
    send_buffer: int
    written: int
    acknowledged: int
    readable: int
    received: int
    peer_finished: bool

@final
class Action:
    """What an application does next."""

    @staticmethod
    def read(most: int | None = None) -> Action: ...
    @staticmethod
    def write(length: int) -> Action: ...
    @staticmethod
    def write_part(length: int) -> Action: ...
    @staticmethod
    def work() -> Action: ...
    @staticmethod
    def close() -> Action: ...
    @staticmethod
    def wait(until_ps: int | None = None) -> Action: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

class CaptureError(ValueError):
    """A file that is not a capture."""

@final
class Capture:
    """A capture being read. Tables hold what was found since they were last asked for."""

    octets: int

    @staticmethod
    def open(
        path: str,
        record: Sequence[str] = ...,
        most: int = 100_000,
        # In tcpdump's language, and a file to which its packets are copied. ValueError: the filter is wrong.
        filter: str | None = None,
        write: str | None = None,
        # Segments, samples and so on of these connections only.
        only: Sequence[int] | None = None,
    ) -> Capture: ...
    # The type of each column, by table and column.
    @staticmethod
    def schemas() -> dict[str, dict[str, type]]: ...
    def read(self, octets: int) -> bool: ...
    def tally(self) -> str: ...
    # One row for each connection, and two for its streams; columns of both as in ``schemas``.
    def connections(self) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def samples(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def events(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def flight(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def segments(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...

@final
class Packets:
    """A pcapng capture that may still grow. CaptureError: it is damaged, or not pcapng."""

    def __init__(self) -> None: ...
    # Nanoseconds since 1970, length on the wire, whether it arrived at the host, and the captured bytes.
    def feed(self, octets: bytes) -> list[tuple[int, int, bool, bytes]]: ...

@final
class Diagnosis:
    """A capture being diagnosed. Connections are returned once, after they have ended."""

    octets: int
    # Connections that have ended without any time in the range.
    outside: int

    # range_s: seconds since the first packet.
    @staticmethod
    def open(path: str, min_bytes: int = 1, range_s: tuple[float, float] | None = None) -> Diagnosis: ...
    def read(self, octets: int) -> bool: ...
    def end(self) -> None: ...
    def tally(self) -> str: ...
    # A JSON array of connections, as in `netspurt why --json`; empty if there are no more.
    def take(self, most: int) -> str: ...

@final
class Scenario:
    """A parsed and checked scenario. Immutable; safe to share between threads."""

    name: str

    @staticmethod
    def load(path: str, overrides: Sequence[tuple[str, str]] = ...) -> Scenario: ...
    @staticmethod
    def parse(text: str, name: str = ..., overrides: Sequence[tuple[str, str]] = ...) -> Scenario: ...
    def set(self, overrides: Sequence[tuple[str, str]]) -> Scenario: ...
    # Classes by the names under which the scenario may choose them, "python:NAME".
    def given(self, algorithms: dict[str, Callable[..., Any]]) -> Scenario: ...
    algorithms: dict[str, Callable[..., Any]]
    def merged(self) -> str: ...
    # Pairs of "note" or "warning" and a sentence with its place.
    def remarks(self) -> list[tuple[str, str]]: ...
    def run(
        self,
        seed: int | None = None,  # 1
        record: Sequence[str] = ...,
        pcap: str | None = None,
        *,
        capture: Sequence[str] = ...,
        snaplen: int | None = None,
        # Called every 100 ms; what it raises ends the run.
        # Called every 100 ms with the simulated time and its end in seconds.
        watch: Callable[[float, float], object] | None = None,
        # By default 1; None: all processors if the run is long.
        threads: int | None = ...,
    ) -> Run: ...
    def hosts(self) -> list[str]: ...
    # Commands are (host, words); a host without words has none.
    # {"status", "seconds", "stolen_s", "removed", "links": [row], "hosts": [row]};
    # PermissionError: no namespace or device can be made, in a sentence that says what would help.
    def emulate(
        self,
        command: tuple[str, Sequence[str]],
        beside: Sequence[tuple[str, Sequence[str]]] = ...,
        *,
        warn: Callable[[str], object],
        # An interval in seconds; called at its end with the time and the rows of the links.
        see: tuple[float, Callable[[float, list[dict[str, Any]]], object]] | None = None,
        seed: int = 1,
        mtu: int = 1500,
        congestion: str | None = None,
        initial_window: int | None = None,
        sysctls: Sequence[tuple[str, str]] = ...,
        captures: Sequence[tuple[str, str]] = ...,
        # The caller's own network: node, device, block of addresses, content of /etc/resolv.conf.
        outside: tuple[str, str, int, str] | None = None,
    ) -> dict[str, Any]: ...

@final
class Run:
    """What one simulation left behind, as columns."""

    seed: int
    digest: str

    def json(self) -> str: ...
    # What limited each connection, as a JSON array; empty unless "limits" was recorded.
    # Of a range, in seconds, only that part; "in_range": whether the connection was open in it.
    def limits(self, range_s: tuple[float, float] | None = None) -> str: ...
    # Flows, groups and links as a file, told apart by "record", behind "task", "seed" and "digest".
    def parquet(self, task: str, metadata: Sequence[tuple[str, str]], rows: Tasks | None = None) -> bytes: ...
    def flows(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def groups(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def links(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    # "time_s", "flow", "index", "host", "connection", "end" ("client" or "server"), "value";
    # of "queue": "time_s", "link", "direction", "value".
    def series(self, name: str) -> dict[str, list[Any] | npt.NDArray[np.generic]]: ...
    # Link, direction, and the packets that its queue did not exceed for this share of the time;
    # empty unless "queue" was recorded.
    def queue_quantiles(self, share: float) -> list[tuple[str, str, int]]: ...
    # "time_s", "flow", "index", "host", "connection", "from_client", "seq", "length", "ack", "window", "reason", "nak",
    # "sack_from", "sack_until", and "arrives_s" (NaN: never), if "arrivals" were recorded.
    def segments(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    # "time_s", "link", "direction", "flow", "index", "host", "connection", "from_client", "size", "length", "cause",
    # "queue_packets", "queue_bytes".
    def drops(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    # "time_s", "link", "direction", "flow", "index", "host", "connection", "from_client", "length",
    # "queue_packets", "queue_bytes".
    def marks(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    # "flow", "index", "host", "page", "asked_s", "delay_s", "files", "bytes", "connections",
    # "retransmitted", "timeouts".
    def pages(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...

@final
class Tasks:
    """The rows of many tasks of a sweep."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, task: str, /) -> bool: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes, /) -> None: ...
    # Others have none then; where one of their tasks is known, they are let go of.
    def take(self, others: Tasks) -> None: ...
    # What is known already is left alone.
    def read(self, files: Sequence[str], threads: int = 1) -> None: ...
    # {"flow", "group", "link"}: [(column, "integer" | "number" | "truth" | "text", values, which mean something)];
    # columns in the order in which the tasks named bring them, rows of all tasks in the order in which they came in.
    def tables(
        self, order: Sequence[str]
    ) -> dict[str, list[tuple[str, str, list[Any] | npt.NDArray[Any], npt.NDArray[np.bool_] | None]]]: ...

@final
class Prober:
    """ICMP echo to one host or many, in a thread of its own."""

    # hosts: "192.0.2.1:0", "[2001:db8::1]:0". lengths: ("listed", […]) or ("uniform", [low, high]).
    # pace: ("every", [ns]), ("between", [low, high]) or ("replies", [shortest]). speed: "gentle" or "fast".
    # PermissionError: no ICMP socket can be had for any host; ValueError: the plan cannot be carried out. Both in a
    # sentence.
    @staticmethod
    def start(
        hosts: Sequence[str],
        lengths: tuple[str, Sequence[int]],
        pace: tuple[str, Sequence[int]],
        *,
        speed: str,
        count: int | None,
        lost_after_ns: int,
        seed: int,
        hasty_end: bool = False,
    ) -> Prober: ...
    def wait(self, seconds: float) -> bool: ...
    # Columns as in netspurt.probing.prober.SCHEMA ("host" is a number, "rtt_ms" NaN where nothing was heard), and
    # {"sent", "waiting", "foreign", "altered", "dropped"}.
    def take(self) -> tuple[dict[str, list[Any] | npt.NDArray[Any]], dict[str, int]]: ...
    def stop(self) -> None: ...
    # {"ipv4": "ping", "ipv6": "raw"}
    def sockets(self) -> dict[str, str]: ...
    # {"ipv6": "this system has no ICMP sockets for IPv6 (…)"}: families whose hosts are not probed
    def denied(self) -> dict[str, str]: ...

@final
class Sockets:
    """The TCP sockets of a network namespace, and what limits each of them."""

    # namespace: a path, or a name of "ip netns". keep: "sums", or "intervals" for a row an interval and socket.
    # PermissionError, ValueError: they cannot be watched, in a sentence.
    @staticmethod
    def open(namespace: str | None = None, keep: str = "sums") -> Sockets: ...
    # Asks the kernel. Releases the interpreter lock.
    def poll(self) -> None: ...
    # Looks for the processes of new sockets now, however often that was done before.
    def find_owners(self) -> None: ...
    # Columns as in netspurt.sockets.watching.SCHEMA: the sockets that exist, those that have ended since the last call,
    # and the intervals since the last call.
    def table(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def take_ended(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    def take_intervals(self) -> dict[str, list[Any] | npt.NDArray[Any]]: ...
    # {"polls", "seen", "missed"}; "missed" is None if the kernel does not count.
    def counts(self) -> dict[str, int | None]: ...
    # The names of the limits that may occur.
    @staticmethod
    def limits() -> list[str]: ...

@final
class Host:
    """Our TCP on a TUN device, in a thread of its own."""

    # addresses: "10.99.0.2/24". role: {"kind": "splice", "sink", "source" or "http", "port"} with "remote" (an address)
    # and "connections", "bytes", "root", "writes". tcp: keys of the [tcp] table, values as TOML. offload: "segments"
    # or "nothing". PermissionError: no TUN device without privilege; ScenarioError: a key or value of tcp; ValueError:
    # anything else; each in a sentence.
    @staticmethod
    def start(
        device: str,
        addresses: Sequence[str],
        role: Mapping[str, Any],
        *,
        tcp: Sequence[tuple[str, str]],
        mtu: int,
        offload: str,
        capture: str | PathLike[str] | None = None,
    ) -> Host: ...
    # The kernel's addresses on the device; none if it was made before.
    def kernel(self) -> list[str]: ...
    def wait(self, seconds: float) -> bool: ...
    # {"event": "opened", "local", "remote"}, or "closed" with "why", "seconds", "bytes_sent", "bytes_received", …
    def take_news(self) -> list[dict[str, Any]]: ...
    # A dict for each connection, as in netspurt.cli.commands.host.COLUMNS and more; and counts of what has no row.
    def snapshot(self) -> tuple[list[dict[str, Any]], dict[str, int]]: ...
    # What went wrong, in a sentence.
    def stop(self) -> str | None: ...

@final
class SyntheticPath:
    """Delays made from a few numbers: a file with units, errors as those of a scenario."""

    name: str

    @staticmethod
    def load(path: str, overrides: Sequence[tuple[str, str]] = ...) -> SyntheticPath: ...
    @staticmethod
    def parse(text: str, name: str = ..., overrides: Sequence[tuple[str, str]] = ...) -> SyntheticPath: ...
    def set(self, overrides: Sequence[tuple[str, str]]) -> SyntheticPath: ...
    def merged(self) -> str: ...
    # "time_s", "length_octets", "delay_s" (one way, NaN for a packet that was lost).
    def run(self, seed: int = 1) -> dict[str, npt.NDArray[Any]]: ...

@final
class Estimator:
    """One retransmission timeout estimator, by its name and parameters in a scenario file (``tcp.rto``)."""

    name: str

    def __new__(cls, name: str, parameters: Sequence[tuple[str, str]] = ...) -> Estimator: ...

@final
class Delays:
    """Delays one way, in the order in which they were measured. Immutable; safe to share between threads."""

    # Seconds, shape (n,), NaN for a packet that was lost.
    def __new__(cls, one_way_s: npt.NDArray[np.float64]) -> Delays: ...
    def __len__(self) -> int: ...
    # "cycles", "lost", "good_s", "mean_s", "cov", "received_mean_s", "received_cov".
    def summary(self) -> dict[str, float]: ...
    # "lost", "lost_s", "rtx", "rtx_s", "rto_p5_s", …, "late_p5_s", … (p5, p50, p95, p99, max; None without cycles).
    # rules: "document" or "connection".
    def replay(self, estimator: Estimator, rules: str) -> dict[str, Any]: ...
    def timeouts(self, estimator: Estimator, rules: str) -> npt.NDArray[np.float64]: ...
    # {"oracle": {"lost", "lost_s", "rtx", "rtx_s"}, "constant": {…, "rto_s"}}.
    def bounds(self) -> dict[str, dict[str, float]]: ...
    # "estimator", "block", "lost", "lost_s", "rtx", "rtx_s", ordered by estimator and block.
    def grid(
        self, estimators: Sequence[Estimator], rules: str, blocks: int = 1, threads: int = 1
    ) -> dict[str, npt.NDArray[Any]]: ...

def schema() -> str: ...

# [{"name", "summary", "document", "tcp": {…}}]
def profiles() -> str: ...

# [{"family", "path", "summary", "document", "unit", "default", "choices": [{"name", "default", "summary", "document",
#   "parameters": [{"name", "default", "unit", "summary"}]}]}]
def mechanisms() -> str: ...

# [{"name", "title", "summary", "modelled", "not_modelled", "parameters": [{"name", "default", "meaning"}], "sources":
#   [{"cite", "gives"}], "figures": [{"quantity", "quantile", "published", "within", "source"}], "link", "change",
#   "toml"}]
def paths() -> str: ...
def version() -> str: ...

# None outside a checkout.
def commit() -> str | None: ...
