"""The command ``netspurt``: options in, an exit status out.

Lives here: the options of every command, and what becomes of errors. Must not live here: any work.

Exit status: 0 fine; 1 the work was done and something fell short; 2 the request was wrong, in one sentence;
130 interrupted, partial results kept. Nothing heavy is imported before a command is known, so that ``--help``
answers at once; that is also why this is argparse (15 ms to import) and not a richer library (130 ms).
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn, cast

from netspurt import options
from netspurt.errors import RequestError, nearest

FINE, FELL_SHORT, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Says what was wrong in one sentence, where argparse prints a page of usage before it."""

    def error(self, message: str) -> NoReturn:
        """Raises what ``main`` turns into a sentence and an exit status."""
        raise RequestError(f"{message} (see '{self.prog} --help')")


class Version(argparse.Action):
    """Prints version and commit. Only whoever asks has to wait for the native module."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Ends the program, as argparse's own does."""
        from netspurt import version

        print(f"netspurt {version.full()}")
        parser.exit()


def parser() -> Parser:
    """All commands and their options."""
    top = Parser(
        prog="netspurt",
        description="A TCP performance laboratory: why is this transfer slow, and what would change if …?",
        epilog="example: netspurt reproduce --quick",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action=Version, nargs=0, help="version and commit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    _reproduce(commands)
    _run(commands)
    _sweep(commands)
    _compare(commands)
    _capture(commands)
    _emulate(commands)
    _ping(commands)
    _host(commands)
    _delays(commands)
    _rto(commands)
    for name, words, example in (
        ("profiles", "every TCP profile with its settings and its document", "netspurt profiles --json"),
        ("mechanisms", "every choice of each mechanism family", "netspurt mechanisms"),
        ("schema", "the JSON Schema of the scenario file", "netspurt schema > scenario.schema.json"),
    ):
        _add(commands, name, words, example)
    _completion(commands)
    return top


Commands = argparse._SubParsersAction  # argparse gives the type no public name


def _add(commands: Commands[Parser], name: str, words: str, example: str) -> Parser:
    command = commands.add_parser(
        name,
        help=words,
        description=words[0].upper() + words[1:] + ".",
        epilog=f"example: {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return command


def _completion(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "completion",
        "print a script that completes commands and options in a shell",
        'eval "$(netspurt completion bash)"',
    )
    command.add_argument("shell", choices=("bash", "zsh"))


def _reproduce(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "reproduce",
        "run the studies and put published and measured figures side by side",
        "netspurt reproduce rfc1106 --quick --out report",
    )
    command.add_argument(
        "studies",
        nargs="*",
        metavar="STUDY",
        help="terabit, rfc1106, rfc2415, doupnik, rfc889, or all (the default)",
    )
    command.add_argument("--quick", action="store_true", help="an honest subset with fewer seeds")
    command.add_argument(
        "--no-live",
        action="store_true",
        help="only what is simulated, nothing measured with real programs on emulated paths",
    )
    command.add_argument(
        "--fit",
        action="store_true",
        help="choose the free parameters of these studies anew, on their fitted cells, and leave them in DIR/fit "
        "(of those that have any: doupnik; takes minutes)",
    )
    command.add_argument("--seeds", type=_positive, metavar="N", help="seeds for each cell with randomness")
    _jobs(command)
    command.add_argument(
        "--out", default="report", metavar="DIR", help="where the report goes (default: report)"
    )


def _run(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "run",
        "simulate a scenario",
        "netspurt run satellite.toml --set link.satellite.delay='300 ms' --seed 7 --json",
    )
    command.add_argument("scenario", metavar="SCENARIO.toml")
    _settings(command)
    command.add_argument("--seed", type=_natural, default=1, metavar="N", help="first seed (default: 1)")
    command.add_argument(
        "--seeds", type=_positive, default=1, metavar="N", help="run so many seeds, with a summary"
    )
    _jobs(command)
    command.add_argument("--pcap", metavar="FILE", help="capture each flow at its sender, as pcapng")
    command.add_argument(
        "--capture",
        action="append",
        default=[],
        metavar="PLACE",
        help="capture there instead, as often as wanted: NODE, LINK@NODE, or all",
    )
    command.add_argument("--snaplen", type=_positive, metavar="BYTES", help="bytes captured of each packet")
    command.add_argument("--trace", metavar="FILE.parquet", help="all series and segments, as Parquet")
    command.add_argument("--out", metavar="DIR", help="merged scenario, versions, result and tables")


def _sweep(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "sweep",
        "simulate a scenario with many settings and seeds; what is done is never run again",
        "netspurt sweep delays.toml --jobs 4",
    )
    command.add_argument("sweep", metavar="FILE.toml", help="what is varied: see docs/sweeps.md")
    command.add_argument(
        "--out", metavar="DIR", help="folder of the results (default: FILE.sweep beside FILE.toml)"
    )
    _jobs(command)
    place = command.add_mutually_exclusive_group()
    place.add_argument("--scheduler", metavar="ADDRESS", help="run on the workers of this Dask scheduler")
    place.add_argument(
        "--cluster", choices=("slurm",), help="run on workers that Slurm starts (dask-jobqueue)"
    )
    place.add_argument(
        "--slice",
        type=options.part,
        metavar="I/N",
        help="run the I-th of N parts, with no engine at all, for job arrays; then once without, to gather",
    )
    command.add_argument(
        "--workers", type=_positive, default=4, metavar="N", help="jobs of --cluster (default: 4)"
    )
    command.add_argument("--retry", action="store_true", help="run tasks again that have failed before")
    command.add_argument(
        "--quantity",
        default="goodput_bps",
        metavar="COLUMN",
        help="the column of flows or links whose means are shown (default: goodput_bps)",
    )


def _compare(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "compare",
        "put two results, runs or captures side by side, and say where they differ",
        "netspurt compare reno.toml cubic.toml --seeds 20 --plot difference.svg",
    )
    for name, which in (("first", "A"), ("second", "B")):
        command.add_argument(
            name,
            metavar=which,
            help="a scenario (.toml, run now), a folder of 'run --out' or of 'sweep', a trace (.parquet), or a capture",
        )
    for name, which in (("a", "A"), ("b", "B")):
        command.add_argument(
            f"--set-{name}",
            action="append",
            default=[],
            type=_setting,
            metavar="PATH=VALUE",
            help=f"override a path of scenario {which}, as often as wanted",
        )
    command.add_argument("--seed", type=_natural, default=1, metavar="N", help="first seed (default: 1)")
    command.add_argument(
        "--seeds", type=_positive, default=1, metavar="N", help="run scenarios with so many seeds, in pairs"
    )
    _jobs(command)
    command.add_argument(
        "--quantity",
        action="append",
        default=[],
        dest="quantities",
        metavar="COLUMN",
        help="compare these columns of the flows, as often as wanted (default: a handful)",
    )
    command.add_argument("--plot", metavar="FILE.svg", help="draw both over each other (.svg, .pdf or .png)")


def _capture(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "capture",
        "what captures tell of their TCP connections: round-trip times, retransmissions and why, reordering",
        "netspurt capture trace.pcapng --samples rtt.parquet",
    )
    command.add_argument(
        "files", nargs="+", metavar="FILE", help="pcap or pcapng, plain, gzip or zstd; - is standard input"
    )
    command.add_argument("--samples", metavar="FILE.parquet", help="every round-trip time, as Parquet")
    command.add_argument(
        "--events", metavar="FILE.parquet", help="every retransmission, duplicate ACK and so on, as Parquet"
    )
    command.add_argument(
        "--connections",
        type=_positive,
        default=100_000,
        metavar="N",
        help="connections listed at most for each file (default: 100000); more are counted",
    )
    _jobs(command, "files")


def _emulate(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "emulate",
        "run real programs with a scenario's network between them",
        "netspurt emulate satellite.toml --server 'python3 -m http.server 80' -- curl -O http://space/file",
    )
    command.add_argument("scenario", metavar="SCENARIO.toml")
    # What stands behind "--" is not for argparse, which would want it before all options: see _command.
    command.usage = "%(prog)s SCENARIO.toml [options] -- COMMAND…"
    command.add_argument(
        "--server",
        metavar="COMMAND",
        help="runs on the last host; the command behind -- begins when it listens, or after 5 s",
    )
    command.add_argument(
        "--on",
        action="append",
        nargs=2,
        default=[],
        metavar=("HOST", "COMMAND"),
        help="runs on this host, like a server, as often as wanted",
    )
    command.add_argument(
        "--client", metavar="HOST", help="where the command behind -- runs (default: the first host)"
    )
    _settings(command)
    command.add_argument(
        "--seed", type=_natural, default=1, metavar="N", help="of losses and so on (default: 1)"
    )
    command.add_argument(
        "--capture",
        action="append",
        default=[],
        type=options.capture_place,
        metavar="HOST=FILE",
        help="capture what passes a host, as pcapng, as often as wanted",
    )
    command.add_argument(
        "--mtu",
        type=_positive,
        default=1500,
        metavar="BYTES",
        help="the longest packet of every host (default: 1500)",
    )
    command.add_argument(
        "--congestion",
        metavar="NAME",
        help="congestion control of the kernel's TCP on every host, such as cubic (default: the system's)",
    )
    command.add_argument(
        "--initial-window",
        type=_positive,
        metavar="SEGMENTS",
        help="initial window of the kernel's TCP on every host (default: 10)",
    )
    command.add_argument(
        "--sysctl",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="a setting of the kernel on every host, such as net.ipv4.tcp_ecn=1",
    )


def _ping(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "ping",
        "probe hosts with ICMP echo: delays, losses, and why",
        "netspurt ping example.org 192.0.2.1 --length 40..1500 --interval 0.1..0.3 --count 512 --out probe.parquet",
    )
    command.add_argument("hosts", nargs="+", metavar="HOST", help="names or addresses, asked side by side")
    command.add_argument(
        "--count", type=_positive, metavar="N", help="packets to each host (default: no end)"
    )
    command.add_argument(
        "--length",
        type=options.lengths,
        default=("listed", [84]),
        metavar="OCTETS",
        help="of packets with IP header: one length (default: 84), several (40,125,256) in turn, or any of a "
        "range (40..256); at least 40 in IPv4 and 60 in IPv6",
    )
    command.add_argument(
        "--interval",
        type=options.pace,
        default=("every", [1.0]),
        metavar="TIME",
        help="between packets to a host: fixed (default: 1s), any of a range (0.1..0.5s), or 'reply': the next when "
        "all hosts have answered the last",
    )
    command.add_argument(
        "--timeout",
        type=options.seconds,
        default=30.0,
        metavar="TIME",
        help="lost after this long (default: 30s)",
    )
    command.add_argument(
        "--fast", action="store_true", help="allow more than 10 packets a second to a host (1000 at most)"
    )
    family = command.add_mutually_exclusive_group()
    for option, name, words in (("-4", "ipv4", "IPv4"), ("-6", "ipv6", "IPv6")):
        family.add_argument(
            option, dest="family", action="store_const", const=name, default="any", help=f"over {words} only"
        )
    command.add_argument(
        "--seed", type=_natural, metavar="N", help="of random lengths and intervals (default: any)"
    )
    command.add_argument(
        "--out",
        metavar="FILE.parquet",
        help="every packet; the file is whole at any moment, up to the last second",
    )


HOST_ROLES = (
    (
        "listen",
        "take one connection and splice it to standard input and output",
        "host listen 7000 > received",
    ),
    (
        "connect",
        "open a connection and splice it to standard input and output",
        "host connect 10.99.0.1 7000 < file",
    ),
    ("sink", "take what comes, or fetch it", "host sink 9 --set receive_window='1 MiB'"),
    ("source", "send as much as the network takes", "host source 19 --tcp reno --bytes 100000000"),
    ("http", "serve the files of a directory", "host http 8080 --root site --writes head-first"),
)


def _host(commands: Commands[Parser]) -> None:
    command = commands.add_parser(
        "host",
        help="our TCP on a TUN device, against the kernel's or any other",
        description="Our TCP on a TUN device, against the kernel's or any other. The kernel gets the first other "
        "address of the device's network. Needs root, the capability cap_net_admin, or a device that was made for you.",
        epilog="example: netspurt host sink 9 --tcp linux --capture host.pcapng",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    roles = command.add_subparsers(dest="role", metavar="ROLE", parser_class=Parser, required=True)
    for name, words, example in HOST_ROLES:
        role = _add(roles, name, words, f"netspurt {example}")
        if name == "connect":
            role.add_argument("remote", metavar="ADDRESS")
        role.add_argument("port", type=_port, metavar="PORT")
        if name in ("sink", "source"):
            role.add_argument("--to", dest="remote", metavar="ADDRESS", help="open connections there instead")
            role.add_argument(
                "--connections", type=_positive, default=1, metavar="N", help="so many of them (default: 1)"
            )
        if name == "source":
            role.add_argument(
                "--bytes",
                type=_positive,
                metavar="N",
                help="on each connection (default: until the peer closes)",
            )
        if name == "http":
            role.add_argument("--root", default=".", metavar="DIR", help="the files (default: .)")
            role.add_argument(
                "--writes",
                default="head-first",
                metavar="PATTERN",
                help="how a response is handed to TCP: whole, head-first (the default), or lengths of writes in "
                "bytes, the last of them over and over (300,1460)",
            )
        _device(role)


def _device(role: Parser) -> None:
    role.add_argument("--tcp", default="linux", metavar="PROFILE", help="how TCP behaves (default: linux)")
    role.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        type=_setting,
        metavar="KEY=VALUE",
        help="a key of a scenario's [tcp] table, as often as wanted",
    )
    role.add_argument(
        "--device", metavar="NAME", help="(default: netspurt0, or guest0 on a host of an emulation)"
    )
    role.add_argument(
        "--address",
        action="append",
        dest="addresses",
        metavar="ADDRESS/BITS",
        help="of the host, as often as wanted (default: 10.99.0.2/24 and fd99::2/64, or the guest's of an "
        "emulated host)",
    )
    role.add_argument(
        "--mtu", type=_positive, default=1500, metavar="OCTETS", help="of the device (default: 1500)"
    )
    role.add_argument(
        "--plain", action="store_true", help="plain packets, as on a wire: no super-segments, no offloads"
    )
    role.add_argument("--capture", metavar="FILE.pcapng", help="write down what passes")


def _delays(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "delays",
        "relate recorded delays to packet lengths",
        "netspurt delays probe.csv --split auto --robust --plot delays.svg",
    )
    _records(command)
    command.add_argument(
        "--split",
        type=_split,
        metavar="OCTETS|auto",
        help="two lines, the second from this length on; auto looks for one",
    )
    command.add_argument("--robust", action="store_true", help="Theil and Sen's line beside least squares")
    command.add_argument("--plot", metavar="FILE.svg", help="draw scatter and histogram (.svg, .pdf or .png)")


def _rto(commands: Commands[Parser]) -> None:
    command = _add(
        commands,
        "rto",
        "replay retransmission timers over recorded delays",
        "netspurt rto probe.csv --estimator linux --estimator rfc889:f2=0.5 --grid rfc889 --plot rto.svg",
    )
    _records(command)
    command.add_argument(
        "--estimator",
        action="append",
        default=[],
        dest="estimators",
        metavar="NAME[:KEY=VALUE,…]",
        help="as under tcp.rto of a scenario, as often as wanted (default: five well-known ones)",
    )
    command.add_argument(
        "--grid",
        action="append",
        default=[],
        dest="grids",
        metavar="NAME[:KEY=LOW..HIGH/COUNT,…]",
        help="replay a whole family and say whether its best member stands out; values may also be A|B|C",
    )
    command.add_argument(
        "--rules",
        choices=("document", "connection"),
        default="document",
        help="every delay a sample, as in RFC 889 (default), or backoff and Karn's rule as in a connection",
    )
    _jobs(command)
    command.add_argument(
        "--plot", metavar="FILE.svg", help="draw delays and timeouts, and the grids (.svg, .pdf or .png)"
    )


def _records(command: Parser) -> None:
    command.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="CSV (time_s, delay_ms or rtt_ms, length_octets, host; empty: lost), Parquet, a capture "
        "(pcap or pcapng, also packed), a trace of 'run', or a synthetic path (.toml)",
    )
    command.add_argument(
        "--seed", type=_natural, default=1, metavar="N", help="of synthetic paths (default: 1)"
    )


def _split(text: str) -> int | str:
    return text if text == "auto" else _at_least(1, text)


def _settings(command: Parser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        type=_setting,
        metavar="PATH=VALUE",
        help="override a path of the scenario, as often as wanted; a list index is a number",
    )


def _jobs(command: Parser, what: str = "simulations") -> None:
    command.add_argument(
        "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N", help=f"{what} at once"
    )


def _positive(text: str) -> int:
    return _at_least(1, text)


def _natural(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
    return value


def _port(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port from 1 to 65535")
    return value


def _setting(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form path=value")
    return path.strip(), value.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; errors become a sentence on standard error."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _command(words)
        sys.stdout.flush()
        return status
    except RequestError as error:
        return _complain(error)
    except KeyboardInterrupt:
        print("netspurt: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough. Standard output must not be flushed into the void at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except ImportError as error:
        if error.name != "netspurt._core":
            raise
        return _complain(
            "the native module is not built; run 'make reproduce', or 'maturin develop --release'"
        )
    except ValueError as error:
        # ScenarioError comes from the native module, which must not be imported just to name its type.
        if type(error).__name__ != "ScenarioError":
            raise
        return _complain(error)


def _command(words: list[str]) -> int:
    top = parser()
    known = (
        *("reproduce", "run", "sweep", "compare", "capture", "emulate", "ping", "host", "delays", "rto"),
        *("profiles", "mechanisms", "schema", "completion"),
    )
    if words and not words[0].startswith("-") and words[0] not in known:
        raise RequestError(
            f"there is no command '{words[0]}'{nearest(words[0], known)} (see 'netspurt --help')"
        )
    program: list[str] = []
    if words and words[0] == "emulate" and "--" in words:
        split = words.index("--")
        words, program = words[:split], words[split + 1 :]
    options = top.parse_args(words, argparse.Namespace(program=program))
    if options.command is None:
        top.print_help()
        return FINE
    module = "catalogue" if options.command in ("profiles", "mechanisms", "schema") else options.command
    command = cast("Command", importlib.import_module(f"netspurt.commands.{module}").command)
    return command(options)


def _complain(error: object) -> int:
    print(f"netspurt: {' '.join(str(error).split())}", file=sys.stderr)
    return WRONG_REQUEST


if __name__ == "__main__":
    sys.exit(main())
