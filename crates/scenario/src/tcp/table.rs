//! The `tcp` tables: single choices over a profile.

use super::setting::Setting;
use crate::own::{Algorithms, Choice};
use crate::tcp::acking::Acking;
use crate::tcp::choices::{
    Congestion, Cutting, CwndCounts, DupAcksBesideNaks, EcnUse, FastOpenUse, GivesUp, Grows, HyStart,
    LossMeans, MssCounts, OldSegments, PathMtuDiscovery, PrrRule, ReceiveMemory, ReceiverCongestion,
    Recovery, Reduces, SendMemory, StateMachine, SynOptions, Transmit, UnsentAcked, Unstamped, WindowGrowth,
    WindowOption, WindowProbe, WithoutSack,
};
use crate::tcp::parametric::{CarefulResume, Counting, KeepAlive, OptionLayout, Rto};
use crate::values::form::Named;
use crate::values::quantity::{Cap, Duration, Grain, InitialCwnd, Rate, Size, TimeLimit, Window};
use crate::values::suggest;
use netspurt_sim::host::own::OwnTcp;
use netspurt_tcp::config::{self, Config, EcnUse as EcnChoice};
use netspurt_tcp::{congestion, profile, rto, transmit};
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

/// Declares [`TcpTable`]: each key with its type in the file and its field of [`Config`]. From this one row follow the key's
/// schema and help, what a nearer place takes over, and the way into a configuration and back ([`Setting`]).
macro_rules! tcp_table {
    ($(#[$doc:meta])* pub struct $table:ident {
        $($(#[$key_doc:meta])* $key:ident: $type:ty $(=> $($field:ident).+)?,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $table {
            $(
                $(#[$key_doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
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

            /// Puts every key that is named into `config`, in the order of their declaration.
            fn put(&self, config: &mut Config) -> Result<(), TcpError> {
                $($(
                    if let Some(value) = &self.$key {
                        let (key, mss) = (stringify!($key), config.mss);
                        value
                            .put(&mut config.$($field).+, key, mss)
                            .map_err(|message| TcpError { keys: [key; 2], message })?;
                    }
                )?)+
                Ok(())
            }
        }

        impl From<&Config> for $table {
            /// Every key that has a field.
            fn from(config: &Config) -> Self {
                Self { $($key: tcp_table!(@of config $($($field).+)?),)+ }
            }
        }
    };
    (@of $config:ident) => { None };
    (@of $config:ident $($field:ident).+) => { Setting::of(&$config.$($field).+) };
}

tcp_table! {
    /// Choices about TCP. Every key may stand globally, on a host and on a flow; each is taken from the nearest place that
    /// names it (flow, then host, then global), `profile` like any other; what no place names comes from the profile.
    pub struct TcpTable {
        /// The profile: default values for all other keys. Default: "rfc".
        profile: ProfileName,
        // The sizes below may be in segments of it, so it comes first.
        /// The largest segment that is sent, and the MSS that is announced to the peer.
        ///
        /// Document: RFC 9293, section 3.7.1.
        mss: Size => mss,
        /// The bytes that `mss` includes.
        mss_counts: MssCounts => mss_counts,
        /// Receive buffer: the largest window offered, below 2^30 bytes. Without a window option no more than 65,535 bytes of
        /// it are announced.
        ///
        /// Document: RFC 7323, section 2.3.
        receive_window: Window => receive_window,
        /// The receive window grows from this size to `receive_window` as the application reads. If only `receive_window` is
        /// given, the window has this size from the beginning, as with SO_RCVBUF.
        ///
        /// Document: Linux, tcp_grow_window() and tcp_rcv_space_adjust(); "Dynamic Right-Sizing", 2001.
        initial_receive_window: Window => initial_receive_window,
        /// What a receive buffer counts that adapts to the reader.
        receive_memory: ReceiveMemory => receive_memory,
        /// The largest amount of unacknowledged data, whatever window the peer announces.
        send_window: Cap => send_window,
        /// Send buffer: data written and not yet acknowledged.
        send_buffer: Window => send_buffer,
        /// The send buffer grows from this size to `send_buffer` with cwnd. If only `send_buffer` is given, the buffer has this
        /// size from the beginning, as with SO_SNDBUF.
        ///
        /// Document: Linux, tcp_sndbuf_expand().
        initial_send_buffer: Window => initial_send_buffer,
        /// What a send buffer counts.
        send_memory: SendMemory => send_memory,
        /// Round both buffers up to whole segments, once their size is known.
        ///
        /// Document: 4.4BSD, tcp_mss().
        round_buffers: bool => round_buffers,
        /// How the open receive window is announced.
        window_growth: WindowGrowth => window_growth,
        /// Congestion control by the receiver, with the announced window.
        ///
        /// Document: RFC 9840.
        receiver_congestion: ReceiverCongestion => receiver_congestion,
        /// When data is cut into segments.
        segments_cut: Cutting => cutting,
        /// Segments of at most half of the largest window that the peer has announced, as long as that is small.
        ///
        /// Document: Linux, tcp_bound_to_half_wnd().
        half_window_segments: bool => half_window_segments,
        /// How a closed window is probed.
        window_probe: WindowProbe => window_probe,
        /// Use the window in whole segments only.
        whole_segments: bool => whole_segments,
        /// What happens to a segment without the negotiated timestamp.
        segment_without_timestamp: Unstamped => unstamped,
        /// The response to an acknowledgment of unsent data.
        ack_of_unsent: UnsentAcked => unsent_acked,
        /// Which old segments pass the first checks, and which are reported.
        old_segments: OldSegments => old_segments,
        /// How a connection ends that has waited too long for an acknowledgment.
        give_up: GivesUp => gives_up,
        /// The rules for arriving segments where systems differ.
        state_machine: StateMachine => state_machine,
        /// Data on a SYN, once the client has a cookie of the server.
        ///
        /// Document: RFC 7413.
        fast_open: FastOpenUse => fast_open,
        /// How the path MTU is found.
        path_mtu_discovery: PathMtuDiscovery => path_mtu_discovery,
        /// The MSS at the start of path MTU probing, and after a black hole is detected.
        ///
        /// Document: RFC 4821, section 7.2; Linux, tcp_base_mss.
        base_mss: Size => base_mss,
        /// How windows above 65,535 bytes are announced.
        window_option: WindowOption => window_option,
        /// The options on a SYN.
        syn_options: SynOptions => syn_options,
        /// How experimental options look on the wire.
        option_layout: Named<OptionLayout> => layout,
        /// Offer timestamps.
        ///
        /// Document: RFC 7323, section 3.
        timestamps: bool => timestamps,
        /// Offer and send SACK, with D-SACK.
        ///
        /// Document: RFC 2018; RFC 2883.
        sack: bool => sack,
        /// Loss recovery, in addition to the retransmission timer.
        recovery: Recovery => recovery,
        /// Duplicate ACKs that start a fast retransmit.
        ///
        /// Document: RFC 5681, section 3.2.
        #[schemars(range(min = 1))]
        dup_ack_threshold: u8 => dup_ack_threshold,
        /// Whether a sender that processes NAKs also counts duplicate ACKs.
        dup_acks_beside_naks: DupAcksBesideNaks => dup_acks_beside_naks,
        /// New data on the first two duplicate ACKs.
        ///
        /// Document: RFC 3042.
        limited_transmit: bool => limited_transmit,
        /// The recovery of "rack" on a connection without SACK.
        without_sack: WithoutSack => without_sack,
        /// With recovery "rack": the tick of the reordering timer, which then expires two ticks late; "0 s": the timer is
        /// exact.
        ///
        /// Document: RFC 8985, section 6.2; Linux, TCP_TIMEOUT_MIN.
        reordering_tick: Duration => reordering_tick,
        /// With tail_loss_probe: the RTO counts in whole ticks where a probe must not leave later than the timeout; "0 s": the
        /// times are compared exactly.
        ///
        /// Document: Linux, __tcp_set_rto(), tcp_schedule_loss_probe().
        rto_tick: Duration => rto_tick,
        /// With recovery "rack": if no ACK arrives for two round trips, one segment is sent as a probe before the
        /// retransmission timer expires.
        ///
        /// Document: RFC 8985, section 7.
        tail_loss_probe: bool => tail_loss_probe,
        /// With recovery "rack": the window decreases to its target gradually, with each ACK.
        ///
        /// Document: RFC 9937; RFC 6937.
        prr: bool => prr,
        /// How `prr` computes the window.
        prr_rule: PrrRule => prr_rule,
        /// With recovery "rack": a spurious recovery or timeout is undone.
        ///
        /// Document: RFC 3522; RFC 3708; RFC 5682.
        undo: bool => undo,
        /// Explicit congestion notification.
        ecn: EcnUse => ecn,
        /// The interpretation of a loss.
        loss_means: LossMeans => loss_means,
        /// The congestion control algorithm.
        congestion: Choice<Congestion> => congestion,
        /// Segments after the first ten are sent one by one at a rate, instead of in bursts. Congestion control sets the rate.
        /// Otherwise it is two windows per RTT while cwnd is below half of ssthresh, and 1.2 windows above. Linux paces only
        /// with BBR or with the packet scheduler fq.
        ///
        /// Document: Linux, tcp_output.c and tcp_update_pacing_rate().
        pacing: bool => pacing,
        /// With pacing and push_bursts: what a host hands over together leaves at once, and the next segment waits for the time of
        /// all of it. That is what the rate permits in a millisecond, more on a short path, and at least two segments (with BBR
        /// from 1.2 Mbit/s on).
        ///
        /// Document: Linux, tcp_tso_autosize(), bbr_min_tso_segs() and tcp_update_skb_after_send().
        paced_bursts: bool => paced_bursts,
        /// Several segments are passed at once to an interface that splits them (TSO). A burst of less than a third of the
        /// window waits for the next ACK, if that is expected soon.
        ///
        /// Document: Linux, tcp_tso_should_defer() and tcp_tso_autosize().
        segmentation_offload: bool => segmentation_offload,
        /// The last segment of a burst carries PSH: of two or more segments of new data that a host hands over together. A
        /// receiver with `acking = { kind = "adaptive", counts = "acks" }` acknowledges such a segment when it is read. The end
        /// of a write carries no PSH if another write follows before it is sent.
        ///
        /// Document: Linux, __tcp_transmit_skb() and tcp_sendmsg_locked().
        push_bursts: bool => push_bursts,
        /// A short segment waits while an interface of this rate sends earlier segments; "0 bit/s": it does not wait.
        ///
        /// Document: Linux, tcp_should_autocork().
        autocork: Rate => autocork,
        /// The end of slow start without a loss.
        hystart: HyStart => hystart,
        /// Whether the connection starts with the capacity that an earlier one has found.
        careful_resume: Named<CarefulResume> => careful_resume,
        /// A mark reduces cwnd less than a loss: to 0.8 ("reno", "newreno") or 0.85 ("cubic") of the data in flight.
        ///
        /// Document: RFC 8511.
        abe: bool => abe,
        /// The base of the reduction of cwnd.
        reduces: Reduces => reduces,
        /// What cwnd counts: many small writes fill a cwnd that counts packets sooner.
        cwnd_counts: CwndCounts => cwnd_counts,
        /// cwnd at the start.
        initial_window: InitialCwnd => initial_window,
        /// ssthresh at the start.
        ///
        /// Document: RFC 5681, section 3.1.
        initial_ssthresh: Cap => initial_ssthresh,
        /// The growth of cwnd for an ACK.
        counting: Named<Counting> => growth.counting,
        /// Segments by which cwnd opens for each counted segment in slow start: 1 or 2.
        ///
        /// Document: RFC 1106, section 4.2.
        #[schemars(range(min = 1, max = 2))]
        slow_start_per_ack: u8 => growth.slow_start_per_ack,
        /// Which ACKs open cwnd.
        cwnd_grows: Grows => growth.grows,
        /// Restart from the initial window after an idle time of one RTO.
        ///
        /// Document: RFC 5681, section 4.1.
        idle_restart: bool => idle_restart,
        /// The estimator of the retransmission timeout.
        rto: Choice<Named<Rto>> => rto,
        /// The tick of the retransmission timer and of the clock that measures RTTs. The time of the first tick is drawn for
        /// each host.
        timer_grain: Grain => timer_grain,
        /// When received data is acknowledged.
        acking: Named<Acking> => acking,
        /// When a short segment is sent.
        transmit: Choice<Transmit> => transmit,
        /// Probes of an idle connection.
        keep_alive: Named<KeepAlive> => keep_alive,
        /// How long data may stay unacknowledged before the connection is aborted.
        ///
        /// Document: RFC 9293, section 3.8.3.
        user_timeout: TimeLimit => user_timeout,
        /// Retransmissions of a SYN before giving up.
        ///
        /// Document: RFC 9293, section 3.8.3.
        syn_retries: u8 => syn_retries,
        /// Retransmissions of a SYN-ACK before a half-open connection is given up.
        ///
        /// Document: Linux, tcp_synack_retries.
        syn_ack_retries: u8 => syn_ack_retries,
        /// Further retransmissions of a client's SYN before the others, without backoff.
        ///
        /// Document: Linux, tcp_syn_linear_timeouts.
        syn_linear_timeouts: u8 => syn_linear_timeouts,
        /// Retransmissions of data before giving up: R2.
        ///
        /// Document: RFC 9293, section 3.8.3.
        retries: u8 => retries,
        /// How long TIME-WAIT lasts: 2·MSL.
        ///
        /// Document: RFC 9293, section 3.4.2.
        time_wait: Duration => time_wait,
        /// TIME-WAIT ignores resets.
        ///
        /// Document: RFC 1337, section 3, F1; Linux, tcp_rfc1337.
        rfc1337: bool => rfc1337,
        /// A reset anywhere in the receive window ends the connection. Without it only one at the next expected number does.
        ///
        /// Document: RFC 793, section 3.4; FreeBSD, net.inet.tcp.insecure_rst. RFC 5961, section 3.2, forbids it.
        insecure_rst: bool => insecure_rst,
        /// Challenge ACKs per second.
        ///
        /// Document: RFC 5961, section 7.
        challenge_acks_per_second: u32 => challenge_acks_per_second,
        /// Least time between two ACKs that answer invalid segments without data, and SYNs; "0 s": no limit.
        ///
        /// Document: Linux, tcp_invalid_ratelimit.
        invalid_ratelimit: Duration => invalid_ratelimit,
    }
}

/// A key that no place names and that another choice sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Implied {
    pub(crate) key: &'static str,
    /// Its value, as a file would write it.
    pub(crate) value: &'static str,
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
        self.put(&mut config)?;
        self.switch_on(&mut config);
        // Who names a size means it, as with SO_RCVBUF and SO_SNDBUF.
        if self.receive_window.is_some() && self.initial_receive_window.is_none() {
            config.initial_receive_window = None;
        }
        // rLEDBAT moves the window below the size that is named.
        if config.receiver_congestion == config::ReceiverCongestion::Rledbat
            && config.initial_receive_window.is_none()
        {
            config.initial_receive_window = Some(config.receive_window);
        }
        if self.send_buffer.is_some() && self.initial_send_buffer.is_none() {
            config.initial_send_buffer = None;
        }
        check_buffers(&config)?;
        config.validate().map_err(|error| TcpError { keys: error.keys(), message: error.to_string() })?;
        Ok(config)
    }

    /// Switches on what the congestion control requires, if no key names it. Returns what was switched on. A key in the file
    /// has priority; `Config::validate` refuses a contradiction.
    fn switch_on(&self, config: &mut Config) -> Vec<Implied> {
        let mut implied = Vec::new();
        if config.congestion.needs_pacing().is_some() && !config.pacing && self.pacing.is_none() {
            config.pacing = true;
            implied.push(Implied { key: "pacing", value: "true" });
        }
        if config.careful_resume.is_some() && !config.pacing && self.pacing.is_none() {
            config.pacing = true;
            implied.push(Implied { key: "pacing", value: "true" });
        }
        let counts = matches!(config.ecn, EcnChoice::Rfc9768 | EcnChoice::AcceptRfc9768);
        if config.congestion == congestion::Kind::Prague && !counts && self.ecn.is_none() {
            config.ecn = EcnChoice::Rfc9768;
            implied.push(Implied { key: "ecn", value: "\"rfc9768\"" });
        }
        if config.congestion == congestion::Kind::Dctcp && !config.ecn.asks() && self.ecn.is_none() {
            config.ecn = EcnUse::Rfc3168.into();
            implied.push(Implied { key: "ecn", value: "\"rfc3168\"" });
        }
        let by_receiver = config.receiver_congestion == config::ReceiverCongestion::Rledbat;
        if by_receiver && !config.timestamps && self.timestamps.is_none() {
            config.timestamps = true;
            implied.push(Implied { key: "timestamps", value: "true" });
        }
        implied
    }

    /// What the congestion control switches on by itself.
    pub(crate) fn implied(&self) -> Vec<Implied> {
        let name = self.profile.map_or(profile::DEFAULT, ProfileName::as_str);
        let Some(profile) = profile::by_name(name) else { return Vec::new() };
        let mut config = profile.config.clone();
        if self.put(&mut config).is_err() {
            return Vec::new();
        }
        self.switch_on(&mut config)
    }

    /// The user's own algorithms among the choices. The error names the key.
    pub(crate) fn own(&self, given: &dyn Algorithms) -> Result<OwnTcp, String> {
        Ok(OwnTcp {
            congestion: find("congestion", self.congestion.as_ref(), |name| given.congestion(name))?,
            rto: find("rto", self.rto.as_ref(), |name| given.rto(name))?,
            transmit: find("transmit", self.transmit.as_ref(), |name| given.transmit(name))?,
        })
    }
}

/// TCP works with a buffer below one segment, but that is hardly what the author of the file means.
fn check_buffers(config: &Config) -> Result<(), TcpError> {
    let mss = config.mss;
    let buffers = [("receive_window", u64::from(config.receive_window)), ("send_buffer", config.send_buffer)];
    match buffers.into_iter().find(|(_, bytes)| *bytes < u64::from(mss)) {
        None => Ok(()),
        Some((key, bytes)) => Err(TcpError {
            keys: [key, "mss"],
            message: format!("a {key} of {bytes} bytes does not hold one segment of {mss} bytes"),
        }),
    }
}

impl Setting<congestion::Kind> for Choice<Congestion> {
    /// With a user-defined algorithm, the requirements of the profile's algorithm do not apply.
    fn put(&self, place: &mut congestion::Kind, _key: &str, _mss: u16) -> Result<(), String> {
        *place = self.built_in().map_or(congestion::Kind::Reno, Into::into);
        Ok(())
    }
    fn of(place: &congestion::Kind) -> Option<Self> {
        Some(Self::BuiltIn((*place).into()))
    }
}

/// A user-defined choice replaces that of the profile, which stays in the configuration unused.
macro_rules! own_or_profile {
    ($($choice:ty => $place:ty),+) => {
        $(impl Setting<$place> for Choice<$choice> {
            fn put(&self, place: &mut $place, key: &str, mss: u16) -> Result<(), String> {
                self.built_in().map_or(Ok(()), |choice| choice.put(place, key, mss))
            }
            fn of(place: &$place) -> Option<Self> {
                Setting::of(place).map(Self::BuiltIn)
            }
        })+
    };
}

own_or_profile!(Named<Rto> => rto::Kind, Transmit => transmit::Transmit);

/// What a choice names, if it is the user's own.
fn find<T: Clone, A>(
    key: &str,
    choice: Option<&Choice<T>>,
    given: impl Fn(&str) -> Result<A, String>,
) -> Result<Option<A>, String> {
    let own = choice.and_then(Choice::own);
    own.map(given).transpose().map_err(|message| format!("tcp.{key}: {message}"))
}
