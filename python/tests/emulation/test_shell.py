"""A shell behind a path: to this machine's network, in another shell, or to the hosts of a scenario.

Everything happens in network namespaces that these tests make; "this machine" is the outermost of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netspurt.emulation import outside
from netspurt.emulation.shells import environment

NETSPURT = f"{sys.executable} -m netspurt"
ALONE = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]

SERVE = """
import socket
listening = socket.create_server(("0.0.0.0", 8000))
while True:
    listening.accept()[0].sendall(b"served")
"""
FETCH = """
import socket, sys, time
began = time.monotonic()
peer = socket.create_connection((sys.argv[1], 8000), timeout=5)
print(peer.recv(100).decode(), round(time.monotonic() - began, 3))
"""


def _alone(tmp_path: Path, script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Runs a script on a machine of its own, which serves at 192.0.2.1."""
    (tmp_path / "serve.py").write_text(SERVE)
    (tmp_path / "fetch.py").write_text(FETCH)
    setup = f"""
    set -u
    ip link set lo up && ip addr add 192.0.2.1/32 dev lo || exit 99
    {sys.executable} serve.py >/dev/null 2>&1 &
    trap "kill $!" EXIT
    {sys.executable} -c 'import time; time.sleep(0.3)'
    """
    (tmp_path / "script.sh").write_text(f"{setup}\n{script}\n")
    done = subprocess.run(
        [*ALONE, "sh", "script.sh"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environ,
    )
    if (
        done.returncode == 99
        or "cannot create a network namespace" in done.stderr
        or "unshare" in done.stderr
    ):
        pytest.skip(f"no network namespace can be made here: {done.stderr.strip()}")
    if "/dev/net/tun" in done.stderr:
        pytest.skip(f"no TUN device: {done.stderr.strip()}")
    return done


def _fetched(done: subprocess.CompletedProcess[str]) -> float:
    words = done.stdout.split()
    assert words[:1] == ["served"], (done.stdout, done.stderr)
    return float(words[1])


def test_a_command_reaches_this_machine_over_the_path(tmp_path: Path) -> None:
    fetch = f"{sys.executable} fetch.py 192.0.2.1"
    done = _alone(tmp_path, f"{NETSPURT} shell --rate 10mbit --delay 50ms -- {fetch}")
    assert done.returncode == 0, done.stderr
    # The handshake and the answer: a round trip of 100 ms, and half of one for the answer's data to be there.
    assert 0.1 <= _fetched(done) < 1.0


def test_the_last_host_is_this_machine_and_has_its_name(tmp_path: Path) -> None:
    done = _alone(tmp_path, f"{NETSPURT} shell --delay 10ms -q -- {sys.executable} fetch.py server")
    assert _fetched(done) >= 0.02
    assert done.stderr == ""


def test_the_exit_status_is_the_commands_and_the_machine_is_as_before(tmp_path: Path) -> None:
    done = _alone(
        tmp_path,
        f"""
        cat /proc/sys/net/ipv4/ip_forward
        {NETSPURT} shell --delay 1ms -q -- sh -c 'cat /proc/sys/net/ipv4/ip_forward; exit 7'
        status=$?; cat /proc/sys/net/ipv4/ip_forward; ip -o addr | grep -c 100.64; exit $status
        """,
    )
    assert done.returncode == 7, done.stderr
    before, _inside, after, left = done.stdout.split()
    assert (after, left) == (before, "0")


def test_a_shell_reads_its_standard_input(tmp_path: Path) -> None:
    done = _alone(
        tmp_path,
        f"echo 'echo $NETSPURT_PATH; exit 3' | SHELL=/bin/sh {NETSPURT} shell --rate 1mbit --delay 4ms",
    )
    assert (done.returncode, done.stdout) == (3, "1mbit 4ms\n"), done.stderr


def test_without_address_translation_the_reason_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "_tool", lambda name: None)
    with outside._translation(outside.Outside("server", "nspath0", 0, "")) as doubts:
        assert doubts[0].startswith("only this machine can be reached: install nft")
    monkeypatch.setattr(outside, "_tool", lambda name: "/bin/false")
    with outside._translation(outside.Outside("server", "nspath0", 0, "")) as doubts:
        assert "false cannot translate addresses" in doubts[0]


def test_without_privilege_the_remedy_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    from netspurt.errors import RequestError

    monkeypatch.setattr(outside, "_is_admin", lambda: False)
    with (
        pytest.raises(RequestError, match="use sudo, or emulate a path between two hosts"),
        outside.joined("server"),
    ):
        pass


def test_shells_nest_where_addresses_are_translated(tmp_path: Path) -> None:
    if outside._tool("nft") is None and outside._tool("iptables") is None:
        pytest.skip("neither nft nor iptables is installed")
    inner = f"{NETSPURT} shell --delay 30ms -- {sys.executable} fetch.py 192.0.2.1"
    done = _alone(tmp_path, f"{NETSPURT} shell --rate 10mbit --delay 20ms -- {inner}")
    if "cannot translate addresses" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert 0.1 <= _fetched(done) < 1.0


def test_the_prompt_shows_a_nested_path() -> None:
    first = environment("10mbit 40ms", {})
    second = environment("5ms 1%", first)
    assert second["NETSPURT_PATH"] == "10mbit 40ms | 5ms 1%"
    assert second["PS1"] == "[10mbit 40ms | 5ms 1%] $ "
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    shown = subprocess.run(
        [bash, "--norc", "-i", "-c", 'PS1="me> "; eval "$PROMPT_COMMAND"; echo "$PS1"'],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | environment("a'b$(x)`y`", {}),
    )
    assert shown.stdout == "[ab(x)y] me> \n"


def test_a_block_of_addresses_above_those_in_use_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "fib_trie"
    monkeypatch.setattr(outside, "ADDRESSES", table)
    assert outside._free_block() == 0
    table.write_text("  |-- 100.64.1.2\n      /32 host LOCAL\n  |-- 100.64.3.0\n")
    assert outside._free_block() == 4
    table.write_text("  |-- 100.64.255.1\n")
    assert outside._free_block() == 0


def test_name_servers_on_the_loopback_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    monkeypatch.setattr(outside, "RESOLVERS", (own, other))
    own.write_text("nameserver 127.0.0.53\noptions edns0\n")
    assert outside._name_servers()[0] == ""
    assert "names are not resolved" in outside._name_servers()[1][0]
    other.write_text("nameserver 192.0.2.53\n")
    assert outside._name_servers() == ("nameserver 192.0.2.53\n", [])


def test_one_command_alone_reaches_the_other_hosts_of_a_scenario(tmp_path: Path) -> None:
    ask = "import socket; s = socket.socket(); s.settimeout(5); print(s.connect_ex(('server', 9)))"
    (tmp_path / "ask.py").write_text(ask)
    done = _alone(
        tmp_path,
        f"{NETSPURT} emulate --delay 5ms -- {sys.executable} ask.py; {NETSPURT} emulate --delay 5ms -- sh -c 'exit 4'",
    )
    # Its kernel refuses the connection: nothing listens there.
    assert (done.returncode, done.stdout) == (4, "111\n"), done.stderr


def test_our_tcp_is_reached_over_a_path(tmp_path: Path) -> None:
    """``netspurt host`` with the options of a path: the server of the path."""
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "page").write_text("served")
    get = (
        "import sys, time, urllib.request as u; began = time.monotonic();"
        "print(u.urlopen(sys.argv[1], timeout=5).read().decode(), round(time.monotonic() - began, 3))"
    )
    done = _alone(
        tmp_path,
        f"""
        {NETSPURT} host http 8080 --root www --rate 10mbit --delay=50ms >log 2>&1 &
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            grep -q 'this host is' log && break
            {sys.executable} -c 'import time; time.sleep(0.25)'
        done
        address=$(sed -n 's/.*this host is \\([0-9.]*\\).*/\\1/p' log)
        {sys.executable} -c '{get}' http://$address:8080/page
        kill -TERM $!; wait $!; cat log >&2
        """,
    )
    words = done.stdout.split()
    assert words[:1] == ["served"], (done.stdout, done.stderr)
    # The handshake, and the request with its answer.
    assert 0.2 <= float(words[1]) < 1.5
    assert "a path of 10mbit 50ms lies before this host; this machine is the client" in done.stderr


def test_our_tcp_reaches_this_machine_over_a_path(tmp_path: Path) -> None:
    done = _alone(tmp_path, f"{NETSPURT} host connect server 8000 --rate 10mbit --delay 50ms </dev/null")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "served"
    assert "this machine is 'server'" in done.stderr
