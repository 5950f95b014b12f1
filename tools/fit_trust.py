"""Measures whether fits that predict wrongly say so (docs/fit/trust.md).

Each case is a path drawn from its seed, most of them with something that a fit can hardly explain. A scenario is fitted
to its capture at the sender. Then another congestion control takes the place of the sender's, on the true path and in
the fit: the difference of the two durations is the error of the prediction.

    python tools/fit_trust.py 4000000 150 > docs/fit/trust.md
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from netspurt import Scenario, parse
from netspurt.errors import RequestError
from netspurt.fitting import fit

KINDS = (
    "constant",
    "policer",
    "shaper",
    "rate steps",
    "cross traffic",
    "delay step",
    "two bottlenecks",
    "outages",
    "slow reader",
    "burst losses",
    "AQM",
)
"""What is drawn."""

OTHERS = ("bbr", "linux")
"""The profiles that take the place of the sender's."""

CONGESTION = {"bbr": "bbr", "linux": "cubic-linux"}
"""Their congestion control, which a fit may name beside the profile."""

WRONG = 0.25
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Outcome:
    """One case: relative errors of the predicted durations by profile, and whether the fit explained its capture."""

    kind: str
    seed: int
    errors: dict[str, float] = field(default_factory=dict)
    duration: float | None = None
    explains: bool = False
    predicts: bool = False
    warnings: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def wrong(self) -> bool:
        """Whether a prediction is off by more than the bound."""
        return any(abs(each) > WRONG for each in self.errors.values())


def draw(seed: int) -> tuple[str, str]:
    """The kind and the scenario of a case."""
    stream = random.Random(seed)

    def between(least: float, most: float) -> float:
        return float(least * (most / least) ** stream.random())

    kind, profile = stream.choice(KINDS), stream.choice(("linux", "bbr"))
    rate, rtt, seconds = between(3e6, 40e6), between(0.01, 0.12), between(3, 8)
    product = rate * rtt / 8
    limit = max(int(product * between(0.4, 2) / 1500), 10)
    size = int(min(max(rate / 8 * seconds, 150_000), 12e6))
    half = f"{rtt / 2 * 1e6:.0f} us"
    queue = "fq-codel" if kind == "AQM" and stream.random() < 0.5 else "codel"
    queued = (
        f'{{ kind = "{queue}" }}' if kind == "AQM" else f'{{ kind = "drop-tail", limit = "{limit} packets" }}'
    )
    link = [f'rate = "{rate:.0f} bit/s"', f'delay = "{half}"', f"queue = {queued}"]
    more: list[str] = []
    share, burst = between(0.15, 0.6), between(20e3, 500e3)
    if kind in ("policer", "shaper"):
        link.append(f'{kind} = [{{ rate = "{rate * share:.0f} bit/s", burst = "{burst:.0f} B" }}, "none"]')
        size = int(size * max(share, 0.3))
    if kind == "burst losses":
        link.append(
            f'loss = {{ kind = "gilbert-elliott", good_to_bad = {between(5e-4, 5e-3):.5f}, bad_to_good = 0.3, '
            f'loss_bad = 1.0, direction = "client->server" }}'
        )
    whole = size * 8 / rate
    if kind == "rate steps":
        times = sorted(stream.uniform(0.1, 1.0) * whole for _ in range(stream.randint(1, 5)))
        more += [
            f'[[change]]\nat = "{at:.3f} s"\nset = {{ "link.path.rate" = "{rate * between(0.25, 1.5):.0f} bit/s" }}'
            for at in times
        ]
    if kind == "delay step":
        at = stream.uniform(0.2, 0.8) * whole
        more.append(
            f'[[change]]\nat = "{at:.3f} s"\nset = {{ "link.path.delay" = "{rtt * between(0.7, 4) * 1e6:.0f} us" }}'
        )
    if kind == "outages":
        every, off = whole * between(0.3, 0.6), between(0.3, 1.5)
        more += [
            f'[[change]]\nat = "{every:.3f} s"\nevery = "{every + off:.3f} s"\nset = {{ "link.path.up" = false }}',
            f'[[change]]\nat = "{every + off:.3f} s"\nevery = "{every + off:.3f} s"\n'
            'set = { "link.path.up" = true }',
        ]
    if kind == "slow reader":
        more.append(f'[host.server.reader]\nrate = "{rate * between(0.2, 0.8):.0f} bit/s"')
    lines = ['duration = "300 s"', f'[tcp]\nprofile = "{profile}"']
    last = "middle" if kind == "two bottlenecks" else "server"
    lines += [f'[link.path]\nbetween = ["client", "{last}"]', *link]
    if kind == "two bottlenecks":
        second = f'queue = {{ kind = "drop-tail", limit = "{max(limit // 2, 8)} packets" }}'
        lines += [
            f'[link.second]\nbetween = ["middle", "server"]\nrate = "{rate * between(0.9, 1.1):.0f} bit/s"'
        ]
        lines += ['delay = "1 ms"', second]
    lines += [
        *more,
        f'[[flow]]\nname = "own"\napp = {{ kind = "bulk", bytes = "{size} B" }}\nfrom = "client"\nto = "server"',
    ]
    if kind == "cross traffic":
        lines += [
            '[link.side]\nbetween = ["other", "client"]\nrate = "1 Gbit/s"\ndelay = "1 ms"',
            f'[[flow]]\napp = {{ kind = "bulk" }}\nfrom = "other"\nto = "server"\ncount = {stream.randint(1, 3)}',
        ]
    return kind, "\n".join(lines) + "\n"


def judge(seed: int) -> Outcome:
    """Simulates, fits and predicts one case."""
    kind, text = draw(seed)
    true = parse(text, f"case {seed}")
    with tempfile.TemporaryDirectory(prefix="netspurt-fit-trust-") as folder:
        file = Path(folder) / "case.pcapng"
        true.set({"duration": "60 s"}).run(seed=1, pcap=file, capture=["client"], snaplen=128)
        port = _own(file) if kind == "cross traffic" else None
        try:
            found = fit(file, connection=port)
        except RequestError as error:
            return Outcome(kind, seed, failure=str(error))
    errors = {}
    for profile in OTHERS:
        real, predicted = (_seconds(each, profile) for each in (true, found.for_remedies or found.scenario))
        if real is not None:
            errors[profile] = (predicted or 300.0) / real - 1
    row = next(each for each in found.check if each.quantity == "duration")
    return Outcome(
        kind, seed, errors, row.simulated / row.captured - 1, found.explains, found.predicts, found.warnings
    )


def _own(file: Path) -> int:
    """The connection whose client is where the capture was taken."""
    from netspurt.analysis.capture import read_capture

    rows = read_capture(file).connections.sort("start_s").to_dicts()
    ends = [row["client"] for row in rows]
    return int(rows[ends.index(min(ends, key=ends.count))]["connection"])


def _seconds(scenario: Scenario, profile: str) -> float | None:
    """The mean duration of the first flow with another sender; None if it does not end."""
    control = {"host.client.tcp.congestion": CONGESTION[profile], "host.client.tcp.profile": profile}
    changed = scenario.set({**control, "duration": "60 s"})
    ends = [changed.run(seed=seed).flows.row(0, named=True)["end_s"] for seed in SEEDS]
    return sum(ends) / len(ends) if all(end is not None for end in ends) else None


def page(outcomes: Sequence[Outcome], first: int, last: int) -> str:
    """The page as Markdown."""
    lines = [
        "# Whether fits that predict wrongly say so",
        "",
        "Made by `tools/fit_trust.py`. Each case is a transfer over a random path, most of them with something that a "
        "fit can hardly explain. A scenario is fitted to the capture at the sender. Then another congestion control "
        "(`bbr`, `linux`) takes the place of the sender's, on the true path and in the fit. The prediction is *wrong* "
        f"if one of the two durations is off by more than {WRONG:.0%}. A fit has *warned* if it does not explain its "
        "capture, or if a warning doubts its predictions (`predicts` is false). Of the wrong predictions 95 % should "
        "have been warned of; warnings of right ones are false alarms. No case chose a parameter of the fit.",
        "",
        f"Seeds {first} to {last}.",
        "",
        "| kind | cases | no fit | explained | wrong | warned of these | right, yet warned of | median error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in ("all", *KINDS):
        mine = [each for each in outcomes if kind in ("all", each.kind)]
        fitted = [each for each in mine if not each.failure]
        wrong = [each for each in fitted if each.wrong]
        warned = sum(not each.predicts for each in wrong)
        right = [each for each in fitted if not each.wrong]
        alarms = sum(not each.predicts for each in right)
        errors = sorted(abs(value) for each in fitted for value in each.errors.values())
        cells = [
            kind,
            str(len(mine)),
            str(len(mine) - len(fitted)),
            str(sum(each.explains for each in fitted)),
            str(len(wrong)),
            f"{warned} ({warned / len(wrong):.0%})" if wrong else "–",
            f"{alarms} of {len(right)} ({alarms / len(right):.0%})" if right else "–",
            f"{errors[len(errors) // 2]:.1%}" if errors else "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Judges, and prints the page; single cases on standard error with ``--each``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--each", action="store_true", help="print each case")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    outcomes = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(judge, range(options.first, options.first + options.count)):
            outcomes.append(outcome)
            if options.each:
                print(outcome, file=sys.stderr, flush=True)
    print(page(outcomes, options.first, options.first + options.count - 1), end="")


if __name__ == "__main__":
    main()
