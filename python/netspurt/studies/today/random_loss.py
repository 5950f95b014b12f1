"""The square-root law (Mathis et al. 1997) and that with timeouts (Padhye et al. 1998) over four decades of loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from netspurt.settings import Value
from netspurt.studies.experiment import Experiment, Key, Plan, Samples
from netspurt.studies.model import Cell, Findings, Picture, Table
from netspurt.studies.today import formulas
from netspurt.studies.today.setting import cell, curves_picture
from netspurt.studies.verdict import Fraction

if TYPE_CHECKING:
    from netspurt import _core

SCENARIO = "random_loss.toml"
RTT_S = 0.1
RTO_S = 1.0
"""The least RTO of RFC 6298, which holds at this RTT."""
LOSSES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)
RECOVERIES = ("reno", "newreno")
PER_ACK: dict[int, Value] = {1: "every-segment", 2: {"kind": "delayed", "every": 2, "delay": "200 ms"}}

MATHIS_BAR, PADHYE_BAR = Fraction(0.15), Fraction(0.25)
MATHIS_UP_TO = 1e-2
_MATHIS_REASON = (
    "the law leaves out recovery and timeouts, which cost up to a tenth of the RTTs of a cycle at p = 1e-2"
)
_PADHYE_REASON = (
    "the model takes all later packets of a round with a loss as lost; ours are lost independently"
)
_TIMEOUTS = "without SACK and limited transmit, windows of 10 segments often end in a timeout"
_INDEPENDENT = "losses are single here, so fast retransmit repairs what the model leaves to a timeout"
_NO_LAW = "the law has no timeouts, and above p = 1e-2 they decide"


@dataclass(frozen=True)
class Sender:
    """A recovery with a number of segments for each ACK, at a loss rate."""

    recovery: str
    per_ack: int
    loss: float

    @property
    def key(self) -> Key:
        """The name of its experiment."""
        return ("random-loss", self.recovery, f"b{self.per_ack}", f"{self.loss:g}")

    @property
    def row(self) -> dict[str, str | bool | int | float]:
        """Its labels."""
        return {"recovery": self.recovery, "segments_per_ack": self.per_ack, "loss_rate": self.loss}

    @property
    def expected(self) -> float:
        """The window of the model with timeouts."""
        return formulas.padhye_window(self.loss, self.per_ack, RTT_S, RTO_S)

    def settings(self, losses: int) -> dict[str, Value]:
        """The scenario of this cell. It is long enough for about this many losses."""
        start = max(2, round(formulas.mathis_window(self.loss, self.per_ack)))
        return {
            "duration": f"{losses / self.loss / self.expected * RTT_S:.3f} s",
            "tcp.congestion": self.recovery,
            "tcp.recovery": self.recovery,
            "tcp.acking": PER_ACK[self.per_ack],
            "tcp.initial_window": f"{start} segments",
            "tcp.initial_ssthresh": f"{start} segments",
            "link.path.loss.rate": self.loss,
        }

    def sent_per_rtt(self, run: _core.Run, losses: int) -> float:
        """Segments sent per RTT, retransmissions included, as the models count."""
        duration_s = losses / self.loss / self.expected * RTT_S
        return float(run.flows()["segments_sent"][0]) * RTT_S / duration_s


class RandomLoss:
    """Reno and NewReno with and without delayed ACKs."""

    def experiments(self, plan: Plan) -> Iterable[Experiment]:
        """Several seeds for each cell; fewer losses where windows are large."""
        for sender in _senders():
            losses = 300 if sender.loss > 2e-4 else 200 if sender.loss > 2e-5 else 30
            yield Experiment(
                key=sender.key,
                scenario=SCENARIO,
                settings=sender.settings(losses),
                seeds=plan.choose(4, 20),
                measure=partial(sender.sent_per_rtt, losses=losses),
            )

    def evaluate(self, samples: Samples) -> Findings:
        """A table for each formula, over the same runs."""
        mathis = Table(
            "mathis",
            "The square-root law: segments per RTT under random loss",
            tuple(_mathis(samples, sender) for sender in _senders()),
            note=(
                "Source: Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, table 1: C/sqrt(p), with C = 1.31 for an "
                "ACK for "
                "every segment and 0.93 with delayed ACKs, for random loss. A formula; ours are simulated."
            ),
        )
        padhye = Table(
            "padhye",
            "The model with timeouts: segments per RTT under random loss",
            tuple(_padhye(samples, sender) for sender in _senders()),
            note=(
                "Source: Padhye, Firoiu, Towsley and Kurose, SIGCOMM 1998, the approximate model, with T0 = 1 s "
                "(RFC 6298). "
                "A formula; ours are simulated. The null model is the square-root law."
            ),
        )
        return Findings(tables=(mathis, padhye), pictures=(_picture(mathis), _picture(padhye)))


def _senders() -> list[Sender]:
    return [Sender(*each) for each in product(RECOVERIES, PER_ACK, LOSSES)]


def _mathis(samples: Samples, sender: Sender) -> Cell:
    valid = sender.loss <= MATHIS_UP_TO
    return cell(
        sender.row,
        "sent_per_rtt",
        "segments",
        formulas.mathis_window(sender.loss, sender.per_ack),
        samples.all(sender.key),
        origin="formula",
        bar=MATHIS_BAR if valid else None,
        bar_reason=_MATHIS_REASON if valid else "",
        reason="" if valid else _NO_LAW,
        cause=_TIMEOUTS if sender.loss >= MATHIS_UP_TO else "",
    )


def _padhye(samples: Samples, sender: Sender) -> Cell:
    return cell(
        sender.row,
        "sent_per_rtt",
        "segments",
        sender.expected,
        samples.all(sender.key),
        origin="formula",
        bar=PADHYE_BAR,
        bar_reason=_PADHYE_REASON,
        null=formulas.mathis_window(sender.loss, sender.per_ack),
        cause=_INDEPENDENT if sender.loss >= 3e-2 else "",
    )


def _picture(table: Table) -> Picture:
    from netspurt.plot.chart import Axis

    return curves_picture(
        table,
        over="loss_rate",
        by=("recovery", "segments_per_ack"),
        x=Axis("packet loss rate", "loss_rate", "log"),
        y=Axis("segments sent per RTT", "segments_per_rtt", "log"),
        caption="Segments sent per RTT against the loss rate, for Reno and NewReno with one and two segments per ACK.",
    )
