//! Algorithms written by the user: the functions that make them for each connection.
//!
//! Lives here: how they are put into a world. Must not live here: any algorithm.

use netspurt_tcp::Connection;
use netspurt_tcp::congestion::CongestionControl;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::transmit::Policy;
use std::fmt;
use std::sync::Arc;

/// Makes an algorithm for one connection.
pub type Make<T> = Arc<dyn Fn() -> Box<T> + Send + Sync>;

/// Algorithms that replace the built-in ones at one end of a flow.
#[derive(Clone, Default)]
pub struct OwnTcp {
    /// Replaces the configured congestion control.
    pub congestion: Option<Make<dyn CongestionControl>>,
    /// Replaces the configured RTO estimator.
    pub rto: Option<Make<dyn RtoEstimator>>,
    /// Replaces the configured transmission policy.
    pub transmit: Option<Make<dyn Policy>>,
}

impl OwnTcp {
    /// Puts the algorithms into a connection that has not been opened.
    pub(crate) fn equip(&self, connection: &mut Connection) {
        if let Some(make) = &self.congestion {
            connection.set_congestion(make());
        }
        if let Some(make) = &self.rto {
            connection.set_rto(make());
        }
        if let Some(make) = &self.transmit {
            connection.set_transmit(make());
        }
    }

    /// Returns `Some` if it replaces anything.
    pub fn some(self) -> Option<Arc<Self>> {
        let any = self.congestion.is_some() || self.rto.is_some() || self.transmit.is_some();
        any.then(|| Arc::new(self))
    }
}

impl fmt::Debug for OwnTcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnTcp")
            .field("congestion", &self.congestion.is_some())
            .field("rto", &self.rto.is_some())
            .field("transmit", &self.transmit.is_some())
            .finish()
    }
}
