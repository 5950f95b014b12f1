"""Remedies of the user's own, from ``--try``.

Lives here: the conversion of text. Must not live here: the remedies that are proposed.
"""

from __future__ import annotations

from collections.abc import Mapping

from netspurt.errors import RequestError
from netspurt.remedies.remedy import Remedy
from netspurt.settings import Value

BETWEEN = ";"
"""Between several settings of one remedy."""


def own(text: str) -> Remedy:
    """The remedy of ``key=value``, or of several settings together: ``key=value; key=value``.

    Raises:
        RequestError: it has no such form.
    """
    settings: dict[str, str] = {}
    for part in text.split(BETWEEN):
        path, equals, value = part.partition("=")
        if not equals or not path.strip() or not value.strip():
            raise RequestError(
                f"--try '{text}' is not of the form key=value, such as tcp.receive_window='1 MiB'; write "
                "'key=value; key=value' to change several settings together"
            )
        settings[path.strip()] = value.strip()
    return Remedy(text.strip(), "", f"Your own: {', '.join(settings)}.", dict(settings), literal=True)


def given(settings: Mapping[str, Value]) -> Remedy:
    """The remedy of settings as for ``Scenario.set``."""
    name = f"{BETWEEN} ".join(f"{key}={value}" for key, value in settings.items())
    return Remedy(name, "", f"Your own: {', '.join(settings)}.", dict(settings))
