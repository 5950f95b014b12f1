"""Scenarios and their results, as tables.

Lives here: the Python interface of the native ``Scenario`` and ``Run``; results are polars tables.
Must not live here: knowledge of scenario keys, of studies, or of plots.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt import display
from netspurt.algorithms import Make, within
from netspurt.errors import OutputError
from netspurt.settings import Value, overrides, several

if TYPE_CHECKING:
    import polars as pl

    from netspurt import _core

SERIES = ("cwnd", "ssthresh", "srtt", "rto", "rtt", "flight", "window", "queue")
"""The series that a run can record over time."""

RECORDABLE = (*SERIES, "segments", "arrivals", "drops", "marks", "pages", "limits")
"""Every name that ``record`` accepts."""


def load(path: str | Path, algorithms: Mapping[str, Make] | None = None) -> Scenario:
    """Reads a scenario file.

    Args:
        path: the file.
        algorithms: classes that the file may name; see ``Scenario.with_algorithms``.

    Raises:
        ScenarioError: the file is missing or invalid; the message gives file, line and column.
        TypeError: ``path`` is no path.
    """
    from netspurt import _core

    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"load() reads the path of a scenario file, not {type(path).__name__}")
    scenario = Scenario(_core.Scenario.load(str(path)))
    return scenario.with_algorithms(algorithms) if algorithms else scenario


def parse(text: str, name: str = "<scenario>") -> Scenario:
    """Reads a scenario from TOML text. Error messages use ``name`` as the file name.

    Raises:
        ScenarioError: the text is invalid; the message gives line and column.
    """
    from netspurt import _core

    return Scenario(_core.Scenario.parse(text, name))


class Scenario:
    """A network, its hosts and their applications. Immutable: ``set`` returns another scenario.

    Call ``load`` or ``parse`` first, then ``set`` any number of times, then ``run`` any number of times. The same
    scenario and seed give the same result on every machine.
    """

    def __init__(self, native: _core.Scenario) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The scenario's name: its file, or the name given to ``parse``."""
        return self._native.name

    @property
    def native(self) -> _core.Scenario:
        """The object of the native module, for callers that want columns without polars."""
        return self._native

    def set(self, settings: Mapping[str, Value]) -> Scenario:
        """Returns a scenario with some paths overridden.

        Args:
            settings: dotted path to value; a list index is a number (``flow.0.app.bytes``). A dict replaces
                a whole table, such as ``{"link.satellite.loss": {"kind": "none"}}``.

        A class is a value too, where an algorithm may be written in Python (``netspurt.algorithms``):
        ``{"tcp.congestion": MyControl}``.

        Raises:
            ScenarioError: an unknown path or an impossible value.
            TypeError: no mapping, or a value that TOML cannot hold.
        """
        native = self._native.set(overrides(settings))
        classes = within(settings)
        return Scenario(native.given({**self.algorithms, **classes}) if classes else native)

    def with_algorithms(self, given: Mapping[str, Make]) -> Scenario:
        """Returns a scenario that may also name these classes.

        Args:
            given: class by name. Any callable that makes an algorithm is accepted too, such as
                ``functools.partial(MyControl, beta=0.7)``. The scenario refers to it as ``"python:NAME"``.
        """
        return Scenario(self._native.given({**self.algorithms, **given}))

    @property
    def algorithms(self) -> dict[str, Make]:
        """The classes that the scenario may name, by name."""
        return self._native.algorithms

    def merged(self) -> str:
        """The complete scenario as TOML, with every default and override."""
        return self._native.merged()

    def run(
        self,
        seed: int = 1,
        record: str | Sequence[str] = (),
        pcap: str | Path | None = None,
        *,
        capture: str | Sequence[str] = (),
        snaplen: int | None = None,
        threads: int | None = None,
    ) -> Result:
        """Simulates the scenario. The simulation releases the interpreter lock.

        Args:
            seed: the number from which all random streams derive, at least 0.
            record: names from ``RECORDABLE``; recording does not change the simulation.
            pcap: file for a capture in pcapng format.
            capture: capture points: a node (all its links), ``"link@node"`` (one end of a link) or ``"all"`` (both
                ends of every link). By default each flow is captured once, at the host that sends its data.
            snaplen: bytes kept of each packet; by default all.
            threads: threads of this one run, at least 1; by default one for each processor if the run is long and has
                at most 100,000 flows. The result is the same for each number. A run that records, and a scenario that
                cannot be divided, uses one.

        Raises:
            ValueError: ``record`` contains an unknown name, or ``threads`` is below 1.
            ScenarioError: ``capture`` contains an unknown place.
            AlgorithmError: a class returns an invalid value. An exception of the class itself passes unchanged.
            OutputError: the capture cannot be written.
            KeyboardInterrupt: Ctrl-C, within a second.
        """
        record, capture = several(record), several(capture)
        unknown = [name for name in record if name not in RECORDABLE]
        if unknown:
            raise ValueError(f"cannot record '{unknown[0]}'; record accepts: {', '.join(RECORDABLE)}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}; it must be at least 1")
        try:
            native = self._native.run(
                seed,
                record,
                None if pcap is None else str(pcap),
                capture=capture,
                snaplen=snaplen,
                threads=threads,
            )
        except OSError as error:
            raise OutputError(pcap or "the capture", error) from error
        return Result(self, native, tuple(record))

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def _repr_html_(self) -> str:
        """The HTML form for notebooks: a drawing of the network, and its flows."""
        return display.shown("scenario", self)

    def _repr_svg_(self) -> str:
        """The SVG form for notebooks: the drawing of the network alone."""
        return display.shown("network", self)


class Result:
    """The result of one run. Each table is built on first access.

    Times are seconds of virtual time, rates bits per second, sizes bytes unless a column's name says
    otherwise.
    """

    def __init__(self, scenario: Scenario, native: _core.Run, recorded: Sequence[str] = ()) -> None:
        self.scenario = scenario
        self.recorded = recorded
        """The names passed as ``record``."""
        self._native = native

    @property
    def seed(self) -> int:
        """The seed of this run."""
        return self._native.seed

    @property
    def digest(self) -> str:
        """Hash over every event in order: equal digests mean identical runs."""
        return self._native.digest

    @property
    def native(self) -> _core.Run:
        """The object of the native module, for callers that want columns without polars."""
        return self._native

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow.

        Columns: ``flow``, ``index``, ``from``, ``to``, ``bytes_delivered``, ``start_s``, ``end_s`` (null if
        unfinished), ``goodput_bps``, ``segments_sent``, ``retransmitted``, ``timeouts``, ``fast_retransmits``,
        ``naks_sent``, ``rtt_mean_s``, ``completed``, and further columns of the run. A flow that opens a
        sequence of connections also has ``pages``, ``page_delay_mean_s``, ``_median_s``, ``_p95_s``,
        ``_p99_s``, ``_min_s`` and ``_max_s``, ``transfers`` (files), ``transfer_time_mean_s`` and so on,
        ``connections``, ``broken`` (connections that ended too early), ``port_waits`` and ``power_bit_per_s2``
        (goodput over median page delay). Transfers that arrive have ``arrivals``, ``slowdown_mean``,
        ``_median`` and ``_p99``, and for the classes ``small``, ``medium`` and ``large`` ``small_transfers``,
        ``small_time_mean_s``, ``_median_s``, ``_p95_s`` and ``_p99_s``, ``small_slowdown_mean`` and ``_p99``,
        and so on. A video has ``video_segments``, ``video_rate_bps`` (mean quality), ``quality_switches``,
        ``video_start_s``, ``stalls``, ``stalled_s`` and ``stalled_share``. A flow of datagrams has
        ``datagrams_sent``, ``_received``, ``_lost``, ``_under_way``, ``_duplicated``, ``_reordered`` and
        ``_marked``, ``datagram_loss`` (a share), one-way delays as ``delay_mean_s``, ``_median_s``, ``_p95_s``,
        ``_p99_s``, ``_min_s`` and ``_max_s``, ``jitter_s`` (RFC 3550), and of a call ``call_late`` (datagrams
        too late to be played), ``speech_loss``, ``mouth_to_ear_s``, ``r_factor`` and ``mos`` (ITU-T G.107).
        These columns are null for other flows, and absent if the scenario has no such flow.
        """
        return _frame(self._native.flows())

    @property
    def groups(self) -> pl.DataFrame:
        """One row per flow name: all flows of that name together.

        Columns: ``flow``, ``flows``, ``bytes_delivered``, ``goodput_bps``, ``segments_sent``, ``retransmitted``,
        ``timeouts``, and the columns of pages and transfers as in ``flows``. Quantiles are over all pages together.
        """
        return _frame(self._native.groups())

    @property
    def pages(self) -> pl.DataFrame:
        """One row per fetched page; empty unless ``"pages"`` was recorded.

        Columns: ``flow``, ``index``, ``page`` (from 0), ``asked_s`` (time of the request), ``delay_s`` (from the
        request to the last byte), ``files``, ``bytes``, ``connections`` (opened for the page), ``retransmitted`` and
        ``timeouts`` (during the page, at both ends). Each fetch of the app ``files`` counts as a page of one file.
        """
        return _frame(self._native.pages())

    @property
    def links(self) -> pl.DataFrame:
        """One row per direction of each link.

        Columns: ``link``, ``direction`` (``"a->b"``), ``packets``, ``bytes``, ``drops_<cause>``,
        ``marked`` (packets marked with congestion experienced),
        ``utilisation`` (0 to 1), ``queue_mean_packets``, and further columns of the run. A station of a hub has the
        direction ``"a->hub"``; where stations compete, there are ``deferrals`` and ``collisions``.
        """
        return _frame(self._native.links())

    def series(self, name: str) -> pl.DataFrame:
        """One recorded series.

        Columns: ``time_s``, ``flow``, ``connection``, ``end`` ("client" or "server"), ``value``; for ``queue``:
        ``time_s``, ``link``, ``direction``, ``value``. Windows in bytes, times in seconds, queues in packets.

        Args:
            name: one of ``SERIES``; it must also be in ``record`` of the run. Or ``limit``, the rows of ``limits``.

        Raises:
            ValueError: the series does not exist or was not recorded.
        """
        if name == "limit":
            if "limits" not in self.recorded:
                raise ValueError('the run did not record its limits: run it with record=["limits"]')
            return self.limits
        if name not in SERIES:
            raise ValueError(f"unknown series '{name}'; the series are: {', '.join(SERIES)}")
        return _frame(self._native.series(name))

    @property
    def limits(self) -> pl.DataFrame:
        """One row per interval in which one limit applied to one sender; empty unless ``"limits"`` was recorded.

        Columns: ``time_s`` (its beginning), ``until_s``, ``flow``, ``index``, ``connection``, ``end`` ("client" or
        "server"), ``value`` (the name of the limit, see ``netspurt.diagnosing.limits``).
        """
        import polars as pl

        rows = [
            (
                *(direction["start_s"] + each[name] for name in ("from_s", "until_s")),
                *(row[name] for name in ("flow", "index", "connection")),
                direction["from"],
                each["limit"],
            )
            for row in (json.loads(self._native.limits()) if "limits" in self.recorded else ())
            for direction in row["directions"]
            for each in direction["intervals"]
        ]
        times = {"time_s": pl.Float64, "until_s": pl.Float64}
        names = {"flow": pl.String, "index": pl.Int64, "connection": pl.Int64, "end": pl.String}
        return pl.DataFrame(rows, schema={**times, **names, "value": pl.String}, orient="row")

    @property
    def segments(self) -> pl.DataFrame:
        """One row per segment sent by any host; empty unless ``"segments"`` was recorded.

        Columns: ``time_s``, ``flow``, ``connection``, ``from_client``, ``seq`` and ``ack`` (offsets in the stream),
        ``length`` (bytes), ``window`` (bytes from ``ack`` to the right edge), ``reason``, ``nak`` (offset
        or -1), ``sack_from`` and ``sack_until`` (offsets of the first SACK block, or -1). With ``"arrivals"``
        recorded also ``arrives_s``, NaN for segments that never arrived.
        """
        return _frame(self._native.segments())

    @property
    def drops(self) -> pl.DataFrame:
        """One row per lost packet; empty unless ``"drops"`` was recorded.

        Columns: ``time_s``, ``link``, ``direction``, ``flow``, ``size`` (bytes), ``cause``, ``queue_packets``.
        """
        return _frame(self._native.drops())

    @property
    def marks(self) -> pl.DataFrame:
        """One row per packet that a queue marked; empty unless ``"marks"`` was recorded.

        Columns: ``time_s``, ``link``, ``direction``, ``flow``, ``length`` (bytes of data), ``queue_packets``.
        """
        return _frame(self._native.marks())

    def json(self) -> str:
        """The JSON document that ``netspurt run --json`` prints."""
        return self._native.json()

    def write_pcap(self, path: str | Path, capture: Sequence[str] = (), snaplen: int | None = None) -> None:
        """Writes a capture in pcapng format with nanosecond timestamps; time zero is 2000-01-01 00:00.

        A simulation does not keep its packets, so the run is repeated with the same seed to obtain them.

        Args:
            path: the file.
            capture: capture points, as for ``Scenario.run``; by default each flow at its sender.
            snaplen: bytes kept of each packet; by default all.

        Raises:
            OutputError: the file cannot be written.
            ScenarioError: ``capture`` contains an unknown place.
        """
        again = self.scenario.run(self.seed, pcap=path, capture=capture, snaplen=snaplen)
        if again.digest != self.digest:
            raise RuntimeError(
                f"the repeated run of seed {self.seed} has another digest ({self.digest}, then {again.digest}): "
                "this is a bug of netspurt, please report it"
            )

    def __repr__(self) -> str:
        return f"Result({self.scenario.name!r}, seed={self.seed}, digest={self.digest!r})"

    def _repr_html_(self) -> str:
        """The HTML form for notebooks: short tables, and the first flow's graph if segments were recorded."""
        return display.shown("result", self)


def _frame(columns: Mapping[str, object]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(dict(columns), strict=False)
