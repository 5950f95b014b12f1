"""``netspurt why --sockets``: what limits the TCP sockets of this host, live.

Lives here: its options and its loop. Must not live here: polls, layout, or the rest of ``why``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.interrupt import asked_to_end
from netspurt.cli.views import tables
from netspurt.inputs.typed import seconds

if TYPE_CHECKING:
    import polars as pl

    from netspurt.cli.views.sockets_view import View
    from netspurt.files.growing import GrowingParquet
    from netspurt.sockets.socket_filter import SocketFilter
    from netspurt.sockets.watching import Watching

REFRESH_S = 1.0
"""Tables of all sockets are made this often; polls are more frequent."""

MOST_ENDED = 2000
"""So many sockets that have ended are kept at least, those that were held longest."""


INTERVAL_S = 0.1
"""Time between two polls unless `--interval` is given."""

OF_SOCKETS = {"duration": "--for", "interval": "--interval", "netns": "--netns"}
"""Options that only sockets have, by their place in the namespace."""


def declare(command: argparse.ArgumentParser) -> None:
    """Its options, beside ``--json``, ``--filter`` and ``--out`` of all that ``why`` looks at."""
    group = command.add_argument_group(
        "live sockets", "example: netspurt why --sockets --for 10s --filter 'port 443 and process nginx'"
    )
    group.add_argument(
        "--sockets", action="store_true", help="watch the TCP sockets of this host; no root is needed"
    )
    group.add_argument("--for", dest="duration", type=seconds, metavar="TIME", help="end after this time")
    group.add_argument(
        "--interval",
        type=seconds,
        metavar="TIME",
        help="time between two reads of all sockets (default: 100ms)",
    )
    group.add_argument(
        "--netns",
        metavar="NAME",
        help="in this network namespace: a name of 'ip netns', or a path (needs root)",
    )


def watch(options: argparse.Namespace) -> int:
    """Watches until the time is over or Ctrl-C, then prints the sockets, those that were held longest first.

    With ``--json`` each interval of an active socket is a line at once, each socket one at its end, and the counts are
    the last one. The exit status is 1 if there was no socket.

    Raises:
        RequestError: the sockets cannot be watched, the filter is wrong, or a place cannot be written to.
    """
    from netspurt.files.growing import GrowingParquet
    from netspurt.sockets.socket_filter import SocketFilter
    from netspurt.sockets.watching import INTERVALS, Watching

    interval = INTERVAL_S if options.interval is None else options.interval
    wanted = SocketFilter(options.filter) if options.filter is not None else None
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(GrowingParquet(Path(options.out), INTERVALS)) if options.out else None
        watching = Watching(options.netns, "intervals" if file or options.json else "sums")
        asked = stack.enter_context(asked_to_end())
        view = stack.enter_context(_view(options))
        session = _Session(watching, wanted, file, view, lines=options.json)
        end = None if options.duration is None else time.monotonic() + options.duration
        due = time.monotonic()
        while not asked.is_set() and (end is None or due < end):
            # A poll that is late moves the next ones.
            due = max(due + interval, time.monotonic())
            if end is not None:
                due = min(due, end)
            asked.wait(due - time.monotonic())
            session.step()
        found = session.finish()
    summary = {"event": "summary", **watching.counts, "interval_s": interval, "sockets": found.height}
    if options.json:
        print(json.dumps(summary))
    else:
        _print(found, summary, options)
    if asked.is_set():
        return INTERRUPTED
    return FINE if found.height else FELL_SHORT


class _Session:
    """What becomes of each poll."""

    def __init__(
        self,
        watching: Watching,
        wanted: SocketFilter | None,
        file: GrowingParquet | None,
        view: View,
        *,
        lines: bool,
    ) -> None:
        self._watching = watching
        self._wanted = wanted
        self._file = file
        self._view = view
        self._lines = lines
        self._refreshed = -REFRESH_S
        self._ended: list[pl.DataFrame] = []
        self._seen = -1
        self._verdicts: dict[tuple[Any, ...], bool] = {}

    def step(self) -> None:
        """Polls, writes intervals, and refreshes the view if its time has come."""
        self._watching.poll()
        # Who has a new socket is known from the table.
        new = self._watching.counts["seen"] != self._seen
        if time.monotonic() - self._refreshed >= REFRESH_S or (new and (self._lines or self._file)):
            self._refresh()
        if self._lines or self._file:
            self._write_intervals()

    def finish(self) -> pl.DataFrame:
        """All sockets that were seen."""
        import polars as pl

        self._watching.find_owners()
        present = self._chosen(self._watching.table())
        self._take_ended()
        if self._lines:
            self._print_lines(present, "socket")
        return pl.concat([present, *self._ended])

    def _refresh(self) -> None:
        self._refreshed = time.monotonic()
        counts = self._watching.counts
        self._seen = counts["seen"] or 0
        self._view.update(self._chosen(self._watching.table()), counts["missed"])
        self._take_ended()

    def _take_ended(self) -> None:
        from netspurt.sockets.watching import worst_first

        ended = self._chosen(self._watching.take_ended())
        if not ended.height:
            return
        if self._lines:
            self._print_lines(ended, "socket")
        self._ended.append(ended)
        if sum(each.height for each in self._ended) > 2 * MOST_ENDED:
            import polars as pl

            self._ended = [worst_first(pl.concat(self._ended)).head(MOST_ENDED).drop("held_s")]

    def _write_intervals(self) -> None:
        rows = self._chosen(self._watching.take_intervals())
        if self._lines:
            self._print_lines(rows, "interval")
        if self._file is not None:
            self._file.write(rows)

    def _print_lines(self, rows: pl.DataFrame, event: str) -> None:
        from netspurt.sockets.watching import document
        from netspurt.sockets.words import sentence

        for row in rows.iter_rows(named=True):
            line = document(row, event)
            if event == "socket":
                line["sentence"] = sentence(row)
            print(json.dumps(line))
        if rows.height:
            # A reader of the pipe gets whole polls at once.
            print(end="", flush=True)

    def _chosen(self, table: pl.DataFrame) -> pl.DataFrame:
        if self._wanted is None or not table.height:
            return table
        columns = ("socket", "state", "pid", "local", "remote", "process")
        rows = table.select(columns).iter_rows(named=True)
        return table.filter([self._passes(row) for row in rows])

    def _passes(self, row: dict[str, Any]) -> bool:
        key = (row["socket"], row["state"], row["pid"])
        if key not in self._verdicts and self._wanted is not None:
            if len(self._verdicts) > 100 * MOST_ENDED:
                self._verdicts.clear()
            self._verdicts[key] = self._wanted.passes(row)
        return self._verdicts[key]


@contextlib.contextmanager
def _view(options: argparse.Namespace) -> Iterator[View]:
    """A live table if standard error is a terminal and nothing else is printed meanwhile."""
    from netspurt.cli.views import sockets_view

    if sys.stderr.isatty() and not options.json:
        from rich.console import Console

        with sockets_view.on_terminal(Console(stderr=True)) as view:
            yield view
    else:
        yield sockets_view.Silent()


def _print(found: pl.DataFrame, summary: dict[str, Any], options: argparse.Namespace) -> None:
    from netspurt.cli.views import sockets_view

    console = tables.console()
    if found.height:
        sockets_view.show(console, found)
    else:
        which = "" if options.filter is None else " that passes the filter"
        print(f"netspurt: there was no TCP connection{which}", file=sys.stderr)
    if summary["missed"]:
        console.print(
            f"At least {summary['missed']} sockets were opened and closed between two polls; a shorter --interval "
            "finds more of them.",
            highlight=False,
            soft_wrap=True,
        )
    if options.out:
        console.print(f"written to {options.out}", highlight=False, soft_wrap=True)
