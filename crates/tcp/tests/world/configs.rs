//! Random configurations: a profile, with random changes.

use super::dice::Dice;
use netspurt_tcp::acking::{Acking, Bounds, QuickCounts};
use netspurt_tcp::config::{
    Config, Counting, Cutting, CwndCounts, DupAcks, EcnUse, GivesUp, Grows, HyStart, InitialWindow,
    KeepAlive, LossMeans, MssCounts, OldSegments, PathMtuDiscovery, PrrRule, ReceiveMemory,
    ReceiverCongestion, Recovery, Reduces, SavedPath, SendMemory, StateMachine, SynOptions, TimerGrain,
    UnsentAcked, Unstamped, WindowGrowth, WindowOption, WindowProbe, WithoutSack,
};
use netspurt_tcp::congestion;
use netspurt_tcp::options::Layout;
use netspurt_tcp::profile;
use netspurt_tcp::rto;
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;

/// A random profile with random changes, valid.
pub(crate) fn config(dice: &mut Dice) -> Config {
    let all = profile::profiles();
    loop {
        let mut config = all[dice.below(all.len() as u64) as usize].config.clone();
        for _ in 0..dice.below(7) {
            change(&mut config, dice);
        }
        if config.validate().is_ok() {
            return config;
        }
    }
}

const TRANSMIT: [Transmit; 8] = [
    Transmit::NoDelay,
    Transmit::NagleStrict,
    Transmit::NagleLiberal,
    Transmit::Minshall,
    Transmit::Linux22,
    Transmit::Doupnik,
    Transmit::DoupnikLiberal,
    Transmit::Cork,
];

/// Every recovery.
pub(crate) const RECOVERIES: [Recovery; 7] = [
    Recovery::Timeout,
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
    Recovery::Rack,
    Recovery::Nak,
];

/// Takes this recovery, with the mechanisms that belong to it.
pub(crate) fn set_recovery(c: &mut Config, recovery: Recovery) {
    c.recovery = recovery;
    let by_time = recovery == Recovery::Rack;
    (c.tail_loss_probe, c.prr, c.undo) = (by_time, by_time, by_time);
    c.hystart = HyStart::Off;
}

/// One random change.
fn change(c: &mut Config, dice: &mut Dice) {
    let ms = Span::from_ms;
    match dice.below(40) {
        26 => c.syn_options = dice.pick(&[SynOptions::Announced, SynOptions::Assumed]),
        0 => c.mss = dice.pick(&[64, 100, 536, 1460, 9000]),
        1 => c.mss_counts = dice.pick(&[MssCounts::Data, MssCounts::DataAndOptions]),
        2 | 3 => c.receive_window = dice.pick(&[20, 70, 500, 3000, 20_000, 65_535, 65_536, 1 << 20]),
        4 => c.send_window = dice.pick(&[None, Some(20), Some(900), Some(5000), Some(1 << 20)]),
        5 => change_send_buffer(c, dice),
        6 => c.whole_segments = !c.whole_segments,
        7 | 8 => {
            c.window_option = dice.pick(&[
                WindowOption::None,
                WindowOption::Rfc7323,
                WindowOption::ScaleEverySegment,
                WindowOption::BigWindow,
            ]);
        }
        9 => c.layout = dice.pick(&[Layout::DOCUMENT, Layout::SHARED]),
        10 => c.timestamps = !c.timestamps,
        11 => c.sack = !c.sack,
        12 | 13 => {
            set_recovery(c, dice.pick(&RECOVERIES));
        }
        29 => c.tail_loss_probe = !c.tail_loss_probe,
        30 => c.prr = !c.prr,
        31 => {
            c.undo = !c.undo;
            c.without_sack = dice.pick(&[WithoutSack::NewReno, WithoutSack::Linux]);
            c.prr_rule = dice.pick(&[PrrRule::Rfc6937, PrrRule::Rfc9937, PrrRule::Linux]);
        }
        32 => c.hystart = dice.pick(&[HyStart::Off, HyStart::Linux, HyStart::Rfc9406, HyStart::Search]),
        35 => c.window_probe = dice.pick(&[WindowProbe::Byte, WindowProbe::Empty]),
        34 => c.reduces = dice.pick(&[Reduces::Flight, Reduces::Cwnd]),
        33 | 37 => change_path(c, dice),
        36 => {
            c.pacing = !c.pacing;
            c.abe = !c.abe;
            let saved = SavedPath { rtt: ms(40), cwnd: 1 << 18 };
            c.careful_resume = dice.pick(&[None, Some(saved)]);
        }
        38 | 39 => change_habits(c, dice),
        14 => c.dup_ack_threshold = dice.pick(&[1, 2, 3, 5, 255]),
        15 => c.dup_acks_beside_naks = dice.pick(&[DupAcks::Counted, DupAcks::Ignored]),
        16 => c.limited_transmit = !c.limited_transmit,
        17 => c.loss_means = dice.pick(&[LossMeans::Congestion, LossMeans::Noise]),
        18 => {
            c.congestion = dice.pick(&congestion::Kind::ALL);
            c.pacing |= c.congestion.needs_pacing().is_some();
            if c.congestion == congestion::Kind::Prague {
                c.ecn = EcnUse::Rfc9768;
            }
        }
        19 => {
            c.initial_window = dice.pick(&[
                InitialWindow::Segments(1),
                InitialWindow::Segments(40),
                InitialWindow::Rfc3390,
                InitialWindow::Rfc6928,
            ]);
        }
        20 => c.initial_ssthresh = dice.pick(&[1, 3000, 65_535, u32::MAX]),
        21 => {
            c.growth.counting =
                dice.pick(&[Counting::Acks, Counting::AcksByRfc5681, Counting::Bytes { limit: 2 }])
        }
        22 => {
            c.timer_grain =
                dice.pick(&[TimerGrain::Continuous, TimerGrain::Ticks { period: ms(500), phase: ms(123) }]);
        }
        23 => c.rto = dice.pick(&[rto::Kind::Fixed { rto: ms(300) }, rto::Kind::Fixed { rto: ms(3000) }]),
        24 | 27 | 28 => change_waiting(c, dice),
        _ => {
            c.growth.grows = dice.pick(&[Grows::Always, Grows::WhenLimiting, Grows::WhenUsed]);
            c.idle_restart = !c.idle_restart;
            c.growth.slow_start_per_ack = dice.pick(&[1, 2]);
            let probing = KeepAlive { idle: ms(2000), interval: ms(500), probes: 9 };
            c.keep_alive = dice.pick(&[None, Some(probing)]);
            c.user_timeout = dice.pick(&[None, Some(Span::from_secs(200))]);
        }
    }
}

fn change_send_buffer(c: &mut Config, dice: &mut Dice) {
    c.send_buffer = dice.pick(&[20, 200, 4000, 1 << 20]);
    if c.send_buffer == 4000 {
        c.send_memory = SendMemory::Linux;
    }
}

/// One random change of what one system does and others do not.
fn change_habits(c: &mut Config, dice: &mut Dice) {
    match dice.below(8) {
        7 => {
            c.rfc1337 = !c.rfc1337;
            c.state_machine = dice.pick(&[StateMachine::Rfc9293, StateMachine::Freebsd]);
        }
        0 => c.segmentation_offload = !c.segmentation_offload,
        6 => {
            c.push_bursts = !c.push_bursts;
            c.paced_bursts = dice.pick(&[false, true]);
            c.cwnd_counts = dice.pick(&[CwndCounts::Bytes, CwndCounts::Packets]);
        }
        1 => c.autocork = dice.pick(&[0, 1_000_000, 1_000_000_000]),
        2 => {
            c.initial_receive_window =
                dice.pick(&[None, Some(c.receive_window.min(20)), Some(c.receive_window)]);
            if c.receive_window >= 3000 {
                c.receive_memory = ReceiveMemory::Linux;
            }
            if c.timestamps && c.initial_receive_window.is_some() {
                c.receiver_congestion = dice.pick(&[ReceiverCongestion::Off, ReceiverCongestion::Rledbat]);
            }
        }
        3 => c.initial_send_buffer = dice.pick(&[None, Some(c.send_buffer.min(200)), Some(c.send_buffer)]),
        4 => {
            c.unstamped = dice.pick(&[Unstamped::Dropped, Unstamped::Accepted]);
            c.unsent_acked = dice.pick(&[UnsentAcked::Answered, UnsentAcked::Ignored]);
            c.gives_up = dice.pick(&[GivesUp::WithReset, GivesUp::Silently]);
            c.old_segments = dice.pick(&[OldSegments::Outside, OldSegments::Linux]);
        }
        _ => {
            c.reordering_tick = dice.pick(&[Span::ZERO, Span::from_ms(4)]);
            c.rto_tick = dice.pick(&[Span::ZERO, Span::from_ms(4)]);
        }
    }
}

/// One random change of what is learnt of the path.
fn change_path(c: &mut Config, dice: &mut Dice) {
    use EcnUse::{Accept, AcceptRfc9768, Off, Rfc3168, Rfc9768};
    use PathMtuDiscovery::{Icmp, Probe, ProbeAfterBlackHole};
    if dice.permille(500) {
        c.ecn = dice.pick(&[Off, Accept, Rfc3168, AcceptRfc9768, Rfc9768, Rfc9768]);
    } else {
        c.path_mtu_discovery = dice.pick(&[Icmp, ProbeAfterBlackHole, Probe]);
        c.base_mss = dice.pick(&[64, 100, 512, 1024]);
    }
}

/// One random change of what waits, and of how windows are used.
fn change_waiting(c: &mut Config, dice: &mut Dice) {
    let ms = Span::from_ms;
    match dice.below(3) {
        0 => {
            let counts = dice.pick(&[QuickCounts::Acks, QuickCounts::Segments]);
            let behind_gap = dice.pick(&[Span::ZERO, ms(1)]);
            c.acking = dice.pick(&[
                Acking::EverySegment,
                Acking::Delayed { every: 2, delay: ms(200) },
                Acking::Delayed { every: 200, delay: ms(500) },
                Acking::FreeTick { every: 3, period: ms(200), phase: ms(7) },
                Acking::DelayedBytes { every: 2, delay: ms(200) },
                Acking::FreeTickBytes { every: 2, period: ms(200), phase: ms(7) },
                Acking::QuickStart { young: 3000, every: 2, period: ms(100), phase: ms(7) },
                Acking::Adaptive(Bounds { min: ms(40), max: ms(200), quick: 16, counts, behind_gap }),
            ]);
        }
        1 => c.transmit = dice.pick(&TRANSMIT),
        _ => {
            c.round_buffers = !c.round_buffers;
            c.window_growth = dice.pick(&[WindowGrowth::InSteps, WindowGrowth::AtOnce]);
            c.cutting = dice.pick(&[Cutting::AtSend, Cutting::AtWrite]);
            c.half_window_segments = !c.half_window_segments;
        }
    }
}
