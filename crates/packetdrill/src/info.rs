//! TCP_INFO: our statistics in the form of Linux's `struct tcp_info` (include/uapi/linux/tcp.h).

use crate::stack::Stack;
use netspurt_tcp::event::Phase;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, Info};
use nix::errno::Errno;
use std::os::fd::RawFd;

/// TCP_INFINITE_SSTHRESH.
const INFINITE: u32 = 0x7FFF_FFFF;
/// Room for what the kernel has added behind: zeros.
const SIZE: usize = 288;
/// tcp_max_reordering.
const MOST_REORDERING: u32 = 300;
/// TCPI_OPT_TIMESTAMPS, TCPI_OPT_SACK, TCPI_OPT_WSCALE, TCPI_OPT_SYN_DATA.
const OPTIONS: [u8; 4] = [1, 2, 4, 32];

/// The fields of a C struct, one behind the other.
struct Fields(Vec<u8>);

impl Fields {
    fn bytes(&mut self, fields: &[u8]) {
        self.0.extend_from_slice(fields);
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

/// The kernel's number of a state (include/net/tcp_states.h).
fn state_number(state: State) -> u8 {
    match state {
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

/// TCP_CA_Open, _Disorder, _Recovery, _Loss.
fn phase_number(info: &Info) -> u8 {
    match info.phase {
        Phase::Recovery => 3,
        Phase::TimeoutRecovery => 4,
        _ if info.sacked > 0 || info.dup_acks > 0 => 1,
        _ => 0,
    }
}

impl Stack {
    /// The bytes of the struct.
    pub(crate) fn info(&self, fd: RawFd) -> Result<Vec<u8>, Errno> {
        let socket = self.look(fd)?;
        let mut fields = Fields(Vec::with_capacity(SIZE));
        match socket.stream() {
            Some(stream) => {
                let silent = (self.now - socket.heard_data).as_ps() / 1_000_000_000;
                write(&mut fields, stream, self.now, silent as u32);
            }
            None => fields.bytes(&[0; SIZE]),
        }
        fields.0.resize(SIZE, 0);
        Ok(fields.0)
    }
}

/// What the struct asks and we do not know is zero.
fn write(fields: &mut Fields, stream: &Connection, now: Time, silent_ms: u32) {
    let (info, stats, mss) = (stream.info(), stream.stats(), stream.segment_payload().max(1));
    let segments = |bytes: u64| bytes.div_ceil(u64::from(mss)) as u32;
    let used = [info.timestamps, info.sack, info.own_shift > 0, crate::fast_open::syn_data_taken(stream)];
    let options = OPTIONS.iter().zip(used).map(|(bit, on)| bit * u8::from(on)).sum();
    let shifts = info.peer_shift | info.own_shift << 4;
    // Without SACK, duplicate ACKs stand for segments received (`tcp_add_reno_sack()`).
    let sacked = if info.sack { segments(info.sacked) } else { info.dup_acks };
    fields.bytes(&[state_number(stream.state()), phase_number(&info), info.unanswered, 0]);
    fields.bytes(&[info.backoff, options, shifts, 0]);
    fields.words(&[micros(stream.rto()), 40_000, mss, 536]);
    // What was lost stays so in `lost_out` until it arrives, though it was sent again.
    let lost = segments(info.lost + info.resent);
    fields.words(&[segments(info.unacknowledged), sacked, lost, segments(info.resent), 0]);
    fields.words(&[0, 0, silent_ms, 0]);
    let ssthresh = stream.ssthresh();
    let ssthresh = if ssthresh == u32::MAX { INFINITE } else { ssthresh / mss };
    let srtt = stream.srtt().map_or(0, micros);
    fields.words(&[1500, 65_535, srtt, srtt / 2, ssthresh, stream.cwnd() / mss]);
    let reordering = segments(info.reordering_extent).clamp(3, MOST_REORDERING);
    fields.words(&[u32::from(stream.config().mss), reordering, 0, 0, stats.retransmitted]);
    fields.longs(&[0, 0, stream.acknowledged(), stream.received()]);
    fields.words(&[stats.segments_sent as u32, stats.segments_received as u32]);
    fields.words(&[stream.unsent() as u32, info.min_rtt.map_or(0, micros), 0, 0]);
    let limits = stream.limits(now).unwrap_or_default();
    let (window, buffer) = (u64::from(micros(limits.receive_window)), u64::from(micros(limits.send_buffer)));
    // tcpi_delivery_rate; what was busy includes what was limited.
    fields.longs(&[0, u64::from(micros(limits.busy)) + window + buffer, window, buffer]);
    // A SYN counts as one, whatever it carried (`tcp_rcv_synsent_state_process()`).
    let with_syn = stream.fast_open().map_or(0, |outcome| outcome.accepted);
    let delivered = u32::from(stream.state().is_synchronized()) + segments(stream.acknowledged() - with_syn);
    fields.words(&[delivered, 0]);
    fields.longs(&[stream.written() - stream.unsent(), 0]);
    fields.words(&[0, info.reorderings, 0, stream.peer_window()]);
}
