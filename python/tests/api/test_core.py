"""The native module by itself: its columns, its errors, and how it lets go of the interpreter."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from netspurt._core import Run

core = pytest.importorskip("netspurt._core")

SCENARIO = """
duration = "60 s"

[tcp]
profile = "newreno"
receive_window = "60 KiB"

[link.line]
between = ["client", "server"]
rate = "2 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "20 packets" }
loss = [
    { kind = "packet-error", rate = 0.01, direction = "client->server" },
    { kind = "script", drop = [9], direction = "client->server" },
]

[[flow]]
name = "up"
app = { kind = "bulk", bytes = "256 KiB" }
from = "client"
to = "server"
count = 2
stagger = "1 s"

[[flow]]
app = { kind = "bulk" }
from = "server"
to = "client"
start = "3 s"
"""

FOREVER = """
duration = "1000 h"
[link.line]
between = ["a", "b"]
rate = "10 Gbit/s"
delay = "1 ms"
[[flow]]
app = { kind = "bulk" }
from = "a"
to = "b"
"""

RECORD = ("cwnd", "ssthresh", "srtt", "rto", "rtt", "flight", "window", "queue", "segments", "drops")


@pytest.fixture(scope="module")
def run() -> Run:
    done: Run = core.Scenario.parse(SCENARIO).run(1, RECORD)
    return done


def test_columns_and_json_agree(run: Run) -> None:
    document = json.loads(run.json())
    for rows, columns in ((document["flows"], run.flows()), (document["links"], run.links())):
        flat = [
            {
                **{key: value for key, value in row.items() if key != "drops"},
                **{f"drops_{cause}": count for cause, count in row.get("drops", {}).items()},
            }
            for row in rows
        ]
        for number, row in enumerate(flat):
            for key, value in row.items():
                assert columns[key][number] == value, key
        assert set(columns) == set().union(*flat)
    assert document["seed"] == run.seed == 1
    assert document["digest"] == run.digest
    assert document["performance"]["wall_s"] > 0


def test_flows_have_numbers_and_are_distinct(run: Run) -> None:
    flows = run.flows()
    assert list(zip(flows["flow"], flows["index"], strict=True)) == [("up", 0), ("up", 1), ("bulk", 0)]
    assert flows["bytes_asked"] == [262144, 262144, None]
    assert list(flows["completed"]) == [True, True, False]
    assert flows["end_s"][2] is None


def test_every_column_of_a_table_has_one_length(run: Run) -> None:
    tables = [run.flows(), run.links(), run.segments(), run.drops()]
    tables += [run.series(name) for name in RECORD[:7]]
    for table in tables:
        lengths = {len(column) for column in table.values()}
        assert len(lengths) == 1
        assert lengths != {0}
        for name, column in table.items():
            if isinstance(column, np.ndarray):
                assert column.dtype in (np.float64, np.int64, np.bool_), name


def test_segments_are_places_in_the_stream(run: Run) -> None:
    segments = {name: np.asarray(column) for name, column in run.segments().items()}
    up = (segments["flow"] == "up") & (segments["index"] == 0)
    data = up & segments["from_client"] & (segments["length"] > 0)
    ends = segments["seq"][data] + segments["length"][data]
    assert segments["seq"][data].min() == 0
    assert ends.max() == 262144
    assert segments["seq"][up].min() == -1, "the SYN"
    acks = segments["ack"][up & ~segments["from_client"] & (segments["seq"] >= 0)]
    assert (np.diff(acks) >= 0).all()
    assert acks.max() == 262145, "the FIN counts"
    document = json.loads(run.json())["flows"][0]
    assert (up & segments["from_client"]).sum() == document["segments_sent"]
    again = ["fast-retransmit", "partial-ack", "timeout", "go-back-n"]
    assert np.isin(segments["reason"][up], again).sum() == document["retransmitted"] > 0


def test_drops_have_a_flow_and_a_reason(run: Run) -> None:
    drops = {name: np.asarray(column) for name, column in run.drops().items()}
    links = run.links()
    for direction in ("client->server", "server->client"):
        for cause in ("queue", "packet-error", "script"):
            there = (drops["direction"] == direction) & (drops["cause"] == cause)
            assert there.sum() == links[f"drops_{cause}"][list(links["direction"]).index(direction)]
    assert (drops["cause"] == "script").sum() == 1
    assert drops["queue_packets"][drops["cause"] == "queue"].min(initial=20) == 20
    assert set(drops["host"][drops["direction"] == "client->server"]) == {"client"}


def test_series_have_units_that_people_read(run: Run) -> None:
    srtt = np.asarray(run.series("srtt")["value"])
    assert srtt.min() >= 0.04
    assert srtt.max() < 10.0
    assert np.isinf(np.asarray(run.series("ssthresh")["value"])).any()
    cwnd = run.series("cwnd")
    assert {*zip(cwnd["host"], cwnd["end"], strict=True)} == {
        ("client", "client"),
        ("server", "server"),
        ("server", "client"),
        ("client", "server"),
    }
    assert set(run.series("queue")) == {"time_s", "link", "direction", "value"}


def test_a_record_that_was_not_requested_is_absent(run: Run) -> None:
    plain = core.Scenario.parse(SCENARIO).run(1, ["cwnd"])
    assert plain.digest == run.digest
    assert len(plain.segments()["time_s"]) == 0
    assert len(plain.drops()["cause"]) == 0
    with pytest.raises(ValueError, match="'srtt' was not recorded"):
        plain.series("srtt")
    with pytest.raises(ValueError, match="unknown series 'cwmd'; known: cwnd, "):
        plain.series("cwmd")
    with pytest.raises(ValueError, match=r"cannot record 'cwmd'; valid names: cwnd, .*drops"):
        core.Scenario.parse(SCENARIO).run(1, ["cwmd"])


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "one"])
def test_a_seed_is_a_whole_number_of_64_bits(seed: object) -> None:
    with pytest.raises(ValueError, match=r"invalid seed .*: must be an integer from 0 to 2\^64 - 1"):
        core.Scenario.parse(SCENARIO).run(seed)
    assert core.Scenario.parse(FOREVER.replace("1000 h", "1 ms")).run(2**64 - 1).seed == 2**64 - 1


def test_an_error_has_its_place() -> None:
    with pytest.raises(core.ScenarioError) as caught:
        core.Scenario.parse(SCENARIO.replace('"20 ms"', "20"), "my.toml")
    error = caught.value
    assert (error.file, error.line, error.path) == ("my.toml", 11, None)
    assert str(error) == f"my.toml:11:{error.column}: {error.message}"
    with pytest.raises(core.ScenarioError) as caught:
        core.Scenario.parse(SCENARIO).set([("link.line.rate", '"0 bit/s"')])
    assert (caught.value.line, caught.value.path) == (None, "link.line.rate")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.path) == (str(caught.value), "link.line.rate")


def test_a_file_that_cannot_be_read_is_a_scenario_error(tmp_path: object) -> None:
    for path, words in (("/no/such.toml", "no such file"), (str(tmp_path), "is a directory")):
        with pytest.raises(core.ScenarioError, match=f"{path}: cannot be read: {words}"):
            core.Scenario.load(path)


def test_an_override_sees_those_before_it() -> None:
    scenario = core.Scenario.parse(SCENARIO)
    changed = scenario.set([("flow.1.app.bytes", '"64 KiB"')]).set([("flow.1.app.bytes", '"32 KiB"')])
    assert changed.run(1).flows()["bytes_asked"][2] == 32768
    assert scenario.run(1).flows()["bytes_asked"][2] is None


def test_other_threads_go_on_while_a_world_runs() -> None:
    scenario = core.Scenario.parse(FOREVER.replace("1000 h", "2 s"))
    worker = threading.Thread(target=scenario.run)
    worker.start()
    naps = 0
    while worker.is_alive():
        time.sleep(0.001)
        naps += 1
    assert naps > 20


def test_the_interpreter_ends_while_threads_simulate() -> None:
    code = (
        "import sys, threading, time, netspurt._core as core\n"
        "scenario = core.Scenario.parse(sys.stdin.read())\n"
        "for _ in range(3):\n"
        "    threading.Thread(target=scenario.run, daemon=True).start()\n"
        "time.sleep(0.5)\n"
    )
    began = time.monotonic()
    answer = subprocess.run(
        [sys.executable, "-c", code], input=FOREVER, capture_output=True, text=True, timeout=60
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert time.monotonic() - began < 10.0
