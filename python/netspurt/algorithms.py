"""Algorithms of your own, written in Python.

A class takes the place of a built-in algorithm where a scenario names it ``"python:NAME"``:

    class Fixed:
        "Never more than twenty segments."

        def __init__(self, start):
            self.cwnd, self.ssthresh = 20 * 1460, start.ssthresh

        def on_acked(self, acked, view): ...
        def on_enter_recovery(self, view): ...
        def on_timeout(self, first, view): ...

    scenario = ns.load("satellite.toml").set({"host.earth.tcp.congestion": Fixed})

Each connection has an instance of its own. Times are whole picoseconds, as in the simulator, so that nothing is rounded
away; lengths are bytes. A class that looks at nothing but what it is told (no clock, no global randomness) keeps a run
what it is elsewhere: a function of scenario and seed. An exception ends the run, with its traceback.

Lives here: what a class must look like, and how classes are found, named and told apart. Must not live here: any
algorithm (``examples/algorithms.py`` has one of each family), or what calls them (``crates/python/src/own``).
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from netspurt.errors import RequestError

if TYPE_CHECKING:
    from netspurt._core import Action as Action
    from netspurt._core import AlgorithmError as AlgorithmError
    from netspurt._core import Situation, Socket, Start, View

MICROSECOND = 10**6
MILLISECOND = 10**9
SECOND = 10**12
"""In picoseconds."""

PREFIX = "python:"

Make: TypeAlias = "Callable[..., Any]"
"""A class, or whatever else makes an algorithm when it is called."""


class CongestionControl(Protocol):
    """How much may be in flight: ``tcp.congestion = "python:NAME"``.

    Made when a connection is, and again when its handshake has settled the size of segments.

    Beside the methods below there may be ``on_dup_ack(n, view)``, ``on_partial_ack(acked, view)``,
    ``on_exit_recovery(view)``, ``on_ecn_ce(view)``, ``on_undo(view)`` (the last reduction was a mistake),
    ``on_idle_restart(view)``, ``on_round_marked(acked, marked, view)`` and ``on_resumed(view)``. Which segment is sent
    again, and what a duplicate ACK lets out, is not its business: that is ``tcp.recovery``.
    """

    cwnd: float
    """Bytes, at least 1; looked at after each call."""
    ssthresh: float
    """Bytes; ``math.inf`` is infinite."""

    def __init__(self, start: Start) -> None:
        """The configured initial window and threshold, and a number that differs from connection to connection."""

    def on_acked(self, acked: int, view: View) -> object:
        """New data was acknowledged, outside recovery."""

    def on_enter_recovery(self, view: View) -> object:
        """A loss was noticed without a timeout: one for each window of data."""

    def on_timeout(self, first: bool, view: View) -> object:
        """The retransmission timer ran out, for the first time for this data or again."""


class RtoEstimator(Protocol):
    """From round-trip times to a timeout: ``tcp.rto = "python:NAME"``. Made without arguments.

    It hears only what may be learnt from; backoff and the grain of the timer are not its business. There may be
    ``on_round_trip_over()``, and ``max_ps``, the largest timeout that backoff may reach (else 60 s).
    """

    rto_ps: float
    """The timeout; looked at after each call."""
    srtt_ps: float | None
    """The smoothed round-trip time, once there is one."""

    def on_sample(self, rtt_ps: int) -> object:
        """The round-trip time of a segment that was sent only once."""


class TransmitPolicy(Protocol):
    """Whether a segment that is not full waits: ``tcp.transmit = "python:NAME"``. Made without arguments.

    ``heeds_acks = False`` says that no ACK sets free what it holds (else one does). What waits while nothing is
    unacknowledged leaves after 200 ms.
    """

    def holds(self, situation: Situation) -> bool:
        """A function of the situation alone: asked again whenever anything has moved."""


class Application(Protocol):
    """One end of a flow: ``app = { kind = "python", client = "python:NAME", server = "python:OTHER" }``.

    Made without arguments. Without a ``server`` the other end reads all that comes.

    ``done`` says when the task is over; without it, that is when it closes.
    """

    def next(self, now_ps: int, socket: Socket) -> Action:
        """What it does now; asked again when that is done, unless it waits."""


def __getattr__(name: str) -> Any:
    if name in ("Action", "AlgorithmError"):
        from netspurt import _core

        return getattr(_core, name)
    raise AttributeError(f"module 'netspurt.algorithms' has no attribute {name!r}")


def written(value: object) -> str | None:
    """How a scenario names a class; ``None`` for what is none."""
    return f"{PREFIX}{value.__name__}" if isinstance(value, type) else None


def within(*values: object) -> dict[str, type]:
    """Every class in values of settings, by its name.

    Raises:
        TypeError: two different ones of the same name.
    """
    found: dict[str, type] = {}
    for each in _classes(values):
        if found.setdefault(each.__name__, each) is not each:
            raise TypeError(
                f"two classes are called {each.__name__}: give them names of their own with with_algorithms"
            )
    return found


def _classes(value: object) -> Iterator[type]:
    if isinstance(value, type):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _classes(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        for inner in value:
            yield from _classes(inner)


def find(places: Sequence[tuple[str, str]]) -> dict[str, Make]:
    """Classes by name from pairs of a name and ``MODULE:CLASS`` or ``FILE.py:CLASS``.

    Raises:
        RequestError: no such module, file or class.
    """
    return {name: _found(place) for name, place in places}


def _found(place: str) -> Make:
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise RequestError(f"'{place}' is not of the form MODULE:CLASS or FILE.py:CLASS")
    try:
        module = _of_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise RequestError(f"there is no module '{error.name}' to take {name} from") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise RequestError(f"{where} has no class {name}")
    return found  # type: ignore[no-any-return]  # any callable will do


def _of_file(path: Path) -> Any:
    if not path.is_file():
        raise RequestError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fingerprint(merged: str, given: Mapping[str, Make]) -> list[list[str]]:
    """What tells the algorithms that a scenario names from others of the same name: name and hash of their source.

    Raises:
        RequestError: one that was not given, or whose source cannot be told.
    """
    names = sorted(set(re.findall(r'"python:([^"]+)"', merged)))
    missing = [name for name in names if name not in given]
    if missing:
        raise RequestError(
            f'no algorithm "{missing[0]}" was given: the scenario names it python:{missing[0]}'
        )
    return [[name, _hash_of(name, given[name])] for name in names]


def _hash_of(name: str, make: Make) -> str:
    whole = hashlib.sha256()
    for part in _sources(name, make):
        whole.update(part.encode())
    return whole.hexdigest()


def _sources(name: str, make: Make) -> Iterator[str]:
    """The text that an algorithm is made of: its module's file, or, of the program itself, its own lines."""
    if isinstance(make, functools.partial):
        plain = [*make.args, *make.keywords.items()]
        yield repr(plain)
        yield from _sources(name, make.func)
        return
    if not isinstance(make, type):
        closed = getattr(make, "__closure__", None)
        if closed or not inspect.isfunction(make):
            raise RequestError(
                f"{PREFIX}{name} is {make!r}: a sweep names its tasks by the source of their algorithms, which is "
                "known of a class, of a function without a closure, and of functools.partial of either"
            )
    for each in inspect.getmro(make) if isinstance(make, type) else [make]:
        if each is object or each.__module__ in ("abc", "typing"):
            continue
        try:
            yield f"{each.__qualname__}\n{_text(each)}"
        except (OSError, TypeError) as error:
            raise RequestError(
                f"the source of {PREFIX}{name} ({each.__qualname__}) cannot be read, and a sweep names its tasks by "
                "it: keep the class in a file"
            ) from error


def _text(each: Any) -> str:
    module = inspect.getmodule(each)
    file = getattr(module, "__file__", None)
    if each.__module__ != "__main__" and file is not None and Path(file).is_file():
        return Path(file).read_text(encoding="utf-8")
    if not isinstance(each, type):
        return inspect.getsource(each)
    # Of a class in a notebook only the methods know where they stand.
    parts = []
    for name, member in vars(each).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function):
            parts.append(inspect.getsource(function))
        elif not name.startswith("__"):
            parts.append(f"{name} = {member!r}")
    if not parts:
        raise OSError(f"{each.__qualname__} has nothing that could be read")
    return "\n".join(parts)
