"""The filter of live sockets."""

from __future__ import annotations

import pytest

from netspurt.errors import RequestError
from netspurt.sockets.socket_filter import SocketFilter

ROW = {
    "local": "10.0.0.1:443",
    "remote": "[2001:db8::2]:50000",
    "state": "established",
    "process": "nginx",
    "pid": 7,
}


@pytest.mark.parametrize(
    "text",
    [
        "port 443",
        "port 50000",
        "local port 443",
        "src port 443 and dst port 50000",
        "host 10.0.0.1",
        "net 10.0.0.0/8",
        "remote net 2001:db8::/32",
        "state established",
        "process nginx",
        "process ng*",
        "pid 7",
        "ip",
        "not port 80",
        "port 80 or process nginx",
        "(port 80 or port 443) && !state close-wait",
    ],
)
def test_a_socket_passes(text: str) -> None:
    assert SocketFilter(text).passes(ROW)


@pytest.mark.parametrize(
    "text",
    [
        "port 80",
        "remote port 443",
        "host 10.0.0.2",
        "state close-wait",
        "process apache",
        "pid 8",
        "ip6",
        "not ip",
        "port 80 or port 443 and pid 8",
    ],
)
def test_a_socket_does_not_pass(text: str) -> None:
    assert not SocketFilter(text).passes(ROW)


def test_an_unknown_process_has_no_name() -> None:
    assert not SocketFilter("process *").passes(ROW | {"process": None})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the filter is empty"),
        ("port", "a value is missing at the end"),
        ("state", "a value is missing at the end"),
        ("pid x", "'x' is not the number of a process"),
        ("port no-such-service", "'no-such-service' is not a port from 0 to 65535"),
        ("port 70000", "'70000' is not a port"),
        ("host example.org", "'example.org' is not an address; names are not resolved"),
        ("state establish", "there is no state 'establish', did you mean 'established'?"),
        ("proces nginx", "'proces' is not an address"),
        ("port 1 port 2", "'port' is not expected there"),
        ("(port 1", "a parenthesis is not closed"),
        ("port 1 &", "is not understood at '&'"),
    ],
)
def test_a_wrong_filter_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(RequestError) as refused:
        SocketFilter(text)
    assert words in str(refused.value)
    assert "such as 'port 443" in str(refused.value)
