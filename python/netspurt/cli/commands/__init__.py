"""The commands: a line of ``COMMANDS`` each, and a module that is imported only when it is asked for.

A module has ``declare``, which gives a parser its options, and ``command``, which does what they ask for and returns an
exit status. Lives here: what a command does with its options. Must not live here: the work itself.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """What ``--help`` says of a command without loading it."""

    words: str
    example: str
    module: str = ""
    """Where it differs from the command's name."""
    more: str = ""
    """Sentences that only the command's own help needs."""


COMMANDS = {
    "reproduce": Entry(
        "repeat the published experiments, and put published and measured figures side by side",
        "netspurt reproduce rfc1106 --quick --out report",
    ),
    "run": Entry(
        "simulate a scenario, or a path that options describe",
        "netspurt run --rate 10mbit --delay 40ms --loss 0.1% --bytes 20MB; "
        "netspurt run satellite.toml --set link.satellite.delay='300 ms' --seed 7 --json",
    ),
    "new": Entry(
        "write a commented scenario to start from",
        "netspurt new path.toml --rate 10mbit --delay 40ms",
    ),
    "check": Entry(
        "check scenario files without running them, and warn of keys without effect",
        "netspurt check satellite.toml",
        more=" Exit status: 0 correct, 1 correct with keys that have no effect, 2 wrong.",
    ),
    "rrul": Entry(
        "measure latency while downloads and uploads fill a path, and draw both",
        "netspurt rrul --rate 20mbit --delay 15ms --out load.svg",
        more=" A probe makes round trips, alone at first, then beside transfers in both directions (flent's test RRUL, "
        "Realtime Response Under Load). The flows of the scenario are left out.",
    ),
    "responsiveness": Entry(
        "measure round trips per minute under load, simulated or to a server",
        "netspurt responsiveness --path docsis; netspurt responsiveness --server https://example.org",
        more=" Connections are added until the path is full, and probes measure handshakes and requests meanwhile "
        "(draft-ietf-ippm-responsiveness-08). The flows of the scenario are left out.",
    ),
    "sweep": Entry(
        "simulate a scenario with many settings and seeds; finished runs are not repeated",
        "netspurt sweep delays.toml --jobs 4",
    ),
    "compare": Entry(
        "compare two results, runs or captures, and show where they differ",
        "netspurt compare reno.toml cubic.toml --seeds 20 --plot difference.svg",
    ),
    "plot": Entry(
        "draw a run, a trace, a capture or a sweep: for paper, or as data",
        "netspurt plot satellite.toml --picture windows --out windows.pdf",
    ),
    "capture": Entry(
        "list the TCP connections of captures: RTTs, retransmissions and their causes, reordering",
        "netspurt capture trace.pcapng --samples rtt.parquet",
    ),
    "why": Entry(
        "find out what limits connections, for how long, and what may help: of captures, scenarios or this host",
        "netspurt why trace.pcapng --filter 'port 443' --report why.html",
        more=" Each instant of a connection has one limit. The connections that lost most time come first: the time "
        "that the end that sent more bytes spent neither in 'bottleneck' (the path is full) nor in 'application' "
        "(there is nothing to send). The numbers of packets are those of Wireshark. With --sockets the kernel's own "
        "clocks and counts show what limits each socket of this host; neither root nor a capture is needed.",
    ),
    "fit": Entry(
        "write a scenario that behaves like a capture, and check how well",
        "netspurt fit trace.pcapng --out path.toml",
        more=" Rate, delay, queue and losses of the path, options, windows and congestion control of the hosts are "
        "estimated from the packets; each value has a comment that says from what, and how sure it is. The scenario is "
        "then simulated and measured as the capture was. Exit status: 0 the scenario explains the capture, 1 it does "
        "not, 2 the capture shows too little.",
    ),
    "what-if": Entry(
        "simulate remedies for a slow transfer: what each gains, and how to apply it",
        "netspurt what-if trace.pcapng --try tcp.congestion=bbr --report what-if.html",
        "what_if",
        more=" The time budget of the transfer suggests the remedies. Each is simulated with the same seeds as the "
        "original; the interval is that of the paired differences. Exit status 1: the path that was fitted to a "
        "capture does not behave like it.",
    ),
    "emulate": Entry(
        "run real programs with a scenario's network between them",
        "netspurt emulate --rate 10mbit --delay 40ms --server 'iperf3 -s' -- iperf3 -c server",
    ),
    "shell": Entry(
        "start a shell, or a command, behind a path to this machine's network",
        "netspurt shell --rate 10mbit --delay 40ms",
        more=" The exit status is the shell's. Shells nest: each adds its path. Needs root or the capability "
        "cap_net_admin; nft or iptables translate addresses, so that other machines can be reached.",
    ),
    "ping": Entry(
        "probe hosts with ICMP echo: delays, losses, and why",
        "netspurt ping example.org 192.0.2.1 --length 40..1500 --interval 0.1..0.3 --count 512 --out probe.parquet",
    ),
    "host": Entry(
        "run our TCP on a TUN device, against the kernel's or any other",
        "netspurt host sink 9 --profile linux --capture host.pcapng",
        more=" The kernel gets the first other address of the device's network. Needs root, the capability "
        "cap_net_admin, or a device that was made for you.",
    ),
    "delays": Entry(
        "relate recorded delays to packet lengths",
        "netspurt delays probe.csv --split auto --robust --plot delays.svg",
    ),
    "rto": Entry(
        "replay retransmission timers over recorded delays",
        "netspurt rto probe.csv --estimator linux --estimator rfc889:f2=0.5 --grid rfc889 --plot rto.svg",
    ),
    "lab": Entry(
        "open a page in the browser to explore scenarios, or to diagnose a capture",
        "netspurt lab trace.pcapng",
    ),
    "profiles": Entry(
        "print every TCP profile with its settings and its document", "netspurt profiles --json", "catalogue"
    ),
    "mechanisms": Entry("print every choice of each mechanism family", "netspurt mechanisms", "catalogue"),
    "paths": Entry(
        "list the path models: what each models, its sources, and its keys",
        "netspurt paths leo; netspurt run --path leo -R --bytes 100MB",
    ),
    "schema": Entry(
        "print the JSON Schema of the scenario file", "netspurt schema > scenario.schema.json", "catalogue"
    ),
    "completion": Entry(
        "print a script that completes commands and options in a shell",
        'eval "$(netspurt completion bash)"',
    ),
}

GROUPS = {
    "find out why, and what would help": ("why", "what-if", "fit", "capture"),
    "simulate": ("run", "new", "check", "rrul", "responsiveness", "sweep", "compare", "plot", "lab"),
    "run real programs, and probe": ("emulate", "shell", "host", "ping", "delays", "rto"),
    "look up": ("profiles", "mechanisms", "paths", "schema", "completion"),
    "repeat published experiments": ("reproduce",),
}
"""The commands by task, in the order of ``--help``."""
