"""Carries a case out: the kernel's TCP over the emulated path, captured at four places."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernel_causes.causes import Case
from kernel_causes.truth import HEADERS, Measured

HERE = Path(__file__).parent

PLACES = {
    "sender": "sender.pcapng",
    "sender-offload": "sender-offload.pcapng",
    "receiver": "receiver.pcapng",
    "between": "between.pcapng",
}
"""The captures: at the server behind segmentation, in its kernel before that, at the client, and at the router
behind the bottleneck."""

LIMIT_S = 60.0

OTHERS_AHEAD_S = 0.5
"""How long other traffic flows before the measured transfer begins."""


class Failed(Exception):  # noqa: N818 - a case is left out
    """A case could not be carried out; the text says why."""


def carried_out(case: Case, seed: int, into: Path) -> tuple[Measured, float]:
    """Carries a case out, and moves its captures to ``into``: what was measured, and the share of late packets.

    Raises:
        Failed: the emulation or a program failed.
    """
    with tempfile.TemporaryDirectory(prefix="netspurt-") as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(case.scenario, encoding="utf-8")
        try:
            run = subprocess.run(
                command(case, seed, folder), capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"the emulation did not end within {LIMIT_S:g} s") from None
        if run.returncode or not (folder / "server.json").exists():
            raise Failed((run.stderr.strip().splitlines() or ["no output"])[-1])
        report = json.loads(run.stdout)
        for file in PLACES.values():
            shutil.move(folder / file, into / f"{case.name}.{file}")
        client, server = (
            json.loads((folder / f"{host}.json").read_text(encoding="utf-8")) for host in ("client", "server")
        )
        arrived, late = (sum(link[key] for link in report["links"]) for key in ("arrived", "late"))
        return measured(case, client, server, report), late / max(arrived, 1)


def command(case: Case, seed: int, folder: Path) -> list[str]:
    """``netspurt emulate`` with the programs of a case."""
    cause = case.cause

    def program(name: str, settings: Mapping[str, Any]) -> list[str]:
        return [sys.executable, str(HERE / name), str(folder), json.dumps(settings)]

    client = {"server": "server", "bytes": cause.octets, **cause.client}
    on_hosts = {"server": program("server.py", cause.server)}
    if cause.others:
        client["after_s"] = OTHERS_AHEAD_S
        on_hosts["others"] = program("client.py", {"server": "server", "others": cause.others})
    places = {"sender": "server", "receiver": "client", "between": "path@router"}
    return [
        *(sys.executable, "-m", "netspurt", "emulate", str(folder / "scenario.toml"), "--json"),
        *("--seed", str(seed), "--congestion", case.control, *cause.words, "--client", "client"),
        *(
            word
            for place, node in places.items()
            for word in ("--capture", f"{node}={folder / place}.pcapng")
        ),
        *(word for host, words in on_hosts.items() for word in ("--on", host, shlex.join(words))),
        *("--", *program("client.py", client)),
    ]


def measured(
    case: Case, client: Mapping[str, Any], server: Mapping[str, Any], report: Mapping[str, Any]
) -> Measured:
    """Puts together what the programs, the kernel and the emulator measured."""
    drops: Counter[str] = Counter()
    for link in report["links"]:
        drops.update(link["drops"])
    octets = case.cause.octets * case.cause.client.get("exchanges", 1)
    carried = (octets + server["others_bytes"]) * 8 * HEADERS / client["seconds"]
    return Measured(
        seconds=client["seconds"],
        connecting_s=client["connecting_s"],
        longest_wait_s=client["longest_wait_s"],
        busy_s=server["busy_s"],
        window_s=server["window_s"],
        buffer_s=server["buffer_s"],
        congestion_window=server["congestion_window"],
        threshold=server["threshold"],
        retransmitted=server["retransmitted"],
        link_share=carried / case.cause.facts["link_rate"],
        drops=dict(drops),
    )
