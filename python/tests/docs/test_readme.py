"""What the README and the how-to pages tell a reader to type works, and what is shown is what comes out."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import netspurt
from netspurt.cli import main
from netspurt.cli.entry import parser

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

DEAR = ("reproduce", "ping", "emulate", "shell", "host", "lab")
"""Carried out by ``test_live_examples`` and ``test_studies``: minutes, or a network and a permission. Here only their
options are looked at."""


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """Language and text of each block of code of a page."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


BLOCKS = blocks_of(ROOT / "README.md")
EXAMPLES = [page for page in PAGES if {"sh", "python"} & {kind for kind, _ in blocks_of(page)}]


def _commands(block: str) -> list[str]:
    """The ``netspurt`` commands of a block, without their comments, and without what runs beside them."""
    lines = [line.split("  #")[0].split(" & ")[0].rstrip(" &") for line in block.splitlines()]
    return [line for line in lines if line.startswith("netspurt ")]


@pytest.fixture(autouse=True)
def _in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write beside them; the checkout shall stay as it is."""
    pytest.importorskip("netspurt._core", reason="the native module is not built")
    for name in ("examples", "studies"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)


def test_there_are_examples_to_try() -> None:
    assert len(EXAMPLES) >= 12
    assert (
        sum(len(_commands(text)) for page in EXAMPLES for kind, text in blocks_of(page) if kind == "sh") > 60
    )


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_every_example_of_a_page_works(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From top to bottom in one folder, as a reader would: files that are shown are written, commands are typed."""
    done: set[str] = set()
    for kind, text in blocks_of(page):
        if kind == "toml" and (named := re.match(r"# (\S+\.toml)\n", text)):
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
        elif kind == "sh":
            for line in _commands(text):
                if line not in done:
                    done.add(line)
                    _type(line, capsys)
        elif kind == "python":
            _run_python(text)


PROGRESS = re.compile(r"\d+ of \d+(,|$)|\d+ %")


def _type(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(line)[1:]
    # Which sockets there are depends on the machine, and without --for it does not end. A server does not end either.
    if words[0] in DEAR or {"--sockets", "--serve", "--server"} & set(words):
        parser((words[0],)).parse_args(
            words[: words.index("--" if "--" in words else ">")] if {"--", ">"} & set(words) else words,
            argparse.Namespace(),
        )
        return
    out = Path(words[words.index(">") + 1]) if ">" in words else None
    if out is not None:
        words = words[: words.index(">")]
    assert main(words) == 0, line
    captured = capsys.readouterr()
    assert captured.out, line
    # Progress appears where the machine is slow.
    complaints = [said for said in captured.err.splitlines() if not PROGRESS.search(said)]
    assert not complaints, line
    if out is not None:
        out.write_text(captured.out, encoding="utf-8")


def _run_python(code: str) -> str:
    package = str(Path(netspurt.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {package!r})\n{code}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("page", "scenario"), [("README.md", "examples/satellite.toml"), ("docs/tutorial.md", "backup.toml")]
)
def test_the_output_shown_is_the_output(
    page: str, scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = blocks_of(ROOT / page)
    for kind, text in blocks:
        if kind == "toml" and text.startswith(f"# {scenario}\n"):
            (tmp_path / scenario).write_text(text, encoding="utf-8")
    shown = next(text for kind, text in blocks if not kind and "digest" in text)
    assert main(["run", scenario]) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in filter(None, map(str.strip, shown.splitlines())):
        beginning = " ".join(line.removesuffix("…").split())
        assert any(other.startswith(beginning) for other in printed), line


def test_the_readme_is_short() -> None:
    assert README.count("\n") <= 150


def test_what_the_readme_shows_is_what_its_examples_print(capsys: pytest.CaptureFixture[str]) -> None:
    """A block of output follows the block of its command, or of its program."""
    pairs = [
        (kind, text, shown)
        for (kind, text), (after, shown) in itertools.pairwise(BLOCKS)
        if kind and not after
    ]
    assert len(pairs) >= 3
    for kind, text, shown in pairs:
        if kind == "python":
            printed = _run_python(text)
        else:
            for line in _commands(text):
                assert main(shlex.split(line)[1:]) == 0
            printed = capsys.readouterr().out
        lines = [" ".join(line.split()) for line in printed.splitlines()]
        for line in filter(None, map(str.strip, shown.splitlines())):
            assert " ".join(line.split()) in lines, line


@pytest.mark.parametrize(
    ("command", "mbps"),
    [
        (words, float(said))
        for words, said in re.findall(r"^(netspurt run .*?)  +# ([\d.]+) Mbit/s", README, flags=re.MULTILINE)
        if "--seeds" not in words
    ],
)
def test_goodputs_are_as_stated(command: str, mbps: float, capsys: pytest.CaptureFixture[str]) -> None:
    main([*shlex.split(command)[1:], "--json"])
    found = re.search(r'"goodput_bps": ?([\d.]+)', capsys.readouterr().out)
    assert found is not None
    assert float(found[1]) / 1e6 == pytest.approx(mbps, abs=0.005)


def test_the_sweep_file_shown_is_the_example() -> None:
    shown = next(text for kind, text in blocks_of(ROOT / "docs" / "sweeps.md") if kind == "toml")
    assert shown in (ROOT / "examples" / "delays.toml").read_text(encoding="utf-8")


def test_links_have_existing_targets() -> None:
    for page in [*PAGES, *ROOT.glob("[AC]*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            place = (page.parent / target).resolve()
            # Pages of the reference are made when the site is, which fails where one is missing.
            assert place.exists() or place.parent == ROOT / "docs" / "reference", f"{page.name}: {target}"
    for name in re.findall(
        r"`(?:crates/tcp/src/)?((?:\w+/)*\w+\.rs)`", (ROOT / "ARCHITECTURE.md").read_text()
    ):
        found = [
            *ROOT.glob(f"crates/*/src/{name}"),
            *ROOT.glob(f"crates/*/{name}"),
            *ROOT.glob(f"crates/**/{name}"),
        ]
        assert found or (ROOT / "crates" / name).exists(), f"ARCHITECTURE.md names {name}"
