"""A filter of connections in the language of tcpdump.

Lives here: the part of pcap-filter(7) that concerns the ends of a connection. Must not live here: filters of single
packets.

The words: ``[src|dst] host ADDRESS``, ``[src|dst] net ADDRESS/LENGTH``, ``[src|dst] port PORT``, ``[src|dst]
portrange LOW-HIGH``, ``tcp``, ``ip``, ``ip6``, ``and``, ``or``, ``not`` and parentheses. As in tcpdump ``host`` may
be left out, ``and`` and ``or`` have the same precedence, and a value alone repeats the words before it (``port 80 or
443``). ``src`` is the client of the connection and ``dst`` its server: a filter selects whole connections.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, TypeAlias

from netspurt.errors import RequestError

Address: TypeAlias = IPv4Address | IPv6Address

End: TypeAlias = tuple[Address, int]

Ends: TypeAlias = tuple[End, End, *tuple[Any, ...]]
"""Address and port of the client and of the server, and what else is known of a connection."""

Test: TypeAlias = Callable[[Ends], bool]

TOKEN = re.compile(r"\s*(\(|\)|&&|\|\||!|[^\s()!&|]+)")

WORDS = {"&&": "and", "||": "or", "!": "not"}

WHERE = ("src", "dst")

KINDS = ("host", "net", "port", "portrange")

PROTOCOLS: dict[str, Test] = {
    "tcp": lambda _ends: True,
    "ip": lambda ends: ends[0][0].version == 4,
    "ip6": lambda ends: ends[0][0].version == 6,
}

EXAMPLE = "such as 'port 443 and not src host 10.0.0.1'"


class ConnectionFilter:
    """A parsed filter.

    Attributes:
        words: other words for words of the filter.
        example: a filter, for messages.

    Raises:
        RequestError: the text is not a filter.
    """

    words = WORDS
    example = EXAMPLE

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = self._split(text)
        self._place = 0
        self._words: tuple[str, str] | None = None
        self._test = self._alternatives()
        if self._place < len(self._tokens):
            raise self._error(f"'{self._tokens[self._place]}' is not expected there")

    def __call__(self, client: str, server: str) -> bool:
        """Whether a connection between these ends passes; an end is ``ADDRESS:PORT`` or ``[ADDRESS]:PORT``."""
        return self._test((end(client), end(server)))

    def _alternatives(self) -> Test:
        test = self._one()
        while self._next_is("and", "or"):
            joined, before = self._take(), test
            after = self._one()
            test = _both(before, after) if joined == "and" else _either(before, after)
        return test

    def _one(self) -> Test:
        if self._next_is("not"):
            self._take()
            inner = self._one()
            return lambda ends: not inner(ends)
        if self._next_is("("):
            self._take()
            test = self._alternatives()
            if not self._next_is(")"):
                raise self._error("a parenthesis is not closed")
            self._take()
            return test
        return self._primitive()

    def _primitive(self) -> Test:
        if self._next_is(*PROTOCOLS):
            return PROTOCOLS[self._take()]
        where = self._take() if self._next_is(*WHERE) else ""
        kind = self._take() if self._next_is(*KINDS) else ""
        if not where and not kind and self._words is not None:
            where, kind = self._words
        value = self._value()
        test = self._test_of(kind, value)
        self._words = (where, kind or "host")
        if where == "src":
            return lambda ends: test(*ends[0])
        if where == "dst":
            return lambda ends: test(*ends[1])
        return lambda ends: test(*ends[0]) or test(*ends[1])

    def _value(self) -> str:
        value = self._take() if self._place < len(self._tokens) else ""
        if value in ("", ")", "(", "and", "or", "not"):
            raise self._error(f"a value is missing {f'before {value!r}' if value else 'at the end'}")
        return value

    def _test_of(self, kind: str, value: str) -> Callable[[Address, int], bool]:
        if kind == "port":
            port = self._port(value)
            return lambda _address, known: known == port
        if kind == "portrange":
            low, dash, high = value.partition("-")
            # As in tcpdump, the larger one may come first.
            first, last = sorted((self._port(low), self._port(high if dash else low)))
            return lambda _address, known: first <= known <= last
        if kind == "net" or "/" in value:
            network = self._network(value, kind)
            return lambda address, _port: address in network
        wanted = _plain(self._address(value, kind))
        return lambda address, _port: address == wanted

    def _network(self, text: str, kind: str) -> IPv4Network | IPv6Network:
        address, _slash, length = text.partition("/")
        self._address(address, kind)
        try:
            return ip_network(text, strict=False)
        except ValueError:
            raise self._error(f"'{length}' is not the prefix length or mask of a network") from None

    def _address(self, text: str, kind: str) -> Address:
        try:
            return ip_address(text)
        except ValueError:
            nor = "" if kind else ", and no word of this filter"
            raise self._error(f"'{text}' is not an address{nor}; names are not resolved") from None

    def _port(self, text: str) -> int:
        if text.isascii() and text.isdigit() and int(text) <= 65535:
            return int(text)
        try:
            return socket.getservbyname(text, "tcp")
        except (OSError, OverflowError):
            raise self._error(f"'{text}' is not a port from 0 to 65535") from None

    def _next_is(self, *words: str) -> bool:
        return self._place < len(self._tokens) and self._tokens[self._place] in words

    def _take(self) -> str:
        self._place += 1
        return self._tokens[self._place - 1]

    def _error(self, what: str) -> RequestError:
        return RequestError(
            f"the filter '{self.text}' is not understood: {what}; write a filter {self.example}"
        )

    def _split(self, text: str) -> list[str]:
        tokens, place = [], 0
        while place < len(text.rstrip()):
            found = TOKEN.match(text, place)
            if found is None:
                raise RequestError(
                    f"the filter '{text}' is not understood at '{text[place:].strip()}'; "
                    f"write a filter {self.example}"
                )
            tokens.append(self.words.get(found[1], found[1]))
            place = found.end()
        if not tokens:
            raise RequestError(f"the filter is empty; write a filter {self.example}")
        return tokens


def end(text: str) -> End:
    """An end of a connection, ``ADDRESS:PORT`` or ``[ADDRESS]:PORT``."""
    address, _colon, port = text.rpartition(":")
    return _plain(ip_address(address.strip("[]").partition("%")[0])), int(port)


def _plain(address: Address) -> Address:
    """An IPv4 address in the form of an IPv6 address as IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _both(a: Test, b: Test) -> Test:
    return lambda ends: a(ends) and b(ends)


def _either(a: Test, b: Test) -> Test:
    return lambda ends: a(ends) or b(ends)
