"""The loop around a prober: wait, take what was found, keep it, and sum it up.

Lives here: one round of the loop, the same for the command line and for the lab. Must not live here: when it should
end, or how anything is shown.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from netspurt.probing.sums import Sums

if TYPE_CHECKING:
    import polars as pl

    from netspurt.files.growing import GrowingParquet
    from netspurt.probing.prober import Pace, Probing

PATIENCE_S = 0.2
"""``wait`` returns after this long at most, so that its caller sees a signal."""

BATCH_S = 0.05
"""Rows of this time are taken together, so that a thousand replies a second are twenty tables."""

LEAST_S = {"gentle": 0.1, "fast": 1e-3}
"""Seconds between volleys that only wait for replies."""


def bounded(pace: Pace, speed: str) -> Pace:
    """A pace that waits for replies waits no less than any other may."""
    kind, times = pace
    return (kind, times) if kind != "replies" else (kind, [LEAST_S[speed]])


class Loop:
    """Rounds of a prober that is at work. Call ``wait``, then ``take``, until ``wait`` returns False.

    Attributes:
        complaints: a sentence for each host that is not probed.
        sums: over all rows so far, of the hosts that are probed.
    """

    def __init__(self, probing: Probing, file: GrowingParquet | None = None) -> None:
        left_out = probing.left_out()
        self.complaints = list(left_out.values())
        self.sums = Sums([host for host in probing.hosts if host not in left_out])
        self._probing = probing
        self._file = file

    def wait(self, batch_s: float = BATCH_S) -> bool:
        """Waits for rows; False once the prober is over. The only call that blocks: any thread may make it."""
        going = self._probing.wait(PATIENCE_S)
        if going:
            time.sleep(batch_s)
        return going

    def take(self) -> pl.DataFrame:
        """The rows since the last call, which are then in the file and in the sums.

        Raises:
            OutputError: the file cannot be written.
        """
        rows = self._probing.take()
        if self._file is not None:
            self._file.write(rows)
        self.sums.add(rows)
        return rows
