"""The best remedy is known of these scenarios, and ``what_if`` finds it; the document keeps its contract."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("netspurt._core", reason="the native module is not built")

import netspurt as ns
from netspurt.cli import main
from netspurt.errors import RequestError
from netspurt.remedies import WhatIf
from netspurt.remedies.outcome import GREEDY
from netspurt.remedies.source import Start
from netspurt.remedies.trying import FEWEST_ALIKE

LINK = """
duration = "300 s"
[link.path]
between = ["a", "b"]
rate = "RATE"
delay = "DELAY"
queue = { kind = "drop-tail", limit = "LIMIT" }
MORE
[tcp]
profile = "linux"
KEYS
[[flow]]
app = APP
from = "a"
to = "b"
"""


def scenario(app: str, keys: str = "", more: str = "", **path: str) -> ns.Scenario:
    values = {"rate": "20 Mbit/s", "delay": "20 ms", "limit": "70 packets", **path}
    text = LINK.replace("APP", app).replace("KEYS", keys).replace("MORE", more)
    for name, value in values.items():
        text = text.replace(name.upper(), value)
    return ns.parse(text, "known.toml")


BULK = '{ kind = "bulk", bytes = "4 MB" }'
SMALL_WINDOW = scenario(
    BULK, 'receive_window = "32 KiB"', rate="50 Mbit/s", delay="40 ms", limit="330 packets"
)
TWO_WRITES = scenario(
    '{ kind = "request-response", request = { writes = ["200 B"], piece = "300 B", size = "500 B" }, '
    'response = "1 kB", exchanges = 20 }',
    'transmit = "nagle-strict"\nacking = { kind = "delayed", delay = "200 ms" }',
)
SHORT_FILES = scenario(
    '{ kind = "files", size = "30 kB", transfers = 5, think = "1 s" }', 'initial_window = "2 segments"'
)
LOSSY = scenario(
    '{ kind = "bulk", bytes = "8 MB" }',
    'congestion = "newreno"\nhystart = "off"',
    'loss = { kind = "packet-error", rate = 0.003 }',
)
BLOATED = scenario('{ kind = "bulk", bytes = "12 MB" }', limit="1000 packets")
POLICED = scenario(BULK, more='policer = [{ rate = "4 Mbit/s", burst = "30 kB" }, "none"]')


def answer(of: ns.Scenario, seeds: int = 4) -> WhatIf:
    return ns.what_if(of, seeds=seeds, jobs=2)


def test_a_small_receive_window_is_enlarged() -> None:
    found = answer(SMALL_WINDOW)
    best = found.remedies[0]
    assert best.name == "larger-receive-window"
    assert best.helps
    # One window a round trip before; the rate of the path after some round trips of slow start.
    assert found.simulated_seconds == pytest.approx(4e6 / 32768 * 0.08, rel=0.1)
    assert best.seconds == pytest.approx(4e6 * 8 * 1500 / 1448 / 50e6 + 0.5, rel=0.3)
    assert found.verdict.startswith("larger-receive-window: ")
    assert best.how == ("sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",)


def test_a_remedy_and_the_original_are_swept_over_other_paths() -> None:
    found = answer(SMALL_WINDOW, seeds=1)
    axis = {"link.path.delay": ["10 ms", "40 ms"]}
    now = ns.sweep(found.scenario, grid=axis, seeds=2).flows
    then = ns.sweep(found.scenarios["larger-receive-window"], grid=axis, seeds=2).flows
    pairs = now.join(then, on=["link.path.delay", "seed", "flow", "index"])
    assert pairs.height == 4
    gains = (pairs["end_s"] / pairs["end_s_right"]).to_list()
    assert min(gains) > 1
    short, long = (pairs.filter(pairs["link.path.delay"] == delay) for delay in axis["link.path.delay"])
    assert (long["end_s"] / long["end_s_right"]).min() > (short["end_s"] / short["end_s_right"]).max()  # type: ignore[operator]


def test_the_best_remedy_of_each_path_is_found_in_a_loop() -> None:
    tables = [
        ns.what_if(SMALL_WINDOW.set({"link.path.delay": delay}), seeds=1, jobs=1).table
        for delay in ("40 ms", "60 ms")
    ]
    assert [table["remedy"][0] for table in tables] == ["larger-receive-window"] * 2
    assert tables[1]["seconds"][0] > tables[0]["seconds"][0]


def test_the_wait_of_two_writes_ends_without_nagle_or_with_one_write() -> None:
    found = answer(TWO_WRITES)
    assert found.quantity == "time of an exchange"
    assert found.simulated_seconds > 0.2, "the delayed ACK"
    assert {each.name for each in found.remedies[:2]} == {"no-nagle", "one-write"}
    assert found.remedies[0].seconds == pytest.approx(0.04, rel=0.15), (
        "a round trip, and the handshake's share"
    )
    third = found.remedies[2]
    assert (third.name, third.helps) == ("no-delayed-ack", True)


def test_short_transfers_gain_by_an_initial_window_of_ten() -> None:
    found = answer(SHORT_FILES)
    assert found.remedies[0].name == "initial-window-10"
    assert found.quantity == "delay of a page or file"
    kept = next(each for each in found.remedies if each.name == "keep-connection")
    assert kept.helps


def test_bbr_is_the_best_controller_under_random_loss() -> None:
    found = answer(LOSSY, seeds=6)
    names = [each.name for each in found.remedies if each.name in ("bbr", "cubic", "prague", "pacing", "ecn")]
    assert names[0] == "bbr"
    bbr = next(each for each in found.remedies if each.name == "bbr")
    assert bbr.helps
    assert bbr.interval is not None
    assert bbr.interval[0] < bbr.seconds < bbr.interval[1] < found.simulated_seconds
    assert found.seeds == 6


def test_a_full_path_needs_more_rate_and_a_shorter_queue_helps_others() -> None:
    found = answer(BLOATED)
    assert "The path is full for" in found.verdict
    assert "only more rate helps: with twice the rate it takes" in found.verdict
    assert "shortens the delay of others" in found.verdict
    assert found.higher_rate is not None
    assert found.higher_rate.seconds == pytest.approx(found.simulated_seconds / 2, rel=0.1)
    by_name = {each.name: each for each in found.remedies}
    for name in ("fq-codel", "cake", "pie", "shorter-queue"):
        now, then = by_name[name].delays
        assert then < now / 3, name
        assert by_name[name].shortens
    assert found.document()["higher_rate"]["remedy"] == "higher-rate"
    assert "higher-rate" not in [each["remedy"] for each in found.document()["remedies"]]


def test_a_shaper_stands_before_the_policer() -> None:
    found = answer(POLICED)
    shaper = next(each for each in found.remedies if each.name == "shaper-below-policer")
    original = POLICED.run(1, record=["drops"])
    shaped = found.scenarios["shaper-below-policer"].run(1, record=["drops"])
    assert "policer" in original.drops["cause"].to_list()
    assert "policer" not in shaped.drops["cause"].to_list()
    assert math.isfinite(shaper.seconds)


def test_remedies_are_sorted_by_what_they_save() -> None:
    # What may be chance counts as no gain.
    gains = [each.gain if each.distinct else 0.0 for each in answer(LOSSY).remedies if each.name != GREEDY]
    assert len(gains) > 5
    assert gains == sorted(gains, reverse=True)


def test_parallel_connections_come_first_only_if_they_save_clearly_more() -> None:
    slow = SMALL_WINDOW.set({"link.path.rate": "10 Mbit/s", "tcp.receive_window": "64 KiB"})
    first, second, *_ = answer(slow).remedies
    assert (first.name, second.name) == ("larger-receive-window", GREEDY)
    assert second.gain <= first.gain + 0.03
    assert answer(LOSSY).remedies[0].name in (GREEDY, "bbr")


def test_a_scenario_without_randomness_needs_few_seeds() -> None:
    assert ns.what_if(SMALL_WINDOW, seeds=50).seeds == FEWEST_ALIKE


def test_own_remedies_are_tried_each_by_itself() -> None:
    found = ns.what_if(
        SMALL_WINDOW,
        tries=[
            "tcp.receive_window=64 KiB",
            "tcp.receive_window=128 KiB; link.path.delay=10 ms",
            {"tcp.mss": "1000 B"},
        ],
        seeds=2,
    )
    own = {each.name: each for each in found.remedies if not each.limit}
    assert len(own) == 3
    assert own["tcp.receive_window=64 KiB"].gain == pytest.approx(0.5, abs=0.03)
    assert own["tcp.receive_window=128 KiB; link.path.delay=10 ms"].gain > 0.6
    assert own["tcp.mss=1000 B"].settings == {"tcp.mss": "1000 B"}


def test_the_document_has_the_promised_form() -> None:
    document = json.loads(json.dumps(answer(SMALL_WINDOW).document(), allow_nan=False))
    assert set(document) >= {"baseline", "remedies"}
    assert document["baseline"]["explains"] is True
    assert document["baseline"]["seconds"] == document["baseline"]["simulated_seconds"]
    first = document["remedies"][0]
    assert first["remedy"] == "larger-receive-window"
    assert first["set"]["tcp.receive_window"] == "6 MiB"
    assert first["interval"][0] <= first["seconds"] * 1.0001
    assert first["interval"][1] >= first["seconds"] * 0.9999
    assert first["how"]
    assert first["proven_seconds"] is None
    assert first["others"]["delay_s"]["now"] > 0


def test_the_table_has_a_row_for_each_remedy() -> None:
    found = answer(LOSSY)
    table = found.table
    assert table["remedy"].to_list() == [each.name for each in found.remedies]
    assert table.columns[-2:] == ["proven_seconds", "how"]


def test_the_flow_that_lost_most_time_is_chosen_unless_another_is_named(tmp_path: Path) -> None:
    text = SMALL_WINDOW.merged() + (
        '\n[[flow]]\nname = "short"\napp = { kind = "bulk", bytes = "20 kB" }\nfrom = "a"\nto = "b"\n'
    )
    two = ns.parse(text)
    assert ns.what_if(two, seeds=1).flow == "bulk"
    assert ns.what_if(two, seeds=1, flow="short").flow == "short"
    assert ns.what_if(two, seeds=1, flow="1").flow == "short"
    with pytest.raises(RequestError, match="no flow 'long': the flows are bulk, short"):
        ns.what_if(two, flow="long")
    with pytest.raises(RequestError, match="--flow chooses"):
        ns.what_if(two, connection=1)


def test_a_fit_that_explains_nothing_is_reported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from netspurt.remedies import answer as module

    start = Start(SMALL_WINDOW, "trace.pcapng", 9.0, explains=False, warnings=["the losses differ"])
    monkeypatch.setattr(module, "start_of", lambda _source, _connection: start)
    found = ns.what_if("trace.pcapng", seeds=1)
    assert found.verdict.startswith("The fitted path does not behave like the capture")
    document = found.document()
    assert document["baseline"]["explains"] is False
    assert document["baseline"]["seconds"] == 9.0
    assert document["warnings"][0] == "the losses differ"


def test_a_transfer_that_does_not_end_is_extrapolated() -> None:
    found = ns.what_if(SMALL_WINDOW.set({"duration": "2 s"}), seeds=1)
    assert found.simulated_seconds == pytest.approx(answer(SMALL_WINDOW).simulated_seconds, rel=0.1)
    assert any("extrapolated" in each for each in found.warnings)
    assert found.remedies[0].name == "larger-receive-window"


def test_remedies_of_a_capture_are_tried_on_the_path_that_was_fitted_to_it(tmp_path: Path) -> None:
    capture = tmp_path / "slow.pcapng"
    run = SMALL_WINDOW.run(1, pcap=capture)
    found = ns.what_if(capture, seeds=1)
    assert found.explains
    assert found.remedies[0].name == "larger-receive-window"
    assert found.seconds == pytest.approx(run.flows["end_s"][0], rel=0.02)
    assert found.simulated_seconds == pytest.approx(found.seconds, rel=0.05)
    assert found.remedies[0].seconds == pytest.approx(answer(SMALL_WINDOW).remedies[0].seconds, rel=0.1)


def test_remedies_of_a_capture_with_random_losses_meet_random_losses(tmp_path: Path) -> None:
    capture = tmp_path / "lossy.pcapng"
    LOSSY.run(1, pcap=capture, capture=["a"])
    found = ns.what_if(capture, seeds=3)
    assert any("lost at random" in each for each in found.warnings)
    assert all("packet-error" in each.merged() for each in found.scenarios.values())
    best = next(each for each in found.remedies if each.helps)
    known = {each.name: each for each in answer(LOSSY).remedies}[best.name]
    assert best.seconds == pytest.approx(known.seconds, rel=0.25)


def test_remedies_that_need_a_longer_queue_than_the_capture_shows_are_named(tmp_path: Path) -> None:
    capture = tmp_path / "short.pcapng"
    app = '{ kind = "bulk", bytes = "110 kB" }'
    short = scenario(app, rate="8 Mbit/s", delay="31 ms", limit="60 packets")
    short.run(1, pcap=capture, capture=["a"])
    found = ns.what_if(capture, seeds=1)
    greedy = next(each for each in found.remedies if each.name == "parallel-connections")
    assert greedy.helps
    assert greedy.short_queue_s is not None
    assert greedy.short_queue_s > 1.25 * greedy.seconds
    assert greedy.document()["short_queue_seconds"] == greedy.short_queue_s
    assert greedy.document()["long_queue_seconds"] == greedy.long_queue_s
    assert greedy.long_queue_s is not None
    assert greedy.long_queue_s <= greedy.seconds
    assert any(
        "does not show how many packets the queue holds" in each and "parallel-connections" in each
        for each in found.warnings
    )


def test_a_queue_that_overflowed_needs_no_second_prediction(tmp_path: Path) -> None:
    capture = tmp_path / "full.pcapng"
    scenario(BULK, limit="30 packets").run(1, pcap=capture, capture=["a"])
    found = ns.what_if(capture, seeds=1)
    assert all(each.short_queue_s is each.long_queue_s is None for each in found.remedies)


def test_the_folder_of_a_run_is_a_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "slow.toml", tmp_path / "run"
    path.write_text(SMALL_WINDOW.merged(), encoding="utf-8")
    assert main(["run", str(path), "--out", str(folder)]) == 0
    capsys.readouterr()
    assert main(["what-if", str(folder), "--seeds", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["remedies"][0]["remedy"] == "larger-receive-window"
    assert document["baseline"]["seconds"] == pytest.approx(answer(SMALL_WINDOW).seconds, rel=1e-6)
