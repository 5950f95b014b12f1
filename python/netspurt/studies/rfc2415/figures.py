"""The document's figures: page delay and network power against the initial window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from netspurt.studies.model import Picture
from netspurt.studies.rfc2415.setting import FTPS, HTTP10, WEBS, WINDOWS, Http, Load, Runs, published_delays

Panels = dict[str, dict[str, list[float | None]]]


def pictures(runs: Runs, http: Http) -> Iterable[Picture]:
    """Page delay with the published values; network power in absolute terms, and relative to one segment."""
    from netspurt import plot

    def power(load: Load) -> float | None:
        return runs.mean(load, "web_power")

    def relative(load: Load) -> float | None:
        here, base = power(load), power(replace(load, window=1))
        return None if here is None or not base else here / base

    absolute, normalised = (1, 2) if http is HTTP10 else (3, 4)
    seen = (
        "gains of 15 to 60 % with four segments"
        if http is HTTP10
        else "losses in the two most congested loads"
    )
    delays = published_delays(http)
    yield Picture(
        f"rfc2415-delay-{http.name}",
        f"Median page delay against initial window, {http.words}",
        f"Table {http.delay_table[-1]} as a picture: lines are means over seeds, marks the published values.",
        f"Median page delay falls as the initial window grows from 1 to 4 segments, {http.words}.",
        partial(
            plot.against_window_charts,
            _panels(http, lambda load: runs.mean(load, "web")),
            WINDOWS,
            "median page delay (s)",
            _panels(http, lambda load: delays[load.webs, load.ftps, load.window]),
        ),
    )
    yield Picture(
        f"rfc2415-power-{http.name}",
        f"Network power of page transfers, {http.words}",
        f"Megabytes of pages over the median page delay: the document's figure {absolute}, which prints no numbers.",
        f"Network power of page transfers against the initial window, {http.words}.",
        partial(plot.against_window_charts, _panels(http, power), WINDOWS, "network power (MB/s)", {}),
    )
    yield Picture(
        f"rfc2415-relative-power-{http.name}",
        f"Network power relative to an initial window of one segment, {http.words}",
        f"The document's figure {normalised}, which shows {seen}.",
        f"Network power of page transfers rises with the initial window, {http.words}.",
        partial(
            plot.against_window_charts, _panels(http, relative), WINDOWS, "network power relative to IW 1", {}
        ),
    )


def _panels(http: Http, value: Callable[[Load], float | None]) -> Panels:
    return {
        f"{webs} web clients": {
            _files(ftps): [value(Load(http, webs, ftps, window)) for window in WINDOWS] for ftps in FTPS
        }
        for webs in WEBS
    }


def _files(ftps: int) -> str:
    return "no files" if ftps == 0 else f"{ftps} file client{'s' if ftps > 1 else ''}"
