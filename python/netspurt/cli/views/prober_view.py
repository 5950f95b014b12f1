"""Shows the results of a prober while it runs: trace, histogram and table on a terminal, or plain lines.

Lives here: layout. Must not live here: probing, sums, results (those are printed when it is over).

What is drawn is drawn some times a second from a bounded memory, however many replies come: a thousand a second cost no
more than ten, but for adding them up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from netspurt.probing.sums import BINS_PER_OCTAVE, HostSums, Sums

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, Group
    from rich.table import Table

FRAMES_PER_S = 5
MOST_HOSTS_DRAWN = 4
"""So many hosts have a trace and a histogram of their own; all have a line of the table."""

LONGEST_TRACE = 400
HEIGHT = 3
"""Lines of text of a trace or a histogram."""

EIGHTHS = " ▁▂▃▄▅▆▇█"
COLUMNS = ("host", "packets", "replies", "unanswered", "duplicate", "late")
TIMES = ("min", "mean", "p50", "p95", "max")


class View(Protocol):
    """Who is shown what was found."""

    def update(self, rows: pl.DataFrame, sums: Sums) -> None:
        """Shows new rows, and the sums with them."""


def bars(heights: npt.NDArray[np.float64], lines: int) -> list[str]:
    """Draws bars of 0 to 1 (NaN: no bar) as this many lines of text, the top line first."""
    eighths = np.where(np.isnan(heights), 0, np.clip(np.rint(heights * 8 * lines), 1, 8 * lines))
    return [
        "".join(EIGHTHS[int(min(max(each - 8 * line, 0), 8))] for each in eighths)
        for line in reversed(range(lines))
    ]


class Trace:
    """The last packets of one host."""

    def __init__(self) -> None:
        self.rtts_ms: deque[float] = deque(maxlen=LONGEST_TRACE)

    def add(self, rows: pl.DataFrame) -> None:
        """Adds what became of packets; one without a reply leaves a gap."""
        import polars as pl

        fates = rows.filter(~pl.col("event").is_in(["duplicate", "late"])).tail(LONGEST_TRACE)
        replied = pl.when(pl.col("event") == "reply").then("rtt_ms").otherwise(float("nan"))
        self.rtts_ms.extend(fates.select(replied.fill_null(float("nan"))).to_series().to_list())

    def lines(self, width: int) -> list[str]:
        """The trace and its scale."""
        values = np.array(list(self.rtts_ms)[-width:])
        if np.isnan(values).all():
            return []
        top = float(np.nanmax(values))
        low = 0.0 if float(np.nanmin(values)) < top / 2 else float(np.nanmin(values)) * 0.9
        return [
            *bars((values - low) / max(top - low, 1e-9), HEIGHT),
            f"last {values.size}: {low:.3g} to {top:.3g} ms",
        ]


def histogram(sums: HostSums, width: int) -> list[str]:
    """All round-trip times of a host, on a logarithmic scale from the shortest to the longest."""
    if sums.events["reply"] == 0:
        return []
    places = np.flatnonzero(sums.bins)
    low, high = int(places[0]), int(places[-1]) + 1
    step = max(1, -(-(high - low) // width))
    counts = np.add.reduceat(sums.bins[low:high], np.arange(0, high - low, step)).astype(np.float64)
    counts[counts == 0] = np.nan
    ends = (2.0 ** (place / BINS_PER_OCTAVE) / 1e3 for place in (low, high))
    return [*bars(counts / np.nanmax(counts), HEIGHT), "all: {:.3g} to {:.3g} ms".format(*ends)]


def running_table(all_sums: Sequence[HostSums]) -> Table:
    """One line for each host."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in (*COLUMNS, *(f"{time} ms" for time in TIMES)):
        table.add_column(head, justify="left" if head == "host" else "right")
    for each in all_sums:
        summary = each.summary()
        times = (summary[f"{time}_ms"] for time in TIMES)
        texts = [str(summary[column]) for column in COLUMNS]
        texts += ["–" if time is None else f"{time:.4g}" for time in times]
        table.add_row(*map(escape, texts))
    return table


class Drawn:
    """Draws on a terminal."""

    def __init__(self, sums: Sums) -> None:
        self._sums = sums
        self._traces = [Trace() for _ in sums.hosts[:MOST_HOSTS_DRAWN]]

    def update(self, rows: pl.DataFrame, sums: Sums) -> None:
        """Remembers what the next picture shows."""
        self._sums = sums
        for trace, each in zip(self._traces, sums.hosts, strict=False):
            trace.add(rows.filter(host=each.host.name, address=each.host.address))

    def picture(self, width: int) -> Group:
        """Everything, for a terminal with this many columns."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        half = max(16, min(LONGEST_TRACE, (width - 4) // 2))
        parts: list[Text | Table] = []
        for trace, each in zip(self._traces, self._sums.hosts, strict=False):
            left, right = trace.lines(half), histogram(each, half)
            if not left or not right:
                continue
            parts.append(Text(f"{each.host.name} ({each.host.address})", style="bold"))
            both = Table.grid(padding=(0, 2))
            both.add_row(Text("\n".join(left), style="cyan"), Text("\n".join(right), style="green"))
            parts.append(both)
        return Group(*parts, running_table(self._sums.hosts), Text("Ctrl-C ends it", style="dim"))


class Lines:
    """Prints one line for each row."""

    def update(self, rows: pl.DataFrame, sums: Sums) -> None:
        """Prints the new results."""
        for row in rows.iter_rows(named=True):
            print(line(row))
        if rows.height:
            # A reader of a pipe expects each line at once.
            print(end="", flush=True)


class Silent:
    """Shows nothing."""

    def update(self, rows: pl.DataFrame, sums: Sums) -> None:
        """Does nothing."""


def line(row: dict[str, object]) -> str:
    """A row in words."""
    import os

    what = f"{row['host']}: {row['length_octets']} bytes, number {row['number']}"
    rtt = "" if row["rtt_ms"] is None else f"{row['rtt_ms']:.3f} ms"
    by = f" by {row['from']}" if row["from"] else ""
    match row["event"]:
        case "reply":
            return f"{what}: {rtt}"
        case "duplicate" | "late" as event:
            return f"{what}: {event} reply after {rtt}"
        case "send-failed":
            return f"{what}: could not be sent: {os.strerror(int(str(row['errno']))).lower()}"
        case "lost":
            return f"{what}: lost"
        case event:
            code = f"ICMP type {row['icmp_type']}, code {row['icmp_code']}"
            return f"{what}: {str(event).replace('-', ' ')}, reported{by} after {rtt} ({code})"


@contextmanager
def on_terminal(sums: Sums, console: Console) -> Iterator[View]:
    """Draws while the block runs, and leaves nothing behind."""
    from rich.live import Live

    drawn = Drawn(sums)
    picture = Live(
        console=console,
        get_renderable=lambda: drawn.picture(console.width),
        refresh_per_second=FRAMES_PER_S,
        transient=True,
    )
    with picture:
        yield drawn
