"""The study of RFC 1106, *TCP Big Window and Nak Options* (section 7: figures 1 and 2)."""

from __future__ import annotations

from netspurt.studies.experiment import Study
from netspurt.studies.rfc1106.beyond import OtherPaths, OtherRecoveries
from netspurt.studies.rfc1106.figures import Figures
from netspurt.studies.rfc1106.independent import DuplicateAcks, Order, SlowStart
from netspurt.studies.rfc1106.live import Live
from netspurt.studies.rfc1106.objection import Objection
from netspurt.studies.rfc1106.one_loss import OneLoss
from netspurt.studies.rfc1106.sequence import TimeSequence

STUDY = Study(
    name="rfc1106",
    title="Big windows and NAKs over a T1 satellite",
    document="R. Fox, TCP Big Window and Nak Options, RFC 1106, June 1989 (section 7, figures 1 and 2)",
    question=(
        "The document asks how TCP can fill a satellite channel of 1.544 Mbit/s with an RTT of 580 ms. It measures "
        "transfer rates for windows of 64K to 156K, without errors and at two error rates: first with the Big Window "
        "option alone, then also with NAKs, where every loss is treated as noise."
    ),
    parts=(
        Figures(),
        Order(),
        OneLoss(),
        DuplicateAcks(),
        SlowStart(),
        Objection(),
        TimeSequence(),
        OtherRecoveries(),
        OtherPaths(),
        Live(),
    ),
)
