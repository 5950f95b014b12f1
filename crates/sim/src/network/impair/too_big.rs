//! Packets that are too long for a link: dropped, with or without a message to their sender (RFC 1191; RFC 2923, section 2.1).

use crate::spec::{MtuSpec, TooBig};

/// What a link takes, from when on.
#[derive(Clone, Debug, Default)]
pub struct Narrowness {
    steps: Vec<MtuSpec>,
}

/// A packet does not get through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// What would.
    pub mtu: u32,
    /// Whether the sender gets a message.
    pub too_big: TooBig,
}

impl Narrowness {
    /// As these say, in the order in which they begin.
    pub fn new(steps: &[MtuSpec]) -> Self {
        Self { steps: steps.to_vec() }
    }

    /// Whether there is no bound.
    pub const fn is_none(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether any sender gets a message.
    pub fn sends_icmp(&self) -> bool {
        self.steps.iter().any(|step| step.too_big == TooBig::Icmp)
    }

    /// Whether a packet of this many bytes, IP header included, is refused at this time.
    pub fn refuses(&self, at: u64, size: u32) -> Option<Refused> {
        let now = self.steps.iter().rfind(|step| step.from.as_ps() <= at)?;
        (size > now.mtu).then_some(Refused { mtu: now.mtu, too_big: now.too_big })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::time::{Span, Time};

    #[test]
    fn a_path_becomes_narrower_at_the_configured_time() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let step = |from, mtu| MtuSpec { from: at(from), mtu, too_big: TooBig::Icmp };
        let narrow = Narrowness::new(&[step(5, 1400), step(10, 1280)]);
        let refuses = |secs: u64, size| narrow.refuses(at(secs).as_ps(), size).map(|refused| refused.mtu);
        assert_eq!([refuses(4, 9000), refuses(5, 1400), refuses(5, 1401)], [None, None, Some(1400)]);
        assert_eq!(refuses(10, 1400), Some(1280));
        assert!(Narrowness::default().is_none() && narrow.sends_icmp());
    }
}
