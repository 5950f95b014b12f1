"""The study of *TCP sending rate control at Tera bits per second* (table I, figures 1 and 2)."""

from __future__ import annotations

from netspurt.studies.experiment import Study
from netspurt.studies.terabit.beyond import Ethernet, Sweeps
from netspurt.studies.terabit.figure1 import Figure1
from netspurt.studies.terabit.figure2 import Figure2
from netspurt.studies.terabit.table1 import Table1

STUDY = Study(
    name="terabit",
    title="Window scaling at terabits per second",
    document=(
        "K. A. Williams et al., TCP sending rate control at Tera bits per second (table I, figures 1 and 2)"
    ),
    question=(
        "The paper asks how TCP performs on a line of 1 to 10 Tbit/s, and whether a window scaled up to 1.07 GB "
        "helps. It reports the time to fetch one megabyte over a link of 1 µs with and without "
        "scaling, the growth of the congestion window, and the goodput of 8 MB files under packet loss."
    ),
    parts=(Table1(), Figure1(), Figure2(), Sweeps(), Ethernet()),
)
