"""Algorithms written in Python.

A class replaces a built-in algorithm where a scenario names it ``"python:NAME"``:

    class Fixed:
        "Never more than twenty segments."

        def __init__(self, start):
            self.cwnd, self.ssthresh = 20 * 1460, start.ssthresh

        def on_acked(self, acked, view): ...
        def on_enter_recovery(self, view): ...
        def on_timeout(self, first, view): ...

    scenario = ns.load("satellite.toml").set({"host.earth.tcp.congestion": Fixed})

Each connection has its own instance. Times are whole picoseconds, as in the simulator, so that no rounding occurs.
Lengths are bytes. A class that uses only its arguments (no clock, no global randomness) keeps a run a function of
scenario and seed. An exception ends the run, with its traceback.

Lives here: the interfaces of such classes, and how classes are found, named and identified. Must not live here: any
algorithm (``examples/algorithms.py`` has one of each family), or the code that calls them (``crates/python/src/own``).
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
"""A class, or any other callable that makes an algorithm."""


class CongestionControl(Protocol):
    """Limits the data in flight: ``tcp.congestion = "python:NAME"``.

    An instance is made with each connection, and again when its handshake has determined the MSS.

    A class may also define ``on_dup_ack(n, view)``, ``on_partial_ack(acked, view)``,
    ``on_exit_recovery(view)``, ``on_ecn_ce(view)``, ``on_undo(view)`` (the last reduction was spurious),
    ``on_idle_restart(view)``, ``on_round_marked(acked, marked, view)`` and ``on_resumed(view)``. It does not choose
    which segment is retransmitted or what a duplicate ACK releases: ``tcp.recovery`` does.
    """

    cwnd: float
    """Bytes, at least 1; read after each call."""
    ssthresh: float
    """Bytes; ``math.inf`` means no threshold."""

    def __init__(self, start: Start) -> None:
        """``start`` holds the configured initial window and threshold, and a number unique to the connection."""

    def on_acked(self, acked: int, view: View) -> object:
        """An ACK acknowledged new data outside recovery."""

    def on_enter_recovery(self, view: View) -> object:
        """The sender detected a loss without a timeout; called once per window of data."""

    def on_timeout(self, first: bool, view: View) -> object:
        """The retransmission timer expired; ``first`` is true for the first timeout of this data."""


class RtoEstimator(Protocol):
    """Computes the RTO from RTT samples: ``tcp.rto = "python:NAME"``. Made without arguments.

    It receives only valid samples; backoff and timer granularity are applied elsewhere. A class may also define
    ``on_round_trip_over()``, and ``max_ps``, the largest timeout that backoff may reach (default 60 s).
    """

    rto_ps: float
    """The RTO; read after each call."""
    srtt_ps: float | None
    """The smoothed RTT, once there is one."""

    def on_sample(self, rtt_ps: int) -> object:
        """The RTT of a segment that was sent only once."""


class TransmitPolicy(Protocol):
    """Decides whether a short segment waits: ``tcp.transmit = "python:NAME"``. Made without arguments.

    ``heeds_acks = False`` declares that ACKs never release a held segment (by default they do). A segment held while
    nothing is unacknowledged leaves after 200 ms.
    """

    def holds(self, situation: Situation) -> bool:
        """A function of the situation alone; called again whenever the situation changes."""


class Application(Protocol):
    """One end of a flow: ``app = { kind = "python", client = "python:NAME", server = "python:OTHER" }``.

    Made without arguments. Without a ``server`` the other end reads all data.
    ``done`` says whether the task is complete; without it, the task is complete when the application closes.
    """

    def next(self, now_ps: int, socket: Socket) -> Action:
        """Returns the next action; called again when that action is complete, unless it waits."""


def __getattr__(name: str) -> Any:
    if name in ("Action", "AlgorithmError"):
        from netspurt import _core

        return getattr(_core, name)
    raise AttributeError(f"module 'netspurt.algorithms' has no attribute {name!r}")


def written(value: object) -> str | None:
    """The name of a class in a scenario; ``None`` for any other value."""
    return f"{PREFIX}{value.__name__}" if isinstance(value, type) else None


def within(*values: object) -> dict[str, type]:
    """Every class among the values of settings, by name.

    Raises:
        TypeError: two different classes have the same name.
    """
    found: dict[str, type] = {}
    for each in _classes(values):
        if found.setdefault(each.__name__, each) is not each:
            raise TypeError(
                f"two classes are called {each.__name__}: give each its own name with with_algorithms"
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
    """Classes by name, from pairs of a name and ``MODULE:CLASS`` or ``FILE.py:CLASS``.

    Raises:
        RequestError: the module, file or class does not exist.
    """
    return {name: _found(place) for name, place in places}


def _found(place: str) -> Make:
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise RequestError(f"'{place}' is not of the form MODULE:CLASS or FILE.py:CLASS")
    try:
        module = _of_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise RequestError(f"cannot import {name}: there is no module '{error.name}'") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise RequestError(f"{where} has no class {name}")
    return found  # type: ignore[no-any-return]  # any callable is accepted


def _of_file(path: Path) -> Any:
    if not path.is_file():
        raise RequestError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fingerprint(merged: str, given: Mapping[str, Make]) -> list[list[str]]:
    """Name and source hash of each algorithm that a scenario names; they identify it among others of its name.

    Raises:
        RequestError: an algorithm was not given, or its source cannot be read.
    """
    names = sorted(set(re.findall(r'"python:([^"]+)"', merged)))
    missing = [name for name in names if name not in given]
    if missing:
        raise RequestError(
            f'the scenario names python:{missing[0]}, but no algorithm "{missing[0]}" was given'
        )
    return [[name, _hash_of(name, given[name])] for name in names]


def _hash_of(name: str, make: Make) -> str:
    whole = hashlib.sha256()
    for part in _sources(name, make):
        whole.update(part.encode())
    return whole.hexdigest()


def _sources(name: str, make: Make) -> Iterator[str]:
    """The source of an algorithm: the file of its module, or its own lines if it is part of the main program."""
    if isinstance(make, functools.partial):
        plain = [*make.args, *make.keywords.items()]
        yield repr(plain)
        yield from _sources(name, make.func)
        return
    if not isinstance(make, type):
        closed = getattr(make, "__closure__", None)
        if closed or not inspect.isfunction(make):
            raise RequestError(
                f"{PREFIX}{name} is {make!r}: a sweep identifies its tasks by the source of their algorithms, so it "
                "accepts a class, a function without a closure, and functools.partial of either"
            )
    for each in inspect.getmro(make) if isinstance(make, type) else [make]:
        if each is object or each.__module__ in ("abc", "typing"):
            continue
        try:
            yield f"{each.__qualname__}\n{_text(each)}"
        except (OSError, TypeError) as error:
            raise RequestError(
                f"the source of {PREFIX}{name} ({each.__qualname__}) cannot be read, and a sweep identifies its tasks "
                "by it: keep the class in a file"
            ) from error


def _text(each: Any) -> str:
    module = inspect.getmodule(each)
    file = getattr(module, "__file__", None)
    if each.__module__ != "__main__" and file is not None and Path(file).is_file():
        return Path(file).read_text(encoding="utf-8")
    if not isinstance(each, type):
        return inspect.getsource(each)
    # For a class defined in a notebook, only its methods have a source location.
    parts = []
    for name, member in vars(each).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function):
            parts.append(inspect.getsource(function))
        elif not name.startswith("__"):
            parts.append(f"{name} = {member!r}")
    if not parts:
        raise OSError(f"{each.__qualname__} has no method whose source can be read")
    return "\n".join(parts)
