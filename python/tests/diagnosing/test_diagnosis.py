"""The diagnosis of a capture as tables and as a document."""

from __future__ import annotations

import html
import json
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt.diagnosing.diagnosis import SCHEMAS, Diagnosis, collect
from netspurt.diagnosing.limits import LIMITS, NOT_LOST
from netspurt.diagnosing.reading import Reading
from netspurt.errors import RequestError
from netspurt.plot.palette import LIMITS as LIMIT_COLOURS

core = pytest.importorskip("netspurt._core", reason="the native module is not built")

TWO = """
duration = "120 s"

[tcp]
profile = "linux"

[link.office]
between = ["laptop", "server"]
rate = "50 Mbit/s"
delay = "40 ms"
queue = { kind = "drop-tail", limit = "200 packets" }

[[flow]]
name = "narrow"
app = { kind = "bulk", bytes = "2 MB" }
from = "laptop"
to = "server"
tcp = { receive_window = "64 KiB" }

[[flow]]
name = "web"
app = { kind = "request-response", request = "100 B", response = "40 KiB", exchanges = 5, gap = "500 ms" }
from = "laptop"
to = "server"
start = "10 ms"
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("diagnosis") / "two.pcapng"
    ns.parse(TWO).run(1, pcap=path)
    return path


@pytest.fixture(scope="module")
def diagnosis(path: Path) -> Diagnosis:
    return ns.why(path)


def test_the_limit_of_a_transfer_with_a_small_window_is_the_window(diagnosis: Diagnosis) -> None:
    worst = diagnosis.connections.row(0, named=True)
    assert worst["limit"] == "receive-window"
    assert worst["sender"] == "client"
    assert worst["vantage"] == "sender"
    assert worst["bytes"] == 2_000_000
    assert "64 KiB" in worst["sentence"]


def test_the_connection_that_lost_most_time_is_first(diagnosis: Diagnosis) -> None:
    lost = diagnosis.connections["lost_s"].to_list()
    assert len(lost) == 2
    assert lost == sorted(lost, reverse=True)
    for row in diagnosis.connections.to_dicts():
        main = diagnosis.budget.filter(
            (pl.col("connection") == row["connection"]) & (pl.col("from") == row["sender"])
        )
        gained = main.filter(pl.col("limit").is_in(NOT_LOST))["seconds"].sum()
        assert row["lost_s"] == pytest.approx(row["duration_s"] - gained)


def test_the_budget_adds_up_and_its_intervals_have_no_gaps(diagnosis: Diagnosis) -> None:
    for row in diagnosis.directions.to_dicts():
        which = (pl.col("connection") == row["connection"]) & (pl.col("from") == row["from"])
        assert diagnosis.budget.filter(which)["seconds"].sum() == pytest.approx(row["duration_s"])
        assert diagnosis.budget.filter(which)["share"].sum() == pytest.approx(1)
        intervals = diagnosis.intervals.filter(which)
        assert intervals["from_s"].to_list() == [0.0, *intervals["until_s"].to_list()[:-1]]
        assert intervals["until_s"].to_list()[-1] == pytest.approx(row["duration_s"])
    assert set(diagnosis.intervals["limit"]) <= set(LIMITS)


def test_no_field_of_the_native_document_is_lost(path: Path, diagnosis: Diagnosis) -> None:
    reading = Reading(path)
    while reading.step():
        pass
    native = {each["connection"]: each for each in reading.take()}
    assert reading.take() == []
    ours = {each["connection"]: each for each in diagnosis.document()["connections"]}
    assert ours.keys() == native.keys()
    for number, whole in ours.items():
        assert whole.pop("lost_s") >= 0
        for direction in whole["directions"]:
            direction.pop("lost_s")
            for line in direction["budget"]:
                line.pop("masked_by", None)
        for transfer in whole["transfers"]:
            assert transfer.pop("sentence").startswith("For ")
            assert transfer.pop("duration_s") == transfer["until_s"] - transfer["from_s"]
            transfer.pop("transfer")
        assert whole == native[number]
    json.dumps(diagnosis.document(), allow_nan=False)


def test_the_document_is_the_same_in_pieces(diagnosis: Diagnosis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netspurt.diagnosing.diagnosis.PIECE", 1)
    pieces = list(diagnosis.json())
    assert len(pieces) == 4
    assert json.loads("".join(pieces)) == diagnosis.document()
    assert json.loads("".join(diagnosis.json([])))["connections"] == []


def test_tables_have_the_documented_columns(diagnosis: Diagnosis) -> None:
    for name, schema in SCHEMAS.items():
        table = getattr(diagnosis, name)
        assert table.columns == list(schema)
        told = (getattr(Diagnosis, name).__doc__ or "") + "connection from_s"
        assert all(f"``{column}``" in told or column in told for column in schema), name


def test_each_request_of_a_persistent_connection_has_a_budget(diagnosis: Diagnosis) -> None:
    (web,) = diagnosis.connections.filter(pl.col("sender") == "server")["connection"].to_list()
    transfers = diagnosis.transfers
    assert transfers["connection"].to_list() == [web] * 5
    assert transfers["transfer"].to_list() == list(range(5))
    assert transfers["request_bytes"].to_list() == [100] * 5
    assert transfers["response_bytes"].to_list() == [40 * 1024] * 5
    # The pauses of 0.5 s between them belong to none.
    assert transfers["duration_s"].max() < 0.4
    gaps = (transfers["from_s"].shift(-1) - transfers["until_s"]).drop_nulls()
    assert all(gap > 0.4 for gap in gaps)
    for row in transfers.to_dicts():
        lines = json.loads(row["budget"])
        assert sum(line["seconds"] for line in lines) == pytest.approx(row["duration_s"])
        assert {line["limit"] for line in lines} & {"slow-start", "idle-restart", "round-trip"}
        assert row["limit"] == lines[0]["limit"]


def test_a_limit_that_another_one_hides_is_reported(tmp_path: Path) -> None:
    # The window of 64 KiB is full, but the path of 5 Mbit/s is full long before.
    path = tmp_path / "hidden.pcapng"
    slow = (
        TWO.replace("50 Mbit/s", "5 Mbit/s").replace("5, gap", "1, gap").replace('"64 KiB" }', '"120 KiB" }')
    )
    ns.parse(slow).run(1, pcap=path)
    row = next(each for each in ns.why(path).documents() if each["directions"][0]["bytes"] > 1_000_000)
    direction = row["directions"][0]
    assert direction["limit"] == "bottleneck"
    hidden = {(each["limit"], each["by"]): each["seconds"] for each in direction["masked"]}
    assert hidden["receive-window", "bottleneck"] > direction["duration_s"] / 2
    lines = {line["limit"]: line for line in direction["budget"]}
    if "receive-window" in lines:
        assert lines["receive-window"]["masked_by"][0]["limit"] == "bottleneck"


def test_a_filter_keeps_some_connections(path: Path, diagnosis: Diagnosis) -> None:
    first, second = diagnosis.connections.to_dicts()
    port = first["client"].rpartition(":")[2]
    some = ns.why(path, filter=f"src port {port}")
    assert some.connections["connection"].to_list() == [first["connection"]]
    assert some.tally["filtered"] == 1
    assert ns.why(path, min_bytes=second["bytes"] * 50).tally["small"] == 2


def test_only_the_worst_are_kept(path: Path, diagnosis: Diagnosis) -> None:
    one = collect(Reading(path), most=1)
    assert one.connections.equals(diagnosis.connections.head(1))
    assert one.tally["unlisted"] == 1
    assert set(one.intervals["connection"]) == {one.connections["connection"][0]}
    with pytest.raises(ValueError, match="no diagnosed connection"):
        one.documents([diagnosis.connections["connection"][1]])


def test_what_is_no_capture_is_refused_in_a_sentence(tmp_path: Path) -> None:
    other = tmp_path / "x.pcap"
    other.write_bytes(b"nothing of that kind" * 10)
    with pytest.raises(RequestError, match=r"x\.pcap"):
        ns.why(other)
    with pytest.raises(RequestError, match="nowhere"):
        ns.why(tmp_path / "nowhere.pcap")


def test_every_limit_has_its_meaning() -> None:
    rust = (Path(__file__).parents[3] / "crates" / "budget" / "src" / "limit.rs").read_text()
    assert [name for name in LIMITS if f'=> "{name}"' in rust] == list(LIMITS)
    assert rust.count(' => "') == len(LIMITS)


def test_a_capture_can_name_the_limits_too(path: Path, diagnosis: Diagnosis) -> None:
    plain = ns.read_capture(path)
    assert plain.connections["limit"].null_count() == 2
    named = ns.read_capture(path, ["limits"]).connections.select("connection", "limit")
    assert named.equals(diagnosis.connections.select("connection", "limit").sort("connection"))
    some = ns.read_capture(path, ["segments", "samples"], only=[1])
    assert set(some.segments["connection"]) == {1}
    assert some.connections.height == 2


def test_a_notebook_shows_the_sentence_and_the_budget(diagnosis: Diagnosis) -> None:
    page = diagnosis._repr_html_()
    assert page.count("<table") == 2
    assert page.count('<img alt="limits over time of connection') == 1
    assert html.escape(diagnosis.connections["sentence"][0]) in page
    assert "receive-window" in page
    assert LIMIT_COLOURS.keys() == LIMITS.keys()


def test_a_picture_has_a_row_for_each_limit_at_the_times_of_the_capture(diagnosis: Diagnosis) -> None:
    number = diagnosis.connections["connection"][1]
    chart = ns.plot.limits_chart(diagnosis, number)
    (row,) = diagnosis.documents([number])
    main = max(row["directions"], key=lambda each: each["bytes"])
    assert chart.y.names == tuple(line["limit"] for line in reversed(main["budget"]))
    for trace, line in zip(chart.traces, main["budget"], strict=True):
        begins, ends = trace.x[0::3], trace.x[1::3]
        assert (ends - begins).sum() == pytest.approx(line["seconds"])
        assert begins.min() >= row["start_s"]
    figure = ns.plot.limits(diagnosis, number)
    assert not figure.legends, "the rows have the names"
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(chart.y.names)
    with pytest.raises(ValueError, match="no diagnosed connection 99"):
        ns.plot.limits(diagnosis, 99)
