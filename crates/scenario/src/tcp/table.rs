//! The `tcp` tables: single choices over a profile.

use crate::own::Algorithms;
use crate::own::Choice;
use crate::tcp::acking::Acking;
use crate::tcp::choices::{
    Congestion, Cutting, DupAcksBesideNaks, EcnUse, FastOpenUse, Grows, HyStart, LossMeans, MssCounts,
    PathMtuDiscovery, Recovery, Reduces, SynOptions, Transmit, UnsentAcked, Unstamped, WindowGrowth,
    WindowOption, WindowProbe,
};
use crate::tcp::parametric::{Counting, KeepAlive, OptionLayout, Rto};
use crate::values::form::Named;
use crate::values::quantity::{Cap, Duration, Grain, InitialCwnd, Patience, Quantity, Rate, Size, Window};
use crate::values::suggest;
use netspurt_sim::host::own::OwnTcp;
use netspurt_tcp::config::{self, Config, TimerGrain};
use netspurt_tcp::congestion;
use netspurt_tcp::profile;
use netspurt_tcp::time::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The name of a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ProfileName(&'static str);

impl ProfileName {
    /// The name of a built-in profile, if it is one.
    pub fn new(name: &str) -> Option<Self> {
        profile::by_name(name).map(|profile| Self(profile.name))
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl<'de> Deserialize<'de> for ProfileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = profile::profiles().iter().map(|profile| profile.name);
        Self::new(&name).ok_or_else(|| {
            serde::de::Error::custom(format!("unknown name {name:?}: {}", suggest::among(&name, known)))
        })
    }
}

impl JsonSchema for ProfileName {
    fn schema_name() -> Cow<'static, str> {
        "ProfileName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = profile::profiles()
            .iter()
            .map(|profile| {
                json_schema!({
                    "type": "string",
                    "const": profile.name,
                    "description": format!("{}.\n\nDocument: {}.", profile.summary, profile.document),
                })
            })
            .collect();
        json_schema!({ "description": "The name of a profile.", "oneOf": names })
    }
}

/// Declares [`TcpTable`] with `overlay`, so that no key is forgotten there.
macro_rules! tcp_table {
    ($(#[$doc:meta])* pub struct $table:ident { $($(#[$key_doc:meta])* $key:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $table {
            $(
                $(#[$key_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )+
        }

        impl $table {
            /// Takes over every key that `nearer` names.
            pub fn overlay(&mut self, nearer: &Self) {
                $(
                    if nearer.$key.is_some() {
                        self.$key.clone_from(&nearer.$key);
                    }
                )+
            }

            /// Whether no key is named.
            pub fn is_empty(&self) -> bool {
                $(self.$key.is_none())&&+
            }
        }
    };
}

tcp_table! {
    /// Choices about TCP. Every key may stand globally, on a host and on a flow; each is taken from the nearest place that
    /// names it (flow, then host, then global), `profile` like any other; what no place names comes from the profile.
    pub struct TcpTable {
        /// The bundle of choices that fills what is not said here. Default: "rfc".
        profile: ProfileName,
        /// Largest segment that is sent, and announced to be ready to receive.
        ///
        /// Document: RFC 9293, section 3.7.1.
        mss: Size,
        /// What `mss` counts.
        mss_counts: MssCounts,
        /// Receive buffer: the largest window offered, below 2^30 bytes. Without a window option no more than 65,535 bytes of
        /// it are announced.
        ///
        /// Document: RFC 7323, section 2.3.
        receive_window: Window,
        /// The receive window grows from this size to `receive_window` as the application reads. Where only `receive_window` is
        /// given, all of it is there from the beginning, as with SO_RCVBUF.
        ///
        /// Document: Linux, tcp_grow_window() and tcp_rcv_space_adjust(); "Dynamic Right-Sizing", 2001.
        initial_receive_window: Window,
        /// Cap on unacknowledged data, whatever the peer offers.
        send_window: Cap,
        /// Send buffer: data written and not yet acknowledged.
        send_buffer: Window,
        /// The send buffer grows from this size to `send_buffer` with cwnd. Where only `send_buffer` is given, all of it is there
        /// from the beginning, as with SO_SNDBUF.
        ///
        /// Document: Linux, tcp_sndbuf_expand().
        initial_send_buffer: Window,
        /// Round both buffers up to whole segments, once their size is known.
        ///
        /// Document: 4.4BSD, tcp_mss().
        round_buffers: bool,
        /// How an open receive window is told to the peer.
        window_growth: WindowGrowth,
        /// When data is cut into segments.
        segments_cut: Cutting,
        /// What asks whether a closed window has opened.
        window_probe: WindowProbe,
        /// Use the window in whole segments only.
        whole_segments: bool,
        /// What becomes of a segment without the timestamp agreed on.
        segment_without_timestamp: Unstamped,
        /// What answers an acknowledgment of what was never sent.
        ack_of_unsent: UnsentAcked,
        /// Data may leave with a SYN, once a cookie is known.
        ///
        /// Document: RFC 7413.
        fast_open: FastOpenUse,
        /// How the largest packet is found that a path takes.
        path_mtu_discovery: PathMtuDiscovery,
        /// The MSS that probes for the path MTU begin with, and to which segments shrink where packets vanish.
        ///
        /// Document: RFC 4821, section 7.2; Linux, tcp_base_mss.
        base_mss: Size,
        /// How windows above 65,535 bytes are announced.
        window_option: WindowOption,
        /// What stands on a SYN.
        syn_options: SynOptions,
        /// How experimental options look on the wire.
        option_layout: Named<OptionLayout>,
        /// Offer timestamps.
        ///
        /// Document: RFC 7323, section 3.
        timestamps: bool,
        /// Offer and send SACK, with D-SACK.
        ///
        /// Document: RFC 2018; RFC 2883.
        sack: bool,
        /// What is resent, beside the retransmission timer.
        recovery: Recovery,
        /// Duplicate ACKs that start a fast retransmit.
        ///
        /// Document: RFC 5681, section 3.2.
        #[schemars(range(min = 1))]
        dup_ack_threshold: u8,
        /// Whether a sender that listens to NAKs counts duplicate ACKs as well.
        dup_acks_beside_naks: DupAcksBesideNaks,
        /// New data on the first two duplicate ACKs.
        ///
        /// Document: RFC 3042.
        limited_transmit: bool,
        /// With recovery "rack": grain of the reordering timer, which then waits two ticks more than it must; "0 s": it is exact.
        ///
        /// Document: RFC 8985, section 6.2; Linux, TCP_TIMEOUT_MIN.
        reordering_tick: Duration,
        /// With recovery "rack": when nothing comes back for two round trips, one segment asks before the retransmission timer
        /// does.
        ///
        /// Document: RFC 8985, section 7.
        tail_loss_probe: bool,
        /// With recovery "rack": the window falls to its target with the clock of the ACKs.
        ///
        /// Document: RFC 6937.
        prr: bool,
        /// With recovery "rack": a recovery or timeout that turns out a mistake is undone.
        ///
        /// Document: RFC 3522; RFC 3708; RFC 5682.
        undo: bool,
        /// Explicit congestion notification.
        ecn: EcnUse,
        /// What a loss is taken for.
        loss_means: LossMeans,
        /// The congestion control algorithm.
        congestion: Choice<Congestion>,
        /// Segments leave one by one at a rate instead of in bursts, but for the first ten: at the rate that congestion control
        /// asks for; else at two windows in a round trip below half of ssthresh and 1.2 windows above. Linux leaves it off unless
        /// BBR or the packet scheduler fq asks for it.
        ///
        /// Document: Linux, tcp_output.c and tcp_update_pacing_rate().
        pacing: bool,
        /// Segments are handed over several at once, to an interface that cuts them up: where the next ACK is near, what little
        /// may leave waits for it, unless it is a third of the window.
        ///
        /// Document: Linux, tcp_tso_should_defer() and tcp_tso_autosize().
        segmentation_offload: bool,
        /// With a rate: what is short waits while an interface of that rate is busy with what left before; "0 bit/s": it does
        /// not wait.
        ///
        /// Document: Linux, tcp_should_autocork().
        autocork: Rate,
        /// When slow start is left without a loss.
        hystart: HyStart,
        /// What cwnd falls from.
        reduces: Reduces,
        /// cwnd at the start.
        initial_window: InitialCwnd,
        /// ssthresh at the start.
        ///
        /// Document: RFC 5681, section 3.1.
        initial_ssthresh: Cap,
        /// What an ACK counts for when cwnd grows.
        counting: Named<Counting>,
        /// Segments by which cwnd opens for each counted segment in slow start: 1 or 2.
        ///
        /// Document: RFC 1106, section 4.2.
        #[schemars(range(min = 1, max = 2))]
        slow_start_per_ack: u8,
        /// Which ACKs open cwnd.
        cwnd_grows: Grows,
        /// Restart from the initial window after an idle time of one RTO.
        ///
        /// Document: RFC 5681, section 4.1.
        idle_restart: bool,
        /// The estimator of the retransmission timeout.
        rto: Choice<Named<Rto>>,
        /// The grain of the retransmission timer and of the round-trip clock. Where the first tick falls is drawn for each
        /// host.
        timer_grain: Grain,
        /// When received data is acknowledged.
        acking: Named<Acking>,
        /// When a segment that is not full leaves.
        transmit: Choice<Transmit>,
        /// Probes of an idle connection.
        keep_alive: Named<KeepAlive>,
        /// How long data may stay unacknowledged before the connection is given up.
        ///
        /// Document: RFC 9293, section 3.8.3.
        user_timeout: Patience,
        /// Retransmissions of a SYN before giving up.
        ///
        /// Document: RFC 9293, section 3.8.3.
        syn_retries: u8,
        /// Retransmissions of data before giving up: R2.
        ///
        /// Document: RFC 9293, section 3.8.3.
        retries: u8,
        /// How long TIME-WAIT lasts: 2·MSL.
        ///
        /// Document: RFC 9293, section 3.4.2.
        time_wait: Duration,
        /// Challenge ACKs per second.
        ///
        /// Document: RFC 5961, section 7.
        challenge_acks_per_second: u32,
    }
}

/// What is wrong with the choices of one connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpError {
    /// The keys at fault; the same one twice if it is only one.
    pub keys: [&'static str; 2],
    /// One sentence.
    pub message: String,
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TcpError {}

impl TcpTable {
    /// The configuration that these choices make, checked.
    pub fn config(&self) -> Result<Config, TcpError> {
        let name = self.profile.map_or(profile::DEFAULT, ProfileName::as_str);
        let Some(profile) = profile::by_name(name) else {
            return Err(TcpError { keys: ["profile"; 2], message: format!("there is no profile {name:?}") });
        };
        let mut config = profile.config.clone();
        self.set_windows(&mut config)?;
        self.set_growth(&mut config);
        self.set_reliability(&mut config);
        self.set_timers(&mut config);
        config.validate().map_err(|error| TcpError { keys: error.keys(), message: error.to_string() })?;
        Ok(config)
    }

    /// Beyond 32 bits a window saturates, for [`Config::validate`] to refuse.
    fn set_windows(&self, config: &mut Config) -> Result<(), TcpError> {
        if let Some(mss) = self.mss {
            config.mss = u16::try_from(mss.0).map_err(|_| TcpError {
                keys: ["mss"; 2],
                message: format!("an MSS of {} does not fit into 16 bits", mss.print()),
            })?;
        }
        if let Some(mss) = self.base_mss {
            config.base_mss = u16::try_from(mss.0).map_err(|_| TcpError {
                keys: ["base_mss"; 2],
                message: format!("a base_mss of {} does not fit into 16 bits", mss.print()),
            })?;
        }
        let mss = config.mss;
        let narrow = |window: Window| u32::try_from(window.bytes(mss)).unwrap_or(u32::MAX);
        set(&mut config.mss_counts, self.mss_counts);
        set(&mut config.receive_window, self.receive_window.map(narrow));
        // Who names a size means it, as with SO_RCVBUF and SO_SNDBUF.
        if self.receive_window.is_some() || self.initial_receive_window.is_some() {
            config.initial_receive_window = self.initial_receive_window.map(narrow);
        }
        if self.send_buffer.is_some() || self.initial_send_buffer.is_some() {
            config.initial_send_buffer = self.initial_send_buffer.map(|buffer| buffer.bytes(mss));
        }
        if let Some(cap) = self.send_window {
            config.send_window = match cap {
                Cap::Infinite => None,
                Cap::At(window) => Some(narrow(window)),
            };
        }
        set(&mut config.send_buffer, self.send_buffer.map(|buffer| buffer.bytes(mss)));
        set(&mut config.round_buffers, self.round_buffers);
        set(&mut config.window_growth, self.window_growth);
        set(&mut config.cutting, self.segments_cut);
        set(&mut config.window_probe, self.window_probe);
        set(&mut config.whole_segments, self.whole_segments);
        set(&mut config.unstamped, self.segment_without_timestamp);
        set(&mut config.unsent_acked, self.ack_of_unsent);
        set(&mut config.fast_open, self.fast_open);
        set(&mut config.path_mtu_discovery, self.path_mtu_discovery);
        set(&mut config.window_option, self.window_option);
        set(&mut config.syn_options, self.syn_options);
        set(&mut config.layout, self.option_layout.map(|layout| layout.0));
        if let Some(cap) = self.initial_ssthresh {
            config.initial_ssthresh = match cap {
                Cap::Infinite => u32::MAX,
                Cap::At(window) => narrow(window),
            };
        }
        let buffers =
            [("receive_window", u64::from(config.receive_window)), ("send_buffer", config.send_buffer)];
        // TCP can live with it, but who writes it hardly means it.
        match buffers.into_iter().find(|(_, bytes)| *bytes < u64::from(mss)) {
            None => Ok(()),
            Some((key, bytes)) => Err(TcpError {
                keys: [key, "mss"],
                message: format!("a {key} of {bytes} bytes does not hold one segment of {mss} bytes"),
            }),
        }
    }

    /// The user's own algorithms among the choices. The error names the key.
    pub(crate) fn own(&self, given: &dyn Algorithms) -> Result<OwnTcp, String> {
        Ok(OwnTcp {
            congestion: find("congestion", self.congestion.as_ref(), |name| given.congestion(name))?,
            rto: find("rto", self.rto.as_ref(), |name| given.rto(name))?,
            transmit: find("transmit", self.transmit.as_ref(), |name| given.transmit(name))?,
        })
    }

    fn set_growth(&self, config: &mut Config) {
        if let Some(choice) = &self.congestion {
            // Beside the user's own nothing shall ask for what the profile's needs.
            config.congestion = choice.built_in().map_or(congestion::Kind::Reno, Into::into);
        }
        set(&mut config.pacing, self.pacing);
        set(&mut config.loss_means, self.loss_means);
        if let Some(window) = self.initial_window {
            config.initial_window = match window {
                InitialCwnd::Segments(n) => config::InitialWindow::Segments(n),
                InitialCwnd::Rfc2581 => config::InitialWindow::Rfc2581,
                InitialCwnd::Rfc3390 => config::InitialWindow::Rfc3390,
                InitialCwnd::Rfc6928 => config::InitialWindow::Rfc6928,
            };
        }
        set(&mut config.growth.counting, self.counting.map(|counting| counting.0));
        set(&mut config.growth.slow_start_per_ack, self.slow_start_per_ack);
        set(&mut config.growth.grows, self.cwnd_grows);
        set(&mut config.idle_restart, self.idle_restart);
    }

    fn set_reliability(&self, config: &mut Config) {
        set(&mut config.timestamps, self.timestamps);
        set(&mut config.sack, self.sack);
        set(&mut config.recovery, self.recovery);
        set(&mut config.dup_ack_threshold, self.dup_ack_threshold);
        set(&mut config.dup_acks_beside_naks, self.dup_acks_beside_naks);
        set(&mut config.limited_transmit, self.limited_transmit);
        set(&mut config.reordering_tick, self.reordering_tick.map(|span| span.0));
        set(&mut config.tail_loss_probe, self.tail_loss_probe);
        set(&mut config.prr, self.prr);
        set(&mut config.undo, self.undo);
        set(&mut config.segmentation_offload, self.segmentation_offload);
        set(&mut config.autocork, self.autocork.map(|rate| rate.0));
        set(&mut config.hystart, self.hystart);
        set(&mut config.reduces, self.reduces);
        set(&mut config.ecn, self.ecn);
        set(&mut config.syn_retries, self.syn_retries);
        set(&mut config.retries, self.retries);
        set(&mut config.challenge_acks_per_second, self.challenge_acks_per_second);
    }

    fn set_timers(&self, config: &mut Config) {
        set(&mut config.rto, built_in(self.rto.as_ref()).map(|rto| rto.0));
        if let Some(grain) = self.timer_grain {
            config.timer_grain = match grain {
                Grain::Continuous => TimerGrain::Continuous,
                Grain::Ticks(period) => TimerGrain::Ticks { period: period.0, phase: Span::ZERO },
            };
        }
        set(&mut config.acking, self.acking.map(|acking| acking.0));
        set(&mut config.transmit, built_in(self.transmit.as_ref()));
        set(&mut config.keep_alive, self.keep_alive.map(|probing| probing.0));
        if let Some(patience) = self.user_timeout {
            config.user_timeout = match patience {
                Patience::Forever => None,
                Patience::For(span) => Some(span.0),
            };
        }
        set(&mut config.time_wait, self.time_wait.map(|span| span.0));
    }
}

/// The user's own takes the place of what the profile has, which stays where nobody looks.
fn built_in<T: Clone>(choice: Option<&Choice<T>>) -> Option<T> {
    choice.and_then(Choice::built_in)
}

/// What a choice names, if it is the user's own.
fn find<T: Clone, A>(
    key: &str,
    choice: Option<&Choice<T>>,
    given: impl Fn(&str) -> Result<A, String>,
) -> Result<Option<A>, String> {
    let own = choice.and_then(Choice::own);
    own.map(given).transpose().map_err(|message| format!("tcp.{key}: {message}"))
}

fn set<T, U: Into<T>>(place: &mut T, value: Option<U>) {
    if let Some(value) = value {
        *place = value.into();
    }
}

impl From<&Config> for TcpTable {
    /// Every key but `profile`.
    fn from(config: &Config) -> Self {
        let bytes = |n: u32| Window::Bytes(u64::from(n));
        Self {
            profile: None,
            mss: Some(Size(u64::from(config.mss))),
            mss_counts: Some(config.mss_counts.into()),
            receive_window: Some(bytes(config.receive_window)),
            send_window: Some(config.send_window.map_or(Cap::Infinite, |cap| Cap::At(bytes(cap)))),
            initial_receive_window: config.initial_receive_window.map(bytes),
            send_buffer: Some(Window::Bytes(config.send_buffer)),
            initial_send_buffer: config.initial_send_buffer.map(Window::Bytes),
            round_buffers: Some(config.round_buffers),
            window_growth: Some(config.window_growth.into()),
            segments_cut: Some(config.cutting.into()),
            window_probe: Some(config.window_probe.into()),
            whole_segments: Some(config.whole_segments),
            segment_without_timestamp: Some(config.unstamped.into()),
            ack_of_unsent: Some(config.unsent_acked.into()),
            fast_open: Some(config.fast_open.into()),
            path_mtu_discovery: Some(config.path_mtu_discovery.into()),
            base_mss: Some(Size(u64::from(config.base_mss))),
            window_option: Some(config.window_option.into()),
            syn_options: Some(config.syn_options.into()),
            option_layout: Some(Named(config.layout.into())),
            timestamps: Some(config.timestamps),
            sack: Some(config.sack),
            recovery: Some(config.recovery.into()),
            dup_ack_threshold: Some(config.dup_ack_threshold),
            dup_acks_beside_naks: Some(config.dup_acks_beside_naks.into()),
            limited_transmit: Some(config.limited_transmit),
            reordering_tick: Some(Duration(config.reordering_tick)),
            tail_loss_probe: Some(config.tail_loss_probe),
            prr: Some(config.prr),
            undo: Some(config.undo),
            pacing: Some(config.pacing),
            segmentation_offload: Some(config.segmentation_offload),
            autocork: Some(Rate(config.autocork)),
            hystart: Some(config.hystart.into()),
            reduces: Some(config.reduces.into()),
            ecn: Some(config.ecn.into()),
            loss_means: Some(config.loss_means.into()),
            congestion: Some(Choice::BuiltIn(config.congestion.into())),
            initial_window: Some(match config.initial_window {
                config::InitialWindow::Segments(n) => InitialCwnd::Segments(n),
                config::InitialWindow::Rfc2581 => InitialCwnd::Rfc2581,
                config::InitialWindow::Rfc3390 => InitialCwnd::Rfc3390,
                config::InitialWindow::Rfc6928 => InitialCwnd::Rfc6928,
            }),
            initial_ssthresh: Some(match config.initial_ssthresh {
                u32::MAX => Cap::Infinite,
                n => Cap::At(bytes(n)),
            }),
            counting: Some(Named(config.growth.counting.into())),
            slow_start_per_ack: Some(config.growth.slow_start_per_ack),
            cwnd_grows: Some(config.growth.grows.into()),
            idle_restart: Some(config.idle_restart),
            rto: Some(Choice::BuiltIn(Named(config.rto.into()))),
            timer_grain: Some(match config.timer_grain {
                TimerGrain::Continuous => Grain::Continuous,
                TimerGrain::Ticks { period, phase: _ } => Grain::Ticks(Duration(period)),
            }),
            acking: Some(Named(config.acking.into())),
            transmit: Some(Choice::BuiltIn(config.transmit.into())),
            keep_alive: Some(Named(config.keep_alive.into())),
            user_timeout: Some(
                config.user_timeout.map_or(Patience::Forever, |span| Patience::For(Duration(span))),
            ),
            syn_retries: Some(config.syn_retries),
            retries: Some(config.retries),
            time_wait: Some(Duration(config.time_wait)),
            challenge_acks_per_second: Some(config.challenge_acks_per_second),
        }
    }
}
