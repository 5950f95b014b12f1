//! Every refusal: its cause, its message, and a correct configuration.

use super::*;
use crate::config::KeepAlive;
use crate::config::profile;
use crate::config::{Cutting, EcnUse, PathMtuDiscovery, SavedPath, WithoutSack};
use crate::receive::acking::{Bounds, QuickCounts};

/// What an earlier connection has found.
const SAVED: SavedPath = SavedPath { rtt: Span::from_ms(100), cwnd: 100_000 };

/// The profile `rfc`, changed.
fn changed(change: impl FnOnce(&mut Config)) -> Result<(), ConfigError> {
    let mut config = profile::by_name("rfc").expect("a built-in profile").config.clone();
    change(&mut config);
    config.validate()
}

/// A change that is refused, the refusal, and the change that mends it.
struct Row {
    wrong: fn(&mut Config),
    error: ConfigError,
    mended: fn(&mut Config),
}

const fn row(wrong: fn(&mut Config), error: ConfigError, mended: fn(&mut Config)) -> Row {
    Row { wrong, error, mended }
}

const MS: Span = Span::from_ms(1);
const SECOND: Span = Span::from_secs(1);

/// Mechanisms that exclude each other, or need each other.
const BETWEEN_MECHANISMS: &[Row] = &[
    row(|c| c.recovery = Recovery::Nak, ConfigError::NakBesideSack, |c| c.sack = false),
    row(|c| c.sack = false, ConfigError::SackRecoveryWithoutSack, |c| c.recovery = Recovery::NewReno),
    row(|c| (c.recovery, c.sack) = (Recovery::Rack, false), ConfigError::RackWithoutSack, |c| c.sack = true),
    row(
        |c| (c.recovery, c.sack) = (Recovery::Rack, false),
        ConfigError::RackWithoutSack,
        |c| c.without_sack = WithoutSack::Linux,
    ),
    row(|c| c.prr = true, ConfigError::WithoutRack("prr"), |c| c.recovery = Recovery::Rack),
    row(
        |c| (c.path_mtu_discovery, c.cutting) = (PathMtuDiscovery::Probe, Cutting::AtWrite),
        ConfigError::ProbesOfCutData,
        |c| c.path_mtu_discovery = PathMtuDiscovery::Icmp,
    ),
    row(|c| c.undo = true, ConfigError::WithoutRack("undo"), |c| c.recovery = Recovery::Rack),
    row(
        |c| c.tail_loss_probe = true,
        ConfigError::WithoutRack("tail_loss_probe"),
        |c| c.recovery = Recovery::Rack,
    ),
    row(
        |c| (c.recovery, c.sack, c.prr) = (Recovery::Timeout, false, true),
        ConfigError::WithoutRack("prr"),
        |c| c.prr = false,
    ),
    row(
        |c| (c.recovery, c.sack, c.tail_loss_probe) = (Recovery::Nak, false, true),
        ConfigError::WithoutRack("tail_loss_probe"),
        |c| c.tail_loss_probe = false,
    ),
    row(
        |c| (c.congestion, c.ecn) = (congestion::Kind::Dctcp, EcnUse::Off),
        ConfigError::DctcpWithoutEcn,
        |c| c.ecn = EcnUse::Rfc3168,
    ),
    row(
        |c| (c.congestion, c.ecn) = (congestion::Kind::Dctcp, EcnUse::Accept),
        ConfigError::DctcpWithoutEcn,
        |c| c.congestion = congestion::Kind::Cubic,
    ),
    row(
        |c| (c.careful_resume, c.congestion, c.pacing) = (Some(SAVED), congestion::Kind::Tahoe, true),
        ConfigError::CannotResume,
        |c| c.congestion = congestion::Kind::Cubic,
    ),
    row(
        |c| (c.careful_resume, c.congestion) = (Some(SAVED), congestion::Kind::Cubic),
        ConfigError::ResumeWithoutPacing,
        |c| c.pacing = true,
    ),
    row(
        |c| (c.congestion, c.ecn, c.pacing) = (congestion::Kind::Prague, EcnUse::Rfc3168, true),
        ConfigError::PragueWithoutAccurateEcn,
        |c| c.ecn = EcnUse::Rfc9768,
    ),
    row(
        |c| (c.congestion, c.ecn) = (congestion::Kind::Prague, EcnUse::AcceptRfc9768),
        ConfigError::WithoutPacing("prague"),
        |c| c.pacing = true,
    ),
    row(|c| c.congestion = congestion::Kind::Bbr, ConfigError::WithoutPacing("bbr"), |c| c.pacing = true),
    row(
        |c| c.congestion = congestion::Kind::Bbr3,
        ConfigError::WithoutPacing("bbr3"),
        |c| c.congestion = congestion::Kind::Vegas,
    ),
    row(
        |c| (c.congestion, c.pacing) = (congestion::Kind::None, true),
        ConfigError::PacingWithoutWindow,
        |c| c.pacing = false,
    ),
    row(
        |c| (c.receiver_congestion, c.timestamps) = (ReceiverCongestion::Rledbat, false),
        ConfigError::RledbatWithoutTimestamps,
        |c| c.receiver_congestion = ReceiverCongestion::Off,
    ),
    row(
        |c| (c.receiver_congestion, c.timestamps) = (ReceiverCongestion::Rledbat, true),
        ConfigError::RledbatWithoutInitialWindow,
        |c| c.initial_receive_window = Some(c.receive_window),
    ),
];

/// Experimental options of this kind.
const fn shared(kind: u8) -> Layout {
    Layout::Shared { kind, nak: 1, offer: 2, upper: 3, scale: 4, bsd_order: false, pads_behind: false }
}

/// Values that no TCP can carry, or that mean nothing.
const VALUES: &[Row] = &[
    row(|c| c.base_mss = 40, ConfigError::BaseMss(40), |c| c.base_mss = 64),
    row(|c| c.mss = 0, ConfigError::Mss(0), |c| c.mss = SMALLEST_MSS),
    row(|c| c.mss = 65_496, ConfigError::Mss(65_496), |c| c.mss = LARGEST_MSS),
    row(
        |c| c.receive_window = WINDOW_LIMIT,
        ConfigError::WindowTooLarge("receive_window"),
        |c| c.receive_window = WINDOW_LIMIT - 1,
    ),
    row(
        |c| c.send_window = Some(u32::MAX),
        ConfigError::WindowTooLarge("send_window"),
        |c| c.send_window = Some(WINDOW_LIMIT - 1),
    ),
    row(|c| c.receive_window = 0, ConfigError::Zero("receive_window"), |c| c.receive_window = 1),
    row(|c| c.send_window = Some(0), ConfigError::Zero("send_window"), |c| c.send_window = None),
    row(|c| c.send_buffer = 0, ConfigError::Zero("send_buffer"), |c| c.send_buffer = 1),
    row(
        |c| c.initial_window = InitialWindow::Segments(0),
        ConfigError::Zero("initial_window"),
        |c| c.initial_window = InitialWindow::Segments(1),
    ),
    row(|c| c.dup_ack_threshold = 0, ConfigError::Zero("dup_ack_threshold"), |c| c.dup_ack_threshold = 1),
    row(
        |c| c.initial_receive_window = Some(c.receive_window + 1),
        ConfigError::InitialTooLarge(["initial_receive_window", "receive_window"]),
        |c| c.initial_receive_window = Some(c.receive_window),
    ),
    row(
        |c| c.initial_send_buffer = Some(c.send_buffer + 1),
        ConfigError::InitialTooLarge(["initial_send_buffer", "send_buffer"]),
        |c| c.initial_send_buffer = None,
    ),
    row(
        |c| c.growth.slow_start_per_ack = 3,
        ConfigError::SlowStartPerAck(3),
        |c| c.growth.slow_start_per_ack = 2,
    ),
    row(
        |c| c.growth.counting = Counting::Bytes { limit: 0 },
        ConfigError::Zero("counting"),
        |c| c.growth.counting = Counting::Bytes { limit: 1 },
    ),
    row(
        |c| c.timer_grain = TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::from_ms(500) },
        ConfigError::Phase("timer_grain"),
        |c| c.timer_grain = TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::from_ms(499) },
    ),
    row(
        |c| c.timer_grain = TimerGrain::Ticks { period: Span::ZERO, phase: Span::ZERO },
        ConfigError::Zero("timer_grain"),
        |c| c.timer_grain = TimerGrain::Continuous,
    ),
    row(
        |c| c.acking = Acking::Delayed { every: 0, delay: MS },
        ConfigError::Zero("acking"),
        |c| c.acking = Acking::Delayed { every: 1, delay: MS },
    ),
    row(
        |c| c.acking = Acking::FreeTick { every: 2, period: MS, phase: MS },
        ConfigError::Phase("acking"),
        |c| c.acking = Acking::FreeTick { every: 2, period: MS, phase: Span::ZERO },
    ),
    row(
        |c| {
            c.acking = Acking::Adaptive(Bounds {
                min: SECOND,
                max: MS,
                quick: 16,
                counts: QuickCounts::Acks,
                behind_gap: Span::ZERO,
            })
        },
        ConfigError::AckBounds,
        |c| {
            c.acking = Acking::Adaptive(Bounds {
                min: MS,
                max: SECOND,
                quick: 16,
                counts: QuickCounts::Acks,
                behind_gap: Span::ZERO,
            })
        },
    ),
    row(
        |c| c.keep_alive = Some(KeepAlive { idle: SECOND, interval: Span::ZERO, probes: 3 }),
        ConfigError::Zero("keep_alive"),
        |c| c.keep_alive = None,
    ),
    row(|c| c.user_timeout = Some(Span::ZERO), ConfigError::Zero("user_timeout"), |c| c.user_timeout = None),
    row(
        |c| c.rto = rto::Kind::Fixed { rto: Span::ZERO },
        ConfigError::Zero("rto"),
        |c| c.rto = rto::Kind::Fixed { rto: MS },
    ),
    row(
        |c| c.rto = rto::Kind::Linux { min: SECOND, max: MS, initial: SECOND },
        ConfigError::RtoBounds,
        |c| c.rto = rto::Kind::Linux { min: MS, max: SECOND, initial: SECOND },
    ),
    row(
        |c| {
            let (alpha, beta) = (Factor::ONE, Factor::ONE);
            c.rto = rto::Kind::Rfc793 { alpha, beta, min: MS, max: SECOND, initial: SECOND };
        },
        ConfigError::RtoFactor("alpha"),
        |c| {
            let (alpha, beta) = (Factor::ZERO, Factor::ONE);
            c.rto = rto::Kind::Rfc793 { alpha, beta, min: MS, max: SECOND, initial: SECOND };
        },
    ),
    row(
        |c| c.layout = Layout::Document { nak: 8, offer: 201, upper: 202, scale: 203 },
        ConfigError::StandardKind(8),
        |c| c.layout = Layout::Document { nak: 200, offer: 201, upper: 202, scale: 203 },
    ),
    row(
        |c| c.layout = Layout::Document { nak: 202, offer: 201, upper: 202, scale: 203 },
        ConfigError::SameNumber(202),
        |c| c.layout = Layout::DOCUMENT,
    ),
    row(|c| c.layout = shared(252), ConfigError::SharedKind(252), |c| c.layout = shared(254)),
];

/// The name of each. A new one must be added here, and to the tables above.
const fn name(error: &ConfigError) -> &'static str {
    match error {
        ConfigError::Mss(_) => "Mss",
        ConfigError::BaseMss(_) => "BaseMss",
        ConfigError::ProbesOfCutData => "ProbesOfCutData",
        ConfigError::WindowTooLarge(_) => "WindowTooLarge",
        ConfigError::Zero(_) => "Zero",
        ConfigError::NakBesideSack => "NakBesideSack",
        ConfigError::SackRecoveryWithoutSack => "SackRecoveryWithoutSack",
        ConfigError::RackWithoutSack => "RackWithoutSack",
        ConfigError::WithoutRack(_) => "WithoutRack",
        ConfigError::WithoutPacing(_) => "WithoutPacing",
        ConfigError::PacingWithoutWindow => "PacingWithoutWindow",
        ConfigError::InitialTooLarge(_) => "InitialTooLarge",
        ConfigError::SlowStartPerAck(_) => "SlowStartPerAck",
        ConfigError::DctcpWithoutEcn => "DctcpWithoutEcn",
        ConfigError::PragueWithoutAccurateEcn => "PragueWithoutAccurateEcn",
        ConfigError::CannotResume => "CannotResume",
        ConfigError::ResumeWithoutPacing => "ResumeWithoutPacing",
        ConfigError::RledbatWithoutTimestamps => "RledbatWithoutTimestamps",
        ConfigError::RledbatWithoutInitialWindow => "RledbatWithoutInitialWindow",
        ConfigError::SharedKind(_) => "SharedKind",
        ConfigError::StandardKind(_) => "StandardKind",
        ConfigError::SameNumber(_) => "SameNumber",
        ConfigError::Phase(_) => "Phase",
        ConfigError::RtoBounds => "RtoBounds",
        ConfigError::AckBounds => "AckBounds",
        ConfigError::RtoFactor(_) => "RtoFactor",
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    BETWEEN_MECHANISMS.iter().chain(VALUES)
}

#[test]
fn each_contradiction_is_rejected_and_its_correction_is_accepted() {
    for Row { wrong, error, mended } in rows() {
        assert_eq!(changed(wrong), Err(*error), "{error}");
        let both = changed(|config| {
            wrong(config);
            mended(config);
        });
        assert_eq!(both, Ok(()), "mended: {error}");
    }
}

#[test]
fn there_is_a_row_for_each_error() {
    let mut names: Vec<&str> = rows().map(|row| name(&row.error)).collect();
    names.sort_unstable();
    names.dedup();
    // As many as `name` has arms.
    assert_eq!(names.len(), 26, "{names:?}");
}

#[test]
fn an_error_is_one_sentence_that_names_its_keys() {
    for Row { error, .. } in rows() {
        let sentence = error.to_string();
        // The options' numbers are named instead of their table; the MSS is in capitals.
        let names = |key: &&str| sentence.contains(key) || ["mss", "option_layout"].contains(key);
        assert!(error.keys().iter().all(names), "{sentence}");
        assert!(!sentence.contains('\n') && !sentence.ends_with('.'), "{sentence}");
    }
}

#[test]
fn the_documentation_lists_each_contradiction_with_its_message() {
    let page = include_str!("../../../../docs/validation.md");
    for Row { error, .. } in BETWEEN_MECHANISMS {
        assert!(page.contains(&error.to_string()), "docs/validation.md lacks: {error}");
    }
}
