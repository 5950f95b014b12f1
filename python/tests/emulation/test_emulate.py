"""Real programs with a simulated network between them: as root or in a user namespace, else skipped with the reason."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import netspurt as ns
from netspurt.emulation.packets import FIN, conversations, packets

pytest.importorskip("netspurt._core")

from emulations import LIMIT_S, carriers, command, emulate, report, said  # what they need is looked for first

PEER = f"{sys.executable} {Path(__file__).with_name('emulated_peer.py')}"

pytestmark = pytest.mark.usefixtures("permitted", "nothing_is_left")


def _needs_family(address: str) -> None:
    if ":" in address and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this kernel has no IPv6")


def test_round_trips_have_the_configured_delay(tmp_path: Path) -> None:
    run = emulate(tmp_path, "--json", "--server", f"{PEER} echo", "--", *f"{PEER} ask space 50".split())
    assert run.returncode == 0, run.stderr
    times = json.loads(said(run))
    assert min(times) >= 0.020, "nothing is ever too early"
    assert statistics.median(times) < 0.024
    there, back = report(run)["links"]
    assert there["arrived"] == back["arrived"] == 50
    assert there["delay_error_p50_s"] < 0.002, "what was done is close to what was asked"


def test_a_web_server_and_curl_are_ordinary_programs(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    content = random.Random(1).randbytes(3_000_000)
    (tmp_path / "file").write_bytes(content)
    server = f"{sys.executable} -m http.server 80 --directory {tmp_path}"
    run = emulate(
        tmp_path, "--server", server, "--", "curl", "-sf", "-o", str(tmp_path / "got"), "http://space/file"
    )
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "got").read_bytes() == content
    run = emulate(tmp_path, "--server", server, "--", "curl", "-sf", "http://space/other")
    assert run.returncode == 22, "curl's own word for a page that is not there"


def test_iperf3_finds_the_rate(tmp_path: Path) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("there is no iperf3 here")
    run = emulate(
        tmp_path,
        *("--json", "--congestion", "reno", "--server", "iperf3 --server --one-off --json"),
        *("--", "iperf3", "--client", "space", "--time", "2", "--json", "--omit", "1"),
        link='rate = "20 Mbit/s"\nqueue = { kind = "drop-tail", limit = "100 packets" }',
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(said(run)[: said(run).index("\n}") + 2])["end"]["sum_received"]["bits_per_second"]
    most = 20e6 * 1448 / 1500
    # What had been queued when the measurement began arrives within it.
    assert 0.9 * most < found < 1.1 * most


IMPAIRED = """
rate = "50 Mbit/s"
queue = { kind = "drop-tail", limit = "100 packets" }
loss = { kind = "packet-error", rate = 0.01 }
reorder = { probability = 0.02, delay = "3 ms" }
duplicate = { probability = 0.02 }
corrupt = { probability = 0.01 }
"""


def test_a_transfer_is_whole_over_a_path_that_loses_reorders_doubles_and_damages(tmp_path: Path) -> None:
    octets = 2_000_000
    run = emulate(
        tmp_path,
        "--json",
        *("--server", f"{PEER} serve {octets} 1"),
        *("--", *f"{PEER} fetch space {octets} 2".split()),
        link=IMPAIRED,
    )
    assert run.returncode == 0, run.stderr
    hashes = [hashlib.sha256(random.Random(seed).randbytes(octets)).hexdigest() for seed in (1, 2)]
    # Both speak to the same standard output, in either order.
    assert all(each in said(run) for each in hashes), said(run)
    for link in report(run)["links"]:
        assert link["drops"]["packet-error"] > 0
        assert min(link["held"], link["duplicated"], link["corrupted"]) > 0, link


def test_a_capture_has_a_comment_on_the_first_packet_after_a_change(tmp_path: Path) -> None:
    at_host, on_wire = tmp_path / "host.pcapng", tmp_path / "wire.pcapng"
    run = emulate(
        tmp_path,
        *("--json", "--capture", f"earth={at_host}", "--capture", f"path@space={on_wire}"),
        *("--server", f"{PEER} echo", "--", *f"{PEER} ask space 20".split()),
        link=(
            'rate = "100 Mbit/s"\n[[change]]\nat = "1 ms"\nset = { "link.path.delay" = "12 ms" }\n'
            '[[change]]\nat = "60 min"\nset = { "link.path.delay" = "13 ms" }'
        ),
    )
    assert run.returncode == 0, run.stderr
    for capture in (at_host, on_wire):
        assert capture.read_bytes().count(b"changed: link.path.delay = 12 ms") == 1, capture
        assert b"13 ms" not in capture.read_bytes(), "that change is still to come"


def test_the_rate_is_kept(tmp_path: Path) -> None:
    octets = 10_000_000
    run = emulate(
        tmp_path,
        *("--json", "--congestion", "cubic"),
        *("--server", f"{PEER} serve {octets} 1"),
        *("--", *f"{PEER} fetch space 0 2".split()),
        link='rate = "50 Mbit/s"\nqueue = { kind = "drop-tail", limit = "200 packets" }',
    )
    assert run.returncode == 0, run.stderr
    took = next(json.loads(line)[1] for line in said(run).splitlines() if line.startswith("["))
    goodput = 8 * octets / took
    assert 0.8 * 50e6 < goodput <= 50e6 * 1448 / 1500
    assert report(run)["links"][1]["rate_done_bps"] <= 50.5e6


def test_marks_reach_the_kernel(tmp_path: Path) -> None:
    run = emulate(
        tmp_path,
        *("--json", "--sysctl", "net.ipv4.tcp_ecn=1", "--congestion", "cubic"),
        *("--server", f"{PEER} serve 3000000 1"),
        *("--", *f"{PEER} fetch space 0 2".split()),
        link='rate = "20 Mbit/s"\nqueue = { kind = "codel", ecn = true }',
    )
    assert run.returncode == 0, run.stderr
    assert report(run)["links"][1]["marked"] > 0
    assert hashlib.sha256(random.Random(1).randbytes(3_000_000)).hexdigest() in said(run)


@pytest.mark.parametrize("address", ["10.0.0.2", "fd00::2"])
def test_a_kernel_receives_packet_too_big(tmp_path: Path, address: str) -> None:
    _needs_family(address)
    run = emulate(
        tmp_path,
        *("--json", "--server", f"{PEER} serve 300000 1", "--", *f"{PEER} fetch {address} 0 2".split()),
        link='rate = "20 Mbit/s"\nmtu = { size = "1300 B" }',
    )
    assert run.returncode == 0, run.stderr
    assert hashlib.sha256(random.Random(1).randbytes(300_000)).hexdigest() in said(run)
    # The first segments of the first window, and no others.
    assert 0 < report(run)["links"][1]["drops"]["too-big"] <= 12


def test_a_link_may_follow_a_recording(tmp_path: Path) -> None:
    (tmp_path / "phone.up").write_text("4\n8\n", encoding="utf-8")
    run = emulate(
        tmp_path,
        *("--json", "--server", f"{PEER} serve 750000 1", "--", *f"{PEER} fetch space 0 2".split()),
        link='trace = { kind = "mahimahi", file = "phone.up", direction = "space->earth" }',
    )
    assert run.returncode == 0, run.stderr
    took = next(json.loads(line)[1] for line in said(run).splitlines() if line.startswith("["))
    # A packet with 1448 octets of data every 4 ms.
    assert 750_000 / took <= 1448 / 0.004
    assert report(run)["links"][1]["rate_asked_bps"] == 3_008_000


def test_any_number_of_hosts_may_take_part_and_share_a_hub(tmp_path: Path) -> None:
    scenario = tmp_path / "lan.toml"
    scenario.write_text(
        """
        duration = "1 s"
        [hub.lan]
        stations = ["a", "b", "c", "d"]
        rate = "10 Mbit/s"
        [[flow]]
        from = "a"
        to = "d"
        app = { kind = "bulk" }
        """,
        encoding="utf-8",
    )
    others = [word for host in "bcd" for word in ("--on", host, f"{PEER} echo")]
    asks = "; ".join(f"{PEER} ask {host} 5" for host in "bcd")
    words = [sys.executable, "-m", "netspurt", "emulate", str(scenario), "--json", *others]
    run = subprocess.run([*words, "--", "sh", "-c", asks], capture_output=True, text=True, timeout=LIMIT_S)
    assert run.returncode == 0, run.stderr
    assert [len(json.loads(line)) for line in said(run).splitlines()] == [5, 5, 5]
    found = report(run)
    assert [host["received"] for host in found["hosts"]] == [15, 5, 5, 5]
    assert {link["direction"]: link["packets"] for link in found["links"]}["a->lan"] == 15


@pytest.mark.parametrize(("words", "status"), [("exit 7", 7), ("kill -TERM $$", 143), ("true", 0)])
def test_the_exit_status_is_the_command_s(tmp_path: Path, words: str, status: int) -> None:
    run = emulate(tmp_path, "--server", "sleep 100", "--on", "space", "true", "--", "true")
    assert run.returncode == 2
    assert "two commands" in run.stderr
    run = emulate(tmp_path, "--on", "space", "true", "--", "sh", "-c", words)
    assert run.returncode == status, run.stderr


def test_names_resolve_and_no_other_host_is_reachable(tmp_path: Path) -> None:
    script = (
        "import socket, json, os; print(json.dumps([socket.gethostbyname(n) for n in ('earth', 'space', 'localhost')]"
        " + [sorted(name for _, name in socket.if_nameindex()), os.environ['NETSPURT_HOST']]))"
    )
    run = emulate(tmp_path, "--on", "space", "true", "--", sys.executable, "-c", script)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == ["10.0.0.1", "10.0.0.2", "127.0.0.1", ["lo", "netspurt0"], "earth"]


def test_a_capture_holds_what_passed(tmp_path: Path) -> None:
    file = tmp_path / "earth.pcapng"
    run = emulate(
        tmp_path,
        *("--json", "--capture", f"earth={file}", "--server", f"{PEER} serve 300000 1"),
        *("--", *f"{PEER} fetch space 0 2".split()),
    )
    assert run.returncode == 0, run.stderr
    streams = ns.read_capture(file).streams
    assert streams["acknowledged_bytes"].to_list() == [0, 300_000]
    earth = report(run)["hosts"][0]
    assert ns.read_capture(file).tally["packets"] >= earth["sent"] + earth["received"] - 5


NEVER_CLOSES = (
    "import socket, time; there = socket.create_server(('', 5000)).accept()[0];"
    "there.sendall(bytes(300000)); there.shutdown(socket.SHUT_WR); time.sleep(60)"
)


@pytest.mark.parametrize(
    "server",
    [f"{PEER} serve 300000 1", shlex.join([sys.executable, "-c", NEVER_CLOSES])],
    ids=["the server closes", "the server is stopped"],
)
def test_a_capture_goes_on_until_the_connections_are_closed(tmp_path: Path, server: str) -> None:
    """The client's FIN is still on its way when its program ends."""
    file = tmp_path / "earth.pcapng"
    run = emulate(
        tmp_path,
        *("--json", "--capture", f"earth={file}", "--set", "link.path.delay=150 ms", "--server", server),
        *("--", *f"{PEER} fetch 10.0.0.2 0 2".split()),
    )
    assert run.returncode == 0, run.stderr
    (connection,) = conversations(file).values()
    ours = [segment for segment in connection.sent if segment.flags & FIN]
    theirs = [segment for segment in connection.answered if segment.flags & FIN]
    assert ours, "the client has closed"
    assert theirs, "the server has closed"
    assert connection.answered[-1].ack > ours[-1].seq, "the client's FIN is acknowledged"
    assert connection.sent[-1].ack > theirs[-1].seq, "and so is the server's"


def test_each_kernel_s_congestion_control_is_named(tmp_path: Path) -> None:
    script = (
        "import socket, sys, time; s = socket.socket();"
        "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'reno');"
        "s.connect(('space', 5000)); time.sleep(1.5)"
    )
    listen = "import socket, time; l = socket.create_server(('', 5000)); c = l.accept()[0]; c.recv(1)"
    words = ("--json", "--server", shlex.join([sys.executable, "-c", listen]))
    run = emulate(tmp_path, *words, "--", sys.executable, "-c", script)
    assert run.returncode == 0, run.stderr
    usual = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    assert [host["congestion"] for host in report(run)["hosts"]] == [["reno"], [usual]]
    # The kernel lets the route decide, on which --congestion stands.
    run = emulate(tmp_path, "--congestion", "cubic", *words, "--", sys.executable, "-c", script)
    assert [host["congestion"] for host in report(run)["hosts"]] == [["cubic"], ["cubic"]]
    run = emulate(tmp_path, "--congestion", "reno", "--on", "space", "true", "--", "true")
    (earth,) = (line for line in run.stderr.splitlines() if line.startswith("earth "))
    assert "reno" in earth.split(), "what a connection would have got"


def test_rates_and_queues_are_shown_in_each_interval(tmp_path: Path) -> None:
    run = emulate(
        tmp_path,
        *("--interval", "0.25", "--server", f"{PEER} serve 400000 1"),
        *("--", *f"{PEER} fetch space 0 1".split()),
        link='rate = "4 Mbit/s"\nqueue = { kind = "drop-tail", limit = "50 packets" }',
    )
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stderr.splitlines() if " s  path earth→space" in line]
    assert len(lines) >= 2
    back = [re.search(r"space→earth ([\d.]+) Mbit/s, (\d+) packets? queued", line) for line in lines]
    rates = [float(found[1]) for found in back if found]
    assert rates
    assert 3 < max(rates) < 4.4
    assert max(int(found[2]) for found in back if found) > 5


NETWORK = """
[link.near]
between = ["a", "r"]
delay = "5 ms"
loss = { kind = "packet-error", rate = 0.05, direction = "a->r" }
[link.far]
between = ["r", "b"]
rate = "10 Mbit/s"
delay = "5 ms"
"""


def over(tmp_path: Path, scenario: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Emulates a scenario that is given whole."""
    file = tmp_path / "network.toml"
    file.write_text(scenario, encoding="utf-8")
    whole = [sys.executable, "-m", "netspurt", "emulate", str(file), "--json", *words]
    return subprocess.run(whole, capture_output=True, text=True, timeout=LIMIT_S)


def test_a_network_without_flows_is_enough_and_routers_have_no_programs(tmp_path: Path) -> None:
    run = over(tmp_path, NETWORK, "--server", f"{PEER} echo", "--", *f"{PEER} ask b 3".split())
    assert run.returncode == 0, run.stderr
    assert min(json.loads(said(run))) >= 0.020
    assert [host["host"] for host in report(run)["hosts"]] == ["a", "b"]
    with pytest.raises(ns.ScenarioError, match="no flow, so nothing would happen"):
        ns.parse(NETWORK).run()


def test_a_routers_capture_holds_all_packets_that_pass_it(tmp_path: Path) -> None:
    files = {node: tmp_path / f"{node}.pcapng" for node in ("a", "r", "b", "near@a")}
    run = over(
        tmp_path,
        NETWORK,
        *(word for node, file in files.items() for word in ("--capture", f"{node}={file}")),
        *("--on", "b", f"{PEER} serve 1000 1", "--", *f"{PEER} fetch b 300000 2".split()),
    )
    assert run.returncode == 0, run.stderr
    sent, passed, arrived, wire = (list(packets(file)) for file in files.values())
    near, far = ({link["direction"]: link for link in report(run)["links"]}[way] for way in ("a->r", "r->b"))
    assert near["drops"]["packet-error"] > 0
    # Whatever passes the router comes on one link and goes on another; what the first one loses is not seen.
    from_a = [packet for _, packet in passed if packet[12:16] == bytes([10, 0, 0, 1])]
    assert len(from_a) == 2 * far["packets"]
    assert near["packets"] - near["drops"]["packet-error"] == far["packets"]
    times = [at_s for at_s, _ in passed]
    assert times == sorted(times)

    def own(packets: list[tuple[float, bytes]]) -> set[bytes]:
        return {packet for _, packet in packets if packet[12:16] == bytes([10, 0, 0, 1])}

    assert own(arrived) <= set(from_a) <= own(sent)
    # The wire at the host carries what its link transmits, what is lost on the way included, and what arrives.
    assert len([packet for _, packet in wire if packet[12:16] == bytes([10, 0, 0, 1])]) == near["packets"]
    assert own(wire) == own(sent)
    # Checksums that one kernel leaves to the next are complete in captures.
    assert ns.read_capture(files["r"]).tally["packets"] == len(passed)
    with_tshark = shutil.which("tshark")
    if with_tshark:
        words = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        wrong = ["-Y", "tcp.checksum.status==0 || ip.checksum.status==0"]
        for file in files.values():
            said = subprocess.run(
                [with_tshark, "-r", str(file), *words, *wrong],
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
            assert said.stdout == ""


def test_a_capture_where_nothing_passes_is_refused(tmp_path: Path) -> None:
    other = NETWORK + '[link.spur]\nbetween = ["r", "c"]\n'
    words = ("--on", "b", "true", "--capture", "c=x.pcapng", "--", "true")
    run = over(tmp_path, other, *words)
    assert run.returncode == 2
    assert 'no packet passes through "c"' in run.stderr


BOTH_FAMILIES = """
import json, socket, sys
found = {}
for family in (socket.AF_INET, socket.AF_INET6):
    (address,) = {entry[4][0] for entry in socket.getaddrinfo("space", 5000, family, socket.SOCK_STREAM)}
    with socket.create_connection((address, 5000)) as here:
        content = b""
        while piece := here.recv(1 << 16):
            content += piece
        segment = here.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    found[address] = [len(content), segment]
first = socket.getaddrinfo("space", 5000, type=socket.SOCK_STREAM)[0][4][0]
print(json.dumps([found, first]))
"""

SERVES_BOTH = """
import socket
with socket.create_server(("::", 5000), family=socket.AF_INET6, dualstack_ipv6=True) as here:
    while True:
        there, _ = here.accept()
        with there:
            there.sendall(bytes(300_000))
"""


def test_hosts_are_reached_by_ipv4_and_by_ipv6_and_names_say_both(tmp_path: Path) -> None:
    _needs_family("fd00::2")
    (tmp_path / "server.py").write_text(SERVES_BOTH, encoding="utf-8")
    run = emulate(
        tmp_path,
        *("--json", "--server", f"{sys.executable} {tmp_path / 'server.py'}"),
        *("--", sys.executable, "-c", BOTH_FAMILIES),
    )
    assert run.returncode == 0, run.stderr
    found, first = json.loads(said(run))
    assert found == {"10.0.0.2": [300_000, 1448], "fd00::2": [300_000, 1428]}
    if Path("/etc/gai.conf").exists():
        assert first == "10.0.0.2", "where the system can be told, names mean IPv4 first, as in a simulation"
    hosts = report(run)["hosts"]
    assert [host["address"] for host in hosts] == ["10.0.0.1, fd00::1", "10.0.0.2, fd00::2"]
    assert [host["stray"] for host in hosts] == [0, 0], "no kernel looks for routers or neighbours"


FETCHES = """
import socket, sys, time
deadline = time.monotonic() + 20
while True:
    try:
        here = socket.create_connection((sys.argv[1], 5000), timeout=5)
        break
    except OSError:
        if time.monotonic() > deadline:
            raise
        time.sleep(0.05)
taken = 0
while piece := here.recv(1 << 16):
    taken += len(piece)
print(taken)
"""


@pytest.mark.parametrize("address", ["10.128.0.6", "fd80::6"])
def test_marks_losses_and_damage_reach_our_own_tcp_by_both_families(tmp_path: Path, address: str) -> None:
    _needs_family(address)
    octets = 2_000_000
    queue = 'queue = { kind = "codel", ecn = true, target = "0.2 ms", interval = "1 ms" }'
    link = IMPAIRED.replace('queue = { kind = "drop-tail", limit = "100 packets" }', queue)
    host = f"{sys.executable} -m netspurt host source 5000 --bytes {octets} --set ecn=rfc3168"
    (tmp_path / "fetches.py").write_text(FETCHES, encoding="utf-8")
    run = emulate(
        tmp_path,
        *("--json", "--sysctl", "net.ipv4.tcp_ecn=1"),
        # The emulator sees a kernel's sockets alone: one of the kernel's says that all is ready.
        *("--server", f"sh -c '{host} & exec {PEER} echo'"),
        *("--", sys.executable, str(tmp_path / "fetches.py"), address),
        link=link,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.returncode == 0, run.stderr
    assert str(octets) in said(run).split()
    back = report(run)["links"][1]
    assert min(back["marked"], back["corrupted"], back["drops"]["packet-error"]) > 0


def test_a_recording_is_followed_opportunity_by_opportunity(tmp_path: Path) -> None:
    # Packets of 1500 octets fill an opportunity each: after 3, 6 and 9 ms one comes, then four at once, every 20 ms.
    (tmp_path / "phone.up").write_text("3\n6\n9\n20\n20\n20\n20\n", encoding="utf-8")
    capture = tmp_path / "earth.pcapng"
    run = emulate(
        tmp_path,
        *("--json", "--capture", f"earth={capture}"),
        *("--server", f"{PEER} serve 400000 1", "--", *f"{PEER} fetch space 0 2".split()),
        link='trace = { kind = "mahimahi", file = "phone.up", direction = "space->earth" }',
    )
    assert run.returncode == 0, run.stderr
    # What the first windows leave unused is no gap of the recording.
    full = [at_s for at_s, packet in packets(capture) if len(packet) == 1500][60:]
    gaps = [after - before for before, after in itertools.pairwise(full)]
    assert len(gaps) > 150
    share = {
        name: sum(low <= gap < high for gap in gaps) / len(gaps)
        for name, low, high in (("none", 0, 0.001), ("3 ms", 0.002, 0.004), ("11 ms", 0.009, 0.013))
    }
    # Of seven, three are none, three are of 3 ms, one is of 11; a busy machine is late now and then.
    assert share == pytest.approx({"none": 3 / 7, "3 ms": 3 / 7, "11 ms": 1 / 7}, abs=0.08)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--server", "true"), "name the command to run behind '--'"),
        (("--on", "earth", "true", "--", "true"), 'host "earth" has two commands'),
        (
            ("--server", "true", "--", "no-such-program"),
            'cannot start the command of host "earth": no-such-program',
        ),
        (
            ("--server", "no-such-server", "--", "true"),
            'cannot start the command of host "space": no-such-server',
        ),
        (("--server", "'", "--", "true"), "cannot be split into words"),
        (
            ("--on", "mars", "true", "--", "true"),
            'unknown host "mars": the scenario has "earth", "space"',
        ),
        (("--client", "mars", "--server", "true", "--", "true"), 'unknown host "mars"'),
        (
            ("--capture", "mars=x", "--server", "true", "--", "true"),
            'unknown capture point "mars": use one of earth',
        ),
        (("--capture", "earth", "--server", "true", "--", "true"), "NODE=FILE"),
        (("--capture", "earth=/no/such/place", "--server", "true", "--", "true"), "/no/such/place"),
        (("--sysctl", "net.no.such=1", "--server", "true", "--", "true"), "rejects net.no.such = 1"),
        (("--congestion", "speed", "--server", "true", "--", "true"), 'no congestion control "speed"'),
        (("--mtu", "20", "--server", "true", "--", "true"), "invalid MTU 20: must be 68 to 65521 bytes"),
        (("--set", "link.path.delay=5", "--server", "true", "--", "true"), "link.path.delay"),
    ],
)
def test_an_impossible_emulation_is_refused_in_a_sentence(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    run = emulate(tmp_path, *words)
    assert run.returncode == 2, run.stderr
    assert said in run.stderr
    assert run.stderr.startswith("netspurt: ")
    assert run.stderr.count("\n") == 1, run.stderr


def test_a_rate_beyond_the_emulator_causes_a_warning(tmp_path: Path) -> None:
    run = emulate(tmp_path, "--server", "true", "--", "true", link='rate = "40 Gbit/s"')
    assert run.returncode == 0
    assert 'link "path" needs 40 Gbit/s' in run.stderr.splitlines()[0]


def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    words = command(tmp_path, "--server", "sleep 1000", "--", "sh", "-c", "echo begun; sleep 1000")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) in (130, 143), "ours, or the command's own end"


def test_what_a_killed_emulation_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    words = command(
        tmp_path, "--server", "sh -c 'sleep 1000 & wait'", "--", "sh", "-c", "sleep 1000 & echo begun; wait"
    )
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.kill()
        process.wait(LIMIT_S)
    deadline = time.monotonic() + LIMIT_S
    while len(carriers()) > 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(carriers()) == 2, "the commands died with it, what they started did not"
    run = emulate(tmp_path, "--json", "--on", "space", "true", "--", "true")
    assert run.returncode == 0, run.stderr
    assert report(run)["removed"] == 2
    assert carriers() == []


def test_json_stands_alone_on_standard_output(tmp_path: Path) -> None:
    script = "import sys; print('from the program'); print('its errors', file=sys.stderr); sys.exit(3)"
    words = ("--on", "space", "echo from the server", "--", sys.executable, "-c", script)
    run = emulate(tmp_path, "--json", *words)
    assert run.returncode == 3
    assert report(run)["status"] == 3
    assert sorted(said(run).splitlines()) == ["from the program", "from the server", "its errors"]
    run = emulate(tmp_path, *words)
    assert sorted(run.stdout.splitlines()) == ["from the program", "from the server"]


def test_why_names_the_limit_of_the_programs(tmp_path: Path) -> None:
    """The receiver's window is the limit that is put in."""
    (tmp_path / "data").write_bytes(bytes(3_000_000))
    words = ["--sysctl", "net.ipv4.tcp_rmem=4096 65536 65536", "--why"]
    words += ["--server", f"{sys.executable} -m http.server 80 --directory {tmp_path}"]
    words += ["--", "curl", "-s", "-o", "/dev/null", "http://space/data"]
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here (on Debian: apt-get install curl)")
    run = emulate(tmp_path, "--json", "--capture", f"space={tmp_path / 'space.pcapng'}", *words)
    assert run.returncode == 0, run.stderr
    (connection,) = report(run)["why"]
    assert connection["captured_at"] == "space", "where the data was sent"
    server = connection["directions"][1]
    assert server["bytes"] > 2_900_000
    assert server["limit"] == "receive-window"
    run = emulate(tmp_path, *words)
    assert run.returncode == 0
    assert "receive-window" in run.stderr
    assert "Worth trying:" in run.stderr
    quiet = emulate(tmp_path, "--why", "--on", "space", "true", "--", "true")
    assert quiet.stderr.endswith("The programs sent no data over TCP.\n")
