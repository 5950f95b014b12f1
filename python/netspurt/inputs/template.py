"""A commented scenario to start from.

Lives here: its text. Must not live here: what the keys mean in full (the schema says that), or writing the file.
"""

from __future__ import annotations

import re

from netspurt.inputs.paths.one_path import PROFILE, QUEUE, OnePath, model_of, queue_of
from netspurt.settings import toml

RATE, DELAY, BYTES, DURATION = "10 Mbit/s", "40 ms", "20 MB", "60 s"

COLUMN = 56
"""Where remarks begin."""

TEXT = """\
# A transfer over one link. Simulate it, draw it, or run real programs over it:
#
#     netspurt run FILE
#     netspurt plot FILE --picture windows
#     netspurt emulate FILE --server 'iperf3 -s' -- iperf3 -c server
#
# 'netspurt check FILE' checks it without running it. 'netspurt mechanisms' lists every choice.
# Values are written with their unit: "10 Mbit/s" or "10mbit", "40 ms", "20 MB", "100 packets" or "100p", "0.1%".

duration = {duration}                     # when the simulation ends

[tcp]                                   # for all hosts; a [host.NAME.tcp] or a flow's tcp overrides it
profile = {profile}                       # 'netspurt profiles' lists them: linux, newreno, bbr, dctcp, freebsd, ...
# congestion = "bbr"                    # any key of the profile can be changed
# receive_window = "4 MiB"

[link.path]                             # one more table for each link; nodes are named by "between"
between = ["client", "server"]
rate = {rate}                           # of each direction
delay = {delay}                         # one way; the round-trip time is at least twice that
queue = {queue}
# queue = {{ kind = "fq-codel" }}                    # or codel, red, ...
{loss}

[[flow]]                                # one more table for each flow
app = {{ kind = "bulk", bytes = {bytes} }}   # sends from "from" to "to"; without bytes until the end
from = "client"
to = "server"
# start = "1 s"
# count = {count}                             # so many flows alike
"""


def template(path: OnePath) -> str:
    """The text, with the values of a path that options describe."""
    text = TEXT.format(
        duration=toml(path.duration or DURATION),
        profile=toml(path.profile or PROFILE),
        rate=toml(path.rate or RATE),
        delay=toml(path.delay or DELAY),
        queue=queue_of(path.queue or QUEUE),
        loss=f"{'' if path.loss else '# '}loss = "
        + toml({"kind": "packet-error", "rate": path.loss or "0.1%"})
        + "  # of packets in each direction",
        bytes=toml(path.bytes or BYTES),
        count=path.parallel or 10,
    )
    if path.path is not None:
        model = f"path = {toml(model_of(path.path))}  # a path model: 'netspurt paths' lists them\n"
        for key, given in (("rate", path.rate), ("delay", path.delay), ("queue", path.queue)):
            text = text if given else text.replace(f"\n{key} = ", f"\n# {key} = ", 1)
        between = 'between = ["client", "server"]\n'
        text = text.replace(between, between + model)
    if path.reverse is not None:
        text = text.replace('from = "client"\nto = "server"', 'from = "server"\nto = "client"')
    text = text if path.parallel is None else text.replace("# count =", "count =")
    return "\n".join(map(_aligned, text.split("\n")))


def _aligned(line: str) -> str:
    """A line whose remark stands in a column with those of the others."""
    found = re.fullmatch(r"(#? ?\S.*?) {2,}(# .*)", line)
    return f"{found[1]:<{COLUMN}}{found[2]}" if found else line
