"""The scenario of one path that options describe: two hosts with one link between them.

Lives here: the text of that scenario, and which option an error is about. Must not live here: the options' help
(``cli.path_options``), or the check of a value: the scenario's parser checks it, as in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from netspurt.errors import RequestError
from netspurt.settings import toml

if TYPE_CHECKING:
    from netspurt import _core

NAME = "command line"
"""The name of the scenario in results and messages."""

LINK, CLIENT, SERVER = "path", "client", "server"

QUEUE = "1000 packets"
"""The queue where no option names one: as netem and Linux interfaces have it."""

UNTIL, AT_MOST = "30 s", "10 min"
"""The duration of a run without an end, and of a transfer of a given size."""

PROFILE = "linux"

NETWORK = ("path", "rate", "delay", "loss", "queue", "recording")
"""The names of the options that describe the network."""

COUNT = "flow.0.count"
"""The path of a bare number among texts with units."""


@dataclass(frozen=True)
class OnePath:
    """The values of the options as the user typed them; None where an option is not given."""

    path: str | None = None
    rate: str | None = None
    delay: str | None = None
    loss: str | None = None
    queue: str | None = None
    recording: str | None = None
    """A file of mahimahi or a table of rates (.csv), or two: from the client to the server, and back."""
    bytes: str | None = None
    duration: str | None = None
    profile: str | None = None
    parallel: str | None = None
    reverse: str | None = None
    """Any text: the server sends."""

    @property
    def given(self) -> list[str]:
        """The options that are given, by their long names; ``--duration`` is for every scenario."""
        own = (field.name for field in fields(self) if field.name != "duration")
        return [f"--{name}" for name in own if getattr(self, name) is not None]

    @property
    def options(self) -> list[str]:
        """The options as words of a command line."""
        found = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                found += [f"--{field.name}"] if field.name == "reverse" else [f"--{field.name}", value]
        return found

    @property
    def words(self) -> str:
        """The path in a few words, such as ``10mbit 40ms`` or ``leo``."""
        own = (self.path, self.rate, self.recording, self.delay, self.loss, self.queue)
        return " ".join(value for value in own if value)

    @property
    def is_path(self) -> bool:
        """Whether the options describe a link."""
        return any(value is not None for value in (self.path, self.rate, self.recording, self.delay))

    def text(self, *, flow: bool = True) -> str:
        """The scenario file. Without ``flow`` it is a network alone, for an emulation."""
        return "\n".join(self._lines(flow)) + "\n"

    def scenario(self, settings: Sequence[tuple[str, str]] = (), *, flow: bool = True) -> _core.Scenario:
        """The scenario, with overrides.

        Raises:
            RequestError: a value is wrong; the sentence names its option.
            ScenarioError: an override is wrong.
        """
        from netspurt import _core

        self._check(flow)
        return _core.Scenario.parse(self.text(flow=flow), NAME, list(settings))

    def _check(self, flow: bool) -> None:
        """Puts each value where it belongs as an override, so that the parser's error names it."""
        from netspurt import _core

        if self.loss is not None:
            _check_loss(self.loss)
        if self.path is not None:
            _check_model(self.path)
        values = {path: (option, value) for option, path, value in self._values(flow)}
        pairs = [(path, _written(path, value)) for path, (_, value) in values.items()]
        # A table must exist before a key of it can be overridden.
        loss, queue = None if self.loss is None else "0%", None if self.queue is None else QUEUE
        kind = {"delay": "1 ms"} if self.recording is not None else {"rate": "1 Mbit/s"}
        kind = kind if self.path is None else {"path": "lte"}
        base = OnePath(loss=loss, queue=queue, **kind).text(flow=flow)
        try:
            _core.Scenario.parse(base, NAME, pairs)
        except _core.ScenarioError as error:
            if error.path not in values:
                raise
            option, value = values[error.path]
            raise RequestError(f"{option} {value}: {_without_path(error.message)}") from None

    def _values(self, flow: bool) -> Iterator[tuple[str, str, str]]:
        """Option, path of the scenario and value, of each option that is given."""
        queue = f"link.{LINK}.queue" + ("" if self.queue is None or _is_kind(self.queue) else ".limit")
        rows = [
            ("--path", f"link.{LINK}.path", self.path),
            ("--rate", f"link.{LINK}.rate", self.rate),
            ("--recording", f"link.{LINK}.trace", self.recording),
            ("--delay", f"link.{LINK}.delay", self.delay),
            ("--loss", f"link.{LINK}.loss.rate", self.loss),
            ("--queue", queue, self.queue),
        ]
        if flow:
            rows += [
                ("--bytes", "flow.0.app.bytes", self.bytes),
                ("--duration", "duration", self.duration),
                ("--profile", "tcp.profile", self.profile),
                ("--parallel", COUNT, self.parallel),
            ]
        return ((option, path, value) for option, path, value in rows if value is not None)

    def _lines(self, flow: bool) -> Iterator[str]:
        if flow:
            yield f"duration = {toml(self.duration or (AT_MOST if self.bytes else UNTIL))}"
            yield ""
            yield "[tcp]"
            yield f"profile = {toml(self.profile or PROFILE)}"
            yield ""
        yield f"[link.{LINK}]"
        yield f"between = {toml([CLIENT, SERVER])}"
        if self.path is not None:
            yield f"path = {toml(model_of(self.path))}"
        if self.rate is not None:
            yield f"rate = {toml(self.rate)}"
        if self.delay is not None:
            yield f"delay = {toml(self.delay)}  # one way"
        if self.recording is not None:
            yield f"trace = {recordings_of(self.recording)}"
        limited = self.rate is not None or self.recording is not None
        if self.queue is not None or (limited and self.path is None):
            yield f"queue = {queue_of(self.queue or QUEUE)}"
        if self.loss is not None:
            yield f"loss = {toml({'kind': 'packet-error', 'rate': self.loss})}  # in both directions"
        if flow:
            yield ""
            yield "[[flow]]"
            yield f"app = {toml({'kind': 'bulk'} | ({'bytes': self.bytes} if self.bytes else {}))}"
            ends = (CLIENT, SERVER) if self.reverse is None else (SERVER, CLIENT)
            yield f"from = {toml(ends[0])}"
            yield f"to = {toml(ends[1])}"
            if self.parallel is not None:
                yield f"count = {self.parallel}"


def network_of(values: Mapping[str, object]) -> OnePath:
    """The options of the network alone: the others mean something else, as in ``netspurt host``."""
    return of_options({name: values.get(name) for name in NETWORK})


def of_options(values: Mapping[str, object]) -> OnePath:
    """The options of a path among all options of a command.

    A bare number is seconds for ``--duration`` and bytes for ``--bytes``, as in iperf3.
    """
    found = {field.name: values.get(field.name) for field in fields(OnePath)}
    texts = {name: None if value is None else str(value).strip() for name, value in found.items()}
    for name, unit in (("duration", "s"), ("bytes", "B")):
        if (text := texts[name]) is not None and re.fullmatch(r"\d+\.?\d*", text):
            texts[name] = f"{text} {unit}"
    return OnePath(**texts)


def _is_kind(queue: str) -> bool:
    """Whether it is the name of a discipline, such as ``fq-codel``, and not a length."""
    return re.match(r"\s*[a-z]", queue) is not None


def queue_of(queue: str) -> str:
    """The TOML text of a queue that is given by its length or by its discipline."""
    return toml(queue_table(queue))


def queue_table(queue: str) -> dict[str, str]:
    """A queue that is given by its length or by its discipline, as a scenario has it."""
    return {"kind": queue} if _is_kind(queue) else {"kind": "drop-tail", "limit": queue}


def recordings_of(files: str) -> str:
    """The TOML text of one recording, or of one for each direction; a table of rates has the ending ``.csv``."""
    names = [file.strip() for file in files.split(",")]
    kinds = ("rates" if name.lower().endswith(".csv") else "mahimahi" for name in names)
    tables = [{"kind": kind, "file": name} for kind, name in zip(kinds, names, strict=True)]
    return toml(tables if len(tables) > 1 else tables[0])


def model_of(path: str) -> str | dict[str, str]:
    """A path model as a scenario names it: ``leo``, or ``docsis:down=100mbit,up=10mbit`` with parameters."""
    name, colon, rest = path.partition(":")
    if not colon:
        return name
    pairs = [pair.partition("=") for pair in rest.split(",")]
    return {"model": name.strip(), **{key.strip(): value.strip() for key, _, value in pairs}}


def _written(path: str, value: str) -> str:
    """The TOML text of an option's value."""
    if path == f"link.{LINK}.path":
        return toml(model_of(value))
    if path.endswith(".queue"):
        return queue_of(value)
    if path.endswith(".trace"):
        return recordings_of(value)
    return value if path == COUNT else toml(value)


def _check_model(path: str) -> None:
    """What follows the name of a model is pairs of a parameter and its value."""
    _, colon, rest = path.partition(":")
    for pair in rest.split(",") if colon else ():
        key, _, value = pair.partition("=")
        if not re.fullmatch(r"\s*[\w-]+\s*", key) or not value.strip():
            raise RequestError(
                f"--path {path}: '{pair}' is no parameter: write NAME:PARAMETER=VALUE,..., such as "
                "docsis:down=100mbit,up=10mbit"
            )


def _check_loss(loss: str) -> None:
    """A bare number is a probability in a scenario, and a percentage in tc: here it must say which."""
    try:
        number = float(loss)
    except ValueError:
        return
    if number != 0:
        raise RequestError(
            f"--loss {loss}: without % this is a percentage in tc and a probability elsewhere: write {number:g}% or "
            f"{100 * number:g}%"
        )


def _without_path(message: str) -> str:
    """A message without the path of the key: the option stands before it."""
    return re.sub(r"^(link|flow|tcp|duration)[\w.]*: ", "", message)
