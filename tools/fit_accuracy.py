"""Measures how well fits explain captures of simulated transfers over random paths (docs/fit/accuracy.md).

Each case is drawn from its seed: a path, a sender and an application. The transfer is simulated and captured, a
scenario is fitted to the capture, and the fit is compared with what was drawn.

    python tools/fit_accuracy.py 2000000 100 > docs/fit/accuracy.md
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from netspurt import parse
from netspurt.errors import RequestError
from netspurt.fitting import fit
from netspurt.fitting.draft import interval

KINDS = ("bottleneck", "shallow-queue", "random-loss", "receive-window", "application", "parallel")
"""What cases are made for."""

SENDERS = ("linux", "bbr", "newreno", "freebsd", "rfc")
"""The profiles that are drawn."""

VANTAGES = ("sender", "receiver")

WRONG = 0.25
"""A prediction further off than this should be warned of."""


@dataclass(frozen=True)
class Case:
    """What was drawn: rates in bit/s, delays in seconds."""

    seed: int
    kind: str
    profile: str
    rate: float
    rtt: float
    queue: int
    loss: float
    text: str


@dataclass(frozen=True)
class Outcome:
    """Relative errors of one fit; None where a quantity does not show, or where the fit failed."""

    kind: str
    profile: str
    vantage: str
    seed: int
    rate: float | None = None
    rtt: float | None = None
    queue: float | None = None
    loss: bool | None = None
    duration: float | None = None
    explains: bool = False
    failure: str = ""


def draw(seed: int) -> Case:
    """A case from its seed."""
    stream = random.Random(seed)

    def between(least: float, most: float) -> float:
        return float(least * (most / least) ** stream.random())

    kind, profile = stream.choice(KINDS), stream.choice(SENDERS)
    rate, rtt, seconds = between(2e6, 100e6), between(0.005, 0.2), between(2, 10)
    product = rate * rtt / 8
    share = {"shallow-queue": between(0.05, 0.3), "bottleneck": between(0.5, 3)}.get(kind, between(0.5, 2))
    queue = max(int(product * share / 1500), 6)
    loss = between(0.0005, 0.02) if kind == "random-loss" else 0.0
    window = min(max(int(product * between(0.1, 0.8)), 8000), 65535)
    size = int(min(max(rate / 8 * seconds, 150_000), 8e6))
    app = f'{{ kind = "bulk", bytes = "{size} B" }}'
    if kind == "application":
        every = between(0.02, 0.5)
        piece = max(int(rate / 8 * every * between(0.05, 0.5)), 3000)
        size = piece * max(int(min(seconds / every, 300)), 100_000 // piece + 4)
        request = f'{{ size = "{size} B", piece = "{piece} B", gap = "{every * 1e6:.0f} us" }}'
        app = f'{{ kind = "request-response", request = {request}, response = "1 B" }}'
    text = f"""duration = "300 s"
[tcp]
profile = "{profile}"
[link.path]
between = ["a", "b"]
rate = "{rate:.0f} bit/s"
delay = "{rtt / 2 * 1e6:.3f} us"
queue = {{ kind = "drop-tail", limit = "{queue} packets" }}
"""
    if loss:
        text += f'loss = {{ kind = "packet-error", rate = {loss:.6f}, direction = "a->b" }}\n'
    if kind == "receive-window":
        text += f'[host.b.tcp]\nreceive_window = "{window} B"\n'
    count = stream.randint(2, 4) if kind == "parallel" else 1
    text += (
        f'[[flow]]\napp = {app}\nfrom = "a"\nto = "b"\ncount = {count}\nstagger = "{rtt * 3 * 1e6:.0f} us"\n'
    )
    return Case(seed, kind, profile, rate, rtt, queue, loss, text)


def judge(task: tuple[int, str]) -> Outcome:
    """Simulates, fits and compares one case at one vantage."""
    seed, vantage = task
    case = draw(seed)
    start = Outcome(case.kind, case.profile, vantage, seed)
    with tempfile.TemporaryDirectory(prefix="netspurt-fit-judge-") as folder:
        file = Path(folder) / "case.pcapng"
        result = parse(case.text, f"case {seed}").run(
            seed=1, record=["drops"], pcap=file, capture=["a" if vantage == "sender" else "b"], snaplen=128
        )
        causes = result.drops["cause"].to_list() if result.drops.height else []
        try:
            found = fit(file)
        except RequestError as error:
            return Outcome(case.kind, case.profile, vantage, seed, failure=str(error))
    path = found.estimate
    overflowed = "queue" in causes
    low, high = interval(path.stray, path.packets)
    simulated = next(row for row in found.check if row.quantity == "duration")
    return Outcome(
        start.kind,
        start.profile,
        vantage,
        seed,
        rate=path.rate_bps / case.rate - 1,
        rtt=path.delay_s / case.rtt - 1,
        queue=path.queue_packets / case.queue - 1 if overflowed and path.overflows else None,
        loss=low <= case.loss <= high if case.loss else None,
        duration=simulated.simulated / simulated.captured - 1,
        explains=found.explains,
    )


def page(outcomes: Sequence[Outcome], first: int, last: int) -> str:
    """The page as Markdown."""
    lines = [
        "# Accuracy of fits",
        "",
        "Made by `make fit-accuracy`. Each case is a simulated transfer over a random path; a scenario is fitted to "
        "its capture and compared with what was drawn. The seeds of these cases chose no parameter of the fit.",
        "",
        "These cases are easier than real captures: the senders that are drawn are among the candidates that a fit "
        "tries, and the times of packets are exact. The duration is that of the candidate that is nearest to the "
        "capture, in which the duration counts. A parameter that is not drawn (slow readers, policers, other traffic, "
        "reordering, captures in the middle, kernels) is not judged here.",
        "",
        f"Seeds {first} to {last}.",
    ]
    for vantage in VANTAGES:
        some = [each for each in outcomes if each.vantage == vantage]
        lines += ["", f"## Capture at the {vantage}", "", *_summary(some), "", *_kinds(some, "kind", KINDS)]
        lines += ["", *_kinds(some, "profile", SENDERS)]
    return "\n".join(lines) + "\n"


def _share(values: Sequence[float | None], bound: float) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(abs(value) <= bound for value in known) / len(known):.0%}" if known else "–"


def _median(values: Sequence[float | None]) -> str:
    known = sorted(abs(value) for value in values if value is not None)
    return f"{known[len(known) // 2]:.2%}" if known else "–"


def _summary(some: Sequence[Outcome]) -> list[str]:
    fitted = [each for each in some if not each.failure]
    # A fit that failed explains nothing.
    duration = [each.duration if not each.failure else math.inf for each in some]
    inside = [each.loss for each in fitted if each.loss is not None]
    wrong = [each for each in fitted if each.duration is not None and abs(each.duration) > WRONG]
    warned = sum(not each.explains for each in wrong)
    rates, trips, queues = ([getattr(each, name) for each in fitted] for name in ("rate", "rtt", "queue"))
    alarms = sum(not each.explains for each in fitted) - warned
    share = f"{sum(inside) / len(inside):.0%}" if inside else "–"
    rows = [
        ("rate within 3 %", _share(rates, 0.03), _median(rates), "all"),
        ("least RTT within 1 %", _share(trips, 0.01), _median(trips), "all"),
        ("queue within 15 %", _share(queues, 0.15), _median(queues), "all"),
        ("loss rate in its 95 % interval", share, "", "95 %"),
        ("duration within 5 %", _share(duration, 0.05), _median(duration), "90 %"),
        ("duration within 10 %", _share(duration, 0.1), "", "97 %"),
        ("wrong by more than 25 % and warned of", f"{warned} of {len(wrong)}", "", "95 %"),
        ("not wrong by more than 25 %, yet warned of", f"{alarms} of {len(fitted) - len(wrong)}", "", ""),
    ]
    lines = [f"{len(some)} cases, {len(some) - len(fitted)} of them without a fit.", ""]
    lines += ["| quantity | share | median error | goal |", "| --- | --- | --- | --- |"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _kinds(some: Sequence[Outcome], name: str, values: Sequence[str]) -> list[str]:
    names = (
        "rate within 3 %",
        "least RTT within 1 %",
        "queue within 15 %",
        "duration within 5 %",
        "within 10 %",
    )
    lines = [f"| {' | '.join((name, 'cases', *names))} |", "| --- | --- | --- | --- | --- | --- | --- |"]
    field: Callable[[Outcome], str] = lambda each: str(getattr(each, name))  # noqa: E731
    for value in values:
        mine = [each for each in some if field(each) == value]
        fitted = [each for each in mine if not each.failure]
        duration = [each.duration if not each.failure else math.inf for each in mine]
        cells = [
            value,
            str(len(mine)),
            _share([e.rate for e in fitted], 0.03),
            _share([e.rtt for e in fitted], 0.01),
        ]
        cells += [_share([e.queue for e in fitted], 0.15), _share(duration, 0.05), _share(duration, 0.1)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Judges, and prints the page; single cases on standard error with ``--each``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--each", action="store_true", help="print each case")
    parser.add_argument("--vantages", nargs="+", default=VANTAGES, choices=VANTAGES)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        (seed, vantage)
        for seed in range(options.first, options.first + options.count)
        for vantage in options.vantages
    ]
    outcomes = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(judge, tasks):
            outcomes.append(outcome)
            if options.each:
                print(outcome, file=sys.stderr)
    print(page(outcomes, options.first, options.first + options.count - 1), end="")


if __name__ == "__main__":
    main()
