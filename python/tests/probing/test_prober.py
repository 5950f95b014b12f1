"""The prober against the kernel: loopback and routers in network namespaces, with and without permission.

Each test runs in a user and network namespace of its own, in which it is root and nothing outside can be reached. Where
the system does not allow that, or lacks ``unshare`` or ``ip``, the tests are skipped.
"""

from __future__ import annotations

import json
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from netspurt.inputs import delays

pytest.importorskip("netspurt._core")

PING = f"{sys.executable} -m netspurt ping"
LOOPBACK = "ip link set lo up"
UNPRIVILEGED = "echo '0 0' > /proc/sys/net/ipv4/ping_group_range"
"""Lets ping sockets be; a new namespace has none."""


def _denied() -> str | None:
    missing = [name for name in ("unshare", "ip", "setpriv") if shutil.which(name) is None]
    if missing:
        return f"there is no {' and no '.join(missing)} here"
    trial = subprocess.run(["unshare", "-rn", "sh", "-c", LOOPBACK], capture_output=True, text=True)
    return f"no network namespace can be made here: {trial.stderr.strip()}" if trial.returncode else None


DENIED = _denied()
pytestmark = pytest.mark.skipif(DENIED is not None, reason=DENIED or "")


def inside(*commands: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell script in namespaces of its own."""
    script = "\n".join(("set -e", *commands))
    return subprocess.run(["unshare", "-rn", "sh", "-c", script], capture_output=True, text=True, timeout=120)


def probed(run: subprocess.CompletedProcess[str], status: int = 0) -> dict[str, Any]:
    """What ``--json`` says."""
    assert run.returncode == status, run.stderr
    document: dict[str, Any] = json.loads(run.stdout)
    return document


@pytest.mark.parametrize(("permission", "kind"), [(UNPRIVILEGED, "ping"), ("true", "raw")])
def test_loopback_answers_everything_over_both_families_and_both_sockets(
    tmp_path: Path, permission: str, kind: str
) -> None:
    out = tmp_path / "probe.parquet"
    ping = f"{PING} 127.0.0.1 ::1 --count 25 --interval 4..8ms --fast --length 0..1500 --seed 7 --json --out {out}"
    document = probed(inside(LOOPBACK, permission, ping))
    assert document["sockets"] == {"ipv4": kind, "ipv6": kind}
    assert (document["ended"], document["sent"], document["waiting"]) == ("complete", 50, 0)
    assert (document["foreign"], document["altered"], document["dropped"]) == (0, 0, 0)
    for host in document["hosts"]:
        assert (host["replies"], host["unanswered"], host["duplicate"], host["late"]) == (25, 0, 0, 0)
        assert 0 < host["min_ms"] <= host["p50_ms"] <= host["max_ms"]
    table = pl.read_parquet(out)
    assert set(table["stamped"]) == {"kernel"}
    v4, v6 = (table.filter(host=host).sort("number") for host in ("127.0.0.1", "::1"))
    assert v4["number"].to_list() == v6["number"].to_list() == list(range(25))
    assert v4["length_octets"].n_unique() > 15
    assert (v6["length_octets"] == v4["length_octets"].clip(60)).all(), "one length for each volley"
    first, second = delays.read(str(out))
    assert {first.host, second.host} == {"127.0.0.1", "::1"}
    np.testing.assert_allclose(sorted(first.delay_s * 2e3), sorted(v4["rtt_ms"]))


def test_without_permission_one_sentence_names_the_remedy() -> None:
    run = inside(LOOPBACK, f"exec setpriv --bounding-set=-net_raw --inh-caps=-net_raw {PING} 127.0.0.1")
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert "ping_group_range" in run.stderr
    assert "cap_net_raw" in run.stderr


def test_a_network_that_is_down_is_counted_and_reported(tmp_path: Path) -> None:
    # Without loopback nothing can be sent at all.
    ping = f"{PING} 192.0.2.1 --count 3 --interval 0.1"
    run = inside(ping)
    assert run.returncode == 1
    assert run.stdout.count("could not be sent: network is unreachable") == 3
    document = probed(inside(f"{ping} --json"), 1)
    assert document["hosts"][0]["send_failed"] == 3


ROUTERS = """
ip link set lo up
unshare -n sleep 60 & first=$!
unshare -n sleep 60 & second=$!
trap "kill $first $second" EXIT
for other in $first $second; do
    while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
done
ip link add near type veth peer name here netns $first
ip address add 10.9.0.1/24 dev near && ip link set near up
ip route add default via 10.9.0.2
nsenter -t $first -n sh -ec "
ip link add there type veth peer name back netns $second
ip address add 10.9.0.2/24 dev here && ip link set here up
ip address add 10.8.0.1/24 dev there && ip link set there up
ip route add unreachable 198.51.100.0/24
ip route add blackhole 203.0.113.0/24
ip route add 192.0.2.0/24 via 10.8.0.2"
nsenter -t $second -n sh -ec "
ip address add 10.8.0.2/24 dev back && ip link set back up
ip route add default via 10.8.0.1"
for other in $first $second; do
    nsenter -t $other -n sh -ec "
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo 0 > /proc/sys/net/ipv4/icmp_ratelimit
    for file in /proc/sys/net/ipv4/conf/*/send_redirects; do echo 0 > \\$file; done"
done
"""
"""Two routers in a row, of which the second sends all back to the first: packets go round until they die."""


@pytest.mark.skipif(shutil.which("nsenter") is None, reason="there is no nsenter here")
@pytest.mark.parametrize(("permission", "kind"), [(UNPRIVILEGED, "ping"), ("true", "raw")])
def test_icmp_errors_of_a_router_are_counted_by_kind(tmp_path: Path, permission: str, kind: str) -> None:
    out = tmp_path / "probe.parquet"
    hosts = "10.9.0.2 198.51.100.9 203.0.113.9 192.0.2.9"
    ping = f"{PING} {hosts} --count 4 --interval 0.1 --timeout 0.6 --json --out {out}"
    document = probed(inside(ROUTERS, permission, ping), 1)
    assert document["sockets"] == {"ipv4": kind}
    near, unreachable, lost, exceeded = document["hosts"]
    assert near["replies"] == 4
    assert (unreachable["unreachable"], unreachable["unanswered"]) == (4, 4)
    assert (lost["lost"], lost["unanswered"]) == (4, 4)
    assert (exceeded["time_exceeded"], exceeded["unanswered"]) == (4, 4)
    table = pl.read_parquet(out)
    told = table.filter(host="198.51.100.9").select("from", "icmp_type", "icmp_code").unique()
    assert told.rows() == [("10.9.0.2", 3, 1)]
    assert table.filter(host="192.0.2.9")["icmp_type"].unique().to_list() == [11]


ANSWERER = """
import socket, struct

def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF

def answer(body):
    head = bytes([0, 0, 0, 0])
    return bytes([0, 0]) + struct.pack(">H", checksum(head + body)) + body

raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
late = []
print("ready", flush=True)
while True:
    packet = raw.recv(2000)
    if packet[20] != 8:
        continue
    body, number = packet[24:], struct.unpack(">H", packet[26:28])[0]
    send = lambda body: raw.sendto(answer(body), ("127.0.0.1", 0))
    kind = number % 5
    if kind == 0:
        send(body)
    elif kind == 1:
        send(body), send(body)
    elif kind == 2 and number < 10:
        late.append(body)
    elif kind == 3:
        send(body[:8] + bytes([body[8] ^ 1]) + body[9:])  # another time of sending
        send(body + b"more")
    elif kind == 4:
        send(body[:4] + bytes(4) + body[8:])  # another program's token
        raw.sendto(bytes([0, 0]), ("127.0.0.1", 0))
        raw.sendto(bytes([3, 1, 0, 0]) + b"x" * 40, ("127.0.0.1", 0))
    if number == 14:
        for each in late:
            send(each)
"""
"""A host that answers once, twice, late, wrongly or for somebody else, in turn; the kernel's own answers are off."""


@pytest.mark.parametrize(("permission", "kind"), [(UNPRIVILEGED, "ping"), ("true", "raw")])
def test_replies_of_a_strange_host_are_counted_by_kind(tmp_path: Path, permission: str, kind: str) -> None:
    answerer = tmp_path / "answerer.py"
    answerer.write_text(ANSWERER, encoding="utf-8")
    ping = f"{PING} 127.0.0.1 --count 16 --interval 60ms --fast --timeout 0.3 --json"
    document = probed(
        inside(
            LOOPBACK,
            permission,
            "echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all",
            f"{sys.executable} {answerer} > {tmp_path}/ready & trap 'kill '$! EXIT",
            f"while ! grep -q ready {tmp_path}/ready; do sleep 0.01; done",
            ping,
        )
    )
    (host,) = document["hosts"]
    assert document["sockets"] == {"ipv4": kind}
    assert (host["replies"], host["lost"], host["packets"]) == (7, 9, 16)
    assert host["duplicate"] == 3
    assert host["late"] == 2
    assert document["altered"] == 6
    assert document["foreign"] == 3


def test_ctrl_c_prints_the_summary_and_keeps_what_was_found(tmp_path: Path) -> None:
    out = tmp_path / "probe.parquet"
    script = f"set -e; {LOOPBACK}; exec {PING} 127.0.0.1 --interval 0.1 --out {out}"
    run = subprocess.Popen(["unshare", "-rn", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    lines = [run.stdout.readline() for _ in range(4)]
    assert all(line.startswith("127.0.0.1: 84 bytes, number ") for line in lines)
    run.send_signal(signal.SIGINT)
    rest = run.stdout.read()
    assert run.wait() == 130
    run.stdout.close()
    assert f"written to {out}" in rest
    assert "95 %" in rest
    assert pl.read_parquet(out).height >= 4
    assert [path.name for path in tmp_path.iterdir()] == ["probe.parquet"]


def test_a_killed_prober_leaves_a_whole_file(tmp_path: Path) -> None:
    out = tmp_path / "probe.parquet"
    script = f"set -e; {LOOPBACK}; exec {PING} 127.0.0.1 --interval 2ms --fast --out {out}"
    run = subprocess.Popen(["unshare", "-rn", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    said = [run.stdout.readline() for _ in range(1500)]
    run.kill()
    said += run.stdout.read().splitlines(keepends=True)
    run.wait()
    run.stdout.close()
    shown = sum(line.endswith(" ms\n") for line in said)
    # What was shown was found; of it at most a second, 500 packets, may be missing.
    assert shown - 500 < pl.read_parquet(out).height
    assert delays.read(str(out))[0].time_s.size > 0


def test_replies_can_pace_the_volleys_and_more_than_ten_a_second_need_an_option() -> None:
    begun = time.monotonic()
    run = inside(LOOPBACK, f"{PING} 127.0.0.1 --count 6 --interval reply --json")
    assert probed(run)["hosts"][0]["replies"] == 6
    assert time.monotonic() - begun > 0.5, "six volleys, a tenth of a second apart at least"
    run = inside(LOOPBACK, f"{PING} 127.0.0.1 --count 6 --interval 50ms")
    assert run.returncode == 2
    assert "--fast" in run.stderr
    run = inside(LOOPBACK, f"{PING} 127.0.0.1 --count 6 --interval 0.5ms --fast")
    assert run.returncode == 2
    assert "at most 1000" in run.stderr


def test_a_host_that_cannot_be_found_does_not_keep_the_others_from_being_probed() -> None:
    run = inside(LOOPBACK, f"{PING} no.such.host.invalid 127.0.0.1 --count 1 --json")
    document = probed(run, 1)
    assert "cannot find an address of 'no.such.host.invalid'" in document["errors"][0]
    assert document["hosts"][0]["replies"] == 1
    run = inside(LOOPBACK, f"{PING} no.such.host.invalid --json")
    assert (run.returncode, run.stdout) == (2, "")


WITHOUT_IPV6 = """
import ctypes, os, struct, sys
ALLOW, EAFNOSUPPORT, LOAD, EQUAL, RETURN = 0x7FFF0000, 0x00050000 | 97, 0x20, 0x15, 0x06
# socket(AF_INET6, ...) fails: number of the call at 0, first argument at 16.
rules = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, int(sys.argv[1])), (LOAD, 0, 0, 16), (EQUAL, 0, 1, 10)]
rules += [(RETURN, 0, 0, EAFNOSUPPORT), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Runs Python where no IPv6 socket can be had, as on a system without IPv6 (seccomp filters)."""


def test_a_family_without_sockets_does_not_keep_the_others_from_being_probed(tmp_path: Path) -> None:
    call = {"x86_64": 41, "aarch64": 198}.get(platform.machine())
    if call is None:
        pytest.skip(f"the number of the system call on {platform.machine()} is not known here")
    launcher = tmp_path / "without_ipv6.py"
    launcher.write_text(WITHOUT_IPV6, encoding="utf-8")
    ping = f"{sys.executable} {launcher} {call} -m netspurt ping --count 2 --interval 0.1 --json"
    run = inside(LOOPBACK, f"{ping} ::1 127.0.0.1")
    if run.returncode == 77:
        pytest.skip("seccomp filters are not allowed here")
    document = probed(run, 1)
    assert document["sockets"].keys() == {"ipv4"}
    assert [(host["host"], host["replies"]) for host in document["hosts"]] == [("127.0.0.1", 2)]
    assert document["errors"][0].startswith("::1 is not probed: this system has no ICMP sockets for IPv6")
    assert "::1 is not probed" in run.stderr
    alone = inside(LOOPBACK, f"{ping} ::1")
    assert (alone.returncode, alone.stdout) == (2, "")
