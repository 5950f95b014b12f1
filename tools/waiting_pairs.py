"""Writes docs/waiting.md: which transmission and which delayed-ACK policies can wait for each other, by trying them.

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
    Tried,
    cases,
    markdown,
    try_out,
)
from netspurt.sweeping.threads import for_each

PAGE = Path(__file__).resolve().parent.parent / "docs" / "waiting.md"

TEXT = """# Who can wait for whom

A sender that holds a short segment until something is acknowledged, and a receiver that delays its acknowledgment
until more comes, wait for each other; the receiver's timer ends it. Nagle's rule (RFC 896) and the delayed ACK (RFC
1122, 4.2.3.2) are the known pair. This table says which of netspurt's policies can do so, and by what:
`tools/waiting_pairs.py` makes it by trying them.

Each pair was run over {cases:,} cases: one to three writes of {sizes} bytes in every order (segments hold 1460),
with receive windows of {windows} bytes, each {exchanges} times in a row, the other end answering when it has
everything. A letter stands where the deadlock finder (`crates/sim/src/held_tail.rs`) saw a tail held for an ACK
that was being delayed; a dash where none of the cases held any.

{table}
What the table shows:

* Only two kinds of policy are safe, whoever is at the other end: those of a sender that heeds no ACKs (`nodelay`,
  the draft's `doupnik` and `doupnik-liberal`; `cork` waits too, but for its own application), and `every-segment`
  of a receiver.
* Nagle's liberal form (a tail may follow full segments) and Linux 2.2's (half a segment passes) narrow the trap and
  do not close it.
* Minshall's rule lets a single write go whatever its length. It still waits for the second of two short writes.
* Against `nodelay`, which is as safe, the draft's policy does not send what a host hands over in parts as short
  segments: see `studies/doupnik/README.md`.
"""


def page() -> str:
    """The page, from simulations."""
    outcome: dict[Pair, Tried] = {}
    for_each(PAIRS, try_out, outcome.__setitem__, os.cpu_count() or 1)
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
