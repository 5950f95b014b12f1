"""The command ``netspurt``: options in, text and an exit status out.

Lives here: the choice of a command, options, tables and progress on a terminal. Must not live here: the work itself.
"""

from netspurt.cli.entry import main

__all__ = ["main"]
