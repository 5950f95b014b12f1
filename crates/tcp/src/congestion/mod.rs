//! Congestion control: how much may be in flight. One file or folder per algorithm, grouped by what it reacts to.
//!
//! An algorithm receives events as [`Signal`]s with one meaning each and the state of the connection as a [`View`]. It
//! returns `cwnd` and `ssthresh`. It does not decide about retransmissions; `recovery` does.

pub(crate) mod cwnd_validation;
pub mod delivery_rate;
pub mod ecn;
pub(crate) mod pacing;

mod control;
mod delay_based;
mod loss_based;
mod mark_based;
mod model_based;
mod none;
mod slow_start;

pub use control::{CongestionControl, PathModel, Signal, Start, View};
pub use delay_based::ledbat::Ledbat;
pub use delay_based::vegas::Vegas;
pub use loss_based::cubic::Cubic;
pub(crate) use loss_based::cubic_linux::AvoidanceAck;
pub use loss_based::cubic_linux::CubicLinux;
use loss_based::cubic_linux::Unused;
pub use loss_based::htcp::Htcp;
pub use loss_based::illinois::Illinois;
pub use loss_based::reno::Reno;
pub use loss_based::reno_linux::RenoLinux;
pub use loss_based::tahoe::Tahoe;
pub use loss_based::westwood::Westwood;
pub use mark_based::dctcp::Dctcp;
pub use mark_based::prague::Prague;
pub use model_based::bbr::Bbr;
pub use model_based::bbr3::Bbr3;
pub use none::Unlimited;

use crate::config::choices::{Growth, HyStart, SavedPath};
use crate::congestion::delivery_rate::{LostSegment, RateSample};
use crate::time::{Span, Time};
use slow_start::careful_resume::CarefulResume;

/// The choice of an algorithm with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// No congestion control: the windows alone limit the sender.
    None,
    /// Jacobson 1988 as in 4.3BSD-Tahoe.
    Tahoe,
    /// RFC 5681 (4.3BSD-Reno).
    Reno,
    /// RFC 5681 with the exit rule of RFC 6582, section 3.2, step 3.
    NewReno,
    /// Reno as in Linux.
    RenoLinux,
    /// RFC 9438.
    Cubic,
    /// CUBIC as in Linux.
    CubicLinux,
    /// RFC 8257.
    Dctcp,
    /// Vegas (Brakmo and Peterson), as in Linux.
    Vegas,
    /// BBR version 1, as in Linux.
    Bbr,
    /// BBR version 3, after its draft.
    Bbr3,
    /// H-TCP (draft-leith-tcp-htcp).
    Htcp,
    /// TCP-Illinois (Liu, Başar and Srikant).
    Illinois,
    /// Westwood+, as in Linux.
    Westwood,
    /// Prague, of L4S.
    Prague,
    /// LEDBAT++.
    Ledbat,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::None,
        Self::Tahoe,
        Self::Reno,
        Self::NewReno,
        Self::RenoLinux,
        Self::Cubic,
        Self::CubicLinux,
        Self::Dctcp,
        Self::Vegas,
        Self::Bbr,
        Self::Bbr3,
        Self::Htcp,
        Self::Illinois,
        Self::Westwood,
        Self::Prague,
        Self::Ledbat,
    ];

    /// Whether it needs delivery rate samples, or an RTT sample with every ACK whatever the recovery is.
    pub const fn needs_rates(self) -> bool {
        match self {
            Self::None
            | Self::Tahoe
            | Self::Reno
            | Self::NewReno
            | Self::RenoLinux
            | Self::Cubic
            | Self::CubicLinux
            | Self::Dctcp => false,
            Self::Vegas
            | Self::Bbr
            | Self::Bbr3
            | Self::Htcp
            | Self::Illinois
            | Self::Westwood
            | Self::Prague
            | Self::Ledbat => true,
        }
    }

    /// Whether the reduction is proportional to the marks, so that an ACK that reports a mark may increase cwnd.
    pub(crate) const fn reduces_in_proportion(self) -> bool {
        matches!(self, Self::Dctcp | Self::Prague)
    }

    /// Whether it works with Careful Resume.
    pub(crate) const fn can_resume(self) -> bool {
        matches!(self, Self::Reno | Self::NewReno | Self::Cubic | Self::CubicLinux)
    }

    /// The name of an algorithm that sets a pacing rate.
    pub const fn needs_pacing(self) -> Option<&'static str> {
        match self {
            Self::Bbr => Some("bbr"),
            Self::Bbr3 => Some("bbr3"),
            Self::Prague => Some("prague"),
            _ => None,
        }
    }
}

/// The built-in algorithms, dispatched statically, and a user-defined one.
#[derive(Debug)]
enum Algorithm {
    None(Unlimited),
    Tahoe(Tahoe),
    /// Also serves NewReno.
    Reno(Reno),
    /// Boxed, because it is larger than the others.
    Cubic(Box<Cubic>),
    CubicLinux(Box<CubicLinux>),
    /// The same without signals.
    UnusedCubicLinux(Unused),
    /// Boxed for the same reason, as all others below.
    Dctcp(Box<Dctcp>),
    Vegas(Box<Vegas>),
    Bbr(Box<Bbr>),
    Bbr3(Box<Bbr3>),
    /// A built-in algorithm that is dispatched dynamically.
    Other(Box<dyn CongestionControl>),
    Custom(Box<dyn CongestionControl>),
}

impl Algorithm {
    /// The algorithm as a trait object.
    #[inline]
    fn get(&self) -> &dyn CongestionControl {
        match self {
            Self::None(cc) => cc,
            Self::Tahoe(cc) => cc,
            Self::Reno(cc) => cc,
            Self::Cubic(cc) => &**cc,
            Self::CubicLinux(cc) => &**cc,
            Self::UnusedCubicLinux(cc) => cc,
            Self::Dctcp(cc) => &**cc,
            Self::Vegas(cc) => &**cc,
            Self::Bbr(cc) => &**cc,
            Self::Bbr3(cc) => &**cc,
            Self::Other(cc) => &**cc,
            Self::Custom(cc) => &**cc,
        }
    }

    /// The algorithm, for another one around it.
    fn boxed(self) -> Box<dyn CongestionControl> {
        match self {
            Self::None(cc) => Box::new(cc),
            Self::Tahoe(cc) => Box::new(cc),
            Self::Reno(cc) => Box::new(cc),
            Self::Cubic(cc) => cc,
            Self::CubicLinux(cc) => cc,
            Self::UnusedCubicLinux(cc) => Box::new(cc.begin()),
            Self::Dctcp(cc) => cc,
            Self::Vegas(cc) => cc,
            Self::Bbr(cc) => cc,
            Self::Bbr3(cc) => cc,
            Self::Other(cc) | Self::Custom(cc) => cc,
        }
    }

    /// A signal comes: what it changes must exist.
    #[inline]
    fn begin_if_unused(&mut self) {
        if let Self::UnusedCubicLinux(cc) = *self {
            *self = Self::CubicLinux(Box::new(cc.begin()));
        }
    }

    /// The same for changes.
    fn get_mut(&mut self) -> &mut dyn CongestionControl {
        self.begin_if_unused();
        match self {
            Self::None(cc) => cc,
            Self::Tahoe(cc) => cc,
            Self::Reno(cc) => cc,
            Self::Cubic(cc) => &mut **cc,
            Self::CubicLinux(cc) => &mut **cc,
            Self::UnusedCubicLinux(cc) => cc,
            Self::Dctcp(cc) => &mut **cc,
            Self::Vegas(cc) => &mut **cc,
            Self::Bbr(cc) => &mut **cc,
            Self::Bbr3(cc) => &mut **cc,
            Self::Other(cc) => &mut **cc,
            Self::Custom(cc) => &mut **cc,
        }
    }
}

/// What a configuration says of congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) kind: Kind,
    /// The initial slow start threshold; `u32::MAX` is infinite.
    pub(crate) ssthresh: u32,
    pub(crate) growth: Growth,
    pub(crate) hystart: HyStart,
    /// RFC 8511.
    pub(crate) abe: bool,
    /// Careful Resume.
    pub(crate) resume: Option<SavedPath>,
}

/// The congestion control of a connection.
#[derive(Debug)]
pub(crate) struct Congestion {
    algorithm: Algorithm,
    /// The last value of the algorithm. It changes only at signals and is read much more often.
    cwnd: u32,
}

impl Congestion {
    /// A new instance of the configured algorithm with the given initial `cwnd` in bytes. `seed` is the initial
    /// sequence number.
    pub(crate) fn new(setup: Setup, cwnd: u32, seed: u32) -> Self {
        let Setup { kind, ssthresh, growth, hystart, abe, resume } = setup;
        let algorithm = match kind {
            Kind::None => Algorithm::None(Unlimited),
            Kind::Tahoe => Algorithm::Tahoe(Tahoe::new(cwnd, ssthresh, growth)),
            Kind::Reno => Algorithm::Reno(Reno::new(cwnd, ssthresh, growth).with_abe(abe)),
            Kind::NewReno => Algorithm::Reno(Reno::with_cautious_exit(cwnd, ssthresh, growth).with_abe(abe)),
            Kind::RenoLinux => Algorithm::Other(Box::new(RenoLinux::new(cwnd, ssthresh, growth))),
            Kind::Cubic => {
                let cubic = Cubic::new(cwnd, ssthresh, growth).with_hystart(hystart).with_abe(abe);
                Algorithm::Cubic(Box::new(cubic))
            }
            Kind::CubicLinux => Algorithm::UnusedCubicLinux(Unused::new(cwnd, ssthresh, growth, hystart)),
            Kind::Dctcp => Algorithm::Dctcp(Box::new(Dctcp::new(cwnd, ssthresh, growth))),
            Kind::Vegas => Algorithm::Vegas(Box::new(Vegas::new(cwnd, ssthresh, growth))),
            Kind::Bbr => Algorithm::Bbr(Box::new(Bbr::new(cwnd, seed))),
            Kind::Bbr3 => Algorithm::Bbr3(Box::new(Bbr3::new(cwnd, seed))),
            Kind::Htcp => Algorithm::Other(Box::new(Htcp::new(cwnd, ssthresh, growth))),
            Kind::Illinois => Algorithm::Other(Box::new(Illinois::new(cwnd, ssthresh, growth))),
            Kind::Westwood => Algorithm::Other(Box::new(Westwood::new(cwnd, ssthresh, growth))),
            Kind::Prague => Algorithm::Other(Box::new(Prague::new(cwnd, ssthresh, growth))),
            Kind::Ledbat => Algorithm::Other(Box::new(Ledbat::new(cwnd, ssthresh, growth))),
        };
        Self::with(match resume {
            Some(saved) => Algorithm::Other(Box::new(CarefulResume::new(algorithm.boxed(), saved, cwnd))),
            None => algorithm,
        })
    }

    /// Takes over cwnd and ssthresh from another algorithm.
    pub(crate) fn take_over(mut self, from: &Self) -> Self {
        self.set_windows(from.cwnd(), from.ssthresh());
        self
    }

    /// Sets cwnd and ssthresh.
    pub(crate) fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        self.algorithm.get_mut().set_windows(cwnd, ssthresh);
        self.cwnd = self.algorithm.get().cwnd();
    }

    /// See [`CongestionControl::set_prior_ssthresh`].
    pub(crate) fn set_prior_ssthresh(&mut self, ssthresh: u32) -> u32 {
        self.algorithm.get_mut().set_prior_ssthresh(ssthresh)
    }

    /// See [`CongestionControl::measure`].
    pub(crate) fn measure(&mut self, now: Time, rtt: Option<Span>) {
        match &mut self.algorithm {
            Algorithm::CubicLinux(cc) => cc.measure(now, rtt),
            Algorithm::Other(cc) => cc.measure(now, rtt),
            Algorithm::Custom(own) => own.measure(now, rtt),
            _ => {}
        }
    }

    /// See [`CongestionControl::begins_to_send`]. An unused algorithm has no clock yet.
    #[inline]
    pub(crate) fn begins_to_send(&mut self, now: Time, pause: Span) {
        match &mut self.algorithm {
            Algorithm::CubicLinux(cc) => cc.begins_to_send(now, pause),
            Algorithm::Other(cc) => cc.begins_to_send(now, pause),
            Algorithm::Custom(own) => own.begins_to_send(now, pause),
            _ => {}
        }
    }

    /// A user-defined algorithm.
    pub(crate) fn custom(mut own: Box<dyn CongestionControl>, start: &Start) -> Self {
        own.begin(start);
        Self::with(Algorithm::Custom(own))
    }

    /// Restarts a user-defined algorithm; returns `false` for a built-in one.
    pub(crate) fn begin(&mut self, start: &Start) -> bool {
        let Algorithm::Custom(own) = &mut self.algorithm else { return false };
        own.begin(start);
        self.cwnd = own.cwnd();
        true
    }

    /// No signal will come any more: frees memory. cwnd and ssthresh remain.
    pub(crate) fn release_memory(&mut self) {
        if let Algorithm::CubicLinux(cc) = &self.algorithm {
            self.algorithm = Algorithm::UnusedCubicLinux(cc.windows_only());
        }
    }

    fn with(algorithm: Algorithm) -> Self {
        let cwnd = algorithm.get().cwnd();
        Self { algorithm, cwnd }
    }

    /// Processes an event.
    pub(crate) fn on(&mut self, signal: Signal, view: &View) {
        match &mut self.algorithm {
            Algorithm::None(cc) => cc.on(signal, view),
            Algorithm::Tahoe(cc) => cc.on(signal, view),
            Algorithm::Reno(cc) => cc.on(signal, view),
            Algorithm::Cubic(cc) => cc.on(signal, view),
            Algorithm::CubicLinux(cc) => cc.on(signal, view),
            Algorithm::UnusedCubicLinux(_) => self.algorithm.get_mut().on(signal, view),
            Algorithm::Dctcp(cc) => cc.on(signal, view),
            Algorithm::Vegas(cc) => cc.on(signal, view),
            Algorithm::Bbr(cc) => cc.on(signal, view),
            Algorithm::Bbr3(cc) => cc.on(signal, view),
            Algorithm::Other(cc) => cc.on(signal, view),
            Algorithm::Custom(cc) => cc.on(signal, view),
        }
        self.cwnd = self.algorithm.get().cwnd();
    }

    /// [`Signal::Acked`], the most frequent signal, for algorithms that only need the MSS. Returns `false` for an
    /// algorithm that needs a [`View`].
    #[inline(always)]
    pub(crate) fn acked(&mut self, bytes: u32, mss: u32) -> bool {
        self.cwnd = match &mut self.algorithm {
            Algorithm::Reno(cc) if cc.always_grows() => cc.acked(bytes, mss),
            Algorithm::Tahoe(cc) if cc.always_grows() => cc.acked(bytes, mss),
            Algorithm::None(_) => return true,
            _ => return false,
        };
        true
    }

    /// Whether [`Signal::DupAck`] may change the algorithm. Of those that need not be asked, the simplest are named.
    #[inline]
    pub(crate) fn heeds_dup_acks(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Reno(_) | Algorithm::Tahoe(_) | Algorithm::None(_))
    }

    /// Whether [`Self::acked_in_avoidance`] can process the next ACK of new data.
    #[inline]
    pub(crate) fn takes_avoidance_ack(&self) -> bool {
        matches!(&self.algorithm, Algorithm::CubicLinux(cc) if cc.is_avoiding())
    }

    /// [`Signal::Acked`] for the most used algorithm after slow start, which needs less than a [`View`].
    #[inline]
    pub(crate) fn acked_in_avoidance(&mut self, ack: AvoidanceAck) {
        if let Algorithm::CubicLinux(cc) = &mut self.algorithm {
            self.cwnd = cc.acked_in_avoidance(ack);
        }
    }

    /// Whether the algorithm controls cwnd during recovery itself, without PRR.
    pub(crate) fn controls_recovery_cwnd(&self) -> bool {
        matches!(self.algorithm, Algorithm::Bbr(_) | Algorithm::Bbr3(_))
    }

    /// Processes a delivery rate sample.
    pub(crate) fn delivered(&mut self, sample: &RateSample, view: &View) {
        self.algorithm.get_mut().delivered(sample, view);
        self.cwnd = self.algorithm.get().cwnd();
    }

    /// Processes a lost segment.
    pub(crate) fn lost(&mut self, segment: &LostSegment, view: &View) {
        self.algorithm.get_mut().lost(segment, view);
        self.cwnd = self.algorithm.get().cwnd();
    }

    /// Sets the initial pacing rate of an algorithm that has one.
    pub(crate) fn begin_pace(&mut self, srtt: Option<Span>) {
        self.algorithm.get_mut().begin_pace(srtt);
    }

    /// The pacing rate of the algorithm.
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        self.algorithm.get().pacing_rate()
    }

    /// The least number of segments that a host hands over together, if it may.
    pub(crate) fn least_burst(&self) -> u64 {
        self.algorithm.get().least_burst()
    }

    /// Whether a mark reduces the window now.
    pub(crate) fn heeds_marks(&self, now: Time) -> bool {
        self.algorithm.get().heeds_marks(now)
    }

    /// Whether the algorithm deliberately sends less than the path can carry.
    pub(crate) fn is_sparing(&self) -> bool {
        self.algorithm.get().is_sparing()
    }

    /// The path model of the algorithm.
    pub(crate) fn path(&self) -> Option<PathModel> {
        self.algorithm.get().path()
    }

    /// The congestion window.
    #[inline]
    pub(crate) fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// The slow start threshold; `u32::MAX` is infinite.
    pub(crate) fn ssthresh(&self) -> u32 {
        self.algorithm.get().ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::profile;
    use crate::config::{Config, Counting, Grows};

    pub(super) const GROWTH: Growth =
        Growth { grows: Grows::Always, counting: Counting::Acks, slow_start_per_ack: 1 };

    /// A connection with `flight` bytes outstanding that uses all of its window.
    pub(super) fn view(mss: u32, flight: u32) -> View {
        View {
            now: Time::ZERO,
            mss,
            flight,
            window: flight,
            srtt: None,
            rtt: None,
            paced: false,
            acknowledged: 0,
            sent: 0,
            cwnd_limited: true,
        }
    }

    /// One window's worth of ACKs, one for each segment.
    pub(super) fn ack_a_round(cc: &mut impl CongestionControl, mss: u32) {
        for _ in 0..cc.cwnd() / mss {
            cc.on(Signal::Acked { bytes: mss }, &view(mss, cc.cwnd()));
        }
    }

    #[test]
    fn cubic_takes_memory_only_between_its_first_signal_and_its_last() {
        let config = &profile::by_name("linux").expect("built in").config;
        let mut cc = Congestion::new(config.congestion_setup(), 4000, 1);
        let mut same = CubicLinux::new(4000, cc.ssthresh(), config.growth, config.hystart);
        assert!(matches!(cc.algorithm, Algorithm::UnusedCubicLinux(_)));
        for signal in
            [Signal::Acked { bytes: 1000 }, Signal::EnterRecovery, Signal::ExitRecovery, Signal::Undo]
        {
            let view = view(1000, cc.cwnd());
            cc.on(signal, &view);
            same.on(signal, &view);
            assert!(matches!(cc.algorithm, Algorithm::CubicLinux(_)));
            assert_eq!((cc.cwnd(), cc.ssthresh()), (same.cwnd(), same.ssthresh()), "{signal:?}");
        }
        cc.on(Signal::EnterRecovery, &view(1000, cc.cwnd()));
        let windows = (cc.cwnd(), cc.ssthresh());
        cc.release_memory();
        assert!(matches!(cc.algorithm, Algorithm::UnusedCubicLinux(_)));
        assert_eq!((cc.cwnd(), cc.ssthresh()), windows);
    }

    #[test]
    fn each_kind_starts_with_what_it_is_given() {
        let base = &profile::by_name(profile::DEFAULT).expect("built in").config;
        let start = |congestion| {
            let config = Config { congestion, initial_ssthresh: 60_000, ..base.clone() };
            Congestion::new(config.congestion_setup(), 4000, 1)
        };
        for kind in [
            Kind::Tahoe,
            Kind::Reno,
            Kind::NewReno,
            Kind::RenoLinux,
            Kind::Cubic,
            Kind::CubicLinux,
            Kind::Dctcp,
            Kind::Vegas,
            Kind::Htcp,
            Kind::Illinois,
            Kind::Westwood,
            Kind::Prague,
            Kind::Ledbat,
        ] {
            let cc = start(kind);
            assert_eq!((cc.cwnd(), cc.ssthresh()), (4000, 60_000), "{kind:?}");
        }
        assert_eq!(start(Kind::None).cwnd(), u32::MAX);
        // ssthresh has no meaning for an algorithm with a path model.
        for kind in [Kind::Bbr, Kind::Bbr3] {
            assert_eq!((start(kind).cwnd(), start(kind).ssthresh()), (4000, u32::MAX), "{kind:?}");
        }
    }

    #[test]
    fn the_choice_costs_little_room() {
        assert!(size_of::<Congestion>() <= 40, "{}", size_of::<Congestion>());
    }
}
