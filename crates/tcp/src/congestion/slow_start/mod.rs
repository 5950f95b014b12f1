//! Rules for slow start that congestion controls share: when it ends before a loss.

pub(super) mod hystart;
