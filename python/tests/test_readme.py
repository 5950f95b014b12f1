"""What the README and the how-to pages tell a reader to type works, and what is shown is what comes out."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import netspurt
from netspurt.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SWEEPS = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
BLOCKS, OF_SWEEPS = (
    re.findall(r"^```(\w*)\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL) for page in (README, SWEEPS)
)

DEAR = ("reproduce", "ping", "emulate", "host", "lab")
"""Tested elsewhere: minutes, or a network and a permission."""


def _commands() -> list[str]:
    """Every ``netspurt`` command of the pages that is cheap, without its comment."""
    blocks = [*BLOCKS, *OF_SWEEPS]
    lines = [
        line.split("  #")[0].strip() for kind, text in blocks if kind == "sh" for line in text.splitlines()
    ]
    lines = list(dict.fromkeys(lines))
    return [line for line in lines if line.startswith("netspurt ") and line.split()[1] not in DEAR]


@pytest.fixture(autouse=True)
def _in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write beside them; the checkout shall stay as it is."""
    pytest.importorskip("netspurt._core", reason="the native module is not built")
    for name in ("examples", "studies"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)


def test_there_are_commands_to_try() -> None:
    assert len(_commands()) >= 8


@pytest.mark.parametrize("line", _commands())
def test_a_command_of_the_readme_works(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(line)[1:]
    if ">" in words:
        words = words[: words.index(">")]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.out
    assert not captured.err


def test_the_output_shown_is_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    shown = next(text for kind, text in BLOCKS if not kind and "digest" in text)
    main(["run", "examples/satellite.toml"])
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in filter(None, map(str.strip, shown.splitlines())):
        beginning = " ".join(line.removesuffix("…").split())
        assert any(other.startswith(beginning) for other in printed), line


@pytest.mark.parametrize(
    ("command", "mbps"),
    [
        (words, float(said))
        for words, said in re.findall(r"^(netspurt run .*?)  +# ([\d.]+) Mbit/s", README, flags=re.MULTILINE)
        if "--seeds" not in words
    ],
)
def test_goodputs_are_as_said(command: str, mbps: float, capsys: pytest.CaptureFixture[str]) -> None:
    main([*shlex.split(command)[1:], "--json"])
    found = re.search(r'"goodput_bps": ?([\d.]+)', capsys.readouterr().out)
    assert found is not None
    assert float(found[1]) / 1e6 == pytest.approx(mbps, abs=0.005)


@pytest.mark.parametrize(
    ("blocks", "left"), [(BLOCKS, "satellite.svg"), (OF_SWEEPS, "hypercube/flows.parquet")]
)
def test_the_python_example_runs(tmp_path: Path, blocks: list[tuple[str, str]], left: str) -> None:
    code = next(text for kind, text in blocks if kind == "python")
    package = str(Path(netspurt.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {package!r})\n{code}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / left).stat().st_size > 10_000


def test_the_sweep_file_shown_is_the_example() -> None:
    shown = next(text for kind, text in OF_SWEEPS if kind == "toml")
    assert shown in (ROOT / "examples" / "delays.toml").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("[AC]*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    for name in re.findall(
        r"`(?:crates/tcp/src/)?((?:\w+/)*\w+\.rs)`", (ROOT / "ARCHITECTURE.md").read_text()
    ):
        found = [
            *ROOT.glob(f"crates/*/src/{name}"),
            *ROOT.glob(f"crates/*/{name}"),
            *ROOT.glob(f"crates/**/{name}"),
        ]
        assert found or (ROOT / "crates" / name).exists(), f"ARCHITECTURE.md names {name}"
