"""The results of a sweep, complete or not.

Lives here: its tables as properties, and means over seeds. Must not live here: running.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt import display
from netspurt.analysis import formats
from netspurt.errors import RequestError, nearest
from netspurt.files.places import PLAN, SWEEP
from netspurt.sweeping.folder import Folder, about_of
from netspurt.sweeping.tables import RECORDS, gather

if TYPE_CHECKING:
    import polars as pl


class Sweep:
    """The content of the folder of a sweep. Each table is read on first access.

    Every table has the columns ``task``, ``point`` (a number), ``seed``, and one for each varied path.
    """

    def __init__(self, path: Path) -> None:
        import polars as pl

        about = about_of(path)
        if about is None or not (path / PLAN).is_file():
            raise RequestError(f"{path} is not the folder of a sweep: it has no {SWEEP}")
        self.path = path
        self.about: dict[str, Any] = about
        self._plan = pl.read_parquet(path / PLAN)
        self._tables: dict[str, pl.DataFrame] | None = None
        self._failed: pl.DataFrame | None = None

    @property
    def tasks(self) -> pl.DataFrame:
        """One row per task of the result: ``task``, ``point``, ``seed``, and the varied values."""
        return self._plan

    @property
    def varied(self) -> list[str]:
        """The varied paths."""
        return [name for name in self._plan.columns if name not in ("task", "point", "seed")]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow of each task: columns as in ``Result.flows``, and ``digest``."""
        return self._all()["flows"]

    @property
    def groups(self) -> pl.DataFrame:
        """One row per flow name of each task: columns as in ``Result.groups``."""
        return self._all()["groups"]

    @property
    def links(self) -> pl.DataFrame:
        """One row per direction of each link of each task: columns as in ``Result.links``."""
        return self._all()["links"]

    @property
    def failed(self) -> pl.DataFrame:
        """The failed tasks: ``task``, ``point``, ``seed``, ``settings`` and ``error`` (text)."""
        import polars as pl

        if self._failed is not None:
            return self._failed
        wanted = set(self._plan["task"])
        rows = [
            {"task": name, **{key: why.get(key) for key in ("point", "seed", "settings", "error")}}
            for name, why in Folder(self.path).failures().items()
            if name in wanted
        ]
        schema = {
            "task": pl.String,
            "point": pl.Int64,
            "seed": pl.Int64,
            "settings": pl.String,
            "error": pl.String,
        }
        self._failed = pl.DataFrame(rows, schema=schema).sort("point", "seed")
        return self._failed

    @property
    def missing(self) -> int:
        """The number of tasks that are neither done nor failed."""
        names = set(self._plan["task"])
        if not self.path.exists():  # the results exist only in memory
            return len(names - set(self.flows["task"]) - set(self.failed["task"]))
        folder = Folder(self.path)
        return len(names - folder.done() - set(folder.failures()))

    def summary(self, quantity: str = "goodput_bps", confidence: float = 0.95) -> pl.DataFrame:
        """Means over seeds, with Student's t interval.

        Args:
            quantity: a column of ``flows``, or of ``links``.
            confidence: confidence of the interval, between 0 and 1.

        Returns:
            For each point and flow name (for a link: each direction) ``runs``, ``mean``, ``low`` and ``high`` (null
            for a single run), in the unit of the quantity. Several flows of a name count with their mean.

        Raises:
            RequestError: the column does not exist, or has no numbers.
        """
        import polars as pl

        from netspurt.analysis.statistics import mean_interval

        table, who = self._holding(quantity)
        keys = ["point", *self.varied, *who]
        each = table.group_by([*keys, "seed"], maintain_order=True).agg(
            pl.col(quantity).cast(pl.Float64).mean()
        )
        rows = []
        for key, group in each.group_by(keys, maintain_order=True):
            values = group[quantity].drop_nulls().to_list()
            estimate = mean_interval(values, confidence) if values else None
            rows.append(
                dict(zip(keys, key, strict=True))
                | {
                    "runs": len(values),
                    "mean": estimate.mean if estimate else None,
                    "low": estimate.low if estimate else None,
                    "high": estimate.high if estimate else None,
                }
            )
        kinds = {name: each.schema[name] for name in keys}
        numbers = {"runs": pl.Int64, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
        return pl.DataFrame(rows, schema={**kinds, **numbers})

    def _holding(self, quantity: str) -> tuple[pl.DataFrame, list[str]]:
        for table, who in ((self.flows, ["flow"]), (self.links, ["link", "direction"])):
            if quantity in table.columns:
                if not (table.schema[quantity].is_numeric() or str(table.schema[quantity]) == "Boolean"):
                    raise RequestError(f"'{quantity}' is text, so it has no mean")
                return table, who
        known = [*self.flows.columns, *self.links.columns]
        raise RequestError(f"the runs have no column '{quantity}'{nearest(quantity, known)}")

    def _all(self) -> dict[str, pl.DataFrame]:
        import polars as pl

        if self._tables is None:
            files = {name: self.path / f"{name}.parquet" for name in RECORDS}
            if self.about.get("complete") and all(file.is_file() for file in files.values()):
                self._tables = {name: pl.read_parquet(file) for name, file in files.items()}
            else:
                self._tables = gather(self._plan, self.path / "tasks")
        return self._tables

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r}, {formats.counted(self._plan.height, 'task')})"

    def _repr_html_(self) -> str:
        """The HTML form for notebooks: progress, and means over seeds."""
        return display.shown("sweep", self)
