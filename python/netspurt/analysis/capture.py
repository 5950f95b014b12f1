"""Captures from any tool, as tables.

Lives here: the Python interface of the native ``Capture``; it reads a file and returns polars tables.
Must not live here: packet analysis (Rust does it), or the display of a table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import display
from netspurt.analysis import formats
from netspurt.errors import FilterError, RequestError, unreadable
from netspurt.settings import several

if TYPE_CHECKING:
    import polars as pl

TABLES = ("samples", "events", "flight", "segments")
"""Recorded tables that grow with the capture."""

RECORDABLE = (*TABLES, "limits")
"""The names that ``record`` accepts."""

MOST_CONNECTIONS = 100_000
"""The maximal number of listed connections; a capture of an attack may contain millions."""

PASSED = {
    "not_ip": "not IP",
    "not_tcp": "not TCP",
    "fragments": "fragments",
    "cut": "cut too short",
    "malformed": "malformed",
    "untimed": "without a time",
    "backwards": "earlier than the packet before",
}
"""The fates of packets, as text."""

STEP = 32 << 20
"""Bytes read per step: a few hundredths of a second, after which Ctrl-C takes effect."""


def read_capture(
    path: str | Path,
    record: str | Sequence[str] = (),
    *,
    connections: int = MOST_CONNECTIONS,
    only: Sequence[int] | None = None,
) -> Capture:
    """Reads a capture and follows its TCP connections. The interpreter lock is released during the read.

    Formats: pcap and pcapng in either byte order, uncompressed, gzip or zstd; Ethernet with VLANs, Linux cooked
    captures, raw IP, BSD loopback. A damaged file is read up to the damage, see ``Capture.damage``.

    Args:
        path: the file; ``-`` is standard input.
        record: names from ``RECORDABLE``: tables that grow with the capture, and ``"limits"`` for the columns ``limit``
            and ``vantage``.
        connections: maximal number of listed connections; ``tally["unlisted"]`` counts the others.
        only: numbers of the connections whose rows the recorded tables contain; by default all.

    Raises:
        RequestError: the file cannot be read, or is not a capture.
        ValueError: ``record`` contains an unknown name.
    """
    return collect(Reading(path, several(record), connections=connections, only=only))


class Capture:
    """The content of a capture. Times are seconds since its first packet, sizes bytes, rates bits per second.

    Retransmissions and their causes are inferred from the packets seen at one place: the sender, the receiver or
    any place between. RTTs are measured from the place of capture to the receiver of the data and back.
    """

    def __init__(self, path: Path, tally: dict[str, Any], tables: dict[str, pl.DataFrame]) -> None:
        self.path = path
        self.tally = tally
        """Counts of packets by fate: ``packets``, ``segments``, ``connections``, ``not_tcp``, …; ``began_s`` is the
        time of the first packet in seconds since 1970."""
        self._tables = tables

    @property
    def damage(self) -> str | None:
        """The place and kind of damage as a sentence; None if the file is intact."""
        damage: str | None = self.tally["damage"]
        return damage

    @property
    def fault(self) -> str | None:
        """A sentence on damage of the file, or on missing TCP; None if there is neither."""
        return fault_of(self.path, self.tally)

    @property
    def passed(self) -> str:
        """Counts of the packets that are not segments, such as ``3 not IP, 1 fragments``."""
        return passed_of(self.tally)

    @property
    def connections(self) -> pl.DataFrame:
        """One row per connection, in the order of their start.

        Columns: ``connection`` (number), ``interface`` (number into ``tally["interfaces"]``), ``client``,
        ``client_port``, ``server``, ``server_port``, ``start_s``, ``duration_s``, ``opening`` ("whole", "half" or
        "missing": the captured part of the handshake), ``closing`` ("client-fin", "server-fin", "client-reset",
        "server-reset", "open", "forgotten"), ``handshake_rtt_s`` (of the whole path), ``sender`` ("client" or
        "server": the end that sent more bytes), ``limit`` (what held this sender back for most of the time, see
        ``netspurt.why``; null unless ``"limits"`` was recorded, and of a connection without data), ``vantage`` (where
        it was captured: "sender", "receiver", "between" or "unknown"; null like ``limit``).
        """
        return self._tables["connections"]

    @property
    def streams(self) -> pl.DataFrame:
        """Two rows per connection: the data of the client, and the data of the server.

        Columns: ``connection``, ``from``; ``packets``, ``segments`` (those with data, SYN or FIN), ``bytes``,
        ``acknowledged_bytes``, ``data_from_s``, ``data_until_s``, ``goodput_bps`` (acknowledged, between these two);
        ``retransmitted`` segments, the same by cause (``retransmitted_timeout``, ``_fast``, ``_tail_probe``,
        ``_nak``, ``_unexplained``), ``retransmitted_bytes``, ``spurious`` (superfluous retransmissions);
        ``reordered`` segments and the largest ``reordering_extent`` (RFC 4737), ``duplicated`` segments (by the
        network), ``unseen_bytes`` (acknowledged, not captured); ``duplicate_acks``, ``zero_windows``,
        ``window_probes``, ``keep_alives``; ``marked`` (segments with congestion experienced);
        ``flight_max``, ``window_max``, ``segment_max``; ``mss``,
        ``window_scale``, ``sack``, ``timestamps`` (offered on the SYN); ``rtt_samples``, ``rtt_min_s``,
        ``rtt_mean_s``, ``rtt_median_s``, ``rtt_p95_s``, ``rtt_max_s`` by Karn's rule (median and percentile within
        0.4 %), and the same as ``rtt_timestamps_…``.
        """
        return self._tables["streams"]

    @property
    def samples(self) -> pl.DataFrame:
        """One row per RTT sample; empty unless ``"samples"`` was recorded.

        Columns: ``time_s`` (when the ACK was seen), ``connection``, ``from`` (the sender of the data), ``method``
        ("handshake", "karn" or "timestamps"), ``ack`` (offset acknowledged), ``length`` (bytes of the acknowledged
        segment; a SYN and a FIN count one each), ``sent_s``, ``rtt_s``.
        """
        return self._tables["samples"]

    @property
    def events(self) -> pl.DataFrame:
        """One row per event; empty unless ``"events"`` was recorded.

        Columns: ``time_s``, ``connection``, ``from`` (the sender of the data), ``event`` ("retransmitted", "spurious",
        "reordered", "duplicated", "duplicate-ack", "zero-window", "window-probe", "keep-alive", "unseen"), ``reason``
        (the cause of a retransmission: "timeout", "fast", "tail-probe", "nak", "unexplained"; a probe of the only
        outstanding segment cannot be distinguished from a timeout and is reported as one; the evidence of a spurious
        one: "acknowledged", "d-sack", "timestamps", "order", or "original" if the original itself passes later),
        ``seq`` (offset), ``length``, ``after_s`` (since the last transmission; if reordered, the lateness), ``count``
        (reordering extent; consecutive duplicate ACKs).
        """
        return self._tables["events"]

    @property
    def flight(self) -> pl.DataFrame:
        """One row per change of the bytes in flight; empty unless ``"flight"`` was recorded.

        Columns: ``time_s``, ``connection``, ``from``, ``flight``, ``window`` (bytes from the last ACK on).
        """
        return self._tables["flight"]

    @property
    def segments(self) -> pl.DataFrame:
        """One row per segment; empty unless ``"segments"`` was recorded.

        Columns: ``time_s``, ``connection``, ``from_client``, ``seq`` and ``ack`` (offsets in the streams), ``length``
        (bytes), ``window`` (bytes from ``ack`` to the right edge), ``nak`` (offset or -1), ``sack_from`` and
        ``sack_until`` (the first SACK block, or -1).
        """
        return self._tables["segments"]

    def _repr_html_(self) -> str:
        """The HTML form for notebooks: the largest connections."""
        return display.shown("capture", self)

    def __repr__(self) -> str:
        return f"Capture({str(self.path)!r}, {formats.counted(self.connections.height, 'connection')})"


def fault_of(path: Path, tally: Mapping[str, Any]) -> str | None:
    """A sentence on damage of a file, or on missing TCP; None if there is neither."""
    name = "standard input" if str(path) == "-" else path
    if tally["damage"]:
        return f"{name} is {tally['damage']}; the packets before the damage were read"
    if tally["segments"]:
        return None
    if not tally["packets"]:
        return f"{name} contains no packets"
    unknown = _unknown_links(tally)
    if sum(unknown.values()) == tally["packets"]:
        links = " and ".join(unknown)
        return f"{name} contains no readable TCP: link type {links} is not supported"
    advice = "; capture at least 96 bytes of each packet (tcpdump -s 96)" if tally["cut"] else ""
    return f"{name} contains no TCP: {passed_of(tally)}{advice}"


def passed_of(tally: Mapping[str, Any]) -> str:
    """Counts of the packets that are not segments, such as ``3 not IP, 1 fragments``."""
    counts = {words: tally[name] for name, words in PASSED.items() if tally[name]}
    counts |= {f"of link type {link}": count for link, count in _unknown_links(tally).items()}
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def _unknown_links(tally: Mapping[str, Any]) -> dict[str, int]:
    """Packets with unsupported link-layer headers, by link type."""
    links: dict[str, int] = {}
    for row in tally["unknown_link"]:
        link = f"{row['link']} ({row['name'] or 'unknown name'})"
        links[link] = links.get(link, 0) + row["packets"]
    return links


class Reading:
    """A capture that is read in steps, for callers that do not want all of it in memory.

    Call ``step`` until it returns False; after each call, ``take`` returns the new rows. ``chosen`` is a filter in
    tcpdump's language for the packets that are read; these are copied to the capture ``copy``.

    Raises:
        RequestError: the file cannot be read, or is not a capture.
        FilterError: ``chosen`` is not understood.
        ValueError: ``record`` contains an unknown name.
    """

    def __init__(
        self,
        path: str | Path,
        record: Sequence[str] = (),
        *,
        connections: int = MOST_CONNECTIONS,
        chosen: str | None = None,
        copy: str | Path | None = None,
        only: Sequence[int] | None = None,
    ) -> None:
        from netspurt import _core

        unknown = [name for name in record if name not in RECORDABLE]
        if unknown:
            raise ValueError(f"cannot record '{unknown[0]}'; record accepts: {', '.join(RECORDABLE)}")
        self.path = Path(path)
        self.record = tuple(record)
        try:
            self._native = _core.Capture.open(
                str(path),
                list(record),
                connections,
                chosen,
                None if copy is None else str(copy),
                None if only is None else list(only),
            )
        except _core.CaptureError as error:
            raise RequestError(str(error)) from error
        except ValueError as error:
            raise FilterError(f"--filter '{chosen}': {error}") from error
        except OSError as error:
            raise RequestError(unreadable(Path(path), error)) from error

    @property
    def octets(self) -> int:
        """The number of bytes of the file read so far."""
        return self._native.octets

    def step(self, octets: int = STEP) -> bool:
        """Reads this many more bytes; False at the end. Ctrl-C takes effect between steps."""
        return self._native.read(octets)

    def take(self) -> dict[str, pl.DataFrame]:
        """The rows since the last call: "connections", "streams", and each recorded table."""
        connections, streams = self._native.connections()
        columns = {"connections": connections, "streams": streams}
        recorded = {
            "samples": self._native.samples,
            "events": self._native.events,
            "flight": self._native.flight,
            "segments": self._native.segments,
        }
        columns |= {name: recorded[name]() for name in self.record if name in TABLES}
        return {name: _frame(name, column) for name, column in columns.items()}

    def tally(self) -> dict[str, Any]:
        """Counts of packets by fate so far."""
        tally: dict[str, Any] = json.loads(self._native.tally())
        return tally


def collect(
    reading: Reading,
    stepped: Callable[[], None] = lambda: None,
    written: Mapping[str, Callable[[pl.DataFrame], None]] | None = None,
) -> Capture:
    """Reads to the end and keeps all tables, except those that ``written`` receives.

    Args:
        reading: a capture at its beginning.
        stepped: called after each step.
        written: by table name, the function that receives its rows.
    """
    import polars as pl

    kept = {name: [_frame(name, {})] for name in schemas()}
    more = True
    while more:
        more = reading.step()
        for name, frame in reading.take().items():
            if written and name in written:
                written[name](frame)
            else:
                kept[name].append(frame)
        stepped()
    tables = {name: pl.concat(frames) for name, frames in kept.items()}
    for name in ("connections", "streams"):
        # A connection is reported when it ends, but numbered by its start.
        tables[name] = tables[name].sort("connection", maintain_order=True)
    return Capture(reading.path, reading.tally(), tables)


@cache
def schemas() -> dict[str, dict[str, type]]:
    """The columns of every table and their types, from the code that fills the tables."""
    from netspurt import _core

    return _core.Capture.schemas()


def _frame(name: str, columns: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(dict(columns), schema=schemas()[name])
