//! A user's own algorithms: what makes one for each connection.
//!
//! Lives here: how they come into a world. Must not live here: any algorithm.

use netspurt_tcp::Connection;
use netspurt_tcp::congestion::CongestionControl;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::transmit::Policy;
use std::fmt;
use std::sync::Arc;

/// Makes an algorithm for one connection.
pub type Make<T> = Arc<dyn Fn() -> Box<T> + Send + Sync>;

/// What takes the place of built-in algorithms at one end of a flow.
#[derive(Clone, Default)]
pub struct OwnTcp {
    /// Instead of the configured congestion control.
    pub congestion: Option<Make<dyn CongestionControl>>,
    /// Instead of the configured RTO estimator.
    pub rto: Option<Make<dyn RtoEstimator>>,
    /// Instead of the configured transmission policy.
    pub transmit: Option<Make<dyn Policy>>,
}

impl OwnTcp {
    /// Puts them into a connection that has not been opened.
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

    /// This, if there is any.
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
