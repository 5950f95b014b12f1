"""Diagnoses the captures that Flach et al. published with An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016.

    git clone https://github.com/USC-NSL/policing-detection
    tools/policing_captures.py policing-detection/data/validation

A file's name says its configuration: C chunks of L bytes; a policer with PCIR bit/s and a bucket of PBC bytes, or a
shaper with SCIR bit/s and a queue of SBC bytes; LOSS at random. Captures with a second flow (XT, CD1) are left out.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from collections import Counter
from pathlib import Path

import netspurt as ns
from netspurt.studies.today.policer_laboratory import is_policed


def configuration(name: str) -> dict[str, str]:
    """The settings in a file's name."""
    return dict(part.split("=", 1) for part in name.removesuffix(".pcap.xz").split("-") if "=" in part)


def cause(settings: dict[str, str]) -> tuple[str, float, str]:
    """What the capture's line did: its kind, its rate in Mbit/s, and the size of its bucket or queue, or its loss."""
    kind = "policer" if "PCIR" in settings else "queue"
    rate = settings.get("PCIR") or settings["SCIR"]
    if settings["LOSS"] != "0%":
        return "random loss", int(rate) / 1e6, settings["LOSS"]
    size = settings.get("PBC") or settings.get("SBC")
    return kind, int(rate) / 1e6, "default" if size is None else f"{int(size) // 1000} kB"


def chunks(file: Path) -> tuple[int, int]:
    """The chunks of the largest connection, and those that count as policed."""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as plain:
        plain.write(lzma.decompress(file.read_bytes()))
        plain.flush()
        diagnosis = ns.why(plain.name)
    largest = diagnosis.connections.sort("bytes", descending=True)["connection"][0]
    budgets = diagnosis.transfers.filter(diagnosis.transfers["connection"] == largest)["budget"]
    return len(budgets), sum(is_policed(json.loads(budget)) for budget in budgets)


def main() -> int:
    """Prints a line for each configuration."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    seen: Counter[tuple[str, float, str]] = Counter()
    found: Counter[tuple[str, float, str]] = Counter()
    for file in sorted(Path(sys.argv[1]).glob("*.pcap.xz")):
        settings = configuration(file.name)
        if "XT" in settings or "CD1" in settings:
            continue
        count, policed = chunks(file)
        seen[cause(settings)] += count
        found[cause(settings)] += policed
    if not seen:
        print(f"{sys.argv[1]} has no capture of the laboratory (*.pcap.xz)", file=sys.stderr)
        return 1
    print(f"{'cause':<12} {'Mbit/s':>6} {'size or loss':>12} {'chunks':>6} {'policed':>7}")
    for each, count in sorted(seen.items()):
        print(f"{each[0]:<12} {each[1]:>6g} {each[2]:>12} {count:>6} {found[each]:>7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
