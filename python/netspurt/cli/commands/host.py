"""``netspurt host``: our TCP on a TUN device."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netspurt.analysis import formats
from netspurt.cli.arguments import host_on_path, path_options
from netspurt.cli.arguments.options import (
    Deprecated,
    add_command,
    add_json,
    add_output,
    add_quiet,
    deprecated,
)
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.interrupt import asked_to_end
from netspurt.emulation.intervals import Intervals, sentence
from netspurt.errors import RequestError, native
from netspurt.files.places import CAPTURE
from netspurt.inputs.paths import one_path
from netspurt.inputs.typed import interval, port, positive, setting

if TYPE_CHECKING:
    from netspurt import _core

ADDRESSES = ("10.99.0.2/24", "fd99::2/64")
DEVICE = "netspurt0"
GUEST, GUEST_DEVICE = "NETSPURT_GUEST", "guest0"
"""On a host of an emulation: the variable of the environment with our addresses, and our device beside the host's."""

WAIT_S = 0.2
"""The longest time until Ctrl-C is handled, or the view is updated."""

ROLES = (
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
    (
        "sink",
        "read and discard incoming data, or fetch data from a peer",
        "host sink 9 --set tcp.receive_window='1 MiB'",
    ),
    ("source", "send as fast as the network permits", "host source 19 --profile reno --bytes 100000000"),
    ("http", "serve the files of a directory", "host http 8080 --root site --writes head-first"),
)


def declare(command: argparse.ArgumentParser) -> None:
    """Its roles, and the options of each."""
    roles = command.add_subparsers(dest="role", metavar="ROLE", required=True)
    for name, words, example in ROLES:
        role = add_command(roles, name, words, f"netspurt {example}")
        add_json(role)
        add_quiet(role)
        if name == "connect":
            role.add_argument("remote", metavar="HOST", help="a name or an address")
        role.add_argument("port", type=port, metavar="PORT")
        if name in ("sink", "source"):
            role.add_argument("--to", dest="remote", metavar="HOST", help="open connections there instead")
            role.add_argument(
                "--connections", type=positive, default=1, metavar="N", help="so many of them (default: 1)"
            )
        if name == "source":
            role.add_argument(
                "--bytes",
                type=positive,
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
        role.add_argument(
            "-i",
            "--interval",
            type=interval,
            metavar="TIME",
            help="report what each connection carried in each interval (default: 1 s of sink and source if no terminal "
            "shows the table, otherwise none; 0: none)",
        )
        _device(role)


def _device(role: argparse.ArgumentParser) -> None:
    role.add_argument("--profile", default="linux", metavar="NAME", help="how TCP behaves (default: linux)")
    role.add_argument("--tcp", dest="profile", action=Deprecated, instead="--profile", default="linux")
    role.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        type=setting,
        metavar="PATH=VALUE",
        help="override a TCP setting of a scenario, such as tcp.receive_window; may be repeated",
    )
    role.add_argument(
        "--device", metavar="NAME", help="(default: netspurt0, or guest0 on a host of an emulation)"
    )
    role.add_argument(
        "--address",
        action="append",
        dest="addresses",
        metavar="ADDRESS/BITS",
        help="an address of the host; may be repeated (default: 10.99.0.2/24 and fd99::2/64, or the guest's of an "
        "emulated host)",
    )
    role.add_argument(
        "--mtu", type=positive, default=1500, metavar="BYTES", help="of the device (default: 1500)"
    )
    role.add_argument(
        "--plain", action="store_true", help="plain packets, as on a wire: no super-segments, no offloads"
    )
    add_output(role, "--capture", CAPTURE, "FILE.pcapng", "capture the host's packets to FILE.pcapng")
    path_options.add_values(role, flow=False)


def command(options: argparse.Namespace) -> int:
    """Runs a host until it is done, or until Ctrl-C; with options of a path, behind that path.

    Messages go to standard error if standard output carries data (``listen``, ``connect``).

    Raises:
        RequestError: no device, no privilege, an address or a choice of TCP that cannot be; in one sentence.
        ScenarioError: a key or a value of ``--set`` is wrong.
    """
    path = one_path.network_of(vars(options))
    if path.given:
        return host_on_path.run(path, options)
    _check(options)
    _fill_in(options)
    host = _start(options)
    try:
        with asked_to_end() as asked, _shown(host, options) as show:
            going = True
            every = _interval(options)
            intervals, due = Intervals(time.monotonic()), time.monotonic() + every
            while going and not asked.is_set():
                going = host.wait(WAIT_S)
                if every and time.monotonic() >= due:
                    due += every
                    for each in intervals.report(time.monotonic(), host.snapshot()[0]):
                        show(json.dumps(each) if options.json else sentence(each))
                for news in host.take_news():
                    show(_text_of(news, options))
    finally:
        failed = host.stop()
        for news in host.take_news():
            _line(options)(_text_of(news, options))
    if failed is not None:
        print(f"netspurt: {failed}", file=sys.stderr)
        return FELL_SHORT
    return INTERRUPTED if going and options.role in ("listen", "connect") else FINE


def _interval(options: argparse.Namespace) -> float:
    """Seconds between two reports; 0 for none."""
    if options.interval is not None:
        return float(options.interval)
    return (
        1.0 if options.role in ("sink", "source") and not options.json and not _is_watched(options) else 0.0
    )


def _is_watched(options: argparse.Namespace) -> bool:
    """Whether a terminal shows the table of connections."""
    return sys.stderr.isatty() and (options.role == "connect" or sys.stdout.isatty())


def _fill_in(options: argparse.Namespace) -> None:
    """The default device and addresses."""
    guest = os.environ.get(GUEST)
    options.device = options.device or (GUEST_DEVICE if guest else DEVICE)
    options.addresses = options.addresses or (guest.split() if guest else list(ADDRESSES))


def _start(options: argparse.Namespace) -> _core.Host:
    from netspurt import _core

    role: dict[str, Any] = {"kind": "splice" if options.role in ("listen", "connect") else options.role}
    role |= {
        key: getattr(options, key, None)
        for key in ("port", "remote", "connections", "bytes", "root", "writes")
    }
    settings = [_tcp_key(path, value) for path, value in options.settings]
    try:
        host = _core.Host.start(
            options.device,
            options.addresses,
            role,
            tcp=[("profile", json.dumps(options.profile)), *settings],
            mtu=options.mtu,
            offload="nothing" if options.plain else "segments",
            capture=options.capture,
        )
    except _core.ScenarioError:
        raise
    except (ValueError, OSError) as error:
        raise native(error) from error
    own = ", ".join(address.partition("/")[0] for address in options.addresses)
    kernel = ", ".join(host.kernel())
    if not options.json and not options.quiet:
        beside = f"; the kernel is {kernel}" if kernel else ""
        print(f"netspurt: {options.device} up, this host is {own}{beside}", file=sys.stderr)
    return host


def _tcp_key(path: str, value: str) -> tuple[str, str]:
    if not path.startswith("tcp."):
        deprecated(f"--set {path}={value}", f"--set tcp.{path}={value}")
    return path.removeprefix("tcp."), value


def _check(options: argparse.Namespace) -> None:
    """What can be wrong before a device is made.

    Raises:
        RequestError: a folder that is not there, or a name without an address.
    """
    root = getattr(options, "root", None)
    if root is not None:
        folder = Path(root)
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "does not exist"
            raise RequestError(f"--root {root} {what}: name the folder whose files are served")
        if not os.access(folder, os.R_OK | os.X_OK):
            raise RequestError(f"--root {root} cannot be read: check its permissions")
    remote = getattr(options, "remote", None)
    if remote is not None:
        options.remote = _address(remote)


def _address(remote: str) -> str:
    """The address of a name; an address is left as it is."""
    try:
        ipaddress.ip_address(remote)
    except ValueError:
        from netspurt.probing.prober import resolve

        return resolve(remote).address
    return remote


def _line(options: argparse.Namespace) -> Callable[[str], None]:
    """Where lines go: not where the data goes."""
    out = sys.stderr if options.role in ("listen", "connect") else sys.stdout
    return lambda text: print(text, file=out, flush=True)


def _text_of(news: dict[str, Any], options: argparse.Namespace) -> str:
    return json.dumps(news) if options.json else _sentence(news)


def _sentence(news: dict[str, Any]) -> str:
    ends = f"{news['local']} - {news['remote']}"
    if news["event"] == "opened":
        return f"{ends}: open"
    seconds = max(news["seconds"], 1e-9)
    parts = [
        f"{news[key]} bytes {words} ({formats.rate(8 * news[key] / seconds)})"
        for key, words in (("bytes_sent", "sent"), ("bytes_received", "received"))
        if news[key]
    ]
    parts += (
        [f"{formats.counted(news['retransmitted'], 'segment')} retransmitted"]
        if news["retransmitted"]
        else []
    )
    return f"{ends}: {', '.join([news['why'], f'{seconds:.3g} s', *parts])}"


@contextlib.contextmanager
def _shown(host: _core.Host, options: argparse.Namespace) -> Iterator[Callable[[str], None]]:
    """A table that is redrawn on a terminal, and lines elsewhere."""
    if options.json or not _is_watched(options):
        yield _line(options)
        return
    from rich.console import Console
    from rich.live import Live

    from netspurt.emulation.watching import Watch

    console = Console(stderr=True)
    watch = Watch()
    with Live(
        console=console,
        get_renderable=lambda: watch.table(*host.snapshot(), size=(console.width, console.height)),
        refresh_per_second=2,
        transient=True,
    ):
        yield lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True)
