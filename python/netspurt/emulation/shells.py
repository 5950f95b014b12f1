"""A shell whose prompt says on which path it is.

Lives here: which shell, and its environment. Must not live here: running it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

PATH = "NETSPURT_PATH"
"""The environment variable with the paths of all shells around this one, the outermost first."""

BETWEEN = " | "


def shell() -> list[str]:
    """The user's shell, else bash, else sh."""
    own = os.environ.get("SHELL", "")
    for program in (own, "bash"):
        if program and (found := shutil.which(program)) is not None:
            return [found]
    return ["/bin/sh"]


def is_shell(words: list[str]) -> bool:
    """Whether a command is a shell without arguments, which has a prompt."""
    return len(words) == 1 and Path(words[0]).name in ("bash", "sh", "dash", "zsh", "ksh", "fish")


def environment(path: str, around: Mapping[str, str]) -> dict[str, str]:
    """The variables that say which path a shell is on.

    bash runs ``PROMPT_COMMAND`` before its first prompt, after its start files; there it is used once, to put the path
    before the prompt that these files made. Other shells of POSIX take ``PS1``.
    """
    paths = BETWEEN.join(filter(None, (around.get(PATH, ""), path)))
    shown = "".join(character for character in paths if character not in "\"'`$\\!\n")
    return {
        PATH: paths,
        "PROMPT_COMMAND": f'PS1="[{shown}] $PS1"; unset PROMPT_COMMAND',
        "PS1": f"[{shown}] $ ",
    }
