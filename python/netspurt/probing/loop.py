"""The main loop of a prober: wait, fetch rows, store them, and update the sums.

Lives here: one round of the loop, common to the command line and the lab. Must not live here: the end of the loop,
or display.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from netspurt.probing.sums import Sums

if TYPE_CHECKING:
    import polars as pl

    from netspurt.files.growing import GrowingParquet
    from netspurt.probing.prober import Pace, Probing

WAIT_S = 0.2
"""The time limit of ``wait`` in seconds, so that its caller sees a signal."""

BATCH_S = 0.05
"""Rows are collected for this time, so that a thousand replies per second make twenty tables."""

LEAST_S = {"gentle": 0.1, "fast": 1e-3}
"""Minimal seconds between volleys that wait only for replies."""


def bounded(pace: Pace, speed: str) -> Pace:
    """Applies the minimal interval to a pace that waits for replies."""
    kind, times = pace
    return (kind, times) if kind != "replies" else (kind, [LEAST_S[speed]])


class Loop:
    """Rounds of a running prober. Call ``wait``, then ``take``, until ``wait`` returns False.

    Attributes:
        complaints: a sentence for each host that is not probed.
        sums: sums over all rows so far, for the probed hosts.
    """

    def __init__(self, probing: Probing, file: GrowingParquet | None = None) -> None:
        left_out = probing.left_out()
        self.complaints = list(left_out.values())
        self.sums = Sums([host for host in probing.hosts if host not in left_out])
        self._probing = probing
        self._file = file

    def wait(self, batch_s: float = BATCH_S) -> bool:
        """Waits for rows; False after the end of the prober. The only blocking call: any thread may make it."""
        going = self._probing.wait(WAIT_S)
        if going:
            time.sleep(batch_s)
        return going

    def take(self) -> pl.DataFrame:
        """Returns the rows since the last call, after adding them to the file and to the sums.

        Raises:
            OutputError: the file cannot be written.
        """
        rows = self._probing.take()
        if self._file is not None:
            self._file.write(rows)
        self.sums.add(rows)
        return rows
