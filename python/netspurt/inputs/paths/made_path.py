"""A scenario of one path, made by a call.

Lives here: the scenario of two hosts, one link and one transfer, and which argument an error is about. Must not live
here: the check of a value: the scenario's parser checks it, as in a file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from netspurt.inputs.paths.one_path import (
    AT_MOST,
    CLIENT,
    LINK,
    PROFILE,
    QUEUE,
    SERVER,
    UNTIL,
    model_of,
    queue_table,
)
from netspurt.settings import Value, toml

if TYPE_CHECKING:
    from netspurt.scenario import Scenario

CAPACITY = ("rate", "trace")
"""Keys of a link by which it has a queue."""

PLACES = (
    (rf"link\.{LINK}\.?", ""),
    (r"flow\.[^.:]+\.app\.", ""),
    (r"flow\.[^.:]+\.", ""),
    (r"tcp\.", ""),
)
"""The places of arguments in the scenario, for messages."""


def path(
    *,
    bytes: Value | None = None,  # noqa: A002
    duration: Value | None = None,
    profile: Value = PROFILE,
    count: Value | None = None,
    reverse: bool = False,
    **link: Value,
) -> Scenario:
    """A scenario of two hosts, ``client`` and ``server``, with one link, ``path``, and one bulk transfer.

    It is a scenario like every other: ``set`` changes it, ``merged`` gives its file. Values are those of a scenario
    file, with their units.

        scenario = ns.path(rate="10 Mbit/s", delay="20 ms", loss="0.1%", bytes="5 MB")
        result = scenario.set({"tcp.congestion": "bbr"}).run(seed=1)

    Args:
        link: the keys of the link: ``rate``, ``delay`` (one way), ``queue``, ``loss``, ``path`` (a path model such as
            ``"lte"`` or ``"docsis:down=100mbit"``), and all others of ``[link.NAME]``. ``queue`` may be a length
            (``"100 packets"``) or a discipline (``"fq-codel"``), ``loss`` a share of the packets in each direction
            (``"0.1%"``). A link with a rate and without a queue has one of 1000 packets, as in Linux.
        bytes: the length of the transfer; without it, it lasts until the end.
        duration: when the simulation ends at the latest: by default after 30 s, with ``bytes`` after 10 min.
        profile: the TCP of both hosts.
        count: so many transfers alike.
        reverse: the server sends.

    Raises:
        ScenarioError: an unknown key or an impossible value, named by its argument.
        TypeError: a value that TOML cannot hold, names of other hosts, or no argument for the link at all.
    """
    from netspurt import _core
    from netspurt.scenario import Scenario

    if not link:
        raise TypeError('path() describes a link: path(rate="10 Mbit/s", delay="20 ms"), or path(path="lte")')
    if "between" in link:
        raise TypeError(
            f'path() has the hosts "{CLIENT}" and "{SERVER}"; for others, write a scenario: ns.parse(…)'
        )
    if not isinstance(reverse, bool):
        raise TypeError(f"reverse is True or False, not {reverse!r}")
    ends = (SERVER, CLIENT) if reverse else (CLIENT, SERVER)
    flow: dict[str, Value] = {"app": _given(kind="bulk", bytes=bytes), "from": ends[0], "to": ends[1]}
    lines = [
        f"duration = {toml(duration if duration is not None else UNTIL if bytes is None else AT_MOST)}",
        *_table("[tcp]", {"profile": profile}),
        *_table(f"[link.{LINK}]", {"between": [CLIENT, SERVER], **_link(link)}),
        *_table("[[flow]]", {**flow, **_given(count=count)}),
    ]
    try:
        return Scenario(_core.Scenario.parse("\n".join(lines) + "\n", LINK))
    except _core.ScenarioError as error:
        raise _of_argument(error) from None


def _link(given: dict[str, Value]) -> dict[str, Value]:
    """The keys of the link; a text stands for the table of a queue or of losses."""
    link = dict(given)
    if "path" not in link and any(key in link for key in CAPACITY):
        link.setdefault("queue", QUEUE)
    if isinstance(model := link.get("path"), str):
        link["path"] = model_of(model)
    if isinstance(queue := link.get("queue"), (str, int)):
        link["queue"] = queue_table(str(queue))
    if isinstance(loss := link.get("loss"), (str, int, float)):
        link["loss"] = {"kind": "packet-error", "rate": loss}
    return link


def _given(**values: Value | None) -> dict[str, Value]:
    return {name: value for name, value in values.items() if value is not None}


def _table(head: str, keys: dict[str, Value]) -> list[str]:
    return ["", head, *(f"{key} = {toml(value)}" for key, value in keys.items())]


def _of_argument(error: Exception) -> Exception:
    """The same error without a place in a file that nobody has written."""
    from netspurt import _core

    message: str = getattr(error, "message", str(error))
    for place, instead in PLACES:
        message, found = re.subn(rf"^{place}", instead, message)
        if found:
            break
    named = _core.ScenarioError(f"path(): {message.removeprefix(': ')}")
    for name in ("file", "line", "column", "path"):
        setattr(named, name, None)
    named.message = message.removeprefix(": ")
    return named
