"""The diagnosis of a capture as tables.

Lives here: the tables of a diagnosis and its JSON document. Must not live here: reading, the rules that name a limit,
or text for a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from netspurt import display
from netspurt.analysis import formats
from netspurt.analysis.capture import fault_of
from netspurt.diagnosing.limits import LIMITS, NOT_LOST
from netspurt.diagnosing.time_range import TimeRange
from netspurt.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

MOST_CONNECTIONS = 100_000
"""The maximal number of connections that a diagnosis keeps: those that lost most time."""

PIECE = 500
"""Connections of a piece of the document."""

SIDES = ("client", "server")
"""The senders of the two directions, in their order in the document."""

_WHO = {"connection": int, "from": str}

SCHEMAS: dict[str, dict[str, type]] = {
    "connections": {
        **{"connection": int, "client": str, "server": str, "start_s": float, "vantage": str},
        **{"sender": str, "bytes": int, "duration_s": float, "limit": str, "lost_s": float, "sentence": str},
    },
    "directions": {
        **{**_WHO, "bytes": int, "duration_s": float, "limit": str, "sentence": str, "vantage": str},
        **{"offload": bool, "retransmitted": int, "rtt_min_s": float, "rate_max_bps": float, "lost_s": float},
        "bytes_in_all": int,
    },
    "budget": {
        **{**_WHO, "limit": str, "seconds": float, "share": float, "confidence": float, "sentence": str},
        **{"first_packet": int, "last_packet": int, "evidence": str},
    },
    "intervals": {**_WHO, "from_s": float, "until_s": float, "limit": str},
    "masked": {**_WHO, "limit": str, "by": str, "seconds": float},
    "transfers": {
        **{"connection": int, "transfer": int, "from_s": float, "until_s": float, "duration_s": float},
        **{"request_bytes": int, "response_bytes": int, "limit": str, "sentence": str},
        **{"first_packet": int, "last_packet": int, "budget": str},
    },
}
"""The columns of every table."""

Document = Mapping[str, Any]


class Steps(Protocol):
    """The source of a diagnosis: see ``reading.Reading``."""

    path: Path
    within: TimeRange | None

    def step(self) -> bool:
        """Reads more; False at the end."""
        ...

    def take(self) -> list[dict[str, Any]]:
        """Some of the connections that have ended, as in ``why --json``; empty if there are none for now."""
        ...

    def tally(self) -> dict[str, Any]:
        """Counts of packets and connections."""
        ...


class Diagnosis:
    """What limited the connections of a capture. Times are seconds, sizes bytes, rates bits per second.

    Each instant of one direction of a connection has exactly one limit; ``netspurt.diagnosing.limits`` lists them.

    Of a part of the time (``within``), bytes, budgets, intervals, retransmissions and sentences are of this part.
    Requests that have any time in it are whole.
    """

    def __init__(
        self,
        path: Path,
        tally: dict[str, Any],
        tables: dict[str, pl.DataFrame],
        within: TimeRange | None = None,
    ) -> None:
        self.path = path
        self.within = within
        """The part of the time that is diagnosed; None for all."""
        self.tally = tally
        """Counts: ``packets``, ``segments``, ``connections`` (all of the capture), ``small`` (with too few bytes),
        ``filtered`` (by the filter), ``outside`` (without any time in the range) and ``unlisted`` (above the maximal
        number); further packets by fate."""
        self._tables = tables

    @property
    def connections(self) -> pl.DataFrame:
        """One row per connection, those that lost most time first.

        Columns: ``connection`` (number), ``client``, ``server`` (address and port), ``start_s`` (since the first
        packet of the capture), ``vantage`` (where the capture was taken: "sender", "receiver", "between", "unknown"),
        ``sender`` ("client" or "server": the end that sent more bytes), and of this direction ``bytes``,
        ``duration_s``, ``limit`` (the one with the most time), ``lost_s`` (the time that was spent neither in
        ``bottleneck`` nor in ``application``), ``sentence``.
        """
        return self._tables["connections"]

    @property
    def directions(self) -> pl.DataFrame:
        """Two rows per connection: the data of the client, and the data of the server.

        Columns: ``connection``, ``from``, ``bytes`` (acknowledged), ``duration_s``, ``limit``, ``sentence``,
        ``vantage``, ``offload`` (captured above segmentation offload), ``retransmitted`` segments, ``rtt_min_s``,
        ``rate_max_bps`` (the highest that was delivered during a round trip), ``lost_s``, ``bytes_in_all`` (of the
        whole connection, also if the diagnosis is of a part of the time).
        """
        return self._tables["directions"]

    @property
    def budget(self) -> pl.DataFrame:
        """One row per limit of a direction, longest first; the seconds add up to the duration.

        Columns: ``connection``, ``from``, ``limit``, ``seconds``, ``share`` (0 to 1), ``confidence`` (0 to 1),
        ``sentence``, ``first_packet`` and ``last_packet`` (of the longest interval of the limit, as Wireshark numbers
        them), ``evidence`` (the numbers behind it, as a JSON object).
        """
        return self._tables["budget"]

    @property
    def intervals(self) -> pl.DataFrame:
        """One row per interval in which one limit applied.

        Columns: ``connection``, ``from``, ``from_s`` and ``until_s`` (since the start of the connection), ``limit``.
        """
        return self._tables["intervals"]

    @property
    def masked(self) -> pl.DataFrame:
        """One row per pair of a hidden limit and the one that counted, in a direction.

        Columns: ``connection``, ``from``, ``limit`` (what held the sender too), ``by`` (the limit that counted: without
        relaxing it, nothing would have come sooner), ``seconds``.

        It is empty for a simulated run: the simulator knows which one limit held the sender at each instant.
        """
        return self._tables["masked"]

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per request and response of connections with two or more of them.

        Columns: ``connection``, ``transfer`` (counted from 0), ``from_s`` and ``until_s`` (since the start of the
        connection), ``duration_s``, ``request_bytes``, ``response_bytes``, ``limit`` (the one with the most time),
        ``sentence``, ``first_packet``, ``last_packet``, ``budget`` (limit, seconds and share of each line, as a JSON
        array: the client's limits until the response began, then the server's). A simulated run has no packets: the
        columns ``first_packet`` and ``last_packet`` are then null.
        """
        return self._tables["transfers"]

    @property
    def flows(self) -> list[dict[str, Any]] | None:
        """The flow of each connection by its number; None for a capture.

        Keys: ``flow``, ``index``, ``from``, ``to``, ``flow_connection`` (its number among the connections of the flow).
        """
        flows: list[dict[str, Any]] | None = self.tally.get("flows")
        return flows

    @property
    def fault(self) -> str | None:
        """A sentence on damage of the file, or on missing TCP; None if there is neither."""
        if self.flows is not None:
            return None
        return fault_of(self.path, self.tally)

    def document(self, connections: Sequence[int] | None = None) -> dict[str, Any]:
        """The JSON document of ``netspurt why --json``, of these connections or of all.

        Raises:
            ValueError: one of them is missing.
        """
        return {**self._head(), "connections": self.documents(connections)}

    def json(self, connections: Sequence[int] | None = None) -> Iterator[str]:
        """The same document as text, in pieces: as Python objects many connections would need much memory.

        Raises:
            ValueError: one of them is missing.
        """
        numbers = self.connections["connection"].to_list() if connections is None else list(connections)
        yield json.dumps(self._head())[:-1] + ', "connections": ['
        for first in range(0, len(numbers), PIECE):
            some = json.dumps(self.documents(numbers[first : first + PIECE]))
            yield (", " if first else "") + some[1:-1]
        yield "]}"

    def _head(self) -> dict[str, Any]:
        """What the document says of the whole capture."""
        head = {"file": str(self.path), "connections_seen": self.tally["connections"]}
        named = {"packets", "segments", "damage", "small", "filtered", "unlisted"}
        if self.within is not None:
            head["range"] = self.within.document()
            named.add("outside")
        if self.flows is not None:
            return head
        return head | {name: value for name, value in self.tally.items() if name in named}

    def documents(self, connections: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """These connections of the document, or all in the order of ``connections``.

        Raises:
            ValueError: one of them is missing.
        """
        import polars as pl

        rows = self.connections
        if connections is not None:
            rows = rows.filter(pl.col("connection").is_in(list(connections)))
            missing = sorted(set(connections) - set(rows["connection"]))
            if missing:
                raise ValueError(f"there is no diagnosed connection {missing[0]} in {self.path}")
        numbers = rows.select("connection")
        parts = {
            name: _parts(self._tables[name].join(numbers, on="connection", how="semi")) for name in PARTS
        }
        transfers: dict[int, list[dict[str, Any]]] = {}
        for row in self.transfers.join(
            numbers, on="connection", how="semi", maintain_order="left"
        ).to_dicts():
            transfers.setdefault(row.pop("connection"), []).append(_transfer(row))
        return [
            {**_connection(row, parts), "transfers": transfers.get(row["connection"], [])}
            for row in rows.to_dicts()
        ]

    def __repr__(self) -> str:
        count = self.connections.height
        return f"Diagnosis({str(self.path)!r}, {formats.counted(count, 'connection')})"

    def _repr_html_(self) -> str:
        return display.shown("diagnosis", self)


Parts: TypeAlias = dict[tuple[int, str], list[dict[str, Any]]]
"""Rows by connection and direction."""

PARTS = ("directions", "budget", "intervals", "masked")


def _parts(table: pl.DataFrame) -> Parts:
    found: Parts = {}
    for row in table.to_dicts():
        found.setdefault((row.pop("connection"), row["from"]), []).append(row)
    return found


def _connection(row: dict[str, Any], parts: dict[str, Parts]) -> dict[str, Any]:
    about = ("connection", "client", "server", "start_s", "vantage", "lost_s")
    directions = []
    for side in SIDES:
        who = (row["connection"], side)
        intervals = [
            {name: each[name] for name in ("from_s", "until_s", "limit")}
            for each in parts["intervals"].get(who, ())
        ]
        names = ("limit", "by", "seconds")
        masked = [{name: each[name] for name in names} for each in parts["masked"].get(who, ())]
        budget = [_line(each, masked) for each in parts["budget"].get(who, ())]
        directions.append(
            {**parts["directions"][who][0], "budget": budget, "masked": masked, "intervals": intervals}
        )
    return {**{name: row[name] for name in about}, "directions": directions}


def _transfer(row: dict[str, Any]) -> dict[str, Any]:
    packets = [row.pop("first_packet"), row.pop("last_packet")]
    return {**row, "budget": json.loads(row["budget"]), "packets": packets}


def _line(row: dict[str, Any], masked: Sequence[Document]) -> dict[str, Any]:
    numbers = json.loads(row["evidence"])
    if row["first_packet"] is not None:
        numbers["packets"] = [row["first_packet"], row["last_packet"]]
    names = ("limit", "seconds", "share", "confidence", "sentence")
    line = {**{name: row[name] for name in names}, "evidence": numbers}
    hidden = [
        {"limit": each["by"], "seconds": each["seconds"]} for each in masked if each["limit"] == row["limit"]
    ]
    return {**line, "masked_by": hidden} if hidden else line


def collect(
    reading: Steps,
    stepped: Callable[[], None] = lambda: None,
    wanted: Callable[[str, str], bool] | None = None,
    most: int = MOST_CONNECTIONS,
) -> Diagnosis:
    """Reads to the end.

    Args:
        reading: a capture at its beginning.
        stepped: called after each step.
        wanted: whether to keep a connection between this client and this server.
        most: how many connections are kept at most: those that lost most time.

    Raises:
        RequestError: no connection is open in the part of the time to diagnose.
    """
    import polars as pl

    tables = {name: _frame(name, []) for name in SCHEMAS}
    kept = filtered = unlisted = 0
    more = True
    while more:
        more = reading.step()
        pieces = {name: [table] for name, table in tables.items()}
        while found := reading.take():
            passed = [each for each in found if wanted is None or wanted(each["client"], each["server"])]
            filtered += len(found) - len(passed)
            kept += len(passed)
            for name, rows in _rows_of(passed, reading.within).items():
                pieces[name].append(_frame(name, rows))
        tables = {name: pl.concat(frames) for name, frames in pieces.items()}
        # Sorting is worth its time only now and then.
        if kept - unlisted > (2 * most if more else most):
            tables = _worst(tables, most)
            unlisted = kept - most
        stepped()
    tables["connections"] = tables["connections"].sort(
        "lost_s", "connection", descending=[True, False], maintain_order=True
    )
    tally = reading.tally()
    _check_range(reading, tally)
    tally |= {
        "small": max(tally["connections"] - kept - filtered - tally["outside"], 0),
        "filtered": filtered,
        "unlisted": unlisted,
    }
    return Diagnosis(reading.path, tally, tables, reading.within)


def _check_range(reading: Steps, tally: Document) -> None:
    """Refuses a part of the time in which there is nothing: an empty answer would look like one."""
    if reading.within is None or not tally["connections"] or tally["outside"] < tally["connections"]:
        return
    name = "standard input" if str(reading.path) == "-" else reading.path
    last = ""
    if (ended := tally.get("ended_s")) is not None:
        last = f"; the last packet comes {formats.span(ended - tally['began_s'])} after the first"
    raise RequestError(f"{name}: no connection is open {reading.within.words}{last}")


def lost(direction: Document) -> float:
    """The seconds of a direction that were spent neither in ``bottleneck`` nor in ``application``."""
    gained: float = sum(line["seconds"] for line in direction["budget"] if line["limit"] in NOT_LOST)
    whole: float = direction["duration_s"]
    return max(whole - gained, 0.0)


def main_direction(connection: Document) -> dict[str, Any]:
    """The direction with more bytes.

    If both have as many, as in a range in which nothing arrived: one that has time in it, then the one with more bytes
    in all, then the client's.
    """
    client, server = connection["directions"]
    weights = [
        (way["bytes"], way.get("duration_s", 0.0) > 0, way.get("bytes_in_all", 0)) for way in (client, server)
    ]
    chosen: dict[str, Any] = server if weights[1] > weights[0] else client
    return chosen


def _rows_of(found: Sequence[Document], within: TimeRange | None) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table for some connections of the document."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
    for connection in found:
        number, start = connection["connection"], connection["start_s"]
        main = main_direction(connection)
        rows["connections"].append(
            {
                **{name: connection[name] for name in SCHEMAS["connections"] if name in connection},
                **{"sender": main["from"], "lost_s": lost(main)},
                **{name: main[name] for name in ("bytes", "duration_s", "limit", "sentence")},
            }
        )
        for direction in connection["directions"]:
            who = {"connection": number, "from": direction["from"]}
            rows["directions"].append({**direction, **who, "lost_s": lost(direction)})
            rows["budget"] += [who | _flat(line) for line in direction["budget"]]
            rows["intervals"] += [who | interval for interval in direction["intervals"]]
            rows["masked"] += [who | each for each in direction["masked"]]
        rows["transfers"] += [
            {"connection": number, "transfer": place, **_flat_transfer(each)}
            for place, each in enumerate(connection["transfers"])
            if within is None or within.touches(start + each["from_s"], start + each["until_s"])
        ]
    return rows


def _flat_transfer(transfer: Document) -> dict[str, Any]:
    whole: float = transfer["until_s"] - transfer["from_s"]
    budget = transfer["budget"]
    sentence = "No time passed."
    if budget:
        first = budget[0]
        sentence = f"For {first['seconds']:.3g} s of {whole:.3g} s {LIMITS[first['limit']]}."
    first_packet, last_packet = transfer["packets"]
    return {
        **transfer,
        "duration_s": whole,
        "sentence": sentence,
        **{"first_packet": first_packet, "last_packet": last_packet, "budget": json.dumps(budget)},
    }


def _flat(line: Document) -> dict[str, Any]:
    numbers = dict(line["evidence"])
    first, last = numbers.pop("packets", (None, None))
    return {**line, "first_packet": first, "last_packet": last, "evidence": json.dumps(numbers)}


def _frame(name: str, rows: Sequence[Document]) -> pl.DataFrame:
    import polars as pl

    schema = SCHEMAS[name]
    return pl.DataFrame({column: [row[column] for row in rows] for column in schema}, schema=dict(schema))


def _worst(tables: dict[str, pl.DataFrame], most: int) -> dict[str, pl.DataFrame]:
    """The connections that lost most time, in their order."""
    numbers = tables["connections"].sort("lost_s", descending=True).head(most).select("connection")
    return {
        name: table.join(numbers, on="connection", how="semi", maintain_order="left")
        for name, table in tables.items()
    }
