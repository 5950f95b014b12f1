//! TCP_INFO: the statistics of a connection as Linux's `struct tcp_info` (include/uapi/linux/tcp.h).

use crate::socket::{Ended, Role};
use crate::stack::Stack;
use netspurt_tcp::config::StateMachine;
use netspurt_tcp::event::Phase;
use netspurt_tcp::fast_open::SynData;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, Info, Segments};
use nix::errno::Errno;
use std::os::fd::RawFd;

/// TCP_INFINITE_SSTHRESH.
const INFINITE: u32 = 0x7FFF_FFFF;
/// Size of the struct, with zeros for the fields that later kernels have added at its end.
const SIZE: usize = 288;
/// tcp_max_reordering.
const MAX_REORDERING: u32 = 300;
/// TCPI_OPT_TIMESTAMPS, TCPI_OPT_SACK, TCPI_OPT_WSCALE, TCPI_OPT_ECN, TCPI_OPT_ECN_SEEN, TCPI_OPT_SYN_DATA.
const OPTIONS: [u8; 6] = [1, 2, 4, 8, 16, 32];

/// The bytes of a C struct, to which fields are appended.
struct Fields(Vec<u8>);

impl Fields {
    fn bytes(&mut self, fields: &[u8]) {
        self.0.extend_from_slice(fields);
    }
    /// Attempts to send what the queue of the interface refuses count as window probes (`icsk_probes_out`).
    fn set_probes(&mut self, attempts: u8) {
        self.0[3] = self.0[3].max(attempts);
    }
    fn words(&mut self, fields: &[u32]) {
        fields.iter().for_each(|field| self.0.extend(field.to_ne_bytes()));
    }
    fn longs(&mut self, fields: &[u64]) {
        fields.iter().for_each(|field| self.0.extend(field.to_ne_bytes()));
    }
}

const fn micros(span: Span) -> u32 {
    (span.as_ps() / 1_000_000) as u32
}

/// The kernel's number of a state (include/net/tcp_states.h). In TIME-WAIT, the socket of Linux is closed: a small one takes
/// its place (`tcp_time_wait()`).
fn state_number(state: State, rules: StateMachine) -> u8 {
    match state {
        State::TimeWait if rules != StateMachine::Freebsd => 7,
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

/// TCP_CA_Open, _Disorder, _CWR, _Recovery, _Loss. Duplicate ACKs that report nothing leave Linux in TCP_CA_Open.
fn phase_number(info: &Info) -> u8 {
    match info.phase {
        Phase::Recovery => 3,
        Phase::TimeoutRecovery => 4,
        _ if info.reduces_for_mark => 2,
        _ if info.sacked > 0 || info.lost > 0 => 1,
        _ => 0,
    }
}

impl Stack {
    /// The bytes of the struct.
    pub(crate) fn info(&self, fd: RawFd) -> Result<Vec<u8>, Errno> {
        let socket = self.socket(fd)?;
        let mut fields = Fields(Vec::with_capacity(SIZE));
        match socket.stream() {
            Some(stream) => {
                let idle = (self.now - socket.last_data).as_ps() / 1_000_000_000;
                let ended = socket.ended.as_deref();
                write(&mut fields, (stream, ended), self.now, idle as u32, socket.ecn_seen);
                fields.set_probes(socket.refusal.attempts);
            }
            None => {
                let listens = matches!(socket.role, Role::Listening { .. });
                let state = if listens { State::Listen } else { State::Closed };
                fields.bytes(&[state_number(state, self.settings.config.state_machine)]);
            }
        }
        fields.0.resize(SIZE, 0);
        Ok(fields.0)
    }
}

/// Appends the fields. Those without a counterpart here are zero.
///
/// `ended`: the connection before a reset has ended it. Linux keeps the state of its recovery.
fn write(
    fields: &mut Fields,
    (stream, ended): (&Connection, Option<&Ended>),
    now: Time,
    idle_ms: u32,
    ecn_seen: bool,
) {
    let (stats, mss) = (stream.stats(), stream.segment_payload().max(1));
    let info = ended.map_or_else(|| stream.info(), |ended| Info { backoff: 0, ..ended.info });
    let known = ended.map_or_else(|| stream.segments(), |ended| ended.segments);
    let segments = |bytes: u64| bytes.div_ceil(u64::from(mss)) as u32;
    let syn_data = syn_data_acknowledged(stream);
    let used =
        [info.timestamps, info.sack, info.own_shift > 0, info.ecn, info.ecn_seen || ecn_seen, syn_data];
    let options = OPTIONS.iter().zip(used).map(|(bit, on)| bit * u8::from(on)).sum();
    let shifts = info.peer_shift | info.own_shift << 4;
    let outstanding = outstanding(stream, &info, known, mss);
    let rules = stream.config().state_machine;
    // Without outstanding data the timer has sent window probes.
    let is_probing = outstanding.unacknowledged == 0
        && (info.unanswered > 0 || info.probes_window)
        && stream.state().is_synchronized();
    let (retransmits, probes) = if is_probing { (0, info.unanswered) } else { (info.unanswered, 0) };
    // Probes back off beside the timeout (`tcp_send_probe0()`). What retransmissions have doubled stays until an RTT sample.
    let timeout = micros(stream.rto()) >> if is_probing { info.backoff_of_probes } else { 0 };
    // Linux is in LAST-ACK before the FIN leaves (`tcp_close_state()`).
    let closes = stream.state() == State::CloseWait && stream.is_closing() && rules != StateMachine::Freebsd;
    let state = if closes { State::LastAck } else { stream.state() };
    fields.bytes(&[state_number(state, rules), phase_number(&info), retransmits, probes]);
    fields.bytes(&[info.backoff, options, shifts, 0]);
    fields.words(&[timeout, 40_000, mss, 536]);
    // Linux counts a lost segment in `lost_out` until it is acknowledged, even after its retransmission, or until an undo.
    let lost = outstanding.lost + outstanding.resent.saturating_sub(outstanding.spared);
    fields.words(&[outstanding.unacknowledged, outstanding.sacked, lost, outstanding.resent, 0]);
    fields.words(&[0, 0, idle_ms, 0]);
    let ssthresh = stream.ssthresh();
    let ssthresh = if ssthresh == u32::MAX { INFINITE } else { ssthresh / mss };
    let srtt = stream.srtt().map_or(0, micros);
    // In a recovery, `snd_cwnd` is the window of PRR, at least one segment.
    let cwnd = info.recovery_window.map_or(stream.cwnd() / mss, |window| segments(window).max(1));
    fields.words(&[1500, 65_535, srtt, info.rtt_deviation.map_or(0, micros), ssthresh, cwnd]);
    let by_reports = segments(info.reordering_extent).clamp(3, MAX_REORDERING);
    let reordering = info.dup_acks_needed.map_or(by_reports, |needed| needed as u32);
    fields.words(&[u32::from(stream.config().mss), reordering, 0, 0, stats.retransmitted]);
    fields.longs(&[0, 0, stream.acknowledged(), stream.received()]);
    fields.words(&[stats.segments_sent as u32, stats.segments_received as u32]);
    fields.words(&[stream.unsent() as u32, info.min_rtt.map_or(0, micros), 0, 0]);
    let limits = stream.limits(now).unwrap_or_default();
    let (window, buffer) = (u64::from(micros(limits.receive_window)), u64::from(micros(limits.send_buffer)));
    // tcpi_delivery_rate, then the times; Linux's busy time includes the limited times.
    fields.longs(&[0, u64::from(micros(limits.busy)) + window + buffer, window, buffer]);
    // Linux counts a SYN as one packet, with or without data (`tcp_rcv_synsent_state_process()`).
    let with_syn = stream.fast_open().map_or(0, |outcome| outcome.accepted);
    let delivered = u32::from(stream.state().is_synchronized()) + segments(stream.acknowledged() - with_syn);
    fields.words(&[delivered, 0]);
    fields.longs(&[stream.written() - stream.unsent(), 0]);
    fields.words(&[0, info.reorderings, 0, stream.peer_window()]);
}

/// The counts of outstanding segments. Those of the connection know short ones; otherwise all count as full.
fn outstanding(stream: &Connection, info: &Info, known: Option<Segments>, mss: u32) -> Segments {
    let segments = |bytes: u64| bytes.div_ceil(u64::from(mss)) as u32;
    let mut counts = Segments {
        unacknowledged: segments(info.unacknowledged),
        sacked: segments(info.sacked),
        lost: segments(info.lost),
        resent: segments(info.resent.saturating_sub(info.probed)),
        spared: 0,
    };
    if let Some(known) = known.filter(|known| known.unacknowledged > 0) {
        // Without SACK, duplicate ACKs tell how many have arrived.
        let sacked = if info.sack { known.sacked } else { counts.sacked };
        // The bytes also know data of a SYN that was sent again.
        let resent = known.resent.max(counts.resent);
        counts = Segments { sacked, resent, ..known };
    }
    if stream.state() == State::Closed {
        // The end of a connection frees what is not acknowledged (`tcp_write_queue_purge()`).
        counts.unacknowledged = 0;
    }
    counts
}

/// Whether the peer has acknowledged all data of the SYN (TCPI_OPT_SYN_DATA).
fn syn_data_acknowledged(stream: &Connection) -> bool {
    stream.fast_open().is_some_and(|outcome| outcome.data == SynData::Accepted)
}
