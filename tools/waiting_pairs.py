"""Writes docs/waiting.md: simulates which transmission and delayed-ACK policies can wait for each other.

.venv/bin/python tools/waiting_pairs.py            # a minute or less
.venv/bin/python tools/waiting_pairs.py --check    # writes nothing; exits with 1 if the page is out of date
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from netspurt.studies.doupnik.pairs import (
    EXCHANGES,
    LENGTHS,
    PAIRS,
    SIZES,
    WINDOWS,
    Pair,
    PairOutcome,
    cases,
    markdown,
    run_pair,
)
from netspurt.threads import for_each

PAGE = Path(__file__).resolve().parent.parent / "docs" / "waiting.md"

TEXT = """# Deadlocks of Nagle's rule and the delayed ACK

Some senders hold a short segment until earlier data is acknowledged (Nagle's rule, RFC 896). Most receivers delay
their ACK until more data arrives (RFC 1122, section 4.2.3.2). Together they can wait for each other until the
receiver's delayed-ACK timer expires. This page shows which of netspurt's policies can do so, and with which writes
of the application.

{table}
What the table shows:

* Safe with every peer are the senders that do not wait for ACKs: `nodelay`, and `doupnik` and `doupnik-liberal` of
  the draft. `cork` does not wait for ACKs either, but it waits for its own application. A receiver with
  `every-segment` is safe with every sender.
* Nagle's liberal form (a short segment may follow full segments) and that of Linux 2.2 (half a segment may be
  sent) cause the deadlock less often. They do not prevent it.
* Minshall's rule never holds a single write, whatever its length. It still holds the second of two short writes.
* `nodelay` is as safe as the draft's policy. But when a host passes a write to TCP in parts, `nodelay` sends short
  segments and the draft's policy does not: see [the study](../studies/doupnik/README.md).

## How the table is made

`tools/waiting_pairs.py` simulates every pair over {cases:,} cases: one to three writes of {sizes} bytes in every
order (the MSS is 1460), with receive windows of {windows} bytes. Each case runs {exchanges} times in a row, and
the other end answers when it has received everything. A letter means that the deadlock finder
(`crates/sim/src/record/held_tail.rs`) found a short segment held for an ACK that was being delayed. A dash means that
no case held one.
"""


def page() -> str:
    """The page, from simulations."""
    outcome: dict[Pair, PairOutcome] = {}
    for_each(PAIRS, run_pair, outcome.__setitem__, os.cpu_count() or 1)
    return TEXT.format(
        cases=len(cases(LENGTHS[False])),
        sizes=", ".join(str(size) for size in SIZES),
        windows=", ".join(str(window) for window in WINDOWS),
        exchanges=EXCHANGES,
        table=markdown(outcome),
    )


def main() -> int:
    """Writes the page, or checks it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if the page is out of date"
    )
    options = parser.parse_args()
    text = page()
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.name} is out of date: run tools/waiting_pairs.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
