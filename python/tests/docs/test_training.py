"""``tools/profiled.py``: the work that the compiler learns from can be done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import netspurt as ns

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))

import profiled


@pytest.mark.parametrize("file", profiled.scenarios(), ids=lambda file: file.name)
def test_the_work_is_a_correct_scenario(file: Path) -> None:
    assert ns.load(file).name


def test_without_the_merging_program_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profiled, "rustc", lambda *_: str(tmp_path / "lib"))
    assert profiled.main() == 2
    assert capsys.readouterr().err == (
        "profiled: llvm-profdata is not installed: rustup component add llvm-tools\n"
    )


def test_counts_are_of_a_build_with_the_settings_that_use_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = []

    def run(command: list[str], **options: object) -> None:
        seen.append((command, options["env"]))

    monkeypatch.setattr(profiled, "target", lambda: "a-platform")
    monkeypatch.setattr(subprocess, "run", run)
    program = profiled.compile_program(tmp_path, profiled.use(tmp_path / "counts"))
    ((command, environment),) = seen
    assert program == tmp_path / "a-platform" / "release" / "netspurt-bench"
    assert command[command.index("--target-dir") + 1] == str(tmp_path)
    assert profiled.SETTINGS.items() <= environment.items()
    assert environment["RUSTFLAGS"] == f"-Cprofile-use={tmp_path / 'counts'}"
