#!/usr/bin/env python3
"""Runs FreeBSD's TCP test suite against the profile `freebsd`, and prints the share of its scripts that pass.

The scripts are not part of this project. Fetch github.com/freebsd-net/tcp-testsuite, and packetdrill as in
tools/packetdrill.py:

    cargo build --release -p netspurt-packetdrill
    tools/packetdrill_freebsd.py --packetdrill DIR/gtests/net/packetdrill/packetdrill DIR/tcp-testsuite

Nearly every script sets sysctls. Those that only set defaults are judged: there is no kernel that could have other
values. A script asks for FreeBSD's kernel if it sets another value, or if it runs another command, such as `sockstat`.
Those that only set sysctls for which our TCP has an option run with that option, and have a share of their own. The
others, and those in a language that packetdrill does not know, are counted apart.

The suite was written for another packetdrill (github.com/nplab/packetdrill), which cannot test a shared object. So each
script is translated: the numbers of states, the name of an ICMP code, and what tests a socket that is only bound, which
has no addresses in Google's packetdrill: without the socket, the segment meets none, as with FreeBSD.

Exit status: 0 if every script ran, whatever the verdicts; 1 if the share is below --least; 2 for a mistake.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packetdrill import Verdict, judge, newest_library, scripts, table

DEFAULTS = {
    "kern.ipc.maxsockbuf": "2097152",
    "net.inet.tcp.blackhole": "0",
    "net.inet.tcp.delacktime": "40",
    "net.inet.tcp.drop_synfin": "0",
    "net.inet.tcp.ecn.enable": "2",
    "net.inet.tcp.ecn.maxretries": "1",
    "net.inet.tcp.fastopen.client_enable": "1",
    "net.inet.tcp.hostcache.purgenow": "1",
    "net.inet.tcp.icmp_may_rst": "1",
    "net.inet.tcp.insecure_rst": "0",
    "net.inet.tcp.insecure_syn": "0",
    "net.inet.tcp.keepcnt": "8",
    "net.inet.tcp.keepidle": "7200000",
    "net.inet.tcp.keepinit": "75000",
    "net.inet.tcp.keepintvl": "75000",
    "net.inet.tcp.mssdflt": "536",
    "net.inet.tcp.path_mtu_discovery": "1",
    "net.inet.tcp.recvspace": "65536",
    "net.inet.tcp.rexmit_drop_options": "0",
    "net.inet.tcp.rexmit_initial": "1000",
    "net.inet.tcp.rexmit_slop": "200",
    "net.inet.tcp.rfc1323": "1",
    "net.inet.tcp.sack.enable": "1",
    "net.inet.tcp.sendspace": "32768",
    "net.inet.tcp.syncookies": "1",
    "net.inet.tcp.syncookies_only": "0",
    "net.inet.tcp.tolerate_missing_ts": "0",
    "net.inet.tcp.udp_tunneling_port": "0",
    "net.inet.tcp.v6mssdflt": "1220",
}
"""FreeBSD 14's defaults of the sysctls that scripts set; purgenow empties the cache of hosts, which is empty here."""

OPTIONS = {
    "net.inet.tcp.ecn.enable": ("0", "1", "2"),
    "net.inet.tcp.insecure_rst": ("0", "1"),
    "net.inet.tcp.rfc1323": ("0", "1"),
    "net.inet.tcp.sack.enable": ("0", "1"),
}
"""The sysctls for which our TCP has an option, and the values that it can take."""

STATES = {
    "ESTABLISHED": 1,
    "SYN_SENT": 2,
    "SYN_RECEIVED": 3,
    "FIN_WAIT_1": 4,
    "FIN_WAIT_2": 5,
    "TIME_WAIT": 6,
    "CLOSED": 7,
    "CLOSE_WAIT": 8,
    "LAST_ACK": 9,
    "LISTEN": 10,
    "CLOSING": 11,
}
"""Linux's numbers of the states, which Google's packetdrill reads from TCP_INFO."""

UNKNOWN = ("syntax error", "invalid token", "unable to parse", "unknown symbol", "bad TCP option")
"""What packetdrill says of a script in another language."""


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    text = (__doc__ or "").split("\n\n", 1)
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=text[0], epilog=text[1], formatter_class=form)
    parser.add_argument("folder", type=Path, help="the suite")
    parser.add_argument("--packetdrill", type=Path, required=True, help="the program")
    parser.add_argument("--library", type=Path, help="the shared object (default: the newest one in target/)")
    parser.add_argument("--profile", default="freebsd", help="profile of the tested TCP (default: freebsd)")
    parser.add_argument("--only", default="", help="comma-separated directories below the folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="scripts at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a script (default: 60)")
    parser.add_argument(
        "--least", type=float, default=0.0, help="share in percent that must pass (default: 0)"
    )
    return parser.parse_args(words)


def asks_for(script: str) -> str | None:
    """What a script wants of FreeBSD's kernel: a sysctl with another value than its default, or a command."""
    start, rest = parts(script)
    for name, value in settings(start):
        if value is None or (DEFAULTS.get(name) != value and value not in OPTIONS.get(name, ())):
            return name
    changed = (name for name, value in settings(rest) if value is None or DEFAULTS.get(name) != value)
    return next(changed, None)


def parts(script: str) -> tuple[str, str]:
    """A script up to its first socket, and the rest, both without comments."""
    code = re.sub(r"^\s*(//|#).*", "", script, flags=re.MULTILINE)
    start, socket, rest = code.partition("socket(")
    return start, socket + rest


def settings(code: str) -> list[tuple[str, str | None]]:
    """The sysctls that a part of a script sets, with their values; another command has none."""
    found: list[tuple[str, str | None]] = []
    for command in re.findall(r"`([^`]+)`", code):
        setting = re.fullmatch(r"sysctl -w ([\w.]+)=(\d+)(?: >/dev/null)?", command.strip())
        found.append((str(setting[1]), setting[2]) if setting else (str(command.split()[0]), None))
    return found


def flags_of(script: str) -> str:
    """The adapter's flags for the sysctls that a script sets to another value than the default, if it has such."""
    last = dict(settings(parts(script)[0]))
    return "".join(
        f",{name}={last[name]}" for name in OPTIONS if last.get(name) not in (None, DEFAULTS[name])
    )


def mtu_of(script: str) -> int:
    """The MTU of a script's interface."""
    mtu = re.search(r"^--mtu=(\d+)", script, flags=re.MULTILINE)
    return int(mtu[1]) if mtu else 1500


def translated(script: str) -> str:
    """A script in the language of Google's packetdrill."""
    for name, number in STATES.items():
        script = re.sub(rf"\bTCPI_{name}\b", str(number), script)
    script = script.replace("ttl_exceeded_in_transit", "code_0")
    calls = set(re.findall(r"^[^/#\n]*?\b([a-z]+)\(", script, flags=re.MULTILINE))
    if "bind" in calls and calls <= {"socket", "setsockopt", "bind", "getsockopt", "close"}:
        script = re.sub(r"^[^/#\n]*\b(socket|[gs]etsockopt|bind|close)\(.*", "", script, flags=re.MULTILINE)
    return script


def version_of(script: str) -> str:
    """The IP version of a script."""
    return "ipv6" if "--ip_version=ipv6" in script else "ipv4"


def main(words: Sequence[str] | None = None) -> int:
    """Runs the scripts; returns the exit status."""
    options = arguments(words)
    library = options.library or newest_library()
    if library is None or not library.exists():
        print("no shared object; build it: cargo build --release -p netspurt-packetdrill", file=sys.stderr)
        return 2
    folder = options.folder.resolve()
    found = scripts(folder, options.only, "ipv4") + [
        path for path in scripts(folder, options.only, "ipv6") if path.name.endswith("v6.pkt")
    ]
    if not found:
        print(f"{options.folder}: the folder has no scripts (*.pkt)", file=sys.stderr)
        return 2
    texts = {path: path.read_text(errors="replace") for path in found}
    asked = {path: asks_for(text) for path, text in texts.items()}
    plain = [path for path in found if asked[path] is None]
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(options.jobs) as pool:
        # The defaults are in force, so setting them does nothing.
        programs, copies = Path(place) / "programs", Path(place) / "scripts"
        programs.mkdir()
        (programs / "sysctl").symlink_to("/bin/true")
        os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"

        def run(path: Path) -> Verdict:
            text = texts[path]
            copy = copies / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(translated(text))
            own = argparse.Namespace(**{**vars(options), "ip": version_of(text)})
            flags = f",sysctl=none,mtu={mtu_of(text)}{flags_of(text)}"
            return judge(copy, copies, own, library.resolve(), flags)

        verdicts = list(pool.map(run, plain))
    with_option = [v for path, v in zip(plain, verdicts, strict=True) if flags_of(texts[path])]
    unknown = [v for v in verdicts if not v.passed and any(word in v.cause for word in UNKNOWN)]
    judged = [v for v in verdicts if v not in unknown]
    print(table(judged))
    for verdict in judged:
        if not verdict.passed:
            print(f"\n{verdict.directory}/{verdict.name}\n    {verdict.cause}")
    wanted = Counter(asked[path] for path in found if asked[path] is not None)
    optional = [v for v in judged if v in with_option]
    judged = [v for v in judged if v not in with_option]
    passed = sum(verdict.passed for verdict in judged)
    share = 100 * passed / max(len(judged), 1)
    print(f"\n{len(found)} scripts; {sum(wanted.values())} ask for FreeBSD's kernel:")
    print("    " + ", ".join(f"{name} {count}" for name, count in wanted.most_common()))
    print(f"{len(unknown)} are in a language that this packetdrill does not know")
    changed = sum(translated(texts[path]) != texts[path] for path in plain)
    print(f"{changed} of those that ran were translated")
    print(f"{len(optional)} set sysctls for which there is an option: {sum(v.passed for v in optional)} pass")
    print(f"{passed} of the other {len(judged)} pass: {share:.1f} %")
    return 1 if share < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
