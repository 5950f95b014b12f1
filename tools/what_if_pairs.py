#!/usr/bin/env python3
"""Predicted against proven: remedies simulated, and carried out by the kernel's TCP on the emulated path.

Each case is a path and a cause; its remedies are predicted by `what_if` and proven by the emulator. No case chose a
parameter of the program. Writes one row for each pair, as CSV, and prints the summary that stands in
docs/what-if/accuracy.md.

    tools/what_if_pairs.py --out pairs.csv [--minutes 10]
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import netspurt as ns
from netspurt.errors import RequestError
from netspurt.remedies import WhatIf
from netspurt.remedies.proof.proving import prove

PATH = """
duration = "120 s"
[link.path]
between = ["client", "server"]
rate = "{rate} Mbit/s"
delay = "{delay} ms"
queue = {{ kind = "drop-tail", limit = "{queue} packets" }}
{more}
[tcp]
profile = "linux"
{keys}
[[flow]]
app = {app}
from = "client"
to = "server"
"""

CAUSES = {
    "small receive window": ('receive_window = "{window} B"', "", "bulk"),
    "small send buffer": ('send_buffer = "{window} B"', "", "bulk"),
    "no window scaling": ('window_option = "none"\nreceive_window = "65535 B"', "", "bulk"),
    "small initial window": ('initial_window = "2 segments"', "", "short"),
    "random loss": ("", 'loss = {{ kind = "packet-error", rate = {loss} }}', "bulk"),
    "random loss with reno": (
        'congestion = "newreno"\nhystart = "off"',
        'loss = {{ kind = "packet-error", rate = {loss} }}',
        "bulk",
    ),
    "full path": ("", "", "bulk"),
    "several writes": (
        'acking = {{ kind = "adaptive", min = "40 ms", max = "200 ms", quick = 1 }}',
        "",
        "writes",
    ),
}
"""Keys of TCP, keys of the link, and the application of each cause."""

FIELDS = (
    "case",
    "cause",
    "rate_mbps",
    "delay_ms",
    "remedy",
    "predicted_now_s",
    "proven_now_s",
    "predicted_s",
    "proven_s",
)


def cases(seed: int) -> Iterator[tuple[str, dict[str, float], str]]:
    """Cause, path and scenario, in an order in which every cause comes early."""
    draw = random.Random(seed)
    while True:
        for cause, (keys, more, app) in CAUSES.items():
            rate, delay = draw.choice((5, 10, 20, 40)), draw.choice((5, 10, 20, 40))
            bdp = rate * 1e6 * 2 * delay * 1e-3 / 8
            path = {
                "rate": rate,
                "delay": delay,
                "queue": max(round(draw.choice((1, 2)) * bdp / 1500), 20),
                "window": max(round(bdp * draw.choice((0.2, 0.4)) / 1448), 6) * 1448,
                "loss": draw.choice((0.001, 0.003, 0.01)),
            }
            octets = round(rate * 1e6 / 8 * draw.choice((2, 4)))
            apps = {
                "bulk": f'{{ kind = "bulk", bytes = "{octets} B" }}',
                "short": '{ kind = "bulk", bytes = "60 kB" }',
                "writes": '{ kind = "request-response", request = { writes = ["200 B"], piece = "300 B", '
                'size = "500 B" }, response = "1 kB", exchanges = 40 }',
            }
            text = PATH.format(
                rate=rate,
                delay=delay,
                queue=path["queue"],
                app=apps[app],
                keys=keys.format(**path),
                more=more.format(**path),
            )
            yield cause, path, text


def pairs(
    number: int, cause: str, path: dict[str, float], found: WhatIf, best: int
) -> Iterator[dict[str, object]]:
    """Predicted and proven times of the best remedies of a case that the kernel can carry out."""
    done = 0
    for place, outcome in enumerate(found.remedies, 1):
        if done == best:
            break
        try:
            proven = prove(found, place, for_s=4.0)
        except RequestError as reason:
            print(f"  {outcome.name}: {reason}", file=sys.stderr)
            continue
        done += 1
        yield {
            "case": number,
            "cause": cause,
            "rate_mbps": path["rate"],
            "delay_ms": path["delay"],
            "remedy": outcome.name,
            "predicted_now_s": f"{outcome.original_seconds:.5g}",
            "proven_now_s": f"{proven.original_seconds:.5g}",
            "predicted_s": f"{outcome.seconds:.5g}",
            "proven_s": f"{proven.seconds:.5g}",
        }


def summary(rows: list[dict[str, object]]) -> str:
    """Median and 90th percentile of the error, and how often the best predicted remedy is the best proven one."""
    errors = sorted(abs(float(str(row["predicted_s"])) / float(str(row["proven_s"])) - 1) for row in rows)
    if not errors:
        return "no pairs"
    right, judged = 0, 0
    for case in sorted({int(str(row["case"])) for row in rows}):
        own = [row for row in rows if row["case"] == case]
        if len(own) > 1:
            judged += 1
            least = min(float(str(row["proven_s"])) for row in own)
            right += float(str(own[0]["proven_s"])) <= 1.02 * least
    ninth = errors[min(int(0.9 * len(errors)), len(errors) - 1)]
    return (
        f"{len(rows)} pairs: median error {100 * median(errors):.1f} %, 90th percentile {100 * ninth:.1f} %; the "
        f"remedy predicted to be the best is the best one proven (within 2 %) in {right} of {judged} cases"
    )


def main() -> None:
    """Runs cases until the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="no case begins after this time (default: 10)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the paths (default: 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="causes whose name contains this text")
    parser.add_argument("--best", type=int, default=2, help="remedies of each case (default: 2)")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    began = time.monotonic()
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for number, (cause, path, text) in enumerate(cases(options.seed)):
            if time.monotonic() - began > 60 * options.minutes:
                break
            if options.only not in cause:
                continue
            found = ns.what_if(ns.parse(text, cause), seeds=5)
            for row in pairs(number, cause, path, found, options.best):
                rows.append(row)
                writer.writerow(row)
                file.flush()
                print(" ".join(map(str, row.values())), file=sys.stderr)
    print(summary(rows))


if __name__ == "__main__":
    main()
