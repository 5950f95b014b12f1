"""Scenarios and their results, as tables.

Lives here: the Python face of the native ``Scenario`` and ``Run``: types in, polars tables out.
Must not live here: knowledge of scenario keys, of studies, or of pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt import display
from netspurt.algorithms import Make, within
from netspurt.errors import OutputError
from netspurt.settings import Value, overrides

if TYPE_CHECKING:
    import polars as pl

    from netspurt import _core

SERIES = ("cwnd", "ssthresh", "srtt", "rto", "rtt", "flight", "window", "queue")
"""What can be recorded as a series in time."""

RECORDABLE = (*SERIES, "segments", "arrivals", "drops", "marks", "pages")
"""Everything that ``record`` may name."""


def load(path: str | Path, algorithms: Mapping[str, Make] | None = None) -> Scenario:
    """Reads a scenario file.

    Args:
        path: the file.
        algorithms: classes that it may name; see ``Scenario.with_algorithms``.

    Raises:
        ScenarioError: the file is missing or says something that cannot be; names file, line and column.
    """
    from netspurt import _core

    scenario = Scenario(_core.Scenario.load(str(path)))
    return scenario.with_algorithms(algorithms) if algorithms else scenario


def parse(text: str, name: str = "<scenario>") -> Scenario:
    """Reads a scenario from TOML text; ``name`` stands in error messages.

    Raises:
        ScenarioError: names line and column.
    """
    from netspurt import _core

    return Scenario(_core.Scenario.parse(text, name))


class Scenario:
    """A network, its hosts and what they do. Immutable: ``set`` returns another one.

    Order of calls: ``load`` or ``parse``, any number of ``set``, then ``run`` as often as wanted. The same
    scenario and seed give the same result on every machine.
    """

    def __init__(self, native: _core.Scenario) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The scenario's name: its file, or what was given to ``parse``."""
        return self._native.name

    @property
    def native(self) -> _core.Scenario:
        """The object of the native module, for callers that want columns without polars."""
        return self._native

    def set(self, settings: Mapping[str, Value]) -> Scenario:
        """A scenario with some paths overridden.

        Args:
            settings: dotted path to value; a list index is a number (``flow.0.app.bytes``). A dict replaces
                a whole table, such as ``{"link.satellite.loss": {"kind": "none"}}``.

        A class stands for itself where an algorithm may be one of your own (``netspurt.algorithms``):
        ``{"tcp.congestion": MyControl}``.

        Raises:
            ScenarioError: an unknown path or an impossible value.
            TypeError: a value that TOML cannot hold.
        """
        native = self._native.set(overrides(settings))
        classes = within(settings)
        return Scenario(native.given({**self.algorithms, **classes}) if classes else native)

    def with_algorithms(self, given: Mapping[str, Make]) -> Scenario:
        """A scenario that may name these classes, beside those that it may name already.

        Args:
            given: name to a class, or to whatever else makes an algorithm when it is called, such as
                ``functools.partial(MyControl, beta=0.7)``; the scenario says ``"python:NAME"``.
        """
        return Scenario(self._native.given({**self.algorithms, **given}))

    @property
    def algorithms(self) -> dict[str, Make]:
        """The classes that it may name, by name."""
        return self._native.algorithms

    def merged(self) -> str:
        """The complete scenario as TOML, with every default and override written out."""
        return self._native.merged()

    def run(
        self,
        seed: int = 1,
        record: Sequence[str] = (),
        pcap: str | Path | None = None,
        *,
        capture: Sequence[str] = (),
        snaplen: int | None = None,
    ) -> Result:
        """Simulates the scenario. The interpreter lock is released meanwhile.

        Args:
            seed: the one number all randomness derives from, at least 0.
            record: names out of ``RECORDABLE``; recording does not change what happens.
            pcap: file to capture into, pcapng.
            capture: where: a node for all its links, ``"link@node"`` for one end of a link, ``"all"`` for both
                ends of every link. By default each flow is captured once, at the host that sends its data.
            snaplen: bytes kept of each packet; by default all of them.

        Raises:
            ValueError: a name in ``record`` that does not exist.
            ScenarioError: a place in ``capture`` that does not exist.
            AlgorithmError: a class does what cannot be; what a class raises is raised as it is.
            OutputError: the capture cannot be written.
            KeyboardInterrupt: Ctrl-C, within a second.
        """
        unknown = [name for name in record if name not in RECORDABLE]
        if unknown:
            raise ValueError(f"cannot record '{unknown[0]}'; what can be: {', '.join(RECORDABLE)}")
        try:
            native = self._native.run(
                seed,
                list(record),
                None if pcap is None else str(pcap),
                capture=list(capture),
                snaplen=snaplen,
            )
        except OSError as error:
            raise OutputError(pcap or "the capture", error) from error
        return Result(self, native, tuple(record))

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def _repr_html_(self) -> str:
        """What notebooks show: the network as a drawing, and its flows."""
        return display.shown("scenario", self)

    def _repr_svg_(self) -> str:
        """The drawing of the network alone."""
        return display.shown("network", self)


class Result:
    """What one run left behind. Tables are built when first asked for.

    Times are seconds of virtual time, rates bits per second, sizes bytes unless a column's name says
    otherwise.
    """

    def __init__(self, scenario: Scenario, native: _core.Run, recorded: Sequence[str] = ()) -> None:
        self.scenario = scenario
        self.recorded = recorded
        """What ``record`` named."""
        self._native = native

    @property
    def seed(self) -> int:
        """The seed of this run."""
        return self._native.seed

    @property
    def digest(self) -> str:
        """Hash over every event in order: equal digests mean equal histories."""
        return self._native.digest

    @property
    def native(self) -> _core.Run:
        """The object of the native module, for callers that want columns without polars."""
        return self._native

    @property
    def flows(self) -> pl.DataFrame:
        """One row for each flow.

        Columns: ``flow``, ``index``, ``from``, ``to``, ``bytes_delivered``, ``start_s``, ``end_s`` (null if
        unfinished), ``goodput_bps``, ``segments_sent``, ``retransmitted``, ``timeouts``,
        ``fast_retransmits``, ``naks_sent``, ``rtt_mean_s``, ``completed``, and what else the run reports. A flow
        that opens connection after connection has also ``pages``, ``page_delay_mean_s``, ``_median_s``, ``_p95_s``,
        ``_min_s`` and ``_max_s``, ``transfers`` (files), ``transfer_time_mean_s`` and so on, ``connections``,
        ``broken`` (connections that ended too early), ``port_waits`` and ``power_bit_per_s2`` (goodput over median
        page delay). For other flows beside it these are null; without such a flow they are not there.
        """
        return _frame(self._native.flows())

    @property
    def groups(self) -> pl.DataFrame:
        """One row for each name of flows: all of that name together.

        Columns: ``flow``, ``flows``, ``bytes_delivered``, ``goodput_bps``, ``segments_sent``, ``retransmitted``,
        ``timeouts``, and those of pages and transfers as in ``flows``. Quantiles are those of all pages together.
        """
        return _frame(self._native.groups())

    @property
    def pages(self) -> pl.DataFrame:
        """One row for each page fetched; empty unless ``"pages"`` was recorded.

        Columns: ``flow``, ``index``, ``page`` (from 0), ``asked_s``, ``delay_s`` (from asking for it to its last
        byte), ``files``, ``bytes``, ``connections`` (opened for it), ``retransmitted`` and ``timeouts`` (meanwhile,
        at both ends). What ``files`` fetches are pages of one file.
        """
        return _frame(self._native.pages())

    @property
    def links(self) -> pl.DataFrame:
        """One row for each direction of each link.

        Columns: ``link``, ``direction`` (``"a->b"``), ``packets``, ``bytes``, ``drops_<cause>``,
        ``marked`` (with congestion experienced),
        ``utilisation`` (0 to 1), ``queue_mean_packets``, and what else the run reports. A station of a hub is the
        direction ``"a->hub"``; where stations compete there are ``deferrals`` and ``collisions``.
        """
        return _frame(self._native.links())

    def series(self, name: str) -> pl.DataFrame:
        """One recorded series.

        Columns: ``time_s``, ``flow``, ``connection``, ``end`` ("client" or "server"), ``value``; for ``queue``:
        ``time_s``, ``link``, ``direction``, ``value``. Windows in bytes, times in seconds, queues in packets.

        Args:
            name: one of ``SERIES``, and named in ``record`` when the scenario was run.

        Raises:
            ValueError: the series was not recorded or does not exist.
        """
        if name not in SERIES:
            raise ValueError(f"there is no series '{name}'; there are: {', '.join(SERIES)}")
        return _frame(self._native.series(name))

    @property
    def segments(self) -> pl.DataFrame:
        """One row for each segment that any host sent; empty unless ``"segments"`` was recorded.

        Columns: ``time_s``, ``flow``, ``connection``, ``from_client``, ``seq`` and ``ack`` (offsets in the stream),
        ``length`` (bytes), ``window`` (bytes from ``ack`` to the right edge), ``reason``, ``nak`` (offset
        or -1), ``sack_from`` and ``sack_until`` (offsets of the first SACK block, or -1). With ``"arrivals"``
        recorded also ``arrives_s``, NaN for what never arrived.
        """
        return _frame(self._native.segments())

    @property
    def drops(self) -> pl.DataFrame:
        """One row for each lost packet; empty unless ``"drops"`` was recorded.

        Columns: ``time_s``, ``link``, ``direction``, ``flow``, ``size`` (bytes), ``cause``, ``queue_packets``.
        """
        return _frame(self._native.drops())

    @property
    def marks(self) -> pl.DataFrame:
        """One row for each packet that a queue marked; empty unless ``"marks"`` was recorded.

        Columns: ``time_s``, ``link``, ``direction``, ``flow``, ``length`` (bytes of data), ``queue_packets``.
        """
        return _frame(self._native.marks())

    def json(self) -> str:
        """The document that ``netspurt run --json`` prints."""
        return self._native.json()

    def write_pcap(self, path: str | Path, capture: Sequence[str] = (), snaplen: int | None = None) -> None:
        """Writes a capture as pcapng with nanosecond times; time zero is the beginning of the year 2000.

        The run is repeated to do so: a simulation keeps no packets, and the same seed gives the same ones.

        Args:
            path: the file.
            capture: where packets are seen, as for ``Scenario.run``; by default each flow at its sender.
            snaplen: bytes kept of each packet; by default all of them.

        Raises:
            OutputError: the file cannot be written.
            ScenarioError: a place in ``capture`` that does not exist.
        """
        again = self.scenario.run(self.seed, pcap=path, capture=capture, snaplen=snaplen)
        if again.digest != self.digest:
            raise RuntimeError(
                f"the run of seed {self.seed} did not repeat itself ({self.digest}, then {again.digest}): "
                "please report this"
            )

    def __repr__(self) -> str:
        return f"Result({self.scenario.name!r}, seed={self.seed}, digest={self.digest!r})"

    def _repr_html_(self) -> str:
        """What notebooks show: short tables, and the first flow's graph where segments were recorded."""
        return display.shown("result", self)


def _frame(columns: Mapping[str, object]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(dict(columns), strict=False)
