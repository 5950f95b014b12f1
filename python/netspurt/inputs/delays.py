"""Delay records from any source, as one table for each path.

Lives here: reading CSV, Parquet, traces of simulated runs and synthetic paths into the same columns, with one sentence
for any invalid file; ``capture_delays`` handles captures. Must not live here: the analysis of delays.

A delay is one way and in seconds, as RFC 889 normalises it; RTTs in a file are halved. NaN is a lost packet.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netspurt.analysis import capture_delays, formats
from netspurt.analysis.capture import read_capture
from netspurt.analysis.delay_path import DelayFileError, DelayPath, Floats
from netspurt.errors import RequestError, absent, nearest, unreadable
from netspurt.inputs.kind import Kind, kind_of

if TYPE_CHECKING:
    import polars as pl

DELAYS = {"delay_ms": 1e-3, "delay_s": 1.0, "rtt_ms": 0.5e-3, "rtt_s": 0.5}
"""Columns that may contain the delay, with the one-way seconds per unit."""

KNOWN = ("time_s", *DELAYS, "length_octets", "host")
"""Columns that are read; others are ignored."""

FORMS = "time_s and delay_ms (one way) or rtt_ms, and optionally length_octets and host"


def read(file: str, seed: int = 1) -> list[DelayPath]:
    """Reads every path of a file: a capture, a trace, a Parquet table, a synthetic path or CSV.

    Args:
        file: the name of the file.
        seed: seed of a synthetic path.

    Raises:
        DelayFileError: the file is invalid; the message gives the error and the row.
        ScenarioError: a synthetic path is invalid.
    """
    path = Path(file)
    if path.is_dir():
        raise DelayFileError(f"{file} is a directory, not a file of delays: name a file in it")
    if not path.exists():
        raise DelayFileError(absent(path, "file "))
    try:
        kind = kind_of(path)
    except RequestError as error:
        raise DelayFileError(str(error)) from error
    if kind is Kind.SCENARIO:
        return [_synthetic(file, seed)]
    if kind is Kind.CAPTURE:
        return _from_capture(file)
    try:
        if kind in (Kind.TRACE, Kind.PARQUET):
            return _from_parquet(file)
        return _from_csv(file)
    except OSError as error:
        raise DelayFileError(unreadable(path, error)) from error


def _synthetic(file: str, seed: int) -> DelayPath:
    from netspurt import _core

    run = _core.SyntheticPath.load(file).run(seed)
    return DelayPath(
        file, f"seed {seed}", run["time_s"], run["delay_s"], run["length_octets"].astype(np.float64)
    )


def _from_capture(file: str) -> list[DelayPath]:
    """The paths of a capture, in the order of their first use.

    Raises:
        DelayFileError: not a capture, no RTT sample, or damaged; its ``paths`` are the readable part.
    """
    try:
        capture = read_capture(file, ["samples", "events"])
    except RequestError as error:
        raise DelayFileError(str(error)) from error
    paths = capture_delays.paths_of(capture)
    if capture.fault:
        raise DelayFileError(capture.fault, paths)
    if not paths:
        raise DelayFileError(f"{file} contains no RTT sample: no segment and its ACK were both captured")
    return paths


def _from_csv(file: str) -> list[DelayPath]:
    import polars as pl

    columns = _header(file)
    _check_columns(file, columns)
    try:
        table = pl.read_csv(file, columns=[name for name in columns if name in KNOWN], infer_schema=False)
    except pl.exceptions.PolarsError as error:
        _check_fields(file, len(columns))
        raise DelayFileError(f"{file} is not a CSV file: {str(error).splitlines()[0].lower()}") from error
    if columns[-1] not in table.columns or table[columns[-1]].null_count():
        # A row without its last fields looks like one in which they are empty, as those of a lost packet are.
        _check_fields(file, len(columns))
    texts = {name: table[name].to_list() for name in table.columns}
    numbers = {
        name: _numbers(file, name, table[name], may_be_empty=name != "time_s")
        for name in texts
        if name != "host"
    }
    return _paths(file, numbers, texts.get("host"))


def _header(file: str) -> list[str]:
    try:
        with Path(file).open(newline="", encoding="utf-8-sig") as lines:
            columns = next(csv.reader(lines), [])
    except (UnicodeDecodeError, csv.Error):
        raise DelayFileError(f"{file} is not a CSV file of delays: it is not text") from None
    if not columns:
        raise DelayFileError(f"{file} is empty: its first line must name the columns {FORMS}")
    return columns


def _check_fields(file: str, count: int) -> None:
    """Refuses a row with another number of fields than the header line."""
    with Path(file).open(newline="", encoding="utf-8-sig") as lines:
        for row, fields in enumerate(csv.reader(lines)):
            if fields and len(fields) != count:
                has = formats.counted(len(fields), "field")
                raise DelayFileError(f"{file}, row {row}: it has {has}, and the header line {count}")


def _numbers(file: str, name: str, column: pl.Series, may_be_empty: bool) -> Floats:
    """A column of text as numbers, NaN where it is empty; an invalid number is reported with its row."""
    import polars as pl

    text = column.str.strip_chars()
    empty = (text.is_null() | (text == "")).to_numpy()
    values = text.cast(pl.Float64, strict=False)
    wrong = values.is_null().to_numpy() & ~empty
    if wrong.any():
        row = int(wrong.argmax())
        raise DelayFileError(_at(file, row, f"{name} is '{column[row]}', which is not a number"))
    if empty.any() and not may_be_empty:
        raise DelayFileError(_at(file, int(empty.argmax()), f"{name} is empty"))
    numbers = values.to_numpy().astype(np.float64)
    _check_numbers(file, name, numbers, empty)
    return numbers


def _check_numbers(file: str, name: str, numbers: Floats, empty: npt.NDArray[np.bool_]) -> None:
    """Rejects NaN: a lost packet has an empty field."""
    bad = ~np.isfinite(numbers) & ~empty
    if name != "time_s":
        bad |= numbers < 0
    if bad.any():
        row = int(bad.argmax())
        hint = "; a lost packet has an empty field" if name in DELAYS else ""
        raise DelayFileError(_at(file, row, f"{name} is {numbers[row]:g}, not a number of 0 or more{hint}"))


def _at(file: str, row: int, message: str) -> str:
    """Rows are counted from 1, without the header line."""
    return f"{file}, row {row + 1}: {message}"


def _check_columns(file: str, columns: Sequence[str]) -> None:
    if "time_s" not in columns or not any(name in columns for name in DELAYS):
        missing = "time_s" if "time_s" not in columns else "delay_ms or rtt_ms"
        like = nearest("delay_ms" if missing != "time_s" else "time_s", columns).replace(
            "did you mean", "is it"
        )
        found = ", ".join(columns[:8])
        raise DelayFileError(f"{file} has no column {missing}{like} (it has {found}; required are {FORMS})")


def _from_parquet(file: str) -> list[DelayPath]:
    import polars as pl

    try:
        columns = pl.read_parquet_schema(file)
        if "record" in columns:
            return _from_trace(file, pl.read_parquet(file))
        _check_columns(file, list(columns))
        kept = [name for name in columns if name in KNOWN]
        table = (
            _fates(pl.read_parquet(file)).select(kept)
            if "event" in columns
            else pl.read_parquet(file, columns=kept)
        )
    except pl.exceptions.PolarsError as error:
        raise DelayFileError(f"{file} is not a Parquet file: {str(error).splitlines()[0].lower()}") from error
    numbers: dict[str, Floats] = {}
    for name in table.columns:
        if name == "host":
            continue
        if not table[name].dtype.is_numeric():
            raise DelayFileError(f"{file}: the column {name} contains {table[name].dtype}, not numbers")
        empty = table[name].is_null().to_numpy()
        numbers[name] = table[name].cast(pl.Float64).to_numpy().astype(np.float64)
        _check_numbers(file, name, numbers[name], empty)
    hosts = table["host"].cast(pl.String).to_list() if "host" in table.columns else None
    return _paths(file, numbers, hosts)


def _fates(table: pl.DataFrame) -> pl.DataFrame:
    """Converts the prober's table (``netspurt ping --out``): one row per packet, with a delay if it was answered."""
    import polars as pl

    from netspurt.probing.prober import EXTRAS

    answered = pl.when(pl.col("event") == "reply").then(pl.col("rtt_ms"))
    return table.filter(~pl.col("event").is_in(EXTRAS)).with_columns(rtt_ms=answered)


def _paths(file: str, numbers: Mapping[str, Floats], hosts: Sequence[Any] | None) -> list[DelayPath]:
    """One path for each host, in the order of appearance."""
    name = next(name for name in DELAYS if name in numbers)
    delay_s = numbers[name] * DELAYS[name]
    time_s = numbers["time_s"]
    if time_s.size == 0:
        raise DelayFileError(f"{file} has a header line but no rows")
    octets = numbers.get("length_octets", np.full(time_s.shape, np.nan))
    labels = np.asarray(["" if host is None else str(host) for host in hosts or [""] * time_s.size])
    return [
        _ordered(file, host, time_s[labels == host], delay_s[labels == host], octets[labels == host])
        for host in dict.fromkeys(labels.tolist())
    ]


def _ordered(file: str, host: str, time_s: Floats, delay_s: Floats, octets: Floats) -> DelayPath:
    order = np.argsort(time_s, kind="stable")
    return DelayPath(file, host, time_s[order], delay_s[order], octets[order])


def _from_trace(file: str, table: pl.DataFrame) -> list[DelayPath]:
    """The RTT samples of each end of each flow in a simulated run (``run --trace``).

    A retransmitted data segment counts as lost at the time of its first transmission.
    """
    import polars as pl

    if "rtt" not in table["record"].unique():
        raise DelayFileError(f"{file} is the trace of a run without RTT samples")
    who = ["flow", "index", "host"]
    samples = table.filter(pl.col("record") == "rtt").select(*who, "time_s", rtt="value", octets=pl.lit(None))
    lost = _sent_again(table.filter((pl.col("record") == "segments") & (pl.col("length") > 0)), who)
    answered = samples.select(who).unique()
    both = pl.concat([samples, lost.join(answered, on=who)], how="diagonal_relaxed").sort(
        [*who, "time_s"], maintain_order=True
    )
    return [
        DelayPath(
            file,
            f"{flow} {index} {host}",
            rows["time_s"].to_numpy(),
            rows["rtt"].cast(pl.Float64).fill_null(float("nan")).to_numpy() / 2.0,
            rows["octets"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
        )
        for (flow, index, host), rows in both.group_by(who, maintain_order=True)
    ]


def _sent_again(data: pl.DataFrame, who: list[str]) -> pl.DataFrame:
    import polars as pl

    sendings = data.group_by([*who, "seq"], maintain_order=True).agg(
        pl.col("time_s").min(), pl.len().alias("sendings"), pl.col("length").first().alias("octets")
    )
    again = sendings.filter(pl.col("sendings") > 1)
    return again.select(*who, "time_s", rtt=pl.lit(None, dtype=pl.Float64), octets=pl.col("octets"))


def gather(files: Iterable[str], seed: int = 1) -> tuple[list[DelayPath], list[str]]:
    """The paths of many files, and a sentence for each unreadable file."""
    paths: list[DelayPath] = []
    complaints: list[str] = []
    for file in files:
        try:
            paths += read(file, seed)
        except DelayFileError as error:
            paths += error.paths
            complaints.append(str(error))
        except ValueError as error:
            # ScenarioError comes from the native module; see ``cli.main``.
            if type(error).__name__ != "ScenarioError":
                raise
            complaints.append(str(error))
    return paths, complaints
