"""The definition of a sweep, from a file or from Python.

Lives here: the sweep file, read and checked as far as possible without its scenario. Must not live here: running.

    scenario = "satellite.toml"                # relative to this file
    seeds = 20                                 # 1 to 20; or a list, or { first = 100, count = 20 }

    [set]                                      # for all points
    "tcp.receive_window" = "1 MiB"

    [grid]                                     # every combination
    "link.satellite.delay" = ["10 ms", "100 ms", "290 ms"]
    "link.satellite.loss.rate" = { from = 1e-9, to = 1e-6, count = 4, scale = "log" }

    [[point]]                                  # paths that change together
    "tcp.congestion" = "cubic"
    "tcp.recovery" = "sack"

    [sample]                                   # or { kind = "random", … }
    kind = "latin-hypercube"
    count = 50
    over = { "link.satellite.rate" = { from = "1 Mbit/s", to = "1 Gbit/s", scale = "log" } }

    [stop]                                     # a point stops when the mean is known this well
    quantity = "goodput_bps"
    within = 0.02

Grid, points and sample multiply, and each point runs with every seed.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netspurt.errors import RequestError, absent, nearest, unreadable
from netspurt.settings import Value
from netspurt.sweeping import axes
from netspurt.sweeping.stopping import Stop

KEYS = ("scenario", "seeds", "set", "grid", "point", "sample", "stop")
MOST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Request:
    """A sweep request: the parts whose combinations are its points, and the seeds."""

    settings: Mapping[str, Value] = field(default_factory=dict)
    parts: Sequence[Sequence[axes.Point]] = ()
    seeds: Sequence[int] = (1,)
    stop: Stop | None = None


def build(
    settings: Mapping[str, Value] | None = None,
    grid: Mapping[str, object] | None = None,
    points: Sequence[Mapping[str, Value]] | None = None,
    sample: axes.Sample | None = None,
    seeds: object = 1,
    stop: Stop | None = None,
) -> Request:
    """Builds a request from its parts.

    Raises:
        RequestError: a part has no points, two parts vary one path, or there are no seeds.
        TypeError: the grid is no mapping.
    """
    parts: list[list[axes.Point]] = []
    if grid is not None:
        if not isinstance(grid, Mapping):
            raise TypeError(
                f'a grid is a mapping such as {{"tcp.congestion": ["reno", "cubic"]}}, not {type(grid).__name__}'
            )
        if not grid:
            raise RequestError("the grid is empty: give at least one path and its values, or omit the grid")
        parts.append(axes.grid(grid))
    if points is not None:
        if not points:
            raise RequestError("the list of points is empty: give at least one point, or omit the list")
        parts.append([dict(point) for point in points])
    if sample is not None:
        parts.append(sample.points())
    seen: set[str] = set()
    for part in parts:
        own = {path for point in part for path in point}
        if twice := sorted(own & seen):
            raise RequestError(f"{twice[0]} is varied twice: keep it in one of grid, points and sample")
        seen |= own
    return Request(dict(settings or {}), parts, seeds_of(seeds), stop)


def seeds_of(what: object) -> tuple[int, ...]:
    """Seeds from a count, a list, a range, or ``{"first": …, "count": …}``.

    Raises:
        RequestError: there is no seed, a seed is repeated, or a seed is invalid.
    """
    if isinstance(what, Mapping):
        unknown = [key for key in what if key not in ("first", "count")]
        first, count = what.get("first", 1), what.get("count", 0)
        if unknown or not _whole(first) or not _whole(count) or count < 1:
            raise RequestError("seeds must be a count, a list, or { first = 1, count = 20 }")
        what = range(first, first + count)
    elif _whole(what):
        what = range(1, int(what) + 1)  # type: ignore[call-overload]  # _whole guarantees a number
    if isinstance(what, str) or not isinstance(what, Sequence):
        raise RequestError(f"seeds must be a count, a list, or {{ first = 1, count = 20 }}, not {what!r}")
    if not what:
        raise RequestError("there are no seeds: seeds must be at least 1, or a list of at least one seed")
    wrong = [seed for seed in what if not _whole(seed) or not 0 <= seed <= MOST_SEED]
    if wrong:
        raise RequestError(f"{wrong[0]!r} is not a valid seed: it must be a whole number from 0 to 2^63 - 1")
    if len(set(what)) < len(what):
        raise RequestError("a seed appears twice in the list: the same seed gives the same run")
    return tuple(what)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read(path: Path) -> tuple[Path, Request]:
    """Reads a sweep file; returns the scenario's file and the request.

    Raises:
        RequestError: the file is missing, is not TOML, or is invalid; the message gives file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is not text in UTF-8: a sweep file is TOML") from error
    except OSError as error:
        raise RequestError(unreadable(path, error)) from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(f"{path}: {error}") from error
    except RecursionError as error:
        raise RequestError(f"{path}: lists or tables are nested too deeply") from error
    try:
        return _scenario(path, document), _request(document)
    except RequestError as error:
        key = re.split("[ :]", str(error), maxsplit=1)[0]
        raise RequestError(f"{place(path, key)}: {error}") from error


def _scenario(path: Path, document: Mapping[str, Any]) -> Path:
    unknown = [key for key in document if key not in KEYS]
    if "link" in unknown or "flow" in unknown:
        raise RequestError(
            'this is a scenario, not a sweep of one: a sweep file names it with scenario = "FILE.toml"'
        )
    if unknown:
        raise RequestError(
            f"{unknown[0]} is not a key of a sweep{nearest(unknown[0], KEYS)} (known are: {', '.join(KEYS)})"
        )
    name = document.get("scenario")
    if not isinstance(name, str) or not name:
        raise RequestError('the scenario is missing: a sweep file needs scenario = "FILE.toml"')
    file = path.parent / name
    if not file.is_file():
        raise RequestError(f"scenario: {absent(file, 'file ')}")
    return file


def _request(document: Mapping[str, Any]) -> Request:
    points = document.get("point")
    if points is not None and not (isinstance(points, list) and all(isinstance(p, dict) for p in points)):
        raise RequestError("point: write each point as a table of its own, [[point]]")
    return build(
        settings=_flat(_table(document, "set")),
        grid=_flat(_table(document, "grid")) if "grid" in document else None,
        points=None if points is None else [_flat(point) for point in points],
        sample=_sample(_table(document, "sample")) if "sample" in document else None,
        seeds=document.get("seeds", 1),
        stop=_stop(_table(document, "stop")) if "stop" in document else None,
    )


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise RequestError(f"{key} must be a table: write [{key}] above its lines")
    return table


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Paths and values. A key with dots is a whole path; a key without dots above a table is the start of one."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{above}{key}"
        if isinstance(value, dict) and "." not in key and not ("from" in value and "to" in value):
            flat.update(_flat(value, f"{path}."))
        else:
            flat[path] = value
    return flat


def _sample(table: Mapping[str, Any]) -> axes.Sample:
    _known("sample", table, ("kind", "count", "seed", "over"))
    kind, count, seed = table.get("kind", "random"), table.get("count"), table.get("seed", 1)
    makers = {"random": axes.random_sample, "latin-hypercube": axes.latin_hypercube}
    if kind not in makers:
        raise RequestError(f"the kind of a sample must be random or latin-hypercube, not {kind!r}")
    if not _whole(count) or not _whole(seed):
        raise RequestError("sample: count (and seed, if given) must be a whole number")
    return makers[kind](_flat(_table(table, "over")), count, seed)  # type: ignore[arg-type]  # _whole


def _stop(table: Mapping[str, Any]) -> Stop:
    known = Stop.__dataclass_fields__
    _known("stop", table, tuple(known))
    if "quantity" not in table or "within" not in table:
        raise RequestError("stop: give the quantity and the relative width of its interval (within)")
    return Stop(**table)


def _known(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            raise RequestError(
                f"{key} is not a key of [{where}]{nearest(key, known)} (known are: {', '.join(known)})"
            )


def place(path: Path, key: str) -> str:
    """File and line of a key; only the file if the key is not found."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.match(rf"""\s*\[*\s*(?:over\s*=\s*\{{\s*)?["']?{re.escape(key)}["']?\s*[\]=.]""", line):
                return f"{path}:{number}"
    return str(path)
