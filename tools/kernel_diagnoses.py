#!/usr/bin/env python3
"""How often `netspurt why` names the cause that limits a transfer of the kernel's TCP.

Each case is a random path and one cause that is put in. The kernel carries the transfer out on the emulated path,
captured at four places. What limited it is told without packets: by the kernel's clocks of the connection, by the
programs, and by the emulator's counters. A case in which they do not confirm the cause is left out, before anything
is diagnosed. Take a seed whose cases chose no parameter of the diagnosis. Every step keeps what is finished, so it can
be interrupted and repeated. Runs in which the emulator was late are discarded.

    sudo tools/kernel_diagnoses.py capture FOLDER [--each 8] [--minutes 30]
    tools/kernel_diagnoses.py judge FOLDER
    tools/kernel_diagnoses.py page FOLDER > docs/diagnosis/kernel.md
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kernel_causes.carrying import PLACES, Failed, carried_out
from kernel_causes.causes import CAUSES, CONTROLS, Case, case
from kernel_causes.keeping import write
from kernel_causes.truth import is_true

import netspurt as ns
from netspurt.errors import RequestError

SEED = 8_330_000
"""Of the first path. Development uses other seeds."""

LATE = 0.02
"""The share of packets more than a millisecond late from which on a run shows the machine."""

ENOUGH = 0.25
"""A cause counts as found, if not as the largest, from this share of the time on."""

Done = Mapping[str, Any]


def capture(wanted: Case, seed: int, folder: Path) -> str:
    """Carries a case out, unless that is done; returns what to print."""
    file = folder / f"{wanted.name}.json"
    if file.exists():
        return ""
    try:
        found, late = carried_out(wanted, seed, folder)
    except Failed as reason:
        return f"{wanted.name}: {reason}"
    if late > LATE:
        return f"{wanted.name}: discarded, {late:.1%} of the packets were late"
    confirmed = is_true(wanted, found)
    content = {
        "limit": wanted.limit,
        "control": wanted.control,
        "confirmed": confirmed,
        "measured": dataclasses.asdict(found),
        "scenario": wanted.scenario,
        "kernel": os.uname().release,
    }
    write(file, content)
    return f"{wanted.name} {wanted.control}: {found.seconds:.2f} s{'' if confirmed else ', not confirmed'}"


def judge(folder: Path, name: str, place: str) -> dict[str, Any]:
    """The diagnosis of the measured connection: the share of each limit in its time, and the vantage."""
    file = folder / f"{name}.{PLACES[place]}"
    try:
        rows = [row for row in ns.why(file).documents() if row["server"].endswith(":80")]
    except RequestError as error:
        return {"failure": str(error)}
    if len(rows) != 1:
        return {"failure": f"{len(rows)} connections instead of one"}
    server = rows[0]["directions"][1]
    shares = {line["limit"]: line["share"] for line in server["budget"]}
    return {"failure": "", "limit": server["limit"], "shares": shares, "vantage": server["vantage"]}


def judge_all(folder: Path) -> None:
    """Diagnoses all captures of confirmed cases, and prints the wrong ones."""
    judged = {}
    for name, found in confirmed_of(finished(folder)).items():
        judged[name] = {place: judge(folder, name, place) for place in PLACES}
        for place, verdict in judged[name].items():
            if verdict["failure"] or verdict["limit"] != found["limit"]:
                shares = {
                    limit: round(share, 2)
                    for limit, share in verdict.get("shares", {}).items()
                    if share > 0.03
                }
                print(f"{name} {found['control']} {place}: {verdict['failure'] or verdict['limit']} {shares}")
    write(folder / "judged.json", judged)


def finished(folder: Path) -> dict[str, Done]:
    """The cases that were carried out, by name."""
    return {
        file.stem: json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.glob("[0-9]*-*.json"))
    }


def confirmed_of(every: Mapping[str, Done]) -> dict[str, Done]:
    """Those of them whose cause was confirmed."""
    return {name: each for name, each in every.items() if each["confirmed"]}


def page(folder: Path) -> str:
    """The page as Markdown."""
    every = finished(folder)
    judged = json.loads((folder / "judged.json").read_text(encoding="utf-8"))
    cases = {name: each for name, each in confirmed_of(every).items() if name in judged}
    kernels = sorted({each["kernel"].split("-", 1)[0] for each in cases.values()})
    lines = [
        "# Accuracy of the diagnosis for the kernel's TCP",
        "",
        "Made by `make kernel-diagnoses`. Each case is a random path and one cause that is put in. Linux "
        f"({', '.join(kernels)}) carries the transfer out on the emulated path. That the cause limited most of the "
        "transfer is confirmed without packets: by the kernel's own clocks of the connection, by the times of the "
        "programs, and by the emulator's counters. Then a capture from each place is diagnosed. "
        f"Of {len(every)} transfers, {len(every) - len(cases)} had no such cause and are left out. "
        f"Runs in which more than {LATE:.0%} of the packets were more than a millisecond late are discarded. "
        f"Seeds {min(_seed(name) for name in cases)} to {max(_seed(name) for name in cases)}.",
        "",
        "*Sender, in its kernel* is a capture by dumpcap on the host of the sender, as most users capture: with "
        "segmentation offload its frames are longer than the MTU. *Sender* is the same place behind segmentation, "
        "*between* the far end of the bottleneck.",
        "",
        "## By cause",
        "",
        "How often the cause is the limit with the most time. In brackets: how often it has a quarter of the time "
        "or more.",
        "",
        *_table(
            cases,
            judged,
            "limit",
            [limit for limit in CAUSES if any(each["limit"] == limit for each in cases.values())],
        ),
        "",
        "## By congestion control",
        "",
        *_table(cases, judged, "control", CONTROLS),
        "",
        "## What else was named",
        "",
        *_others(cases, judged),
        "",
        "[The accuracy for simulated transfers](accuracy.md) · [the method](README.md)",
    ]
    return "\n".join(lines) + "\n"


def _seed(name: str) -> int:
    return int(name.split("-", 1)[0])


def _title(place: str) -> str:
    return "sender, in its kernel" if place == "sender-offload" else place


def _table(
    cases: Mapping[str, Done], judged: Mapping[str, Done], key: str, groups: Sequence[str]
) -> list[str]:
    lines = [f"|  | cases | {' | '.join(map(_title, PLACES))} |", f"| --- | --- |{' --- |' * len(PLACES)}"]
    for group in ("all", *groups):
        mine = [name for name, each in cases.items() if group in ("all", each[key])]
        cells = [group, str(len(mine))]
        for place in PLACES:
            right = sum(judged[name][place].get("limit") == cases[name]["limit"] for name in mine)
            near = sum(
                judged[name][place].get("shares", {}).get(cases[name]["limit"], 0.0) >= ENOUGH
                for name in mine
            )
            cells.append(f"{right} ({near})")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _others(cases: Mapping[str, Done], judged: Mapping[str, Done]) -> list[str]:
    lines = ["| cause | place | named instead |", "| --- | --- | --- |"]
    for limit in CAUSES:
        for place in PLACES:
            wrong = Counter(
                judged[name][place].get("limit", "nothing")
                for name, each in cases.items()
                if each["limit"] == limit and judged[name][place].get("limit") != limit
            )
            if wrong:
                named = ", ".join(f"{other} {count}" for other, count in wrong.most_common())
                lines.append(f"| {limit} | {_title(place)} | {named} |")
    return lines


def main() -> None:
    """Runs one step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("capture", "judge", "page"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=8, help="cases of each cause")
    parser.add_argument("--seed", type=int, default=SEED, help="of the first path")
    parser.add_argument("--minutes", type=float, default=60.0, help="no case begins after this time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", metavar="TEXT", help="causes whose name contains this text")
    options = parser.parse_args()
    if options.step == "capture" and shutil.which("dumpcap") is None:
        parser.error("there is no dumpcap to capture in the sender's kernel with (on Debian: tshark)")
    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    def carry_out(wanted: tuple[int, str]) -> str:
        seed, limit = wanted
        if time.monotonic() - began > 60 * float(options.minutes):
            return ""
        return capture(case(seed, limit), seed, options.folder)

    if options.step == "capture":
        wanted = [
            (options.seed + number, limit)
            for number in range(options.each)
            for limit in CAUSES
            if options.only in limit
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            for said in filter(None, pool.map(carry_out, wanted)):
                print(said, file=sys.stderr, flush=True)
    elif options.step == "judge":
        judge_all(options.folder)
    else:
        print(page(options.folder), end="")


if __name__ == "__main__":
    main()
