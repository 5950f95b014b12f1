"""The study of RFC 889, *Internet Delay Experiments* (sections 2 and 3)."""

from __future__ import annotations

from netspurt.studies.experiment import Study
from netspurt.studies.rfc889.beyond import CrossTraffic, Timers
from netspurt.studies.rfc889.emulated import Emulated
from netspurt.studies.rfc889.glitch import Glitch
from netspurt.studies.rfc889.lengths import Lines, Rates
from netspurt.studies.rfc889.live import Live
from netspurt.studies.rfc889.results import Results
from netspurt.studies.rfc889.surface import Shape

STUDY = Study(
    name="rfc889",
    title="Internet delays, and timeouts that follow them",
    document="D. L. Mills, Internet Delay Experiments, RFC 889, December 1983 (tables of sections 2.1 and 3.1)",
    question=(
        "The document asks how delay in the Internet of 1983 depends on the length of packets, and how well TCP's "
        "retransmission timeout follows it. It fits lines to the delays of 29 paths, replays the timeout over 52 runs "
        "of 512 echoes, and proposes an estimate that rises faster than it falls."
    ),
    parts=(Rates(), Results(), Shape(), Glitch(), Lines(), Timers(), CrossTraffic(), Live(), Emulated()),
)
