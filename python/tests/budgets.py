"""What limited a simulated transfer, by the simulator and by a capture of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import netspurt as ns


def _shares(document: Mapping[str, Any]) -> dict[str, float]:
    client, _server = document["directions"]
    return {line["limit"]: line["share"] for line in client["budget"]}


def both_shares(
    folder: Path, text: str, settings: Mapping[str, Any] | None = None
) -> tuple[dict[str, float], dict[str, float]]:
    """The shares of the limits of the first flow: the simulator's, and those of a capture at the sender."""
    (folder / "scenario.toml").write_text(text)
    scenario = ns.load(folder / "scenario.toml").set(settings or {})
    run = scenario.run(record=["limits"], pcap=folder / "capture.pcapng")
    found = min(ns.why(folder / "capture.pcapng").documents(), key=lambda each: int(each["connection"]))
    return _shares(ns.why(run).documents()[0]), _shares(found)
