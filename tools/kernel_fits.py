#!/usr/bin/env python3
"""Fits of captures of the kernel's TCP, and remedies predicted from them and proven on the true path.

Each case is a random path and a cause that limits the transfer. The kernel carries the transfer out on the emulated
path, captured at both hosts. `fit` fits a scenario to each capture. `prove` predicts remedies from the capture alone,
applies the best ones to the true scenario, and has the kernel carry that out. Take a seed whose cases chose no
parameter of the program. Every step keeps what is finished, so it can be interrupted and repeated. Runs in which the
emulator was late are discarded and named.

    sudo tools/kernel_fits.py capture FOLDER [--paths 24] [--minutes 20]
    tools/kernel_fits.py fit FOLDER
    sudo tools/kernel_fits.py prove FOLDER [--minutes 30]
    tools/kernel_fits.py page FOLDER > docs/fit/kernel.md
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median
from typing import Any

from kernel_causes.keeping import write

import netspurt as ns
from netspurt.analysis.statistics import mean_interval
from netspurt.emulation.emulating import NotPossible, emulated
from netspurt.errors import RequestError
from netspurt.fitting import fit
from netspurt.remedies.catalogue import candidates
from netspurt.remedies.changing import changed
from netspurt.remedies.proof import kernel, timing
from netspurt.remedies.queue_range import is_apart
from netspurt.remedies.remedy import Remedy
from netspurt.remedies.situation import Situation
from netspurt.remedies.source import situation_of

WRONG = 0.25
"""A prediction that is off by more is wrong."""

SEED = 7_900_000
"""Of the first path. Development uses other seeds."""

LIMITS = (
    "full path",
    "shallow queue",
    "random loss",
    "receive window",
    "send buffer",
    "pauses",
    "short transfer",
    "parallel",
    "fq-codel",
    "no SACK",
    "small segments",
    "download",
)
"""What limits the transfer."""

CONTROLS = ("cubic", "bbr")
VANTAGES = ("sender", "receiver")

LATE = 0.02
"""The share of packets more than a millisecond late from which on a run shows the machine."""

LIMIT_S = 90.0
BEST = 2
"""Remedies that are proven of each case."""

FEWEST, MOST = 2, 6
"""Repeats of a proof."""

NARROW = 0.05
"""Half the 95 % interval of a proof's mean, as a share of it: enough."""

HELPS = 0.01
"""A remedy that is predicted to save a smaller share of the time is not proposed."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A path with a limit."""

    number: int
    limit: str
    control: str
    text: str

    @property
    def name(self) -> str:
        """Of its files."""
        return f"case-{self.number:04}"


def cases(paths: int, seed: int) -> list[Case]:
    """Every path with every limit, path by path."""
    return [
        _case(path * len(LIMITS) + place, seed + path, limit)
        for path in range(paths)
        for place, limit in enumerate(LIMITS)
    ]


def _case(number: int, seed: int, limit: str) -> Case:
    path, own = random.Random(seed), random.Random(f"{seed} {limit}")

    def between(stream: random.Random, least: float, most: float) -> float:
        return float(least * (most / least) ** stream.random())

    rate, rtt, depth = between(path, 3e6, 50e6), between(path, 0.01, 0.12), between(path, 0.6, 2.5)
    seconds, control = between(own, 1.5, 4.0), own.choice(CONTROLS)
    product = rate * rtt / 8
    share = between(own, 0.1, 0.4) if limit == "shallow queue" else depth
    queue = f'{{ kind = "drop-tail", limit = "{max(round(product * share / 1500), 8)} packets" }}'
    if limit == "fq-codel":
        queue = '{ kind = "fq-codel" }'
    octets = round(rate / 8 * seconds)
    window = max(round(product * between(own, 0.15, 0.6) / 1448), 6) * 1448
    keys, host, link, count = [f'congestion = "{control}"'], "", "", 1
    if control == "cubic":
        keys[0] = 'congestion = "cubic-linux"'
    if limit == "random loss":
        rate_lost = between(own, 0.001, 0.02)
        link = f'loss = {{ kind = "packet-error", rate = {rate_lost:.5f}, direction = "client->server" }}'
        octets = round(octets * 0.4)
    if limit == "receive window":
        host = f'[host.server.tcp]\nreceive_window = "{window} B"\ninitial_receive_window = "{window} B"\n'
        octets = round(window / rtt * seconds)
    if limit == "send buffer":
        keys.append(f'send_buffer = "{window} B"')
        octets = round(window / 2 / rtt * seconds)
    if limit == "no SACK":
        keys.append("sack = false")
    if limit == "small segments":
        keys.append(f'mss = "{own.choice((536, 800, 1200))} B"')
    if limit == "parallel":
        count = own.randint(2, 4)
        octets = round(octets / count)
    if limit == "short transfer":
        octets = round(min(max(product * between(own, 1, 8), 100_000), octets))
    app = f'{{ kind = "bulk", bytes = "{octets} B" }}'
    if limit == "download":
        app = f'{{ kind = "request-response", request = "200 B", response = "{octets} B", exchanges = 1 }}'
    if limit == "pauses":
        every = between(own, 0.03, 0.3)
        piece = max(round(rate / 8 * every * between(own, 0.05, 0.5)), 3000)
        size = piece * max(round(seconds / every), 90_000 // piece + 5)
        message = f'{{ size = "{size} B", piece = "{piece} B", gap = "{every * 1e6:.0f} us" }}'
        app = f'{{ kind = "request-response", request = {message}, response = "1 B", exchanges = 1 }}'
    lines = [
        'duration = "300 s"',
        f'[tcp]\nprofile = "{"bbr" if control == "bbr" else "linux"}"',
        *keys,
        '[link.path]\nbetween = ["client", "server"]',
        f'rate = "{rate:.0f} bit/s"\ndelay = "{rtt / 2 * 1e6:.0f} us"\nqueue = {queue}',
        link,
        host,
        f'[[flow]]\napp = {app}\nfrom = "client"\nto = "server"\ncount = {count}',
    ]
    return Case(number, limit, control, "\n".join(lines) + "\n")


def situation(text: str, name: str) -> Situation:
    """The flow of a case."""
    scenario = ns.parse(text, name)
    return situation_of(scenario, scenario.run(1, record=["limits"]), None)


def carried_out(here: Situation, seed: int, into: Path | None = None, name: str = "") -> dict[str, Any]:
    """A transfer by the kernel: seconds and lateness; its captures go ``into`` a folder."""
    plan = kernel.plan_of(here)
    timed = timing.by_capture(here)
    captures = ("client", "server") if into is not None else ("client",) if timed else ()
    with emulated(
        here.scenario.merged(), plan.tasks, limit_s=LIMIT_S, seed=seed, words=plan.words, captures=captures
    ) as done:
        for host, file in done.captures.items() if into is not None else ():
            assert into is not None
            vantage = "sender" if host == here.sender else "receiver"
            shutil.copy(file, into / f"{name}.{vantage}.part")
            (into / f"{name}.{vantage}.part").rename(into / f"{name}.{vantage}.pcapng")
        seconds = timing.seconds(done.captures["client"], here) if timed else plan.seconds(done.found)
        return {"seconds": seconds, "late": done.late, "latest_s": done.latest_s}


def capture(case: Case, folder: Path) -> str:
    """Carries a case out, unless that is done; returns what to print."""
    file = folder / f"{case.name}.json"
    if file.exists():
        return ""
    try:
        found = carried_out(situation(case.text, case.name), case.number + 1, folder, case.name)
    except (NotPossible, RequestError) as reason:
        return f"{case.name} {case.limit}: {reason}"
    if found["late"] > LATE:
        return f"{case.name} {case.limit}: discarded, {found['late']:.1%} of the packets were late"
    write(file, {"limit": case.limit, "control": case.control, "scenario": case.text, **found})
    return f"{case.name} {case.limit} {case.control}: {found['seconds']:.2f} s"


def judge(task: tuple[str, str, str]) -> dict[str, Any]:
    """Fits one capture, unless that is done."""
    folder, name, vantage = task
    file = Path(folder) / f"{name}.{vantage}.fit"
    if not file.exists():
        write(file, _judged(folder, name, vantage))
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _judged(folder: str, name: str, vantage: str) -> dict[str, Any]:
    case = json.loads((Path(folder) / f"{name}.json").read_text(encoding="utf-8"))
    found = {"name": name, "vantage": vantage, "limit": case["limit"], "control": case["control"]}
    try:
        fitted = fit(Path(folder) / f"{name}.{vantage}.pcapng")
    except RequestError as error:
        return {**found, "failure": str(error)}
    duration = next(row for row in fitted.check if row.quantity == "duration")
    true = ns.parse(case["scenario"], name)
    situation_ = Situation(true, 0, "client", {}, None)
    return {
        **found,
        "failure": "",
        "rate": fitted.estimate.rate_bps / float(situation_.rate_bps or 1) - 1,
        "duration": duration.simulated / duration.captured - 1,
        "captured_s": duration.captured,
        "explains": fitted.explains,
        "candidates": fitted.candidates,
    }


def prove(case: Mapping[str, Any], name: str, folder: Path) -> str:
    """Predicts remedies from the capture at the sender, and carries the best ones out on the true path, once."""
    file = folder / f"{name}.pairs.json"
    if file.exists():
        return ""
    try:
        found = ns.what_if(folder / f"{name}.sender.pcapng", jobs=1)
    except RequestError as error:
        write(file, {"failure": str(error), "pairs": []})
        return f"{name}: {error}"
    pairs: list[dict[str, Any]] = []
    true = situation(case["scenario"], name)
    remedies = {each.name: each for each in candidates(found.situation)}
    for outcome in found.remedies:
        if len(pairs) == BEST:
            break
        try:
            seconds, half = proven(true, remedies[outcome.name], folder / f"{name}.proven.json")
        except (NotPossible, RequestError, ns.ScenarioError, KeyError, IndexError) as reason:
            print(f"  {name} {outcome.name}: {reason}", file=sys.stderr)
            continue
        pairs.append(
            {
                "remedy": outcome.name,
                "predicted_s": outcome.seconds,
                "gain": outcome.gain,
                "other_queues_s": [outcome.short_queue_s, outcome.long_queue_s],
                "proven_s": seconds,
                "half_s": half,
            }
        )
    content = {
        "failure": "",
        "explains": found.explains,
        "predicts": found.predicts,
        "seconds": found.seconds,
        "pairs": pairs,
    }
    write(file, {**content, "quantity": found.quantity, "limit": case["limit"], "control": case["control"]})
    shown = ", ".join(f"{each['remedy']} {each['predicted_s']:.2f}/{each['proven_s']:.2f}" for each in pairs)
    return f"{name} {case['limit']} {case['control']}: {shown or 'no remedy to prove'}"


def proven(true: Situation, remedy: Remedy, file: Path) -> tuple[float, float]:
    """The kernel's seconds with a remedy on the true path, and half their interval.

    They are read from ``file`` if it was carried out before.

    Raises:
        NotPossible, RequestError, ScenarioError, KeyError, IndexError: it cannot be carried out.
    """
    scenario = changed(true.scenario, remedy)
    text = scenario.merged()
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if text not in known:
        here = dataclasses.replace(true, scenario=scenario)
        kernel.plan_of(here)
        found: list[float] = []
        for seed in range(1, MOST + 1):
            run = carried_out(here, seed)
            found += [run["seconds"]] if run["late"] <= LATE else []
            if len(found) >= FEWEST and _half(found) <= NARROW * mean(found):
                break
        known[text] = found
        write(file, known)
    if len(known[text]) < FEWEST:
        raise NotPossible("the emulator was late")
    return mean(known[text]), _half(known[text])


def _half(values: Sequence[float]) -> float:
    """Half the 95 % interval of the mean of at least two values, by Student's t."""
    found = mean_interval(values)
    return float("inf") if found.high is None else found.high - found.mean


def _done(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        file.stem: json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(folder.glob("case-????.json"))
    }


def _share(values: Iterable[float], bound: float) -> str:
    known = list(values)
    return f"{sum(abs(value) <= bound for value in known) / len(known):.0%}" if known else "–"


def page(folder: Path) -> str:
    """The page as Markdown."""
    fits = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("case-????.*.fit"))]
    lines = ["# Accuracy of fits to captures of the kernel", ""]
    lines += [
        "Made by `tools/kernel_fits.py`. The kernel's TCP transfers data over emulated paths whose rate, delay and "
        "queue are drawn at random, each with several limits, captured at both hosts. A scenario is fitted to each "
        "capture and simulated. Cases that led to a change of the fit are named in "
        "[the accuracy of remedies](../what-if/accuracy.md). Runs in which more than "
        f"{LATE:.0%} of the packets were more than a millisecond late are discarded. "
        f"The first path has the seed {SEED}.",
    ]
    for vantage in VANTAGES:
        some = [each for each in fits if each["vantage"] == vantage]
        if some:
            lines += ["", f"## Capture at the {vantage}", "", *_table(some)]
    if _pairs(folder):
        lines += ["", *pairs_page(folder)]
    return "\n".join(lines) + "\n"


def _table(some: Sequence[Mapping[str, Any]]) -> list[str]:
    head = ("", "cases", "rate within 3 %", "duration within 5 %", "within 10 %", "within 25 %", "explained")
    lines = [f"| {' | '.join(head)} |", "| --- | --- | --- | --- | --- | --- | --- |"]
    groups = [("all", list(some))]
    groups += [(name, [each for each in some if each["control"] == name]) for name in CONTROLS]
    groups += [(name, [each for each in some if each["limit"] == name]) for name in LIMITS]
    for name, mine in groups:
        errors = [each.get("duration", float("inf")) for each in mine]
        rates = [each["rate"] for each in mine if not each["failure"]]
        explained = sum(bool(each.get("explains")) for each in mine) / max(len(mine), 1)
        cells = [name, str(len(mine)), _share(rates, 0.03)]
        cells += [_share(errors, bound) for bound in (0.05, 0.1, 0.25)]
        lines.append(f"| {' | '.join([*cells, f'{explained:.0%}'])} |")
    return lines


def _pairs(folder: Path) -> list[Mapping[str, Any]]:
    """What was predicted of each case and proven."""
    return [
        json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("case-????.pairs.json"))
    ]


def pairs_page(folder: Path) -> list[str]:
    """Errors of predictions from captures, and how often the best one is the best, as Markdown."""
    found = [each for each in _pairs(folder) if each["pairs"]]
    lines = [
        "## Remedies predicted from captures",
        "",
        f"`what-if` predicts the time with each remedy from the capture at the sender alone. The best {BEST} remedies "
        "are applied to the true path and carried out by the kernel, timed by a capture, and repeated until half the "
        f"95 % interval of the mean is at most {NARROW:.0%} of it, {FEWEST} to {MOST} times. The remedy predicted to "
        "be the best counts as right if it is the best one proven, or as good as that one: the two differ by at most "
        f"2 %, or by at most half the wider of their intervals. Cases in which no remedy is predicted to save "
        f"{HELPS:.0%} propose none, so they have no best remedy; their pairs count for the errors.",
        "",
        "| | pairs | median error | 90th percentile | best remedy right |",
        "| --- | --- | --- | --- | --- |",
    ]
    groups = [("all", found), ("explained", [each for each in found if each["explains"]])]
    groups += [(name, [each for each in found if each["limit"] == name]) for name in LIMITS]
    for name, some in groups:
        errors = sorted(
            abs(pair["predicted_s"] / pair["proven_s"] - 1) for each in some for pair in each["pairs"]
        )
        if not errors:
            continue
        judged = [
            each["pairs"] for each in some if len(each["pairs"]) > 1 and each["pairs"][0]["gain"] >= HELPS
        ]
        right = sum(map(best_is_right, judged))
        ninth = errors[min(int(0.9 * len(errors)), len(errors) - 1)]
        lines.append(
            f"| {name} | {len(errors)} | {median(errors):.1%} | {ninth:.1%} | {right} of {len(judged)} |"
        )
    return [*lines, "", *warned(found)]


def best_is_right(pairs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the first remedy is the best one proven, or not distinguishable from it."""
    best = min(pairs, key=lambda pair: float(pair["proven_s"]))
    tie = max(0.02 * best["proven_s"], best["half_s"], pairs[0]["half_s"])
    return bool(pairs[0]["proven_s"] - best["proven_s"] <= tie)


def warned(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many of the cases that are predicted wrongly had a warning."""
    wrong = [each for each in found if any(map(is_wrong, each["pairs"]))]
    said = sum(
        not each["predicts"] or all(map(is_doubted, filter(is_wrong, each["pairs"]))) for each in wrong
    )
    return [f"Of {len(wrong)} cases with a prediction that is wrong by more than 25 %, {said} had warned."]


def is_wrong(pair: Mapping[str, Any]) -> bool:
    """Whether a prediction is off by more than 25 %."""
    return bool(abs(pair["predicted_s"] / pair["proven_s"] - 1) > WRONG)


def is_doubted(pair: Mapping[str, Any]) -> bool:
    """Whether a warning said that the time depends on how long the queue is."""
    return any(is_apart(each, pair["predicted_s"]) for each in pair["other_queues_s"])


def main() -> None:
    """Runs one step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("capture", "fit", "prove", "page"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--paths", type=int, default=24)
    parser.add_argument("--seed", type=int, default=SEED, help="of the first path")
    parser.add_argument("--minutes", type=float, default=60.0, help="no case begins after this time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--vantages", nargs="+", default=VANTAGES, choices=VANTAGES)
    parser.add_argument("--only", default="", metavar="TEXT", help="limits whose name contains this text")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()

    def show(sentence: str) -> None:
        if sentence:
            print(sentence, file=sys.stderr, flush=True)

    def in_time() -> bool:
        return time.monotonic() - began < 60 * float(options.minutes)

    if options.step == "capture":
        with ThreadPoolExecutor(options.jobs) as pool:
            for said in pool.map(
                lambda case: capture(case, options.folder) if in_time() else "",
                [each for each in cases(options.paths, options.seed) if options.only in each.limit],
            ):
                show(said)
    elif options.step == "fit":
        tasks = [
            (str(options.folder), name, vantage)
            for name, case in _done(options.folder).items()
            for vantage in options.vantages
            if options.only in case["limit"]
        ]
        with ProcessPoolExecutor(options.jobs) as processes:
            for found in processes.map(judge, tasks):
                show(found["failure"])
        print(page(options.folder), end="")
    elif options.step == "prove":
        with ThreadPoolExecutor(options.jobs) as pool:
            for said in pool.map(
                lambda each: prove(each[1], each[0], options.folder) if in_time() else "",
                [
                    each
                    for each in _done(options.folder).items()
                    # A fit to several connections has several flows, of which a remedy improves one.
                    if options.only in each[1]["limit"] and each[1]["limit"] != "parallel"
                ],
            ):
                show(said)
        print("\n".join(pairs_page(options.folder)))
    else:
        print(page(options.folder), end="")


if __name__ == "__main__":
    main()
