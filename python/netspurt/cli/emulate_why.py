"""The limits of the connections of emulated programs, from the packets at every host.

Lives here: the captures that this needs, and how the result is shown. Must not live here: any diagnosis.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats

if TYPE_CHECKING:
    from netspurt.diagnosing.remedies_text import Advice

SHOWN = 20
"""Connections that are listed; the JSON document has all."""


@contextlib.contextmanager
def places(hosts: Sequence[str], captures: Sequence[tuple[str, str]]) -> Iterator[dict[str, Path]]:
    """A capture of each host: the user's own, or one in a folder that exists as long as the context."""
    own = {host: Path(file) for host, file in captures}
    with tempfile.TemporaryDirectory(prefix="netspurt-") as folder:
        yield {host: own.get(host, Path(folder) / f"{number}.pcapng") for number, host in enumerate(hosts)}


def missing(places: Mapping[str, Path], captures: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The captures to make besides the user's own."""
    own = {host for host, _ in captures}
    return [(host, str(path)) for host, path in places.items() if host not in own]


def connections(places: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Each connection once, as in ``netspurt why --json``, with the host at which it was captured."""
    from netspurt.diagnosing import why
    from netspurt.diagnosing.several import merged

    return merged({host: why(path).documents() for host, path in places.items() if path.exists()})


def show(found: Sequence[dict[str, Any]]) -> None:
    """Prints the connections on standard error: standard output belongs to the programs."""
    from rich.console import Console

    from netspurt.cli.views import tables, why_view

    console = Console(stderr=True) if sys.stderr.isatty() else Console(stderr=True, width=tables.WIDE)
    known: dict[Advice, int] = {}
    for each in found[:SHOWN]:
        why_view.show(console, each, known)
    if len(found) > SHOWN:
        console.print(
            f"{formats.counted(len(found) - SHOWN, 'more connection')} lost less time.", highlight=False
        )
    if not found:
        console.print("The programs sent no data over TCP.", highlight=False)
