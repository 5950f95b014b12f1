"""The study of published results of the last twenty years: congestion control, queues and recovery as of today."""

from __future__ import annotations

from netspurt.studies.experiment import Study
from netspurt.studies.today.background import Background
from netspurt.studies.today.bbr import BbrShare
from netspurt.studies.today.dctcp import Dctcp
from netspurt.studies.today.initial_window import InitialWindow
from netspurt.studies.today.l4s import Coexistence
from netspurt.studies.today.l4s_measured import MeasuredShare
from netspurt.studies.today.policer import Policer
from netspurt.studies.today.policer_laboratory import Laboratory
from netspurt.studies.today.queues import StandingQueues
from netspurt.studies.today.random_loss import RandomLoss
from netspurt.studies.today.reductions import Reductions
from netspurt.studies.today.reordering import Reordering
from netspurt.studies.today.response import Response

STUDY = Study(
    name="today",
    title="Congestion control and queues of today",
    document=(
        "RFC 9438, RFC 6928, RFC 8289, RFC 8033, RFC 8257, RFC 9332, RFC 8985 and RFC 8511; Mathis et al. 1997; "
        "Padhye et al. 1998; Alizadeh et al. 2010; Flach et al. 2016; Ware et al. 2019; Heist and Morton 2020"
    ),
    question=(
        "The standards and papers of the last twenty years print figures, formulas and targets for congestion control, "
        "queue management and loss recovery. Does this TCP give the same numbers over these queues?"
    ),
    parts=(
        Response(),
        RandomLoss(),
        InitialWindow(),
        Reductions(),
        Reordering(),
        StandingQueues(),
        Background(),
        Dctcp(),
        Coexistence(),
        MeasuredShare(),
        BbrShare(),
        Policer(),
        Laboratory(),
    ),
)
