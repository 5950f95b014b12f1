"""Tables 1 to 5: twelve loads, four initial windows, two web models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from netspurt.studies.experiment import Experiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Table
from netspurt.studies.rfc2415 import bars, null
from netspurt.studies.rfc2415.figures import pictures
from netspurt.studies.rfc2415.setting import (
    FTPS,
    HTTP10,
    HTTP11,
    MODELS,
    SEEDS,
    WEBS,
    WINDOWS,
    Http,
    Load,
    Runs,
    by_load,
    estimated,
    loads,
    measure,
    published_decreases,
    published_delays,
    published_power,
)
from netspurt.studies.verdict import Role

QUICK_SEEDS = 2
"""With file transfers. A run without them is short and has the narrowest bars, so a quick study has all its seeds."""


class Grid:
    """The 96 runs of the document, over seeds."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """All runs, also in a quick study."""
        for load in (load for http in MODELS for load in loads(http)):
            yield Experiment(
                key=load.key,
                scenario=load.scenario,
                settings=load.settings(),
                seeds=plan.choose(QUICK_SEEDS if load.ftps else SEEDS, SEEDS),
                measure=measure,
            )

    def evaluate(self, samples: Samples) -> Findings:
        """Five tables, the bars that span cells, and the document's figures."""
        runs = Runs(samples)
        tables = (
            _delays(runs, HTTP10, "Table 1: median web page delay"),
            _line(runs),
            _power(runs, HTTP10, "Table 3: network power of file transfers"),
            _delays(runs, HTTP11, "Table 4: median web page delay, HTTP/1.1"),
            _power(runs, HTTP11, "Table 5: network power of file transfers, HTTP/1.1"),
        )
        return Findings(
            tables=tables,
            checks=(*_counts(tables[1]), *(_order(runs, http) for http in MODELS), _only_known(tables)),
            pictures=tuple(picture for http in MODELS for picture in pictures(runs, http)),
            notes=(*_null_notes(tables), *_spread_note(runs)),
        )


def _delays(runs: Runs, http: Http, title: str) -> Table:
    delays, falls = published_delays(http), published_decreases(http)
    cells = []
    for webs, ftps, window in product(WEBS, FTPS, WINDOWS):
        load = Load(http, webs, ftps, window)
        place = (webs, ftps, window)
        cells.append(
            _delay(runs, load, delays[place]) if window == 1 else _decrease(runs, load, falls[place])
        )
    note = (
        "Mean over seeds of each run's median over all pages; for larger windows the decrease relative to one segment, "
        "in pairs of runs with the same seed. The null model counts round trips for files of the median size."
    )
    return Table(http.delay_table, title, tuple(cells), note=note)


def _delay(runs: Runs, load: Load, published: float) -> Cell:
    known = bars.known_miss(load.http.delay_table, "median_page_delay", load)
    # The size distribution, the delay of the access links and the timer granularity were fitted to these three cells.
    role: Role = "fitted" if load.http is HTTP10 and load.ftps == 0 else "predicted"
    cell = Cell(
        load.row,
        "median_page_delay",
        "s",
        published,
        None,
        decimals=2,
        bar=bars.of_delay(load.http, load),
        role=role,
        null_model=null.delay_s(load.http, 1),
        allowance=bool(known),
        reason=known or bars.why_no_delay_bar(load.http, load),
    )
    return estimated(cell, runs.each(load, "web"))


def _decrease(runs: Runs, load: Load, published: float) -> Cell:
    known = bars.known_miss(load.http.delay_table, "decrease", load)
    cell = Cell(
        load.row,
        "decrease",
        "%",
        published,
        None,
        decimals=1,
        bar=None if load.ftps else bars.DECREASE,
        null_model=null.decrease_pct(load.http, load.window),
        allowance=bool(known),
        reason=known or (bars.NOISE if load.ftps else ""),
    )
    return estimated(cell, runs.decreases(load))


def _line(runs: Runs) -> Table:
    utilisation = by_load("table2", "link_utilization_pct_iw{}")
    drops = by_load("table2", "drop_rate_pct_iw{}")
    cells = []
    for load in loads(HTTP10):
        cell = Cell(
            load.row,
            "link_utilisation",
            "%",
            utilisation[load.place],
            None,
            decimals=0,
            bar=bars.UTILISATION,
            null_model=null.utilisation_pct(load),
            allowance=True,
        )
        cells.append(estimated(cell, runs.each(load, "utilisation_pct")))
    for load in loads(HTTP10):
        bar = bars.of_drops(load)
        cell = Cell(
            load.row,
            "drop_rate",
            "%",
            drops[load.place],
            None,
            decimals=1,
            bar=bar,
            null_model=0.0,
            allowance=True,
            reason="" if bar else bars.MISCOPIED,
        )
        cells.append(estimated(cell, runs.each(load, "drops_pct")))
    note = (
        "Values of the bottleneck, towards the clients. Some cells of this table may miss their bars: the checks "
        "decide. The null model drops nothing, and fills the line wherever there is a file client."
    )
    return Table("table2", "Table 2: link utilisation and packet drop rates", tuple(cells), note=note)


def _power(runs: Runs, http: Http, title: str) -> Table:
    numbers = published_power(http)
    cells = []
    for load in loads(http):
        if not load.ftps:
            continue
        known = bars.known_miss(http.power_table, "ftp_network_power", load)
        cell = Cell(
            load.row,
            "ftp_network_power",
            "MB/s",
            numbers[load.place],
            None,
            decimals=1,
            bar=bars.of_power(http, load),
            null_model=null.power(load),
            allowance=bool(known),
            reason=known or bars.why_no_power_bar(http, load),
        )
        cells.append(estimated(cell, runs.each(load, "power")))
    note = (
        "Megabytes of file transfers in 360 s over the median time of a transfer in seconds. In the null model the "
        "file clients share the rate that the pages leave."
    )
    return Table(http.power_table, title, tuple(cells), note=note)


def _counts(table: Table) -> Iterable[Check]:
    for quantity, (must, of) in bars.MUST_REACH.items():
        cells = [cell for cell in table.cells if cell.quantity == quantity and cell.bar is not None]
        words = f"table 2, {quantity.replace('_', ' ')}: at least {must} of {of} cells reach the bar"
        if any(cell.measured is None for cell in cells):
            yield Check(words, None)
            continue
        reached = sum(cell.verdict != "outside" for cell in cells)
        yield Check(words, reached >= must, f"{reached} of {len(cells)}")


def _order(runs: Runs, http: Http) -> Check:
    words = f"{http.words}: the median delay falls from IW 1 to 2 and from 2 to 3 in every row of 8 and 16 web clients"
    broken, seen = [], 0
    for webs, ftps in product((8, 16), FTPS):
        means = [runs.mean(Load(http, webs, ftps, window), "web") for window in (1, 2, 3)]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means):
            return Check(words, None)
        seen += 1
        if not known[0] > known[1] > known[2]:
            broken.append(f"{webs}/{ftps}")
    return Check(words, not broken, f"{seen - len(broken)} of {seen} rows" + _but(broken))


def _only_known(tables: Sequence[Table]) -> Check:
    """Separates the misses that the README explains from any other miss."""
    words = "no cell of tables 1, 3, 4 and 5 misses its bar except those that the README explains"
    cells = [(table.name, cell) for table in tables if table.name != "table2" for cell in table.cells]
    if any(cell.measured is None for _, cell in cells):
        return Check(words, None)
    news: list[str] = []
    known: list[str] = []
    for table, cell in cells:
        if cell.verdict == "outside":
            (known if cell.reason in bars.EXPLAINED else news).append(f"{table} {_place(cell)}")
    judged = sum(cell.bar is not None for _, cell in cells)
    found = f"{judged - len(news) - len(known)} of {judged} reach it" + _but([*news, *known])
    return Check(words, not news, found)


def _place(cell: Cell) -> str:
    return f"{cell.row['web_clients']}/{cell.row['ftp_clients']} IW {cell.row['initial_window']}"


def _but(names: Sequence[str]) -> str:
    return f"; not {', '.join(names)}" if names else ""


def _null_notes(tables: Sequence[Table]) -> Iterable[str]:
    for table in tables:
        for quantity in dict.fromkeys(cell.quantity for cell in table.cells):
            cells = [cell for cell in table.cells if cell.quantity == quantity and cell.bar is not None]
            if not cells:
                continue
            null_reaches = sum(
                cell.bar is not None
                and cell.null_model is not None
                and cell.bar.reached(cell.published, cell.null_model, None)
                for cell in cells
            )
            ours = sum(cell.verdict in ("exact", "within bar") for cell in cells)
            yield (
                f"{table.name}, {quantity.replace('_', ' ')}: of {len(cells)} cells with a bar the null model reaches "
                f"{null_reaches}, the simulation {ours}."
            )


def _spread_note(runs: Runs) -> Iterable[str]:
    ranges = []
    for webs, ftps in product(WEBS, FTPS):
        values = runs.each(Load(HTTP10, webs, ftps, 1), "web")
        if values is not None and len(values) > 1:
            ranges.append(f"{webs}/{ftps} {min(values):.2f} to {max(values):.2f} s")
    if ranges:
        yield (
            "Range of the median page delays of single seeds at IW 1, HTTP/1.0 (web clients/FTP clients; the "
            f"document has one run of each): {', '.join(ranges)}."
        )
