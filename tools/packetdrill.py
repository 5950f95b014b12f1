#!/usr/bin/env python3
"""Tests our TCP with packetdrill: runs a folder of scripts against the shared object of crates/packetdrill.

packetdrill and its scripts are not part of this project. Fetch github.com/google/packetdrill, build it (gcc, flex,
bison; ./configure && make in gtests/net/packetdrill), and give its path:

    cargo build --release -p netspurt-packetdrill
    tools/packetdrill.py --packetdrill DIR/gtests/net/packetdrill/packetdrill DIR/gtests/net/tcp

Each script runs in its own network namespace with an idle tun0, so its sysctls and queues
affect nothing else; that needs root, unshare and ip. The tool prints a table, one line per directory, and then each
failed script with packetdrill's message. The exit status is 0 if every script ran, whatever the verdicts;
with --expect FILE (a list of names, one a line) it is 1 if one of those fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "libnetspurt_packetdrill.so"
V4 = [
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
]
V6 = [
    "--mtu=1520",
    "--local_ip=fd3d:a0b:17d6::1",
    "--gateway_ip=fd3d:a0b:17d6:8888::1",
    "--remote_ip=fd3d:fa7b:d17d::1",
]
ADDRESSES = {
    "ipv4": ["--ip_version=ipv4", *V4],
    "ipv6": ["--ip_version=ipv6", *V6],
    "mapped": ["--ip_version=ipv4-mapped-ipv6", *V4],
}
# The variables that google's scripts expect from their runner.
ERRORS_V4 = {"CMSG_LEVEL_IP": "SOL_IP", "CMSG_TYPE_RECVERR": "IP_RECVERR"}
ERRORS_V6 = {"CMSG_LEVEL_IP": "SOL_IPV6", "CMSG_TYPE_RECVERR": "IPV6_RECVERR"}
DEFINITIONS = {
    "ipv4": {"TFO_COOKIE": "3021b9d889017eeb", "CODE": "host_unreachable", **ERRORS_V4},
    # ICMPv6 has no code "host unreachable"; this one says the same (RFC 4443, section 3.1).
    "ipv6": {"TFO_COOKIE": "c1d1e9742a47a9bc", "CODE": "address_unreachable", **ERRORS_V6},
    "mapped": {"TFO_COOKIE": "3021b9d889017eeb", "CODE": "host_unreachable", **ERRORS_V6},
}
CORE = (
    *(
        "blocking",
        "close",
        "cubic",
        "cwnd_moderation",
        "ecn",
        "fast_recovery",
        "fast_retransmit",
        "inq",
        "ioctl",
    ),
    *("limited_transmit", "mss", "mtu_probe", "nagle", "notsent_lowat", "sack", "shutdown", "slow_start"),
    *("syscall_bad_arg", "tcp_info", "ts_recent", "user_timeout", "validate"),
)
"""The directories of google's scripts that need neither Fast Open nor zero-copy."""
NAMESPACE = 'ip link set lo up; ip tuntap add dev tun0 mode tun; ip link set tun0 up; exec "$@"'
KERNEL_NAMESPACE = 'ip link set lo up; exec "$@"'
"""With the kernel under test, packetdrill makes the interface itself."""


def may_choose(algorithm: str, sysctls: Path = Path("/proc/sys/net/ipv4")) -> bool:
    """Whether the kernel in a new namespace uses this congestion control, or lets a script choose it."""
    chosen, allowed = (
        (sysctls / name).read_text().split()
        for name in ("tcp_congestion_control", "tcp_allowed_congestion_control")
    )
    return chosen == [algorithm] or algorithm in allowed


@dataclass(frozen=True)
class Verdict:
    """The outcome of one script."""

    directory: str
    name: str
    passed: bool
    cause: str


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    text = (__doc__ or "").split("\n\n", 1)
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=text[0], epilog=text[1], formatter_class=form)
    parser.add_argument("folder", type=Path, help="a folder of *.pkt scripts, or one of them")
    parser.add_argument("--packetdrill", type=Path, required=True, help="the program")
    parser.add_argument(
        "--library", type=Path, help=f"the shared object (default: the newest {LIBRARY} in target/)"
    )
    parser.add_argument("--profile", default="linux", help="profile of the tested TCP (default: linux)")
    parser.add_argument(
        "--ip", choices=sorted(ADDRESSES), default="ipv4", help="IP version; mapped: IPv4 on AF_INET6 sockets"
    )
    parser.add_argument(
        "--share",
        action="store_true",
        help="run what passes again without the adapter's stand-ins for the kernel, and print how many fail then",
    )
    parser.add_argument(
        "--kernel",
        action="store_true",
        help="test the running kernel instead, in real time: what a script expects of other versions shows",
    )
    parser.add_argument("--only", default="", help="comma-separated directories below the folder")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="scripts at once (default: number of processors)",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of a script (default: 60)")
    parser.add_argument("--expect", type=Path, help="names of scripts, one a line, that must pass")
    return parser.parse_args(words)


def newest_library() -> Path | None:
    """The newest shared object."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = sorted(target.glob(f"*/{LIBRARY}"), key=lambda path: path.stat().st_mtime)
    return built[-1] if built else None


def scripts(folder: Path, only: str, ip: str) -> list[Path]:
    """The scripts for an IP version in a folder and below, in their order."""
    if folder.is_file():
        return [folder]
    wanted = {name for name in only.split(",") if name}
    other = "v4.pkt" if ip == "ipv6" else "v6.pkt"
    found = (path for path in sorted(folder.rglob("*.pkt")) if not path.name.endswith(other))
    return [path for path in found if not wanted or path.relative_to(folder).parts[0] in wanted]


def addresses(script: Path, ip: str) -> list[str]:
    """The address options, except those that the script sets: packetdrill would prefer ours."""
    own = {word.split("=")[0] for word in script.read_text().split() if word.startswith("--")}
    return [word for word in ADDRESSES[ip] if word.split("=")[0] not in own]


def command_for(script: Path, options: argparse.Namespace, library: Path | None, flags: str) -> list[str]:
    """The command that runs a script against the shared object, or against the kernel if there is none."""
    command = ["unshare", "--net", "sh", "-c", KERNEL_NAMESPACE if library is None else NAMESPACE, "sh"]
    if library is not None:
        command += ["env", f"LD_PRELOAD={library}"]
    command += [str(options.packetdrill.resolve()), *addresses(script, options.ip)]
    command += [word for key, value in DEFINITIONS[options.ip].items() for word in ("-D", f"{key}={value}")]
    if library is None:
        # As google's runner does: the segment that closes what a script has left open is of no interest.
        return [*command, "--send_omit_free", script.name]
    so_flags = f"--so_flags=profile={options.profile},local=192.168.0.1{flags}"
    return [*command, f"--so_filename={library}", so_flags, script.name]


def judge(
    script: Path, folder: Path, options: argparse.Namespace, library: Path | None, flags: str = ""
) -> Verdict:
    """Runs one script."""
    command = command_for(script, options, library, flags)
    path = script.relative_to(folder) if script != folder else Path(script.name)
    directory = str(path.parent)
    try:
        run = subprocess.run(
            command,
            cwd=script.parent,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=options.seconds,
        )
    except subprocess.TimeoutExpired:
        return Verdict(directory, path.stem, False, f"the script did not end within {options.seconds:g} s")
    return Verdict(directory, path.stem, run.returncode == 0, cause_of(run))


def cause_of(run: subprocess.CompletedProcess[str]) -> str:
    """Packetdrill's message on one line."""
    lines = [line.strip() for line in (run.stderr + run.stdout).splitlines() if line.strip()]
    named = [number for number, line in enumerate(lines) if re.search(r"\.pkt:\d+|error|assert|Error", line)]
    chosen = lines[named[0] : named[0] + 4] if named else lines[-2:]
    signal = f"killed by signal {-run.returncode}; " if run.returncode < 0 else ""
    return signal + " | ".join(chosen)[:400]


def table(verdicts: list[Verdict]) -> str:
    """One line per directory, and their sum."""
    by_directory: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_directory[verdict.directory].append(verdict)
    width = max([9, *map(len, by_directory)])
    lines = [f"{'directory':{width}}  passed   of"]
    core = [verdict for verdict in verdicts if verdict.directory.split("/")[0] in CORE]
    for name, group in [*sorted(by_directory.items()), ("core", core), ("all", verdicts)]:
        lines.append(f"{name:{width}}  {sum(verdict.passed for verdict in group):6}  {len(group):3}")
    return "\n".join(lines)


def print_share(
    pool: ThreadPoolExecutor,
    found: list[Path],
    verdicts: list[Verdict],
    folder: Path,
    options: argparse.Namespace,
    library: Path,
) -> None:
    """Prints how many of the scripts that pass need a stand-in for the kernel."""
    passed = [path for path, verdict in zip(found, verdicts, strict=True) if verdict.passed]
    plain = list(pool.map(lambda path: judge(path, folder, options, library, ",stand-ins=none"), passed))
    need = [verdict for verdict in plain if not verdict.passed]
    core = [verdict for verdict in need if verdict.directory.split("/")[0] in CORE]
    print(
        f"\n{len(need)} of the {len(passed)} scripts that pass need the adapter's stand-ins for the kernel, "
        f"{len(core)} of them in the core:"
    )
    for verdict in need:
        print(f"    {verdict.directory}/{verdict.name}")


def main(words: Sequence[str] | None = None) -> int:
    """Runs the scripts; returns the exit status."""
    options = arguments(words)
    library: Path | None = None if options.kernel else options.library or newest_library()
    if library is not None:
        library = library.resolve()
    if not options.kernel and (library is None or not library.exists()):
        print(
            "there is no shared object; build it: cargo build --release -p netspurt-packetdrill",
            file=sys.stderr,
        )
        return 2
    if options.kernel and not may_choose("cubic"):
        print(
            "the scripts expect cubic, but this machine has another default and its namespaces may not choose cubic:"
            " see net.ipv4.tcp_allowed_congestion_control",
            file=sys.stderr,
        )
    folder = options.folder.resolve()
    found = scripts(folder, options.only, options.ip)
    if not found:
        print(f"{options.folder}: the folder has no scripts (*.pkt)", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda path: judge(path, folder, options, library), found))
        print(table(verdicts))
        if options.share and library is not None:
            print_share(pool, found, verdicts, folder, options, library)
    failed = [verdict for verdict in verdicts if not verdict.passed]
    for verdict in failed:
        print(f"\n{verdict.directory}/{verdict.name}\n    {verdict.cause}")
    expected = set(options.expect.read_text().split()) if options.expect else set()
    return 1 if expected & {f"{verdict.directory}/{verdict.name}" for verdict in failed} else 0


if __name__ == "__main__":
    sys.exit(main())
