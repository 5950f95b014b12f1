"""A filter of sockets: that of connections, and by state and process.

Lives here: the words that only sockets have. Must not live here: those of all connections, or tables.

Beside the words of ``ConnectionFilter``: ``state STATE``, ``process NAME`` (with ``*`` and ``?``) and ``pid NUMBER``.
``local`` and ``remote`` are other words for ``src`` and ``dst``.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any

from netspurt.diagnosing.connection_filter import WORDS, ConnectionFilter, Test, end
from netspurt.errors import nearest

STATES = (
    *("established", "syn-sent", "syn-received", "fin-wait-1", "fin-wait-2"),
    *("close-wait", "last-ack", "closing"),
)
STATE, PROCESS, PID = 2, 3, 4
"""Places of what a filter looks at, behind both ends."""


class SocketFilter(ConnectionFilter):
    """A parsed filter.

    Raises:
        RequestError: the text is not a filter.
    """

    words = WORDS | {"local": "src", "remote": "dst"}
    example = "such as 'port 443 and process nginx'"

    def passes(self, row: Mapping[str, Any]) -> bool:
        """Whether a socket passes: a row with ``local``, ``remote``, ``state``, ``process`` and ``pid``."""
        return self._test((end(row["local"]), end(row["remote"]), row["state"], row["process"], row["pid"]))

    def _primitive(self) -> Test:
        if not self._next_is("state", "process", "pid"):
            return super()._primitive()
        kind, value = self._take(), self._value()
        if kind == "process":
            return lambda ends: ends[PROCESS] is not None and fnmatch.fnmatch(ends[PROCESS], value)
        if kind == "state":
            if value not in STATES:
                raise self._error(f"there is no state '{value}'{nearest(value, STATES)}")
            return lambda ends: bool(ends[STATE] == value)
        if not (value.isascii() and value.isdigit()):
            raise self._error(f"'{value}' is not the number of a process")
        pid = int(value)
        return lambda ends: bool(ends[PID] == pid)
