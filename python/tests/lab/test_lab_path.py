"""The lab on a path that options describe."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import lab as labs  # what it needs is looked for first

from netspurt.cli import main
from netspurt.inputs.paths.one_path import OnePath


def test_a_path_that_options_describe_comes_first_and_its_command_needs_no_file(tmp_path: Path) -> None:
    words = ["--rate", "10mbit", "--delay", "40ms", "--bytes", "1MB", "--reverse", "--duration", "5s"]
    with labs.lab(tmp_path, files=words) as running:
        first = running.ask("api/shelf").json()["books"][0]
        assert first == {"key": "described", "group": "Yours", "name": "10mbit 40ms"}
        head, _ = running.run(key="described", settings=[["link.path.delay", "20ms"]]).run()
    described = OnePath(rate="10mbit", delay="40ms", bytes="1MB", reverse="yes", duration="5s")
    assert head["digest"] == described.scenario([("link.path.delay", "20ms")]).run(1).digest
    asked = head["command"].removeprefix("netspurt run ")
    assert asked == f"{' '.join(described.options)} --set link.path.delay=20ms"
    assert described.options == [*words[:6], "--duration", "5s", "--reverse"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "fast", "--delay", "40ms"], "--rate"),
        (["--loss", "1%"], "--loss needs a path: add --rate and --delay, or --path NAME"),
        (["--path", "moon"], "moon"),
    ],
)
def test_a_wrong_path_ends_the_lab_before_it_starts(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *words, "--no-browser", "--port", "0"]) == 2
    assert said in capsys.readouterr().err
