"""The study of RFC 2415, *Simulation Studies of Increased Initial TCP Window Size* (tables 1 to 6, figures 1 to 4)."""

from __future__ import annotations

from netspurt.studies.experiment import Study
from netspurt.studies.rfc2415.beyond import Lines, Queues, Today
from netspurt.studies.rfc2415.grid import Grid
from netspurt.studies.rfc2415.live import Live
from netspurt.studies.rfc2415.readings import Readings
from netspurt.studies.rfc2415.sequence import OneFile
from netspurt.studies.rfc2415.split import Split

STUDY = Study(
    name="rfc2415",
    title="Larger initial windows under web load",
    document=(
        "K. Poduri, K. Nichols, Simulation Studies of Increased Initial TCP Window Size, RFC 2415, September 1998 "
        "(tables 1 to 6)"
    ),
    question=(
        "The document asks how an initial window of one to four segments affects web users on a T1 line, "
        "and concurrent file transfers: the page delay, the utilisation of the link, the drop rate, and "
        "whether users with a larger window harm users with one segment."
    ),
    parts=(Grid(), Split(), OneFile(), Readings(), Queues(), Lines(), Today(), Live()),
)
