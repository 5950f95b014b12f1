"""What is shown to a person while work is under way: a bar on standard error, and only on a terminal.

Lives here: progress. Must not live here: results, which go to standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(total: int, title: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that counts one more piece of work as done and names what is being done.

    Where standard error is not a terminal the function does nothing.
    """
    if total == 0 or not sys.stderr.isatty():
        yield lambda _label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[label]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, label="")
        yield lambda label: bar.update(task, advance=1, label=label)
