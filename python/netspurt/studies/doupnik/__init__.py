"""The study of draft-doupnik-tcpimpl-nagle-mode-00, *A new TCP transmission policy replacing Nagle mode* (table 1)."""

from __future__ import annotations

from netspurt.studies.doupnik.beyond import SmallWrites, WriteWriteRead
from netspurt.studies.doupnik.fit import CostsOffNagle
from netspurt.studies.doupnik.live import Live
from netspurt.studies.doupnik.pairs import Pairs
from netspurt.studies.doupnik.sequence import HeldTail
from netspurt.studies.doupnik.table1 import Table1
from netspurt.studies.doupnik.today import Today
from netspurt.studies.doupnik.wire import OnTheWire
from netspurt.studies.experiment import Study

STUDY = Study(
    name="doupnik",
    title="A transmission policy in place of Nagle's rule",
    document=(
        "J. R. Doupnik, A new TCP transmission policy replacing Nagle mode, "
        "draft-doupnik-tcpimpl-nagle-mode-00, June 1999 (section 3, table 1)"
    ),
    question=(
        "The document asks how a sender can join small writes without waiting for acknowledgments that the "
        "receiver delays. It measures requests per second between four systems under Nagle's rule, without it, and "
        "under a policy that sends a short segment at once when the application's data ends."
    ),
    parts=(Table1(), OnTheWire(), HeldTail(), WriteWriteRead(), SmallWrites(), Today(), Pairs(), Live()),
    fit=CostsOffNagle(),
)
