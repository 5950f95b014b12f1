"""Options that would have no effect are errors.

Lives here: the refusal. Must not live here: the lists of options, which are beside the commands that have them.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from netspurt.errors import RequestError


def refuse(options: Namespace, names: Mapping[str, str], why: str) -> None:
    """Refuses options that would have no effect.

    Args:
        options: the parsed command line.
        names: the name of each such option on the command line, by its place in ``options``.
        why: what follows that name in the message.

    Raises:
        RequestError: one of them was given.
    """
    for place, option in names.items():
        value = getattr(options, place)
        if value is not None and value != []:
            raise RequestError(f"{option} {why}")
