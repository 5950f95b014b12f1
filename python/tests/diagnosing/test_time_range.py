"""The diagnosis of a part of the time."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt.cli import main
from netspurt.diagnosing.diagnosis import Diagnosis, main_direction
from netspurt.errors import RequestError

core = pytest.importorskip("netspurt._core", reason="the native module is not built")

SCENARIO = """
duration = "60 s"
[tcp]
profile = "linux"
[link.path]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
[[flow]]
name = "long"
app = { kind = "bulk", bytes = "4 MB" }
from = "a"
to = "b"
tcp = { receive_window = "64 KiB" }
[[flow]]
name = "web"
app = { kind = "request-response", request = "100 B", response = "40 KiB", exchanges = 4, gap = "500 ms" }
from = "a"
to = "b"
start = "5 s"
[[change]]
at = "2 s"
set = { "link.path.up" = false }
[[change]]
at = "3 s"
set = { "link.path.up" = true }
"""

LOSSY = """
duration = "60 s"
[tcp]
profile = "linux"
[link.path]
between = ["a", "b"]
rate = "100 Mbit/s"
delay = "100 ms"
loss = { kind = "script", drop = [300, 301, 302], direction = "a->b" }
[[flow]]
app = { kind = "bulk", bytes = "2 MB" }
from = "a"
to = "b"
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("range") / "two.pcapng"
    ns.parse(SCENARIO).run(1, pcap=path)
    return path


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("range") / "two.toml"
    path.write_text(SCENARIO)
    return path


def sums(diagnosis: Diagnosis) -> dict[tuple[int, str, str], float]:
    rows = diagnosis.budget.group_by("connection", "from", "limit").agg(pl.col("seconds").sum())
    return {(row["connection"], row["from"], row["limit"]): row["seconds"] for row in rows.to_dicts()}


@pytest.mark.parametrize("kind", ["capture", "scenario"])
@pytest.mark.parametrize("cut", ["700 ms", "2500 ms", "3.3 s"])
def test_two_parts_have_together_what_the_whole_has(
    kind: str, cut: str, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(kind)
    whole, before, after = ns.why(path), ns.why(path, end=cut), ns.why(path, begin=cut)
    together = sums(before)
    for key, value in sums(after).items():
        together[key] = together.get(key, 0.0) + value
    expected = sums(whole)
    assert together == {key: pytest.approx(value, abs=1e-6) for key, value in expected.items()}
    counts = ["bytes", "retransmitted"]
    parts = pl.concat([before.directions, after.directions]).group_by("connection", "from")
    keys = ["connection", "from"]
    added = parts.agg(pl.col(counts).sum()).sort(keys).to_dicts()
    assert added == whole.directions.select(*keys, *counts).sort(keys).to_dicts()
    assert set(after.directions["bytes_in_all"]) == set(whole.directions["bytes_in_all"])


@pytest.mark.parametrize("kind", ["capture", "scenario"])
def test_intervals_keep_their_place_in_the_connection(kind: str, request: pytest.FixtureRequest) -> None:
    found = ns.why(request.getfixturevalue(kind), begin=1, end="1500 ms")
    row = found.documents([0])[0]
    intervals = main_direction(row)["intervals"]
    assert row["start_s"] + intervals[0]["from_s"] == pytest.approx(1.0, abs=1e-6)
    assert row["start_s"] + intervals[-1]["until_s"] == pytest.approx(1.5, abs=1e-6)
    assert main_direction(row)["duration_s"] == pytest.approx(0.5, abs=1e-6)
    share = sum(line["share"] for line in main_direction(row)["budget"])
    assert share == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["capture", "scenario"])
def test_a_part_in_which_nothing_passes_is_that_of_the_sender_with_most_data(
    kind: str, request: pytest.FixtureRequest
) -> None:
    found = ns.why(request.getfixturevalue(kind), begin="2.2 s", end="2.8 s")
    (row,) = found.connections.to_dicts()
    assert (row["sender"], row["bytes"]) == ("client", 0)
    assert row["lost_s"] == pytest.approx(0.6, abs=1e-3), "the time of the outage is lost"
    assert "0.6" in row["sentence"] or "600" in row["sentence"]


def test_where_the_larger_sender_has_ended_a_part_is_that_of_the_one_that_still_has_time() -> None:
    def sender(*ways: tuple[int, float, int]) -> str:
        names = ("bytes", "duration_s", "bytes_in_all")
        both = zip(("client", "server"), ways, strict=True)
        directions = [{"from": end, **dict(zip(names, way, strict=True))} for end, way in both]
        return str(main_direction({"directions": directions})["from"])

    assert sender((0, 0.0, 9000), (0, 0.5, 0)) == "server"
    assert sender((0, 0.5, 0), (0, 0.5, 9000)) == "server"
    assert sender((1, 0.5, 1), (0, 0.5, 9000)) == "client"
    assert sender((0, 0.5, 0), (0, 0.5, 0)) == "client"


def test_only_connections_and_requests_that_have_time_in_the_part_are_listed(capture: Path) -> None:
    early = ns.why(capture, end="4 s")
    assert early.connections["connection"].to_list() == [0]
    assert early.tally["outside"] == 1
    assert early.tally["small"] == 0
    whole = ns.why(capture).transfers
    second = whole.row(1, named=True)
    start = ns.why(capture).connections.filter(pl.col("connection") == 1)["start_s"].item()
    begin, end = start + second["from_s"] + 0.001, start + second["until_s"] - 0.001
    part = ns.why(capture, begin=begin, end=end).transfers
    assert part.to_dicts() == [second]


def test_the_losses_before_a_part_are_why_cwnd_is_small_in_it(tmp_path: Path) -> None:
    path = tmp_path / "lossy.pcapng"
    ns.parse(LOSSY).run(1, pcap=path)
    whole = ns.why(path)
    rows = whole.intervals.filter((pl.col("limit") == "congestion-window") & (pl.col("from") == "client"))
    longest = rows.sort(pl.col("until_s") - pl.col("from_s")).row(-1, named=True)
    part = ns.why(path, begin=longest["from_s"] + 0.01, end=longest["until_s"])
    sent = part.directions.filter(pl.col("from") == "client").row(0, named=True)
    assert sent["retransmitted"] == 0
    assert "after losses" in sent["sentence"]


def test_the_command_names_the_part(
    capture: Path, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = ["--begin", "500ms", "--end", "2s"]
    assert main(["why", str(capture), *part, "--report", str(tmp_path / "why.html")]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith(", from 500 ms to 2 s")
    assert "from 500 ms to 2 s" in (tmp_path / "why.html").read_text()
    table = tmp_path / "intervals.parquet"
    assert main(["why", str(capture), *part, "--json", "--out", str(table)]) == 0
    (found,) = json.loads(capsys.readouterr().out)["captures"]
    assert found["range"] == {"begin_s": 0.5, "end_s": 2.0}
    assert found["outside"] == 1
    rows = pl.read_parquet(table)
    assert rows["from_s"].min() == pytest.approx(0.5, abs=1e-6)
    assert main(["why", str(scenario), "--begin", "500ms", "--json"]) == 0
    for flow in json.loads(capsys.readouterr().out)["flows"]:
        assert flow["range"] == {"begin_s": 0.5, "end_s": None}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--begin", "3s", "--end", "2s"], "begins at 3 s and ends at 2 s"),
        (["--begin", "2s", "--end", "2000ms"], "its end must be later"),
        (["--begin", "9min"], "no connection is open from 540 s; the last packet comes"),
        (["--begin", "-1"], "'-1' is not a time of at least zero"),
        (["--begin", "soon"], "'soon' is not a time of at least zero"),
    ],
)
def test_a_part_in_which_nothing_can_be_is_an_error(
    words: list[str], message: str, capture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["why", str(capture), *words])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status != 0
    assert message in capsys.readouterr().err


def test_python_refuses_times_that_are_none(capture: Path, scenario: Path) -> None:
    with pytest.raises(RequestError, match="begin: '5 parsec' is not a time"):
        ns.why(capture, begin="5 parsec")
    with pytest.raises(RequestError, match="end: -1 is not a time"):
        ns.why(capture, end=-1)
    with pytest.raises(TypeError, match="begin is a time in seconds or a text"):
        ns.why(capture, begin=[1])  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="no connection is open from 100 s"):
        ns.why(scenario, begin=100)
