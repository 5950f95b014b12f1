"""Doubts about predictions from a fit that explains its capture.

A fit replays what this transfer met. What came from others, or from the receiver's program, would meet another sender
otherwise. And several paths may behave like one capture: a policer or a list of its losses, a short queue or random
losses. They differ once the sender loads the path in another way. So other senders are simulated on each of them: where
the times differ much, no prediction is sure.

Lives here: signs of such causes, and that comparison. Must not live here: whether a fit explains its capture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from netspurt.fitting import draft
from netspurt.fitting.checking import Measured
from netspurt.fitting.draft import Choice
from netspurt.fitting.facts import Facts
from netspurt.fitting.path import Path as Estimate
from netspurt.fitting.search import Search, Tried
from netspurt.scenario import Scenario, parse

SHARED = 0.05
"""The share of the time with a path that was full of others' packets from which on they count."""

WINDOWS = ("receive-window", "send-buffer", "application-window")
"""Limits that a remedy lifts until the path is full."""

HELD = 0.5
"""The share of the time with these from which on the rate of the path decides what a remedy brings."""

SLOW = 0.1
"""The share of the time with a slow receiver from which on it counts."""

REPEATED = 0.5
"""A simulation that shows less of it than this part has no slow receiver."""

OTHERS = draft.CONTROLS[:2]
"""The senders that are simulated on each path."""

APART = 0.25
"""Times that differ by more are different predictions."""

FURTHER = 0.2
"""An explanation may be further from the capture than the best one by this distance."""

MOST = 4
"""Explanations that are compared with the best one."""

SEEDS = (1, 2)

LEAST_LOST = 3
"""Fewer losses hardly change a transfer."""

NEVER_S = 1000.0
"""Stands for the time of a transfer that does not end."""

ENDLESS_S = NEVER_S / len(SEEDS)
"""The least mean if one transfer does not end."""


def doubts(captured: Measured, simulated: Measured, path: Estimate, choice: Choice) -> list[str]:
    """Sentences on what would meet another sender otherwise."""
    found = []
    # Where the delay changed, round trips do not show others' packets.
    if path.moved is None and captured.shares.get("cross-traffic", 0.0) >= SHARED:
        found.append(
            "other traffic shared the bottleneck: the fit has what it left over, and another sender would get another "
            "share"
        )
    elif choice.recording is not None:
        found.append(
            "the capacity is replayed as this transfer met it: another sender may have met another one at other times"
        )
    if not path.rate_sure and sum(captured.shares.get(name, 0.0) for name in WINDOWS) >= HELD:
        found.append(
            "a window kept the path from being full, so its rate is a guess: what a larger window brings depends on it"
        )
    slow = captured.shares.get("slow-receiver", 0.0)
    if slow >= SLOW and simulated.shares.get("slow-receiver", 0.0) < REPEATED * slow:
        found.append(
            f"the receiver read slowly for {slow:.0%} of the time, and the fit has a small window instead: another "
            "sender would meet another window"
        )
    return found


def disagreement(search: Search, path: Estimate, best: Tried, then: Choice | None) -> str | None:
    """A sentence if another explanation predicts other times for another sender; else None.

    Args:
        search: the candidates.
        path: the chosen path.
        best: the chosen candidate.
        then: the candidate that remedies are tried on, if it is another one.
    """
    mine = then or best[1]
    times = _times(path, search.flows, mine)
    endless = [control.name for control, now in zip(OTHERS, times, strict=True) if now >= ENDLESS_S]
    if endless:
        return (
            f"on the fitted path the transfer does not end with {' or '.join(endless)}: {_words(path, mine)} would "
            "meet another sender otherwise, so predictions for one are uncertain"
        )
    for other, choice in _others(search, path, best, mine):
        for control, now, there in zip(OTHERS, times, _times(other, search.flows, choice), strict=True):
            if abs(math.log(there / now)) > math.log(1 + APART):
                return (
                    f"{_words(other, choice)} would explain the capture as well as {_words(path, mine)}; with "
                    f"{control.name} the transfer would then take {there:.3g} s instead of {now:.3g} s: predictions "
                    "for another sender are uncertain"
                )
    return None


def _others(search: Search, path: Estimate, best: Tried, mine: Choice) -> Iterator[tuple[Estimate, Choice]]:
    """The explanations that differ from the chosen one: those of the search that are near, the nearest first."""
    known = {_key(path, mine)}
    start = path, search.flows, mine
    near = sorted(search.seen, key=lambda each: each[1][0])
    found: list[tuple[Estimate, Choice]] = []
    for other, (far, choice, simulated) in near:
        if choice.losses == "script" and _is_list(other, search.flows, choice) and not _is_list(*start):
            # A list of losses behaves like any path, so it is no rival of a path that loses them by itself.
            continue
        if far <= best[0] + FURTHER and _key(other, choice) not in known and search.explains(simulated):
            known.add(_key(other, choice))
            found.append((other, choice))
    if _is_list(*start):
        found.append((path, replace(mine, losses="bursts" if mine.losses == "script" else "script")))
    yield from found[:MOST]


def _is_list(path: Estimate, flows: Sequence[Facts], choice: Choice) -> bool:
    """Whether losses that the path does not explain are part of the candidate."""
    return not choice.discipline and len(draft.lost_numbers(path, flows, choice.queue)) >= LEAST_LOST


def _key(path: Estimate, choice: Choice) -> tuple[object, ...]:
    return (
        choice.recording is not None,
        path.moved is not None,
        path.shaper is not None,
        path.policer is not None and choice.queue,
        choice.discipline,
        choice.queue or not path.overflows,
        choice.paced,
        choice.held,
        choice.reads,
        choice.losses,
    )


def _words(path: Estimate, choice: Choice) -> str:
    if choice.reads:
        return "a slow reader"
    if choice.held:
        return "a small send buffer"
    if choice.recording is not None:
        return "a capacity that varied"
    if choice.discipline:
        return f"a {choice.discipline} queue"
    if path.shaper is not None:
        return "a shaper"
    if path.moved is not None:
        return "a delay that changed"
    if path.policer is not None and choice.queue:
        return "a policer"
    losses = {"rate": "random losses", "bursts": "losses in bursts"}.get(choice.losses)
    if path.overflows and not choice.queue:
        return losses or "a list of the lost packets"
    losses = losses or "the losses of the capture"
    if path.stray and not path.overflows:
        return losses
    return f"a full queue and {losses}" if path.stray else "a full queue"


def _times(path: Estimate, flows: Sequence[Facts], choice: Choice) -> list[float]:
    """The mean time of the first connection with each of the other senders."""
    return [_seconds(parse(draft.write(path, flows, replace(choice, control=control)))) for control in OTHERS]


def _seconds(scenario: Scenario) -> float:
    """The mean over seeds."""
    found = []
    for seed in SEEDS:
        row = scenario.run(seed=seed).flows.row(0, named=True)
        found.append(float(row["end_s"] or NEVER_S))
    return sum(found) / len(found)
