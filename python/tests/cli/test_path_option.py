"""``netspurt paths``, and ``--path`` where options describe a path."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import netspurt as ns
from netspurt.cli import main
from netspurt.inputs.paths.one_path import model_of


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_paths_are_listed_and_shown_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths"]) == 0
    listed = capsys.readouterr().out
    assert all(model["name"] in listed for model in ns.paths())
    assert main(["paths", "leo", "adsl"]) == 0
    shown = capsys.readouterr().out
    for text in ("Not modelled:", "IMC 2022", 'every = "15 s"', 'down = "10 Mbit/s": rate to the user'):
        assert text in shown
    assert main(["paths", "lte", "--json"]) == 0
    (lte,) = json.loads(capsys.readouterr().out)
    assert lte["link"]["rate"] == ["5.64 Mbit/s", "12.74 Mbit/s"]
    assert main(["paths", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ns.paths()
    assert main(["paths", "leoo"]) == 2
    assert "there is no path model 'leoo', did you mean 'leo'?" in capsys.readouterr().err


def test_a_model_and_its_parameters_are_written_in_one_word() -> None:
    assert model_of("leo") == "leo"
    assert model_of("docsis:down=100mbit, up=10mbit") == {
        "model": "docsis",
        "down": "100mbit",
        "up": "10mbit",
    }


def test_a_run_over_a_model_is_that_of_its_file_and_of_its_plain_keys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["run", "--path", "docsis:up=10mbit", "-R", "-t", "3", "--json"]
    assert main([*words, "--save", "line.toml"]) == 0
    told = json.loads(capsys.readouterr().out)
    saved = tomllib.loads(Path("line.toml").read_text())
    assert saved["link"]["path"]["path"] == {"model": "docsis", "up": "10mbit"}
    assert (saved["flow"][0]["from"], saved["flow"][0]["to"]) == ("server", "client")
    assert "queue" not in saved["link"]["path"], "the model's queues hold"
    assert main(["run", "line.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == told["digest"]
    merged = ns.load("line.toml").merged()
    assert 'rate = ["10 Mbit/s", "250 Mbit/s"]' in merged
    Path("plain.toml").write_text(merged)
    assert main(["run", "plain.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == told["digest"]


def test_options_beside_a_model_replace_its_values() -> None:
    assert (
        main(
            ["run", "--path", "leo", "--rate", "5mbit", "--queue", "fq-codel", "-t", "1", "--save", "a.toml"]
        )
        == 0
    )
    merged = tomllib.loads(ns.load("a.toml").merged())
    link = merged["link"]["path"]
    assert (link["rate"], link["queue"]["kind"], link["delay"]) == ("5 Mbit/s", "fq-codel", "23.75 ms")
    assert not any("link.path.rate" in change["set"] for change in merged["change"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "--path", "leoo"], '--path leoo: unknown path model "leoo": did you mean "leo"?'),
        (
            ["run", "--path", "docsis:dwn=5mbit"],
            'the path model "docsis" has no parameter "dwn": did you mean "down"?',
        ),
        (["run", "--path", "docsis:5mbit"], "--path docsis:5mbit: '5mbit' is no parameter: write"),
        (["run", "--path", "docsis:up="], "--path docsis:up=: 'up=' is no parameter: write"),
        (["run", "a.toml", "--path", "leo"], "--path describes a path, and a.toml is one"),
        (["run", "a.toml", "-R"], "--reverse describes a path, and a.toml is one"),
        (["run", "-R"], "name a SCENARIO.toml, or describe a path"),
        (["run", "--path", "docsis:up=5parsecs"], "--path docsis:up=5parsecs: "),
    ],
)
def test_a_wrong_path_is_answered_with_the_right_form(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_new_scenario_may_start_from_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--path", "lte", "--delay", "20ms", "-R"]) == 0
    text = capsys.readouterr().out
    link = tomllib.loads(text)["link"]["path"]
    assert link == {"between": ["client", "server"], "path": "lte", "delay": "20ms"}
    assert tomllib.loads(text)["flow"][0]["from"] == "server"
    ns.parse(text)
