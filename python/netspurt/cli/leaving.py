"""The exit status after Ctrl-C.

Lives here: a way around CPython's own exit. Must not live here: what an interrupted command says or keeps.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys

from netspurt.cli.exits import INTERRUPTED


class Leaving:
    """How this program ends.

    If Ctrl-C falls into code that is compiled from a string, as dataclasses compile their methods while a module is
    imported, CPython remembers that. Started as ``python -m netspurt``, it then ends by SIGINT, although the exception
    was handled and a status given. So a program that was interrupted is left with its status here.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        # What is registered first runs last: after the pools of threads and processes have ended.
        atexit.register(self._leave)

    def _leave(self) -> None:
        if self.status == INTERRUPTED:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(INTERRUPTED)
