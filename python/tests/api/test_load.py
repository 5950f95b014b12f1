"""Many short connections: what Python sees of sessions, and tables of quantiles beside a scenario."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import netspurt as ns
from netspurt.cli import main

pytest.importorskip("netspurt._core", reason="the native module is not built")

ROOT = Path(__file__).parents[3]
WEB = ROOT / "examples" / "web.toml"


@pytest.fixture(scope="module")
def result() -> ns.Result:
    return ns.load(WEB).run(3, record=["pages", "segments", "cwnd"])


def test_every_page_is_a_row(result: ns.Result) -> None:
    pages, groups = result.pages, result.groups
    assert groups["flow"].to_list() == ["web", "files"]
    assert groups["flows"].to_list() == [8, 1]
    for row in groups.iter_rows(named=True):
        own = pages.filter(pl.col("flow") == row["flow"])
        assert own.height == row["pages"]
        assert own["delay_s"].median() == pytest.approx(row["page_delay_median_s"], rel=1e-9)
        assert own["delay_s"].mean() == pytest.approx(row["page_delay_mean_s"], rel=1e-9)
        assert own["delay_s"].quantile(0.95, "linear") == pytest.approx(row["page_delay_p95_s"], rel=1e-9)
        assert row["power_bit_per_s2"] == pytest.approx(row["goodput_bps"] / row["page_delay_median_s"])
    web = pages.filter(pl.col("flow") == "web")
    assert set(web["files"]) == {4}
    assert set(web["connections"]) == {4}
    assert web["timeouts"].sum() > 0
    assert (web["asked_s"] + web["delay_s"]).max() <= 60


def test_flows_have_the_counts_of_their_sessions(result: ns.Result) -> None:
    flows = result.flows.filter(pl.col("flow") == "web")
    assert flows["pages"].sum() == result.groups["pages"][0]
    # What is under way at the end has not been delivered.
    assert (flows["bytes_delivered"] <= flows["bytes_asked"]).all()
    plain = ns.load(ROOT / "examples" / "satellite.toml").set({"flow.0.app.bytes": "10 kB"}).run()
    assert "pages" not in plain.flows.columns
    assert plain.pages.height == 0


def test_the_segments_of_a_flow_name_its_connections(result: ns.Result) -> None:
    own = result.segments.filter((pl.col("flow") == "web") & (pl.col("index") == 0))
    opened = own.filter(pl.col("reason") == "syn").group_by("connection").len()
    assert opened.height > 20
    # Each connection's stream begins at 0 again: no reply is larger than 1 MB.
    assert own.group_by("connection").agg(pl.col("seq").min())["seq"].unique().len() == 1
    assert own["seq"].max() <= 1_000_000
    assert "connection" in result.series("cwnd").columns


def test_columns_and_json_agree(result: ns.Result) -> None:
    document = json.loads(result.json())
    for rows, frame in ((document["flows"], result.flows), (document["groups"], result.groups)):
        assert set(frame.columns) == set(rows[0])
        for row, shown in zip(rows, frame.iter_rows(named=True), strict=True):
            assert row == shown


def test_recording_pages_changes_nothing(result: ns.Result) -> None:
    assert ns.load(WEB).run(3).digest == result.digest


def test_a_table_of_quantiles_lies_beside_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("probability,length\n0,1000\n1,1000\n")
    text = WEB.read_text().replace(
        '{ kind = "lomax", median = "1500 B", shape = 1.2, max = "1 MB" }',
        '{ kind = "quantiles", file = "sizes.csv" }',
    )
    (tmp_path / "web.toml").write_text(text)
    scenario = ns.load(tmp_path / "web.toml").set({"duration": "20 s"})
    assert set(scenario.run(record=["pages"]).pages.filter(pl.col("flow") == "web")["bytes"]) == {4000}
    again = ns.parse(scenario.merged())
    assert again.run().digest == scenario.run().digest
    (tmp_path / "sizes.csv").write_text("probability,length\n0,1000\n0.5,900\n1,1000\n")
    with pytest.raises(ns.ScenarioError, match="quantiles never fall") as caught:
        ns.load(tmp_path / "web.toml")
    assert caught.value.line is not None


def test_the_command_shows_what_was_fetched(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["run", str(WEB), "--set", "duration=20 s"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (web, files) = document["groups"]
    assert web["pages"] > 0
    assert web["page_delay_median_s"] <= web["page_delay_p95_s"]
    assert files["transfers"] == files["pages"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert "page delay" in capsys.readouterr().out
    header = (tmp_path / "out" / "groups.csv").read_text().splitlines()[0]
    assert "transfer_time_p95_s" in header
