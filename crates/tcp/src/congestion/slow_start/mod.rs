//! Rules for slow start that congestion controls share: when it ends before a loss, and how it begins.

pub(super) mod careful_resume;
pub(super) mod hystart;
pub(super) mod search;

use super::View;
use crate::config::choices::HyStart as Rule;
use hystart::{HyStart, Pace};
use search::Search;

/// The rule that ends slow start before a loss.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    HyStart(HyStart),
    Search(Box<Search>),
}

impl Exit {
    /// The initial state; `None` without a rule.
    pub(super) fn new(rule: Rule) -> Option<Self> {
        match rule {
            Rule::Off => None,
            Rule::Linux | Rule::Rfc9406 => HyStart::new(rule).map(Self::HyStart),
            Rule::Search => Some(Self::Search(Box::new(Search::new()))),
        }
    }

    /// An ACK of new data in slow start, with `cwnd` in bytes before it.
    pub(super) fn on_ack(&mut self, view: &View, cwnd: u32) -> Pace {
        match self {
            Self::HyStart(hystart) => hystart.on_ack(view, cwnd),
            Self::Search(search) => search.on_ack(view, cwnd),
        }
    }
}
