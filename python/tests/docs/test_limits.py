"""The page of ``netspurt host`` has the limits of the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOST = ROOT / "crates" / "live" / "src" / "host"


def constant(file: str, pattern: str) -> int:
    """The number that a file has behind a name."""
    found = re.search(pattern, (HOST / file).read_text(encoding="utf-8"))
    assert found, f"{file}: {pattern}"
    return int(found[1].replace("_", ""))


def test_the_limits_of_a_host_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "how-to" / "host.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text, flags=re.MULTILINE))
    numbers = {what: int(re.sub(r"\D", "", limit) or 0) for what, limit in rows.items()}
    assert numbers["open connections"] == constant("settings.rs", r"connections: ([\d_]+)")
    assert numbers["half-open connections"] == constant("settings.rs", r"half_open: ([\d_]+)")
    assert numbers["connections in TIME-WAIT"] == constant("settings.rs", r"time_wait: ([\d_]+)")
    [memory] = (what for what in rows if what.startswith("buffers"))
    assert (rows[memory], constant("settings.rs", r"memory: 1 << (\d+)")) == ("1 GiB", 30)
    [idle] = (what for what in rows if what.startswith("time without"))
    assert numbers[idle] == constant("app/http.rs", r"IDLE: Span = Span::from_secs\((\d+)\)")
    parts = constant("budget.rs", r"PARTS: usize = (\d+)")
    assert f"more than {parts} parts" in text
