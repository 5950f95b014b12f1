"""One connection of a capture as columns: the time–sequence graph, and the limit at each instant.

Lives here: the choice of the direction, and thinning. Must not live here: packet analysis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from netspurt.analysis.capture import read_capture
from netspurt.diagnosing.diagnosis import Diagnosis, main_direction
from netspurt.inputs.capture import Captured
from netspurt.lab.simulated import verdict
from netspurt.lab.simulated.pictures import thinned

Columns = dict[str, npt.NDArray[Any]]

TABLES = ("segments", "events")


def graph(diagnosis: Diagnosis, number: int) -> tuple[dict[str, Any], Columns]:
    """The head and the columns of a connection, of the direction with more bytes. Times are since its start.

    Columns: ``data``, ``resent``, ``ack`` and ``edge``, each as ``…_time`` and ``…_value`` (an offset in the stream).

    Raises:
        RequestError: the capture cannot be read any more.
        ValueError: there is no such connection.
    """
    (row,) = diagnosis.documents([number])
    main = main_direction(row)
    head = {name: row[name] for name in ("connection", "client", "server", "vantage", "start_s")}
    head["verdict"] = verdict.summary(main)
    segments = Captured(read_capture(diagnosis.path, TABLES, only=[number])).segments()
    columns = {name: segments[name].to_numpy() for name in segments.columns if name != "stream"}
    columns["time_s"] = columns["time_s"] - row["start_s"]
    return head, _sequence(columns, main["from"] == "client") | verdict.band(main["intervals"], 0.0)


def _sequence(rows: Columns, client_sends: bool) -> Columns:
    ours = rows["from_client"].astype(bool) == client_sends
    data = ours & (rows["length"] > 0)
    resent = data & (rows["reason"].astype(str) != "new-data")
    acks = ~ours & (rows["ack"] >= 0)
    until = rows["seq"] + rows["length"]
    found: Columns = {}
    for name, these, value in (
        ("data", data, until),
        ("resent", resent, until),
        ("ack", acks, rows["ack"]),
        ("edge", acks, rows["ack"] + rows["window"]),
    ):
        time, place = thinned(rows["time_s"][these].astype(np.float64), value[these].astype(np.float64))
        found[f"{name}_time"], found[f"{name}_value"] = time, place
    return found
