"""A remedy carried out by the kernel: its settings, and one proof where this machine can emulate."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

pytest.importorskip("netspurt._core", reason="the native module is not built")

import netspurt as ns
from netspurt.cli import main
from netspurt.emulation.emulating import NotPossible
from netspurt.errors import RequestError
from netspurt.remedies.proof import kernel, proving, timing
from netspurt.remedies.proof.proving import prove
from netspurt.remedies.situation import Situation

SCENARIO = """
duration = "60 s"
[link.path]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
[tcp]
profile = "linux"
KEYS
[[flow]]
app = APP
from = "a"
to = "b"
"""

BULK = '{ kind = "bulk", bytes = "300 kB" }'
WRITES = (
    '{ kind = "request-response", request = { writes = ["200 B"], piece = "150 B", size = "500 B" }, '
    'response = "1 kB", exchanges = 20, gap = "5 ms" }'
)


def situation(keys: str = "", app: str = BULK) -> Situation:
    return Situation(ns.parse(SCENARIO.replace("KEYS", keys).replace("APP", app)), 0, "a", {}, 0.02)


@pytest.fixture(autouse=True)
def _a_kernel_with_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "available").write_text("reno cubic bbr\n")
    monkeypatch.setattr(kernel, "AVAILABLE", tmp_path / "available")


def test_choices_of_the_scenario_become_settings_of_the_kernel() -> None:
    words = kernel.words(situation('initial_window = "4 segments"\nidle_restart = false\necn = "rfc3168"'))
    assert words[-2:] == ("--initial-window", "4")
    settings = set(words[1:-2:2])
    assert settings >= {
        "net.ipv4.tcp_sack=1",
        "net.ipv4.tcp_recovery=1",
        "net.ipv4.tcp_early_retrans=3",
        "net.ipv4.tcp_slow_start_after_idle=0",
        "net.ipv4.tcp_ecn=1",
        "net.ipv4.tcp_rmem=4096 131072 33554432",
        "net.ipv4.tcp_wmem=4096 16384 4194304",
    }
    assert "net.ipv4.tcp_window_scaling=0" in kernel.words(
        situation('window_option = "none"\nreceive_window = "65535 B"')
    )
    assert "net.ipv4.tcp_ecn=2" in kernel.words(situation())


def test_fixed_buffers_become_options_of_the_sockets() -> None:
    plan = kernel.plan_of(
        situation('receive_window = "64 KiB"\nsend_buffer = "32 KiB"\ntransmit = "nodelay"')
    )
    assert plan.tasks["b"]["window"] == 65536
    # Linux doubles what SO_SNDBUF names.
    assert plan.tasks["a"]["send_buffer"] == 16384
    assert plan.tasks["a"]["nodelay"]
    assert plan.tasks["a"]["congestion"] == "cubic"
    assert not any("rmem" in word or "wmem" in word for word in plan.words)
    assert plan.seconds({"a": {"began": 1.0, "ended": 3.5}}) == 2.5


def test_a_window_that_does_not_grow_is_an_option_of_the_socket() -> None:
    """A fit writes a constant window as its first and its largest size."""
    constant = kernel.plan_of(situation('receive_window = "32 KiB"\ninitial_receive_window = "32 KiB"'))
    assert constant.tasks["b"]["window"] == 32768
    assert not any("tcp_rmem" in word for word in constant.words)
    grows = kernel.plan_of(situation('receive_window = "1 MiB"\ninitial_receive_window = "64 KiB"'))
    assert grows.tasks["b"]["window"] is None
    assert "net.ipv4.tcp_rmem=4096 131072 1048576" in grows.words


def test_messages_keep_their_writes() -> None:
    plan = kernel.plan_of(situation(app=WRITES))
    assert plan.tasks["a"]["request"] == [200, 150, 150]
    assert plan.tasks["b"]["request"] == 500
    assert plan.tasks["a"]["response"] == 1000
    assert plan.seconds({"a": {"began": 0.0, "ended": 1.0}}) == pytest.approx(1 / 20 - 0.005)


@pytest.mark.parametrize(
    ("keys", "app", "words"),
    [
        ('congestion = "illinois"', BULK, "this kernel has no congestion control 'illinois'"),
        ("", '{ kind = "bulk" }', "give the application 'bytes'"),
        ("", '{ kind = "files", size = "10 kB" }', "the application 'files': give a command with --with"),
        ('[host.b]\nreader = { rate = "1 Mbit/s" }', BULK, "host.b.reader"),
    ],
)
def test_what_the_kernel_cannot_do_is_refused(keys: str, app: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        kernel.plan_of(situation(keys, app))


def several(app: str = BULK) -> Situation:
    one = situation()
    more = f'\n[[flow]]\nname = "more"\napp = {app}\nfrom = "a"\nto = "b"\nstart = "0.2 s"\n'
    return dataclasses.replace(one, scenario=ns.parse(one.scenario.merged() + more))


def test_several_transfers_begin_at_their_times_and_one_is_timed(tmp_path: Any) -> None:
    here = several('{ kind = "bulk", bytes = "100 kB" }')
    transfers = kernel.plan_of(here).tasks["a"]["transfers"]
    assert transfers == [{"octets": 300_000, "start_s": 0.0}, {"octets": 100_000, "start_s": 0.2}]
    capture = tmp_path / "two.pcapng"
    run = here.scenario.run(1, pcap=capture, capture=["a"])
    for flow in (0, 1):
        took = run.flows["end_s"][flow] - run.flows["start_s"][flow]
        this = dataclasses.replace(here, flow=flow)
        assert timing.seconds(capture, this) == pytest.approx(took, rel=0.03)


def test_several_flows_of_another_kind_are_refused() -> None:
    with pytest.raises(RequestError, match="all are bulk transfers"):
        kernel.plan_of(several('{ kind = "request-response", request = "1 B", response = "1 B" }'))


def test_an_unknown_remedy_is_refused() -> None:
    found = ns.what_if(situation('receive_window = "8 KiB"').scenario, seeds=1)
    with pytest.raises(RequestError, match="no remedy 40: they are numbered 1 to"):
        prove(found, 40)


def test_a_remedy_is_proven_where_this_machine_can_emulate() -> None:
    found = ns.what_if(situation('receive_window = "8 KiB"').scenario, seeds=1)
    number = [each.name for each in found.remedies].index("larger-receive-window") + 1
    try:
        proven = prove(found, number, for_s=0.1)
    except RequestError as reason:
        if "on this machine" not in str(reason):
            raise
        pytest.skip(str(reason))
    assert len(proven.original) == len(proven.remedy) == 2
    # Several times faster in both worlds.
    assert proven.seconds < proven.original_seconds / 1.5
    assert found.remedies[number - 1].document()["proven_seconds"] == proven.seconds
    assert found.document()["baseline"]["proven_seconds"] == proven.original_seconds


def test_a_transfer_is_timed_by_a_capture_and_exchanges_with_pauses_by_the_program(tmp_path: Any) -> None:
    here = situation()
    capture = tmp_path / "transfer.pcapng"
    run = here.scenario.run(1, pcap=capture, capture=["a"])
    assert timing.by_capture(here)
    assert timing.seconds(capture, here) == pytest.approx(run.flows["end_s"][0], rel=0.02)
    assert not timing.by_capture(situation(app=WRITES))


def test_a_machine_that_cannot_emulate_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise NotPossible("a network namespace needs root: run it with sudo")

    found = ns.what_if(situation('receive_window = "8 KiB"').scenario, seeds=1)
    monkeypatch.setattr(proving, "emulated", refused)
    with pytest.raises(RequestError, match=r"cannot be proven on this machine: .* root"):
        prove(found, 1)


def test_options_of_a_proof_need_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    path = tmp_path / "path.toml"
    path.write_text(SCENARIO.replace("KEYS", "").replace("APP", BULK))
    assert main(["what-if", str(path), "--with", "true"]) == 2
    assert "give --prove N too" in capsys.readouterr().err
    assert main(["what-if", str(path), "--prove", "1", "--with-server", "true"]) == 2
    assert "the command of --with" in capsys.readouterr().err


def test_a_sender_that_paces_delivers_everything() -> None:
    """BBR's remedy sets SO_MAX_PACING_RATE; a program that failed would have ended at once."""
    found = ns.what_if(situation().scenario, tries=[{"tcp.pacing": True}], seeds=1)
    number = [each.limit for each in found.remedies].index("") + 1
    try:
        proven = prove(found, number, for_s=0.1)
    except RequestError as reason:
        if "this machine: the program" in str(reason) or "on this machine" not in str(reason):
            raise
        pytest.skip(str(reason))
    assert proven.seconds > 300_000 * 8 / 10e6, "no less than the rate of the link allows"
