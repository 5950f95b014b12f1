"""The captures of the page: those of the command line, and copies of those dropped on the page.

Lives here: keys, temporary files, and what is known of each capture. Must not live here: requests.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.errors import RequestError, unreadable
from netspurt.inputs.kind import Kind, kind_of

if TYPE_CHECKING:
    from netspurt.diagnosing import Diagnosis
    from netspurt.fitting import Fit
    from netspurt.remedies import WhatIf

LARGEST = 8 << 30
"""The maximal size of a dropped file in bytes; 'netspurt lab FILE' reads any size."""

LONGEST_NAME = 100

KEY = "capture/"
"""The start of the keys of captures."""


@dataclass
class Item:
    """A capture: ``name`` is for the user, ``key`` is for requests; and its results so far, by connection."""

    key: str
    name: str
    path: Path
    diagnosis: Diagnosis | None = None
    fits: dict[int, Fit] = field(default_factory=dict)
    remedies: dict[int, WhatIf] = field(default_factory=dict)

    def words(self, error: Exception) -> str:
        """The message of an error, with the name of the capture instead of the path of its copy."""
        return str(error).replace(str(self.path), self.name)


class Box:
    """All captures of one lab."""

    def __init__(self, own: Iterable[Path] = ()) -> None:
        self._items: dict[str, Item] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self.ended = threading.Event()
        """Set at the end of the lab: work in the background then stops."""
        for path in own:
            self._add(str(path), path)

    @property
    def items(self) -> list[Item]:
        """The captures in the order of their arrival."""
        return list(self._items.values())

    def find(self, key: str) -> Item:
        """The capture with this key.

        Raises:
            RequestError: there is none.
        """
        if key not in self._items:
            raise RequestError(f"there is no capture '{key}': drop the file on the page again")
        return self._items[key]

    async def receive(self, name: str, content: AsyncIterator[bytes]) -> Item:
        """Copies a dropped file into the temporary folder of the lab.

        Raises:
            RequestError: it is no capture, too large, or cannot be stored.
        """
        base = (
            re.sub(r"[^\w.+@-]", "_", re.split(r"[/\\]", name)[-1])[-LONGEST_NAME:].lstrip(".") or "capture"
        )
        path = self.folder() / base
        taken = 0
        try:
            with path.open("wb") as file:
                async for octets in content:
                    taken += len(octets)
                    if taken > LARGEST:
                        raise RequestError(
                            f"{base} is too large for the page: start 'netspurt lab FILE' instead"
                        )
                    file.write(octets)
            check(path, base)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise RequestError(
                f"{base} cannot be stored: {(error.strerror or str(error)).lower()}"
            ) from error
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return self._add(base, path)

    def folder(self) -> Path:
        """A new folder for temporary files, deleted at the end of the lab."""
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="netspurt-lab-")
        return Path(tempfile.mkdtemp(dir=self._folder.name))

    def close(self) -> None:
        """Stops the work in the background and deletes all copies."""
        self.ended.set()
        with self._lock:
            if self._folder is not None:
                self._folder.cleanup()

    def _add(self, name: str, path: Path) -> Item:
        with self._lock:
            item = Item(f"{KEY}{len(self._items)}", name, path)
            self._items[item.key] = item
        return item


def check(path: Path, name: str | None = None) -> None:
    """Refuses a file that is not a capture.

    Raises:
        RequestError: in a sentence.
    """
    shown = name or str(path)
    try:
        empty = path.stat().st_size == 0
    except OSError as error:
        raise RequestError(unreadable(path, error)) from error
    if empty:
        raise RequestError(f"{shown} is empty, not a capture: choose a file of tcpdump or Wireshark")
    kind = kind_of(path)
    if kind is not Kind.CAPTURE:
        raise RequestError(
            f"{shown} is {kind.value}, not a capture: choose a file of tcpdump or Wireshark (pcap or pcapng, "
            "uncompressed, gzip or zstd)"
        )
