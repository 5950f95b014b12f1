"""The page of outputs names every column and key that there is, and no other."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIO

import netspurt as ns
from netspurt.analysis.capture import schemas
from netspurt.cli import exits, main
from netspurt.probing.prober import SCHEMA
from netspurt.scenario import SERIES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "outputs.md").read_text(encoding="utf-8")

DELAYS = "time_s,delay_ms,length_octets\n" + "".join(f"{n},{20 + n % 7},{40 + n}\n" for n in range(200))
SWEEP = 'scenario = "s.toml"\nseeds = 2\n[grid]\n"link.line.delay" = ["1 ms", "2 ms"]\n'


def _section(name: str) -> str:
    found = re.search(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1]


def _rows(text: str) -> list[tuple[str, str]]:
    """The first two cells of each row of a section's tables, without heads and rules."""
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", text, flags=re.MULTILINE)
    return [row for row in rows if "`" in row[0] and not row[0].startswith("-")]


def _names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _firsts(name: str) -> set[str]:
    return {each for row in _rows(_section(name)) for each in _names(row[0])}


@pytest.fixture(scope="module")
def web() -> ns.Result:
    return ns.load(ROOT / "examples" / "web.toml").run(record=["pages"])


@pytest.fixture(scope="module")
def bulk() -> ns.Result:
    return ns.parse(SCENARIO).run(record=[*SERIES, "segments", "drops", "marks", "arrivals"])


@pytest.fixture(scope="module")
def mixed() -> ns.Result:
    flow = '[[flow]]\nfrom = "a"\nto = "b"\napp = {{ kind = "{}" }}\n'
    link = 'duration = "9 s"\n[link.l]\nbetween = ["a", "b"]\n'
    arrivals = flow.format('arrivals", size = "1 kB", every = "1 s')
    return ns.parse(link + flow.format("call") + flow.format("video") + arrivals).run()


def _plain(columns: list[str]) -> set[str]:
    return {"drops_<cause>" if name.startswith("drops_") else name for name in columns}


def test_every_column_of_the_tables_is_explained_and_no_other(
    web: ns.Result, bulk: ns.Result, mixed: ns.Result
) -> None:
    assert _firsts("Flows") == set(web.flows.columns) | set(mixed.flows.columns)
    assert _firsts("Flows") >= set(bulk.flows.columns)
    assert _firsts("Groups") == set(bulk.groups.columns)
    assert set(web.groups.columns) <= _firsts("Groups") | _firsts("Flows")
    assert _firsts("Links") == _plain(web.links.columns) | {"drops"}


def test_every_column_of_what_is_recorded_is_named(web: ns.Result, bulk: ns.Result) -> None:
    listed = {
        name: _names(row[1]) for row in _rows(_section("Series and packets")) for name in _names(row[0])
    }
    tables = {name: bulk.series(name) for name in SERIES}
    tables |= {"segments": bulk.segments, "drops": bulk.drops, "marks": bulk.marks, "pages": web.pages}
    assert {name: table.columns for name, table in tables.items()} == listed


def test_every_column_of_captures_and_probes_is_named() -> None:
    named = _firsts("Captures")
    assert named == set(schemas()["connections"]) | set(schemas()["streams"])
    text = _section("Captures").split("`--samples` writes")[1]
    samples, events = (_names(part) for part in text.split("`--events` writes"))
    assert samples == list(schemas()["samples"])
    assert events == list(schemas()["events"])
    assert _names(_section("Delays and timers").split("\n\n")[0].split(" has ")[1]) == list(SCHEMA)


def test_every_exit_status_is_listed() -> None:
    assert _firsts("Exit status") == {
        str(status) for status in (exits.FINE, exits.FELL_SHORT, exits.WRONG_REQUEST, exits.INTERRUPTED)
    }


def _document(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    main([*shlex.split(words), "--json"])
    return json.loads(capsys.readouterr().out)


def test_every_key_of_the_documents_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCENARIO)
    Path("sweep.toml").write_text(SWEEP)
    Path("d.csv").write_text(DELAYS)
    run = _document("run s.toml --pcap s.pcapng", capsys)
    assert set(run) == _firsts("The document of `run`")
    performance = next(row for row in _rows(_section("The document of `run`")) if "performance" in row[0])
    assert set(run["performance"]) == set(_names(performance[1]))
    assert set(_document("run s.toml --seeds 2", capsys)) == {"runs", "summary"}
    for words in ("why s.pcapng", "why s.toml"):
        document = _document(words, capsys)
        connection = (
            document["captures"][0]["connections"][0] if "captures" in document else document["flows"][0]
        )
        direction = connection["directions"][0]
        assert set(direction) == _firsts("Diagnosis")
        cells = {row[0]: set(_names(row[1])) for row in _rows(_section("Diagnosis"))}
        assert set(direction["budget"][0]) == cells["`budget`"] | {"limit"}
        assert set(direction["intervals"][0]) == cells["`intervals`"]
    keys = set(_document("rto d.csv", capsys)["results"][0])
    keys |= set(_document("delays d.csv", capsys)["results"][0])
    assert keys == _firsts("Delays and timers")


@pytest.mark.parametrize(
    "words",
    [
        *("check s.toml", "sweep sweep.toml", "compare s.toml s.toml", "plot s.toml", "new n.toml"),
        *("ping 127.0.0.1 -c 1", "reproduce terabit --quick --no-live --seeds 1"),
    ],
)
def test_every_key_of_the_other_documents_is_named(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCENARIO)
    Path("sweep.toml").write_text(SWEEP)
    if main([*shlex.split(words), "--json"]) == 2:
        pytest.skip(capsys.readouterr().err)
    document = json.loads(capsys.readouterr().out)
    listed = {name: _names(row[1]) for row in _rows(_section("Other documents")) for name in _names(row[0])}
    named = listed[words.split()[0]]
    inner = {"check": "files"}.get(words.split()[0])
    keys = [*document, *(document[inner][0] if inner else [])]
    assert keys == named[: len(keys)]
