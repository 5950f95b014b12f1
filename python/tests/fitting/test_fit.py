"""``ns.fit``: the path of a simulated run is found again from its capture, and the fit behaves like it."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import netspurt as ns
from netspurt.analysis.capture import read_capture
from netspurt.cli import main
from netspurt.errors import RequestError
from netspurt.fitting.draft import CONTROLS, Choice, interval
from netspurt.fitting.facts import TUNNELS
from netspurt.fitting.fitted import independent
from netspurt.fitting.hosts import between_writes
from netspurt.fitting.search import ordered
from netspurt.fitting.shapers import shaper

EXAMPLES = Path(__file__).parents[3] / "examples"

BULK = '{ kind = "bulk", bytes = "1500 kB" }'

PATH = """duration = "60 s"
[tcp]
profile = "linux"
[link.path]
between = ["left", "right"]
rate = "{rate}"
delay = "{delay}"
queue = {{ kind = "drop-tail", limit = "{queue} packets" }}
{more}
[[flow]]
app = {app}
from = "left"
to = "right"
"""


def captured(
    folder: Path,
    rate: str = "10 Mbit/s",
    delay: str = "40 ms",
    queue: int = 50,
    app: str = '{ kind = "bulk", bytes = "5 MB" }',
    more: str = "",
    at: str = "left",
) -> Path:
    """A capture of a simulated transfer."""
    file = folder / "trace.pcapng"
    text = PATH.format(rate=rate, delay=delay, queue=queue, app=app, more=more)
    ns.parse(text).run(pcap=file, capture=[at])
    return file


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(tmp_path_factory.mktemp("fit"))


def test_the_path_of_a_bulk_transfer_is_found(bulk: Path) -> None:
    fit = ns.fit(bulk)
    assert fit.estimate.rate_bps == pytest.approx(10e6, rel=0.001)
    assert fit.estimate.delay_s == pytest.approx(0.08, rel=0.001)
    assert fit.estimate.queue_s * 10e6 / 8 / 1500 == pytest.approx(50, rel=0.1)
    assert fit.estimate.overflows > 0
    assert fit.explains
    assert fit.warnings == []
    assert fit.candidates[0] == "cubic"
    duration = next(row for row in fit.check if row.quantity == "duration")
    assert duration.captured == fit.baseline_seconds
    assert duration.simulated == pytest.approx(duration.captured, rel=0.05)


def test_the_scenario_runs_and_carries_a_comment_for_each_estimate(bulk: Path) -> None:
    fit = ns.fit(bulk)
    assert fit.scenario.run().flows["bytes_delivered"].to_list() == [5_000_000]
    assert ns.parse(fit.text).merged() == fit.scenario.merged()
    for key in ("rate", "delay", "queue", "profile", "mss", "sack", "initial_window", "app"):
        lines = [line for line in fit.text.splitlines() if line.startswith(f"{key} =")]
        assert lines, key
        assert all("#" in line for line in lines), key


def test_the_sender_of_a_download_is_the_server(tmp_path: Path) -> None:
    app = '{ kind = "request-response", request = "300 B", response = "2 MB" }'
    fit = ns.fit(captured(tmp_path, app=app, at="right"))
    assert '[host.server.tcp]\nprofile = "linux"' in fit.text
    assert 'request = "300 B", response = "2000000 B"' in fit.text
    assert fit.explains


def test_a_capture_at_the_receiver_shows_path_and_losses(tmp_path: Path) -> None:
    fit = ns.fit(captured(tmp_path, at="right"))
    assert fit.vantage == "receiver"
    assert "not taken at the sender" in fit.warnings[-1]
    assert fit.estimate.rate_bps == pytest.approx(10e6, rel=0.01)
    assert fit.estimate.delay_s == pytest.approx(0.08, rel=0.01)
    assert fit.estimate.queue_packets == pytest.approx(50, rel=0.15)
    assert fit.check[0].simulated == pytest.approx(fit.check[0].captured, rel=0.1)


def test_the_limit_of_a_short_queue_is_found_at_the_receiver(tmp_path: Path) -> None:
    app = '{ kind = "bulk", bytes = "6845987 B" }'
    more = '[host.left.tcp]\nprofile = "newreno"\n[host.right.tcp]\nprofile = "newreno"'
    fit = ns.fit(
        captured(
            tmp_path, rate="12585180 bit/s", delay="8794.008 us", queue=6, app=app, more=more, at="right"
        )
    )
    assert fit.vantage == "receiver"
    assert fit.estimate.overflows > 0
    assert fit.estimate.queue_packets == 6


def test_packets_that_were_lost_before_the_capture_are_put_where_they_are_missing(tmp_path: Path) -> None:
    more = 'loss = { kind = "script", drop = [40, 90, 91], direction = "left->right" }'
    trace = captured(tmp_path, queue=1000, more=more, app='{ kind = "bulk", bytes = "500 kB" }', at="right")
    assert "drop = [40, 90, 91]" in ns.fit(trace).text


def test_the_lost_packets_are_identified_at_the_sender(tmp_path: Path) -> None:
    more = 'loss = { kind = "script", drop = [40, 90, 91], direction = "left->right" }'
    trace = captured(tmp_path, queue=1000, more=more, app='{ kind = "bulk", bytes = "500 kB" }')
    assert "drop = [40, 90, 91]" in ns.fit(trace).text


def test_random_losses_are_replayed_or_given_as_a_rate(tmp_path: Path) -> None:
    more = 'loss = { kind = "packet-error", rate = 0.01, direction = "left->right" }'
    trace = captured(tmp_path, queue=1000, more=more)
    script, rate = ns.fit(trace), ns.fit(trace, loss="rate")
    low, high = interval(script.estimate.stray, script.estimate.packets)
    assert low <= 0.01 <= high
    assert 'kind = "script"' in script.text
    assert script.check[0].simulated == pytest.approx(script.check[0].captured, rel=0.05)
    assert 'kind = "packet-error"' in rate.text
    assert script.for_remedies is not None, "remedies are tried with random losses"
    assert "packet-error" in script.for_remedies.merged()
    assert "script" not in script.for_remedies.merged()


def test_a_burst_of_losses_is_not_taken_for_random_ones(tmp_path: Path) -> None:
    more = f'loss = {{ kind = "script", drop = {list(range(60, 70))}, direction = "left->right" }}'
    found = ns.fit(captured(tmp_path, queue=1000, more=more, app='{ kind = "bulk", bytes = "500 kB" }'))
    assert "drop = [60" in found.text
    assert found.for_remedies is None
    assert independent([4, 90, 300, 301])
    assert not independent([4, 90]), "two losses show no rate"
    assert not independent([4, 5, 6, 7, 8, 9, 100])


def test_a_window_that_limits_is_part_of_the_fit(tmp_path: Path) -> None:
    trace = captured(tmp_path, more='[host.right.tcp]\nreceive_window = "32 KiB"')
    fit = ns.fit(trace)
    assert "\nreceive_window = " in fit.text
    assert fit.explains
    assert fit.check[0].simulated == pytest.approx(fit.check[0].captured, rel=0.05)


def test_the_kernels_own_capture_with_a_small_window_is_explained() -> None:
    """The kernel announces more at first than it keeps to afterwards."""
    fit = ns.fit(EXAMPLES / "slow-download.pcapng.gz")
    assert 'receive_window = "32768 B"' in fit.text
    assert fit.explains
    assert fit.check[0].simulated == pytest.approx(fit.check[0].captured, rel=0.01)
    # Behind so small a window most controllers are alike: the usual one is taken.
    assert fit.candidates[0] == "cubic"
    assert "reno" in fit.candidates


def test_a_path_without_overflow_keeps_its_rate(tmp_path: Path) -> None:
    """The window of the receiver is far below the pipe, and its bursts still show the bottleneck."""
    trace = captured(tmp_path, more='[host.right.tcp]\nreceive_window = "32 KiB"')
    fit = ns.fit(trace)
    assert fit.estimate.rate_bps == pytest.approx(10e6, rel=0.03)
    assert "never seen to overflow" in fit.text


def test_pauses_of_an_application_are_part_of_the_fit(tmp_path: Path) -> None:
    app = '{ kind = "request-response", request = { size = "1 MB", piece = "10 kB", gap = "50 ms" }, response = "1 B" }'
    fit = ns.fit(captured(tmp_path, app=app))
    assert 'piece = "10000 B", gap = "50000 us"' in fit.text
    assert fit.explains


def test_connections_between_the_same_hosts_share_the_bottleneck(tmp_path: Path) -> None:
    trace = captured(tmp_path, app='{ kind = "bulk", bytes = "2 MB" }', more="").with_name("two.pcapng")
    text = PATH.format(
        rate="10 Mbit/s", delay="20 ms", queue=60, app='{ kind = "bulk", bytes = "2 MB" }', more=""
    )
    ns.parse(text + 'count = 2\nstagger = "300 ms"\n').run(pcap=trace, capture=["left"])
    fit = ns.fit(trace)
    assert sorted(fit.connections) == [0, 1]
    assert fit.estimate.rate_bps == pytest.approx(10e6, rel=0.03)
    assert 'start = "0.300000 s"' in fit.text
    assert ns.fit(trace, connection=1).connections == [1]


def test_a_fit_that_does_not_explain_its_capture_begins_with_a_warning(tmp_path: Path) -> None:
    """A rate that changes by a factor of ten in the middle has no place in the fitted scenario."""
    more = (
        'trace = [{ kind = "rates", times = ["0 s", "2 s"], rates = ["10 Mbit/s", "0.5 Mbit/s"], '
        'direction = "left->right" }]'
    )
    fit = ns.fit(captured(tmp_path, more=more))
    assert not fit.explains
    assert "does not explain" in fit.warnings[0]
    assert "does not explain" in fit.text.splitlines()[1]


def test_a_short_transfer_is_refused(tmp_path: Path) -> None:
    trace = captured(tmp_path, app='{ kind = "bulk", bytes = "20 kB" }')
    with pytest.raises(RequestError, match=r"has 1\d data packets, and at least 50 are needed"):
        ns.fit(trace)


def test_a_missing_connection_is_named(bulk: Path) -> None:
    with pytest.raises(RequestError, match="no connection 7 with data"):
        ns.fit(bulk, connection=7)


def test_an_unknown_way_to_replay_losses_is_named(bulk: Path) -> None:
    with pytest.raises(ValueError, match="unknown loss 'some'"):
        ns.fit(bulk, loss="some")


def test_the_command_writes_the_scenario_and_prints_the_check(
    bulk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "path.toml"
    assert main(["fit", str(bulk), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "10 Mbit/s" in shown
    assert "duration" in shown
    assert main(["check", str(out)]) == 0


def test_the_command_prints_one_document(bulk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(bulk), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["explains"] is True
    assert document["path"]["rate_bps"] == pytest.approx(10e6, rel=0.001)
    assert {"quantity", "unit", "captured", "simulated", "agrees"} == set(document["check"][0])
    ns.parse(document["scenario"])


def test_what_is_no_capture_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no capture\n")
    assert main(["fit", str(file)]) == 2
    assert "is not a capture" in capsys.readouterr().err


def test_a_capture_without_tcp_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One UDP packet over IPv4, raw IP as link type."""
    packet = bytes.fromhex("4500001c00000000401100000a0000010a000002") + bytes.fromhex("0035003500080000")
    header = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000065000000")
    record = bytes(8) + len(packet).to_bytes(4, "little") * 2
    file = tmp_path / "udp.pcap"
    file.write_bytes(header + record + packet)
    assert main(["fit", str(file)]) == 2
    assert "a path is fitted to TCP connections" in capsys.readouterr().err


def test_a_tunnel_is_fitted_from_outside_and_named(bulk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = read_capture(bulk).connections["server_port"][0]
    monkeypatch.setitem(TUNNELS, port, "OpenVPN")
    found = ns.fit(bulk)
    assert any(f"port {port} is that of OpenVPN" in each for each in found.warnings)
    assert found.explains


def test_a_capture_of_one_direction_is_refused(bulk: Path, tmp_path: Path) -> None:
    """Only the packets of the sender, which are the larger ones, are left of a capture."""
    blocks, at = [], 0
    content = bulk.read_bytes()
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        packet = kind == 6
        if not packet or struct.unpack_from("<I", content, at + 24)[0] > 500:
            blocks.append(content[at : at + length])
        at += length
    file = tmp_path / "half.pcapng"
    file.write_bytes(b"".join(blocks))
    with pytest.raises(RequestError, match="shows"):
        ns.fit(file)


def test_a_fit_is_swept(bulk: Path) -> None:
    found = ns.sweep(ns.fit(bulk).scenario, grid={"link.path.rate": ["5 Mbit/s", "20 Mbit/s"]}, jobs=1)
    fast, slow = sorted(found.flows["end_s"])
    # 5 MB at these rates, with headers.
    assert slow == pytest.approx(8.3, rel=0.05)
    assert 2.08 < fast < 3


def test_standard_input_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "-"]) == 2
    assert "name a file" in capsys.readouterr().err


def test_of_candidates_that_are_equally_near_the_most_usual_is_taken() -> None:
    tried = [(0.10, Choice(control, True, "none"), None) for control in reversed(CONTROLS)]
    assert ordered(tried)[0][1].control.name == "cubic"
    nearer = [*tried, (0.05, Choice(CONTROLS[-1], True, "none"), None)]
    assert ordered(nearer)[0][1].control == CONTROLS[-1]


def test_a_policer_is_found_with_its_rate_and_burst(tmp_path: Path) -> None:
    more = 'policer = [{ rate = "4 Mbit/s", burst = "100 kB" }, "none"]'
    fit = ns.fit(captured(tmp_path, rate="20 Mbit/s", delay="10 ms", more=more))
    assert fit.estimate.policer is not None
    assert fit.estimate.policer.rate_bps == pytest.approx(4e6, rel=0.03)
    assert fit.estimate.policer.burst == pytest.approx(100_000, rel=0.15)
    assert "policer = [{" in fit.text
    assert fit.check[0].simulated == pytest.approx(fit.check[0].captured, rel=0.1)


def test_a_shaper_is_found_with_its_rate_its_burst_and_the_rate_of_the_link(tmp_path: Path) -> None:
    more = 'shaper = [{ rate = "4 Mbit/s", burst = "200 kB" }, "none"]'
    trace = captured(tmp_path, rate="20 Mbit/s", delay="10 ms", queue=60, more=more)
    found = ns.fit(trace)
    assert found.explains
    assert found.estimate.rate_bps == pytest.approx(20e6, rel=0.03)
    bucket = found.estimate.shaper
    assert bucket is not None
    assert bucket.rate_bps == pytest.approx(4e6, rel=0.03)
    assert bucket.burst == pytest.approx(200_000, rel=0.15)
    assert found.estimate.queue_packets == pytest.approx(60, abs=2)
    assert 'shaper = [{ rate = "' in found.text
    assert any("a shaper lets" in each for each in found.warnings)


def test_deliveries_at_one_rate_show_no_shaper() -> None:
    time, octets = np.arange(1, 1001) * 0.001, np.full(1000, 1500.0)
    assert shaper(time, octets, 1500) is None
    # Fifty packets pass ten times as fast.
    burst = np.concatenate([np.arange(1, 51) * 1e-4, 0.005 + np.arange(1, 951) * 0.001])
    found = shaper(burst, octets, 1500)
    assert found is not None
    assert (found.rate_bps, found.link_bps) == pytest.approx((12e6, 120e6), rel=0.01)
    assert found.burst == pytest.approx(1500 * (50 - 4.9), rel=0.02)
    assert shaper(burst[:60], octets[:60], 1500) is None, "too few deliveries"


def test_losses_of_a_short_queue_and_random_losses_are_distinguished(tmp_path: Path) -> None:
    more = 'loss = { kind = "script", drop = [1500, 2100, 2800], direction = "left->right" }'
    fit = ns.fit(captured(tmp_path, queue=20, more=more))
    assert (fit.estimate.queue_packets, fit.estimate.stray) == (20, 3)


STEPS = """[[change]]
at = "2 s"
set = { "link.path.rate" = "3 Mbit/s" }
[[change]]
at = "5 s"
set = { "link.path.rate" = "8 Mbit/s" }
"""


def test_a_rate_that_changes_becomes_a_recording(tmp_path: Path) -> None:
    trace = captured(tmp_path, queue=300, more=STEPS)
    constant, recorded = ns.fit(trace, rate="constant"), ns.fit(trace, rate="trace")
    assert "trace =" not in constant.text
    assert 'trace = { kind = "rates"' in recorded.text
    assert any("capacity of the path varied" in warning for warning in recorded.warnings)
    off = [abs(fit.check[0].simulated / fit.check[0].captured - 1) for fit in (constant, recorded)]
    assert off[1] < 0.05
    assert off[1] < off[0]


def test_a_capture_that_was_never_held_by_the_path_has_no_recording(tmp_path: Path) -> None:
    app = '{ kind = "request-response", request = "300 B", response = "1 B", exchanges = 80, gap = "50 ms" }'
    with pytest.raises(RequestError, match="capacity over time"):
        ns.fit(captured(tmp_path, app=app), rate="trace")


def test_a_delay_that_changes_for_good_is_named(tmp_path: Path) -> None:
    more = '[[change]]\nat = "3 s"\nset = { "link.path.delay" = "90 ms" }'
    fit = ns.fit(captured(tmp_path, more=more))
    assert fit.estimate.moved is not None
    at, before, after = fit.estimate.moved
    assert (before, after) == (pytest.approx(0.08, rel=0.1), pytest.approx(0.18, rel=0.1))
    assert at == pytest.approx(3, abs=0.5)
    assert any("its delay went from 80" in warning for warning in fit.warnings)


def polled(rows: int = 40, rate: float = 9.653e6, least: float = 0.04, waits: float = 0.07) -> pl.DataFrame:
    """What the kernel says of a bulk transfer, every 0.1 s."""
    share = np.abs(np.sin(np.arange(rows) / 3))
    full = share > 0.97
    return pl.DataFrame(
        {
            **{"socket": [3] * rows, "congestion": ["cubic"] * rows, "from_s": np.arange(rows) * 0.1},
            **{
                "duration_s": [0.1] * rows,
                "bytes_acked": [int(rate / 80)] * rows,
                "rtt_s": least + share * waits,
            },
            **{"bytes_retransmitted": full * 14480, "min_rtt_s": [least] * rows, "mss_bytes": [1448] * rows},
            **{
                "delivery_rate_bps": [rate] * rows,
                "application_s": [0.0] * rows,
                "receive_window_s": [0.0] * rows,
            },
            "peer_window_bytes": [3e6] * rows,
        }
    )


def test_the_polls_of_a_socket_are_fitted(tmp_path: Path) -> None:
    table = tmp_path / "polls.parquet"
    polled().write_parquet(table)
    fit = ns.fit(table)
    assert fit.explains
    assert fit.connections == [3]
    assert fit.estimate.rate_bps == pytest.approx(10e6, rel=0.01)
    assert fit.estimate.queue_packets == pytest.approx(58, abs=2)
    assert fit.estimate.overflows > 0
    assert fit.check[0].simulated == pytest.approx(4, rel=0.1)
    assert "averages" in fit.warnings[0]
    with pytest.raises(RequestError, match="no socket 4"):
        ns.fit(table, connection=4)


def test_polls_that_show_too_little_and_probes_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "polls.parquet"
    polled(rows=2).write_parquet(table)
    with pytest.raises(RequestError, match="too little"):
        ns.fit(table)
    pl.DataFrame({"rtt_ms": [1.0], "event": ["reply"]}).write_parquet(table)
    with pytest.raises(RequestError, match="no rate"):
        ns.fit(table)


def test_reordering_is_found_and_replayed(tmp_path: Path) -> None:
    more = 'reorder = [{ probability = 0.02, delay = "6 ms" }, { probability = 0.0, delay = "0 s" }]'
    found = ns.fit(captured(tmp_path, rate="20 Mbit/s", queue=400, more=more))
    seen = found.estimate.reordering
    assert seen is not None
    low, high = interval(seen.late, seen.packets)
    assert low <= 0.02 <= high
    assert seen.extra_s == pytest.approx(0.006, rel=0.1)
    assert "reorder = [{ probability" in found.text
    assert found.check[0].simulated == pytest.approx(found.check[0].captured, rel=0.05)


def test_losses_are_no_reordering(tmp_path: Path) -> None:
    more = 'loss = { kind = "packet-error", rate = 0.01, direction = "left->right" }'
    assert ns.fit(captured(tmp_path, queue=1000, more=more)).estimate.reordering is None


@pytest.mark.parametrize(("profile", "name"), [("windows", "cubic (Windows)"), ("macos", "cubic (macOS)")])
def test_a_syn_suggests_the_system_of_the_sender(tmp_path: Path, profile: str, name: str) -> None:
    found = ns.fit(captured(tmp_path, more=f'[host.left.tcp]\nprofile = "{profile}"'))
    assert found.candidates[0] == name
    assert f'profile = "{profile}"' in found.text


def test_a_receiver_that_reads_slowly_is_part_of_the_fit(tmp_path: Path) -> None:
    more = '[host.right.reader]\nrate = "2 Mbit/s"\n[host.right.tcp]\nreceive_window = "64 KiB"'
    found = ns.fit(captured(tmp_path, more=more))
    rate = float(found.text.partition('[host.server.reader]\nrate = "')[2].partition(" ")[0])
    assert rate == pytest.approx(2e6, rel=0.05)
    assert found.check[0].simulated == pytest.approx(found.check[0].captured, rel=0.05)


def test_a_connection_without_sack_is_fitted_with_the_recovery_of_linux(tmp_path: Path) -> None:
    more = 'loss = { kind = "script", drop = [40, 90, 91], direction = "left->right" }\n[host.left.tcp]\nsack = false'
    found = ns.fit(captured(tmp_path, queue=1000, more=more, app='{ kind = "bulk", bytes = "2 MB" }'))
    assert "sack = false" in found.text
    assert found.candidates[0] == "cubic"
    assert found.check[0].simulated == pytest.approx(found.check[0].captured, rel=0.02)


def test_a_fit_of_a_full_queue_predicts(bulk: Path) -> None:
    found = ns.fit(bulk)
    assert found.predicts
    assert found.document()["predicts"]


def test_other_traffic_at_the_bottleneck_makes_predictions_doubtful(tmp_path: Path) -> None:
    file = tmp_path / "trace.pcapng"
    side = '[link.side]\nbetween = ["other", "left"]\nrate = "1 Gbit/s"\ndelay = "1 ms"\n'
    flow = '[[flow]]\napp = { kind = "bulk" }\nfrom = "other"\nto = "right"\ncount = 2\n'
    text = PATH.format(
        rate="10 Mbit/s", delay="20 ms", queue=60, app='{ kind = "bulk", bytes = "2 MB" }', more=side
    )
    ns.parse(text + flow).run(pcap=file, capture=["left"])
    table = read_capture(file).connections
    own = table.filter(pl.col("client") == table.sort("start_s")["client"].unique(maintain_order=True)[0])
    found = ns.fit(file, connection=own["connection"][0])
    assert not found.predicts
    assert found.warnings


def test_a_small_window_in_place_of_a_slow_receiver_is_doubted() -> None:
    from netspurt.fitting.checking import Measured
    from netspurt.fitting.doubts import doubts

    def measured(**shares: float) -> Measured:
        return Measured(
            1.0, 1000, 0.1, 0.1, 0, {key.replace("_", "-"): each for key, each in shares.items()}, np.zeros(1)
        )

    class Steady:
        moved = None
        rate_sure = True

    class Guessed(Steady):
        rate_sure = False

    plain = Choice(CONTROLS[0], True, "script")
    window = measured(receive_window=0.6)
    assert doubts(window, window, Guessed(), plain)  # type: ignore[arg-type]
    assert not doubts(window, window, Steady(), plain)  # type: ignore[arg-type]
    assert doubts(measured(slow_receiver=0.5), measured(receive_window=0.5), Steady(), plain)  # type: ignore[arg-type]
    assert not doubts(measured(slow_receiver=0.5), measured(slow_receiver=0.4), Steady(), plain)  # type: ignore[arg-type]


def test_the_rate_is_found_although_the_sender_paces_below_it(tmp_path: Path) -> None:
    more = '[host.right.tcp]\nreceive_window = "29 kB"\ninitial_receive_window = "29 kB"\n'
    more += '[host.left.tcp]\nprofile = "bbr"\npaced_bursts = false'
    fit = ns.fit(captured(tmp_path, rate="8 Mbit/s", delay="30 ms", queue=33, more=more, app=BULK))
    assert fit.estimate.rate_bps == pytest.approx(8e6, rel=0.03)
    assert fit.estimate.rate_sure


def test_a_rate_is_unsure_if_only_pairs_that_one_ack_acknowledges_wait(tmp_path: Path) -> None:
    # Each pair takes the same time, whatever the rate above that of the sender: only the first window shows it.
    more = '[host.right.tcp]\nreceive_window = "29 kB"\ninitial_receive_window = "29 kB"\n'
    more += '[host.left.tcp]\nprofile = "bbr"'
    fit = ns.fit(captured(tmp_path, rate="8 Mbit/s", delay="30 ms", queue=33, more=more, app=BULK))
    assert fit.estimate.rate_bps == pytest.approx(8e6, rel=0.15)
    assert not fit.estimate.rate_sure


def test_a_path_that_was_never_full_has_no_sure_rate(tmp_path: Path) -> None:
    more = '[host.right.tcp]\nreceive_window = "3 kB"\ninitial_receive_window = "3 kB"'
    fit = ns.fit(captured(tmp_path, rate="100 Mbit/s", more=more, app='{ kind = "bulk", bytes = "200 kB" }'))
    assert not fit.estimate.rate_sure
    assert fit.estimate.rate_bps > 50e6
    assert not fit.predicts
    assert any("its rate is a guess" in warning for warning in fit.warnings)


@pytest.mark.parametrize("profile", ["linux", "bbr"])
def test_pacing_is_not_taken_for_writes(tmp_path: Path, profile: str) -> None:
    data = '{ size = "600 kB", piece = "12 kB", gap = "110 ms" }'
    app = f'{{ kind = "request-response", request = {data}, response = "1 B" }}'
    more = f'[host.left.tcp]\nprofile = "{profile}"'
    fit = ns.fit(captured(tmp_path, rate="4600 kbit/s", delay="17 ms", queue=10, app=app, more=more))
    assert 'piece = "12000 B", gap = "110' in fit.text or 'piece = "12000 B", gap = "109' in fit.text
    assert fit.explains


def test_writes_at_equal_intervals_are_not_divided_into_pacing_and_pauses() -> None:
    equal, random = np.full(50, 0.01), np.random.default_rng(1).exponential(0.01, 2000)
    for gaps in (equal, random):
        assert between_writes(gaps, np.ones(len(gaps), dtype=bool)).all()
    paced = np.tile([0.002, 0.002, 0.1], 20)
    assert np.flatnonzero(between_writes(paced, paced > 0)).tolist() == list(range(2, 60, 3))


def test_a_lost_syn_is_lost_again(tmp_path: Path) -> None:
    more = 'loss = { kind = "script", drop = [1, 2], direction = "left->right" }'
    fit = ns.fit(captured(tmp_path, more=more, app=BULK))
    assert "drop = [1, 2]" in fit.text
    assert fit.explains
    assert fit.check[0].captured > 2.0


def test_a_window_that_fell_once_is_a_small_window_and_no_slow_receiver() -> None:
    from netspurt.fitting.facts import settled

    shares = {"slow-receiver": 0.6, "receive-window": 0.1, "bottleneck": 0.3}
    constant = np.array([65_535] + 99 * [8688])
    window = {"receive-window": pytest.approx(0.7), "bottleneck": 0.3}
    assert settled(shares, constant, 0.0, 4344) == window
    changing = np.arange(100) * 1000
    assert settled(shares, changing, 8000.0, 4344) == shares
    held = {"send-buffer": 0.6, "receive-window": 0.1, "bottleneck": 0.3}
    assert settled(held, constant, 7240.0, 4344) == window, "the flight is a segment below the window"
    assert settled(held, constant, 4000.0, 4344) == held
