//! Validation of a [`Config`]: contradictions and values that TCP cannot represent.

use crate::config::{
    Config, Counting, Cutting, EcnUse, InitialWindow, PathMtuDiscovery, ReceiverCongestion, Recovery,
    TimerGrain, WithoutSack,
};
use crate::congestion;
use crate::receive::acking::Acking;
use crate::recovery::rto::{self, Factor};
use crate::time::Span;
use crate::wire::options::Layout;
use core::fmt;

/// Windows are below 2^30 bytes, so that old and new segments can be distinguished (RFC 7323, section 2.3).
pub const WINDOW_LIMIT: u32 = 1 << 30;
/// Header options take up to 40 bytes of a segment. A smaller MSS would leave little or no space for data.
pub const SMALLEST_MSS: u16 = 64;
/// An IPv4 packet holds 65,535 bytes, 40 of them headers.
pub const LARGEST_MSS: u16 = 65_495;

/// Why a configuration is invalid. Its text is one sentence with the keys of [`Config`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfigError {
    /// The MSS is outside [`SMALLEST_MSS`] … [`LARGEST_MSS`].
    Mss(u16),
    /// The base MSS of path MTU probing is outside the same range.
    BaseMss(u16),
    /// The window of this key is not below [`WINDOW_LIMIT`].
    WindowTooLarge(&'static str),
    /// This key must not be zero.
    Zero(&'static str),
    /// NAK recovery together with SACK.
    NakBesideSack,
    /// SACK recovery without SACK.
    SackRecoveryWithoutSack,
    /// RACK without SACK.
    RackWithoutSack,
    /// Path MTU probes with data that is cut when it is written.
    ProbesOfCutData,
    /// This key, which requires RACK, without RACK.
    WithoutRack(&'static str),
    /// This congestion control, which requires pacing, without pacing.
    WithoutPacing(&'static str),
    /// Careful Resume with a congestion control that has no slow start, or with another start.
    CannotResume,
    /// Careful Resume without pacing.
    ResumeWithoutPacing,
    /// rLEDBAT without timestamps.
    RledbatWithoutTimestamps,
    /// rLEDBAT with a receive window that never changes.
    RledbatWithoutInitialWindow,
    /// The initial size of a buffer is above its final size.
    InitialTooLarge([&'static str; 2]),
    /// Pacing together with congestion control "none", which has no cwnd.
    PacingWithoutWindow,
    /// A slow start increase other than one or two segments.
    SlowStartPerAck(u8),
    /// DCTCP without a request for ECN.
    DctcpWithoutEcn,
    /// Prague without accurate ECN.
    PragueWithoutAccurateEcn,
    /// A shared experimental option kind other than 253 and 254.
    SharedKind(u8),
    /// An option kind of a standard option.
    StandardKind(u8),
    /// Two options with the same number.
    SameNumber(u16),
    /// A tick in this key whose phase is not below its period.
    Phase(&'static str),
    /// A lower bound of the RTO above its upper bound.
    RtoBounds,
    /// A minimum ACK delay above the maximum.
    AckBounds,
    /// A factor of an estimator outside what its document allows.
    RtoFactor(&'static str),
}

impl ConfigError {
    /// The invalid fields of [`Config`]; if there is only one, it is returned twice.
    pub const fn keys(&self) -> [&'static str; 2] {
        match self {
            Self::Mss(_) => ["mss"; 2],
            Self::BaseMss(_) => ["base_mss"; 2],
            Self::WindowTooLarge(key) | Self::Zero(key) | Self::Phase(key) => [*key; 2],
            Self::NakBesideSack | Self::SackRecoveryWithoutSack | Self::RackWithoutSack => {
                ["recovery", "sack"]
            }
            Self::WithoutRack(key) => [*key, "recovery"],
            Self::DctcpWithoutEcn | Self::PragueWithoutAccurateEcn => ["congestion", "ecn"],
            Self::ProbesOfCutData => ["path_mtu_discovery", "segments_cut"],
            Self::InitialTooLarge(keys) => *keys,
            Self::RledbatWithoutTimestamps => ["receiver_congestion", "timestamps"],
            Self::RledbatWithoutInitialWindow => ["receiver_congestion", "initial_receive_window"],
            Self::WithoutPacing(_) | Self::PacingWithoutWindow => ["congestion", "pacing"],
            Self::SlowStartPerAck(_) => ["slow_start_per_ack"; 2],
            Self::SharedKind(_) | Self::StandardKind(_) | Self::SameNumber(_) => ["option_layout"; 2],
            Self::RtoBounds | Self::RtoFactor(_) => ["rto"; 2],
            Self::CannotResume => ["careful_resume", "congestion"],
            Self::ResumeWithoutPacing => ["careful_resume", "pacing"],
            Self::AckBounds => ["acking"; 2],
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mss(mss) => {
                write!(f, "an MSS of {mss} bytes is outside {SMALLEST_MSS} to {LARGEST_MSS} bytes")
            }
            Self::BaseMss(mss) => {
                write!(f, "a base_mss of {mss} bytes is outside {SMALLEST_MSS} to {LARGEST_MSS} bytes")
            }
            Self::WindowTooLarge(key) => {
                write!(f, "{key} is too large: every TCP window lies below 2^30 = {WINDOW_LIMIT} bytes")
            }
            Self::Zero(key) => write!(f, "{key} must not be zero, and no count or duration in it may be zero"),
            Self::NakBesideSack => f.write_str(
                "recovery \"nak\" and sack exclude each other: both report missing data to the sender; \
                 set sack = false or choose recovery = \"sack\"",
            ),
            Self::SackRecoveryWithoutSack => f.write_str(
                "recovery \"sack\" requires SACK: set sack = true or choose another recovery",
            ),
            Self::RackWithoutSack => f.write_str(
                "recovery \"rack\" requires SACK: set sack = true, choose another recovery, or set \
                 without_sack = \"linux\"",
            ),
            Self::WithoutRack(key) => {
                write!(f, "{key} requires recovery \"rack\": choose it or set {key} = false")
            }
            Self::ProbesOfCutData => f.write_str(
                "path MTU probes require that data is cut when it is sent: set path_mtu_discovery = \"icmp\" or segments_cut = \"at-send\"",
            ),
            Self::DctcpWithoutEcn => f.write_str(
                "congestion \"dctcp\" requires ECN: set ecn = \"rfc3168\" or \"rfc9768\", or choose another congestion control",
            ),
            Self::PragueWithoutAccurateEcn => f.write_str(
                "congestion \"prague\" requires accurate ECN: set ecn = \"rfc9768\" or \"accept-rfc9768\", or choose another congestion control",
            ),
            Self::WithoutPacing(name) => write!(
                f,
                "congestion {name:?} requires pacing: set pacing = true or choose another \
                 congestion control"
            ),
            Self::CannotResume => f.write_str(
                "careful_resume requires congestion \"reno\", \"newreno\", \"cubic\" or \"cubic-linux\": choose one of them or remove careful_resume",
            ),
            Self::ResumeWithoutPacing => f.write_str(
                "careful_resume requires pacing: set pacing = true or remove careful_resume",
            ),
            Self::RledbatWithoutTimestamps => f.write_str(
                "receiver_congestion \"rledbat\" measures the RTT by timestamps: set timestamps = true or remove receiver_congestion",
            ),
            Self::RledbatWithoutInitialWindow => f.write_str(
                "receiver_congestion \"rledbat\" changes the receive window: set initial_receive_window or remove receiver_congestion",
            ),
            Self::InitialTooLarge([first, most]) => {
                write!(f, "{first} is larger than {most}, its upper limit: reduce it or remove it")
            }
            Self::PacingWithoutWindow => f.write_str(
                "pacing requires a cwnd, and congestion \"none\" has none: set pacing = false or choose another congestion control",
            ),
            Self::SlowStartPerAck(n) => {
                write!(f, "slow_start_per_ack is {n}: it must be 1 or 2 segments per ACK")
            }
            Self::SharedKind(kind) => {
                write!(f, "option kind {kind} is not an experimental kind: choose 253 or 254 (RFC 6994)")
            }
            Self::StandardKind(kind) => {
                write!(f, "option kind {kind} belongs to a standard option: choose another")
            }
            Self::SameNumber(number) => write!(f, "two options of option_layout have the number {number}"),
            Self::Phase(key) => write!(f, "the phase of {key} must be less than its period"),
            Self::AckBounds => f.write_str("the minimum delay of acking is above its maximum"),
            Self::RtoBounds => f.write_str("the lower bound of rto is above its upper bound"),
            Self::RtoFactor(factor) => {
                write!(f, "the factor {factor} of rto is outside the range in its document")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

impl Config {
    /// Checks the configuration and returns the first error.
    ///
    /// A `receive_window` above 65,535 bytes without a window option is valid; the announced window is then 65,535.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if !(SMALLEST_MSS..=LARGEST_MSS).contains(&self.mss) {
            return Err(ConfigError::Mss(self.mss));
        }
        if !(SMALLEST_MSS..=LARGEST_MSS).contains(&self.base_mss) {
            return Err(ConfigError::BaseMss(self.base_mss));
        }
        self.validate_windows()?;
        match (self.recovery, self.sack) {
            (Recovery::Nak, true) => return Err(ConfigError::NakBesideSack),
            (Recovery::Sack, false) => return Err(ConfigError::SackRecoveryWithoutSack),
            (Recovery::Rack, false) if self.without_sack == WithoutSack::NewReno => {
                return Err(ConfigError::RackWithoutSack);
            }
            _ => {}
        }
        if self.path_mtu_discovery != PathMtuDiscovery::Icmp && self.cutting == Cutting::AtWrite {
            return Err(ConfigError::ProbesOfCutData);
        }
        let parts = [("tail_loss_probe", self.tail_loss_probe), ("prr", self.prr), ("undo", self.undo)];
        if let Some((key, _)) = parts.into_iter().find(|part| part.1 && self.recovery != Recovery::Rack) {
            return Err(ConfigError::WithoutRack(key));
        }
        if self.congestion == congestion::Kind::Dctcp && !self.ecn.asks() {
            return Err(ConfigError::DctcpWithoutEcn);
        }
        let counts = matches!(self.ecn, EcnUse::Rfc9768 | EcnUse::AcceptRfc9768);
        if self.congestion == congestion::Kind::Prague && !counts {
            return Err(ConfigError::PragueWithoutAccurateEcn);
        }
        if let Some(name) = self.congestion.needs_pacing()
            && !self.pacing
        {
            return Err(ConfigError::WithoutPacing(name));
        }
        if self.pacing && self.congestion == congestion::Kind::None {
            return Err(ConfigError::PacingWithoutWindow);
        }
        self.validate_resume()?;
        nonzero("dup_ack_threshold", u64::from(self.dup_ack_threshold))?;
        if !(1..=2).contains(&self.growth.slow_start_per_ack) {
            return Err(ConfigError::SlowStartPerAck(self.growth.slow_start_per_ack));
        }
        if let Counting::Bytes { limit } = self.growth.counting {
            nonzero("counting", u64::from(limit))?;
        }
        self.layout.validate()?;
        self.validate_timers()?;
        self.rto.validate()
    }

    fn validate_resume(&self) -> Result<(), ConfigError> {
        let Some(saved) = self.careful_resume else { return Ok(()) };
        nonzero("careful_resume", saved.rtt.as_ps())?;
        nonzero("careful_resume", u64::from(saved.cwnd))?;
        if !self.congestion.can_resume() {
            return Err(ConfigError::CannotResume);
        }
        if self.pacing { Ok(()) } else { Err(ConfigError::ResumeWithoutPacing) }
    }

    fn validate_windows(&self) -> Result<(), ConfigError> {
        nonzero("receive_window", u64::from(self.receive_window))?;
        if self.receive_window >= WINDOW_LIMIT {
            return Err(ConfigError::WindowTooLarge("receive_window"));
        }
        if let Some(cap) = self.send_window {
            nonzero("send_window", u64::from(cap))?;
            if cap >= WINDOW_LIMIT {
                return Err(ConfigError::WindowTooLarge("send_window"));
            }
        }
        nonzero("send_buffer", self.send_buffer)?;
        if self.receiver_congestion == ReceiverCongestion::Rledbat {
            if !self.timestamps {
                return Err(ConfigError::RledbatWithoutTimestamps);
            }
            if self.initial_receive_window.is_none() {
                return Err(ConfigError::RledbatWithoutInitialWindow);
            }
        }
        let initial = [
            (["initial_receive_window", "receive_window"], self.initial_receive_window.map(u64::from)),
            (["initial_send_buffer", "send_buffer"], self.initial_send_buffer),
        ];
        for (keys, first) in initial {
            let Some(first) = first else { continue };
            nonzero(keys[0], first)?;
            let most =
                if keys[1] == "send_buffer" { self.send_buffer } else { u64::from(self.receive_window) };
            if first > most {
                return Err(ConfigError::InitialTooLarge(keys));
            }
        }
        match self.initial_window {
            InitialWindow::Segments(n) => nonzero("initial_window", u64::from(n)),
            InitialWindow::Rfc2581 | InitialWindow::Rfc3390 | InitialWindow::Rfc6928 => Ok(()),
        }
    }

    fn validate_timers(&self) -> Result<(), ConfigError> {
        match self.timer_grain {
            TimerGrain::Continuous => {}
            TimerGrain::Ticks { period, phase } => tick("timer_grain", period, phase)?,
        }
        match self.acking {
            Acking::EverySegment => {}
            Acking::Delayed { every, delay } | Acking::DelayedBytes { every, delay } => {
                nonzero("acking", u64::from(every))?;
                nonzero("acking", delay.as_ps())?;
            }
            Acking::FreeTick { every, period, phase }
            | Acking::FreeTickBytes { every, period, phase }
            | Acking::QuickStart { young: _, every, period, phase } => {
                nonzero("acking", u64::from(every))?;
                tick("acking", period, phase)?;
            }
            Acking::Adaptive(bounds) => {
                nonzero("acking", bounds.min.as_ps())?;
                if bounds.min > bounds.max {
                    return Err(ConfigError::AckBounds);
                }
            }
        }
        if let Some(probing) = self.keep_alive {
            nonzero("keep_alive", probing.idle.as_ps())?;
            nonzero("keep_alive", probing.interval.as_ps())?;
            nonzero("keep_alive", u64::from(probing.probes))?;
        }
        match self.user_timeout {
            Some(timeout) => nonzero("user_timeout", timeout.as_ps()),
            None => Ok(()),
        }
    }
}

impl Layout {
    fn validate(self) -> Result<(), ConfigError> {
        let numbers = match self {
            Self::Document { nak, offer, upper, scale } => {
                let kinds = [nak, offer, upper, scale];
                // End of list, no-operation, MSS, window scale, SACK-permitted, SACK, timestamps; Fast Open; accurate ECN.
                if let Some(taken) = kinds.into_iter().find(|kind| matches!(kind, 0..=5 | 8 | 34 | 172 | 174))
                {
                    return Err(ConfigError::StandardKind(taken));
                }
                kinds.map(u16::from)
            }
            Self::Shared { kind, nak, offer, upper, scale, .. } => {
                if !matches!(kind, 253 | 254) {
                    return Err(ConfigError::SharedKind(kind));
                }
                [nak, offer, upper, scale]
            }
        };
        let twice = numbers.iter().enumerate().find(|(at, number)| numbers[..*at].contains(number));
        match twice {
            Some((_, number)) => Err(ConfigError::SameNumber(*number)),
            None => Ok(()),
        }
    }
}

impl rto::Kind {
    /// Checks the parameters of an estimator.
    pub fn validate(self) -> Result<(), ConfigError> {
        match self {
            Self::Rfc793 { alpha, beta, min, max, initial } => {
                factor("alpha", alpha < Factor::ONE)?;
                factor("beta", beta > Factor::ZERO)?;
                bounds(min, max, initial)
            }
            Self::Rfc889 { f1, f2, g, min, max, initial } => {
                factor("f1", f1 < Factor::ONE)?;
                factor("f2", f2 < Factor::ONE)?;
                factor("g", g > Factor::ZERO)?;
                bounds(min, max, initial)
            }
            Self::Jacobson88 { tick, min_ticks, max_ticks } | Self::Tahoe { tick, min_ticks, max_ticks } => {
                nonzero("rto", tick.as_ps())?;
                nonzero("rto", u64::from(max_ticks))?;
                if min_ticks > max_ticks { Err(ConfigError::RtoBounds) } else { Ok(()) }
            }
            Self::Rfc6298 { min, max, initial, granularity: _ } | Self::Linux { min, max, initial } => {
                bounds(min, max, initial)
            }
            Self::Fixed { rto } => nonzero("rto", rto.as_ps()),
        }
    }
}

fn nonzero(key: &'static str, value: u64) -> Result<(), ConfigError> {
    if value == 0 { Err(ConfigError::Zero(key)) } else { Ok(()) }
}

fn tick(key: &'static str, period: Span, phase: Span) -> Result<(), ConfigError> {
    nonzero(key, period.as_ps())?;
    if phase < period { Ok(()) } else { Err(ConfigError::Phase(key)) }
}

fn factor(name: &'static str, holds: bool) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::RtoFactor(name)) }
}

/// A bound of zero means "none".
fn bounds(min: Span, max: Span, initial: Span) -> Result<(), ConfigError> {
    nonzero("rto", initial.as_ps())?;
    if max != Span::ZERO && min > max { Err(ConfigError::RtoBounds) } else { Ok(()) }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
