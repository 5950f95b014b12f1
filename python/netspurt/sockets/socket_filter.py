"""A filter of sockets: by port, address, process and state.

Lives here: the words of the filter. Must not live here: tables.

The words: ``[local|remote] port PORT``, ``[local|remote] host ADDRESS``, ``[local|remote] net ADDRESS/LENGTH``, ``state
STATE``, ``process NAME``, ``pid NUMBER``, ``ip``, ``ip6``, ``and``, ``or``, ``not`` and parentheses. As in tcpdump
``and`` and ``or`` have the same precedence, and ``src`` and ``dst`` stand for ``local`` and ``remote``.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, TypeAlias

from netspurt.errors import RequestError, nearest

Test: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""Of a row with ``local``, ``remote``, ``state``, ``process`` and ``pid``."""

EndTest: TypeAlias = Callable[[IPv4Address | IPv6Address, int], bool]

TOKEN = re.compile(r"\s*(\(|\)|&&|\|\||!|[^\s()!&|]+)")
SAME = {"&&": "and", "||": "or", "!": "not", "src": "local", "dst": "remote"}
ENDS = ("local", "remote")
STATES = (
    *("established", "syn-sent", "syn-received", "fin-wait-1", "fin-wait-2"),
    *("close-wait", "last-ack", "closing"),
)
EXAMPLE = "such as 'port 443 and process nginx'"


class SocketFilter:
    """A parsed filter.

    Raises:
        RequestError: the text is not a filter.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = [SAME.get(token, token) for token in self._split()]
        self._test = self._alternatives()
        if self._tokens:
            raise self._error(f"'{self._tokens[0]}' is not expected there")

    def __call__(self, row: Mapping[str, Any]) -> bool:
        """Whether a socket passes."""
        return self._test(row)

    def _split(self) -> list[str]:
        tokens, place = [], 0
        while place < len(self.text.rstrip()):
            found = TOKEN.match(self.text, place)
            if found is None:
                raise self._error(f"'{self.text[place:].strip()}' is not expected there")
            tokens.append(found[1])
            place = found.end()
        return tokens

    def _alternatives(self) -> Test:
        test = self._one()
        while self._tokens and self._tokens[0] in ("and", "or"):
            test = _joined(self._take(), test, self._one())
        return test

    def _one(self) -> Test:
        token = self._take()
        match token:
            case "not":
                inner = self._one()
                return lambda row: not inner(row)
            case "(":
                test = self._alternatives()
                if self._take() != ")":
                    raise self._error("a parenthesis is not closed")
                return test
            case "ip" | "ip6":
                version = 4 if token == "ip" else 6
                return lambda row: _end(row["local"])[0].version == version
            case "state":
                return self._state(self._take())
            case "process":
                name = self._take()
                return lambda row: row["process"] is not None and fnmatch.fnmatch(row["process"], name)
            case "pid":
                pid = self._number(self._take(), 1 << 22)
                return lambda row: row["pid"] == pid
            case "local" | "remote":
                at_end = self._end_test(self._take())
                return lambda row: at_end(*_end(row[token]))
            case _:
                at_any = self._end_test(token)
                return lambda row: any(at_any(*_end(row[end])) for end in ENDS)

    def _state(self, name: str) -> Test:
        if name not in STATES:
            raise self._error(f"there is no state '{name}'{nearest(name, STATES)}")
        return lambda row: row["state"] == name

    def _end_test(self, kind: str) -> EndTest:
        match kind:
            case "port":
                port = self._number(self._take(), 65535)
                return lambda _address, known: known == port
            case "host":
                return self._address_test(self._take())
            case "net":
                return self._address_test(self._take())
            case _:
                words = (*ENDS, "port", "host", "net", "state", "process", "pid", "ip", "ip6", "not")
                raise self._error(f"there is no word '{kind}'{nearest(kind, words)}")

    def _address_test(self, text: str) -> EndTest:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            raise self._error(f"'{text}' is not an address; names are not resolved") from None
        return lambda address, _port: address in network

    def _number(self, text: str, most: int) -> int:
        if not (text.isascii() and text.isdigit() and int(text) <= most):
            raise self._error(f"'{text}' is not a number from 0 to {most}")
        return int(text)

    def _take(self) -> str:
        if not self._tokens:
            raise self._error("it ends too early" if self.text.strip() else "it is empty")
        return self._tokens.pop(0)

    def _error(self, what: str) -> RequestError:
        return RequestError(f"the filter '{self.text}' is not understood: {what}; write a filter {EXAMPLE}")


def _joined(word: str, a: Test, b: Test) -> Test:
    if word == "and":
        return lambda row: a(row) and b(row)
    return lambda row: a(row) or b(row)


def _end(text: str) -> tuple[IPv4Address | IPv6Address, int]:
    address, _colon, port = text.rpartition(":")
    return ip_address(address.strip("[]").partition("%")[0]), int(port)
