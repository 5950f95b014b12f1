"""The bar of each cell, the reasons for missing bars, and the cells that are known to miss their bars.

The bars apply to means over ten or more seeds. Single decreases of loads with file transfers have none: the document
has one run of each, and these scatter by several points.
"""

from __future__ import annotations

from netspurt.studies.rfc2415.setting import HTTP10, Http, Load
from netspurt.studies.verdict import Bar, Fraction, Points

DECREASE = Points(10.0)
UTILISATION = Points(6.0)
DROPS = Points(1.5)
POWER = Fraction(0.25)

MUST_REACH = {"link_utilisation": (46, 48), "drop_rate": (30, 36)}
"""How many cells of table 2 must meet their bars."""

MISCOPIED = "the original repeats the drop rates of 16 web clients in this row; table 6 contradicts them"
NOISE = "loads with file transfers: one run of the original scatters by several points"
PATHOLOGICAL = "the document itself calls this load pathological"
HEAVY = "with 32 web clients almost no transfer completes"
OTHER_MODEL = "no bar for HTTP/1.1 with file transfers"

SHORT_PAGES = "a page in one transfer takes less time than the document's: README, what cannot be met"
LIGHT_QUEUE = "with one file client the document's queue is longer than ours: README, what cannot be met"

EXPLAINED = (SHORT_PAGES, LIGHT_QUEUE)

KNOWN_MISSES: dict[tuple[str, str, str, int], str] = {
    **{("table3", "ftp_network_power", "8/1", window): LIGHT_QUEUE for window in (1, 2, 3, 4)},
    ("table4", "median_page_delay", "8/0", 1): SHORT_PAGES,
    ("table4", "decrease", "8/0", 4): SHORT_PAGES,
}
"""Cells that miss their bars, by table, quantity, load and initial window, with the reason where it is known.

Their verdict is still *outside*. The study falls short only if another cell misses its bar.
"""


def of_delay(http: Http, load: Load) -> Bar | None:
    """The bar of a median page delay at an initial window of one segment."""
    if load.ftps == 0:
        return Fraction(0.12 if http is HTTP10 else 0.15)
    return Fraction(0.40) if http is HTTP10 and (load.webs, load.ftps) != (32, 3) else None


def why_no_delay_bar(http: Http, load: Load) -> str:
    """The reason where there is no bar."""
    if of_delay(http, load) is not None:
        return ""
    return PATHOLOGICAL if (load.webs, load.ftps) == (32, 3) else OTHER_MODEL


def of_drops(load: Load) -> Bar | None:
    """The bar of a drop rate of table 2, if the original has its own value."""
    return None if load.webs == 32 and load.ftps < 3 else DROPS


def of_power(http: Http, load: Load) -> Bar | None:
    """The bar of a network power of file transfers."""
    return POWER if http is HTTP10 and load.webs < 32 else None


def why_no_power_bar(http: Http, load: Load) -> str:
    """The reason where there is no bar."""
    if of_power(http, load) is not None:
        return ""
    return HEAVY if load.webs == 32 else OTHER_MODEL


def known_miss(table: str, quantity: str, load: Load) -> str:
    """The reason why this cell is known to miss its bar, or an empty string."""
    return KNOWN_MISSES.get((table, quantity, load.name, load.window), "")
