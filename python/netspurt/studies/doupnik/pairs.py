"""Which policies of a sender and which delayed ACKs of a receiver can wait for each other: an exhaustive test.

Every transmission policy runs with every delayed-ACK policy over all sequences of one to three writes of six sizes,
with four receive windows. A pair can wait if the deadlock finder saw one of these cases hold a tail for a delayed
ACK. A pair that cannot wait passed all cases. The pattern of the writes identifies the cause of a wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, cast

from netspurt.settings import Value, overrides
from netspurt.studies.doupnik import wire
from netspurt.studies.doupnik.setting import LAN
from netspurt.studies.experiment import DATA, Experiment, Plan, Samples
from netspurt.studies.model import Cell, Check, Findings, Table

if TYPE_CHECKING:
    from netspurt import _core

POLICIES = (*wire.POLICIES, "cork")
WAITS_FOR_ACKS = ("nagle-strict", "nagle-liberal", "minshall", "linux22")

ACKINGS = (
    "every-segment",
    "delayed",
    "delayed-bytes",
    "bsd-tick",
    "bsd-bytes",
    "quick-start",
    "adaptive",
)

Pair = tuple[str, str]
"""A policy of a sender and one of a receiver."""

PAIRS: tuple[Pair, ...] = tuple(product(POLICIES, ACKINGS))

SIZES = (200, 800, 1460, 2000, 3120, 4580)
"""Short, more than half a segment, one full segment; one, two, and three full segments with a tail."""

WINDOWS = (1460, 2920, 4380, 65535)
LENGTHS = {True: (1, 2), False: (1, 2, 3)}
"""Numbers of writes in sequence, quick or full."""

EXCHANGES = 20
"""Exchanges in sequence: a policy that starts with quick ACKs then has none left."""

PATTERNS = {
    "s": "one short write, then a read",
    "w": "short writes in sequence, then a read (write–write–read)",
    "f": "one write of full segments only",
    "o": "one write of an odd number of full segments and a tail",
    "e": "one write of an even number of full segments and a tail",
    "m": "several writes, some of them longer",
    "n": "a message that is larger than the receiver's window",
}
"""The patterns of writes, by their letter in the table."""

Writes = tuple[int, ...]


def pattern(writes: Writes, window: int) -> str:
    """The letter in ``PATTERNS`` of these writes."""
    if sum(writes) > window:
        return "n"
    if max(writes) < wire.MSS:
        return "s" if len(writes) == 1 else "w"
    if len(writes) > 1:
        return "m"
    full, tail = divmod(writes[0], wire.MSS)
    if tail == 0:
        return "f"
    return "o" if full % 2 else "e"


def cases(lengths: Iterable[int]) -> list[tuple[int, Writes]]:
    """Every window with every sequence of writes of these lengths."""
    sequences = [writes for length in lengths for writes in product(SIZES, repeat=length)]
    return list(product(WINDOWS, sequences))


class PairOutcome(NamedTuple):
    """The outcome of the runs of one pair: the number of cases, and for each pattern how many held a tail."""

    cases: int
    held: Mapping[str, int]

    @property
    def letters(self) -> str:
        """The patterns that held a tail, in the form of the table."""
        return "".join(letter for letter in PATTERNS if letter in self.held)

    @property
    def words(self) -> str:
        """The outcome as text for the report."""
        if not self.held:
            return f"cannot wait: {self.cases} cases tried"
        return "can wait: " + "; ".join(PATTERNS[letter] for letter in self.letters)


def settings(pair: Pair, tried: Sequence[tuple[int, Writes]]) -> dict[str, Value]:
    """One flow for each case, all over a link that none of them fills; the server answers with one byte."""
    flows: list[Value] = [
        {
            "from": "client",
            "to": "server",
            "tcp": {"receive_window": f"{window} B"},
            "app": {
                "kind": "request-response",
                "request": {"writes": [f"{size} B" for size in writes]},
                "response": "1 B",
                "exchanges": EXCHANGES,
            },
        }
        for window, writes in tried
    ]
    policy, acking = pair
    return {
        "link.lan.rate": "1 Tbit/s",
        "host.client.tcp.transmit": policy,
        "host.server.tcp.acking": acking,
        "flow": flows,
        "duration": "60 s",
    }


def tally(tried: Sequence[tuple[int, Writes]], held_tails: Iterable[int]) -> PairOutcome:
    """Counts the held tails of the cases by pattern."""
    held: dict[str, int] = {}
    for (window, writes), count in zip(tried, held_tails, strict=True):
        if count:
            letter = pattern(writes, window)
            held[letter] = held.get(letter, 0) + 1
    return PairOutcome(len(tried), held)


def experiment(pair: Pair, lengths: Iterable[int]) -> Experiment:
    """All cases of a pair in one simulation."""
    tried = cases(lengths)

    def measure(run: _core.Run) -> PairOutcome:
        return tally(tried, (int(value) for value in run.flows()["held_tails"]))

    return Experiment(key=("pairs", *pair), scenario=LAN, settings=settings(pair, tried), measure=measure)


def run_pair(pair: Pair, lengths: Iterable[int] = LENGTHS[False]) -> PairOutcome:
    """Runs all cases of one pair alone, outside a study."""
    asked = experiment(pair, lengths)
    scenario = asked.load(DATA / "doupnik" / LAN).set(overrides(asked.settings))
    return cast("PairOutcome", asked.perform(scenario, 1))


def markdown(outcome: Mapping[Pair, PairOutcome]) -> str:
    """The table with its legend, in the form of ``docs/waiting.md``."""
    lines = [f"| sender \\ receiver | {' | '.join(f'`{acking}`' for acking in ACKINGS)} |"]
    lines.append("| --- " * (len(ACKINGS) + 1) + "|")
    for policy in POLICIES:
        found = (outcome[policy, acking].letters or "–" for acking in ACKINGS)
        lines.append(f"| `{policy}` | {' | '.join(found)} |")
    legend = [f"* **{letter}**: {words}" for letter, words in PATTERNS.items()]
    return "\n".join([*lines, "", *legend]) + "\n"


class Pairs:
    """Eight policies of a sender with seven of a receiver."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """One run for each pair."""
        return (experiment(pair, LENGTHS[plan.quick]) for pair in PAIRS)

    def evaluate(self, samples: Samples) -> Findings:
        """The table, and the pairs that cannot wait."""
        outcome = {pair: samples.one(("pairs", *pair), PairOutcome) for pair in PAIRS}
        cells = tuple(
            Cell(
                {"sender": policy, "receiver": acking},
                "cases that held a tail",
                "",
                None,
                None if found is None else float(sum(found.held.values())),
                reason="" if found is None else found.words,
            )
            for (policy, acking), found in outcome.items()
        )
        table = Table(
            "beyond_pairs",
            "Which policies can wait for each other",
            cells,
            kind="beyond",
            note=f"Writes of {', '.join(str(size) for size in SIZES)} bytes in every order, windows of "
            f"{', '.join(str(window) for window in WINDOWS)} bytes, {EXCHANGES} exchanges each, over a link "
            "with a one-way delay of 0.25 ms.",
        )
        return Findings(tables=(table,), checks=tuple(_checks(outcome)))


def _checks(outcome: Mapping[Pair, PairOutcome | None]) -> Iterable[Check]:
    known = {pair: found for pair, found in outcome.items() if found is not None}
    for words, waits in (
        (
            "no sender policy that ignores ACKs, and no policy against an ACK for each segment, ever holds a tail",
            False,
        ),
        ("each policy that waits for ACKs can wait for each delayed ACK", True),
    ):
        meant = {pair: found for pair, found in known.items() if can_wait(*pair) is waits}
        wrong = [
            f"{policy} with {acking}"
            for (policy, acking), found in meant.items()
            if bool(found.held) is not waits
        ]
        holds = None if len(known) < len(outcome) else not wrong
        yield Check(words, holds, "; ".join(wrong) or f"{len(meant)} pairs")


def can_wait(policy: str, acking: str) -> bool:
    """The rule without a simulation: the sender has to wait for ACKs and the receiver to delay them."""
    return policy in WAITS_FOR_ACKS and acking != "every-segment"
