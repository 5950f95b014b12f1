"""Remedies for exchanges that consist of round trips.

Lives here: one function for each remedy. Must not live here: the choice among remedies.
"""

from __future__ import annotations

from netspurt.remedies.quantities import number, size
from netspurt.remedies.remedy import Remedy
from netspurt.remedies.situation import Situation

FACTOR = 4

FEWEST = 8
"""Exchanges on one connection from which on larger ones are proposed."""


def larger_application_window(situation: Situation) -> Remedy | None:
    """Four times as much data for each request of the application's protocol, and a quarter of the requests."""
    app = situation.app
    exchanges = app.get("exchanges")
    if app["kind"] != "request-response" or not isinstance(exchanges, int) or exchanges < FEWEST:
        return None
    path = f"flow.{situation.flow}.app"
    lengths = {key: number(app.get(key)) for key in ("request", "response")}
    if any(each is None for each in lengths.values()):
        return None
    grown = {f"{path}.{key}": size(FACTOR * each) for key, each in lengths.items() if each is not None}
    words = (
        f"A larger window in the application's protocol: {FACTOR} times the data for each round trip of requests, and "
        f"a quarter of the round trips."
    )
    how = (
        "nginx: http2_body_preread_size 512k;",
        "sshd and ssh: a build with a larger channel window, or sftp -B 262144 -R 256",
        "curl: --parallel, or a client with larger HTTP/2 stream windows",
    )
    return Remedy(
        "larger-application-window",
        "application-window",
        words,
        {**grown, f"{path}.exchanges": exchanges // FACTOR},
        how,
    )
