"""The filter of connections agrees with tcpdump's language."""

from __future__ import annotations

import pytest

from netspurt.diagnosing.connection_filter import ConnectionFilter
from netspurt.errors import RequestError

WEB = ("10.0.0.1:40000", "192.0.2.7:443")
SIX = ("[2001:db8::1]:40001", "[2001:db8::2]:80")


@pytest.mark.parametrize(
    ("text", "web", "six"),
    [
        ("port 443", True, False),
        ("port https", True, False),
        ("dst port 443", True, False),
        ("src port 443", False, False),
        ("host 10.0.0.1", True, False),
        ("10.0.0.1", True, False),
        ("dst host 10.0.0.1", False, False),
        ("dst 192.0.2.7", True, False),
        ("src net 10.0.0.0/8", True, False),
        ("net 2001:db8::/32", False, True),
        ("host 2001:db8::1", False, True),
        ("not port 443", False, True),
        ("! port 443", False, True),
        ("port 80 or 443", True, True),
        ("port 80 || port 443", True, True),
        ("portrange 440-450", True, False),
        ("portrange 450-440", True, False),
        ("tcp and port 80", False, True),
        ("ip6", False, True),
        ("ip && port 443", True, False),
        ("(port 80 or port 443) and src host 10.0.0.1", True, False),
        ("not (port 80 or port 443)", False, False),
        # Both words have the same precedence, as in tcpdump.
        ("port 443 or port 80 and ip6", False, True),
        ("port 443 or (port 80 and ip6)", True, True),
    ],
)
def test_a_filter_selects_connections(text: str, web: bool, six: bool) -> None:
    chosen = ConnectionFilter(text)
    assert (chosen(*WEB), chosen(*SIX)) == (web, six)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the filter is empty"),
        ("port", "a value is missing at the end"),
        ("port 99999", "'99999' is not a port"),
        ("host nowhere.example", "'nowhere.example' is not an address; names are not resolved"),
        ("udp", "'udp' is not an address, and no word of this filter; names are not resolved"),
        ("net 10.0.0.0/33", "'33' is not the prefix length or mask of a network"),
        ("(port 80", "a parenthesis is not closed"),
        ("port 80 ssh", "'ssh' is not expected there"),
        ("port and 80", "a value is missing before 'and'"),
        ("port 80 & port 81", "is not understood at '& port 81'"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(RequestError, match="such as 'port 443") as error:
        ConnectionFilter(text)
    assert words in str(error.value)
