//! Assigns replies to packets and classifies them. No I/O: messages and times are arguments.
//!
//! The sequence number, of 16 bits, identifies a packet; token and time in the reply confirm it. A packet is stored
//! until its number is reused, so that later duplicates and late replies are recognized, in bounded memory.

use super::clock::Moment;
use super::echo::{Echo, Quoted};
use super::plan::MOST_WAITING;
use super::row::{Event, Row, Stamped};
use netspurt_trace::Stamp;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The kernel's receive timestamp may be slightly before our time of sending.
const SLACK_NS: u64 = 1_000_000;

/// Packets and their results.
#[derive(Debug)]
pub(super) struct Ledger {
    token: u32,
    lost_after_ns: u64,
    /// The longest RTT of a reply.
    longest_ns: Option<u64>,
    /// By sequence number; as many as were ever used.
    packets: Vec<Packet>,
    next: u16,
    /// Sequence numbers in the order of sending; some may have a result already.
    queue: VecDeque<u16>,
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    host: usize,
    address: IpAddr,
    number: u64,
    length: u16,
    sent: Moment,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    Answered,
    /// Lost, or an ICMP error was received.
    GivenUp,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) host: usize,
    pub(super) address: IpAddr,
    pub(super) number: u64,
    pub(super) length: u16,
    pub(super) sent: Moment,
}

/// When a message was received: by the kernel, if it has a timestamp, and by this program.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveTime {
    pub(super) kernel: Option<Stamp>,
    pub(super) now: Moment,
}

/// Why a message is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Foreign {
    /// It is no reply to a packet of this prober.
    Stranger,
    /// It has our token, but other contents than the packet.
    Altered,
}

/// An ICMP error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IcmpError {
    /// The destination of the packet.
    pub(super) about: IpAddr,
    pub(super) quoted: Quoted,
    /// The sender of the error.
    pub(super) from: Option<IpAddr>,
    pub(super) icmp: (u8, u8),
    pub(super) event: Event,
}

/// After the last packet: the wait where nothing was ever answered, and the shortest wait otherwise.
const UNANSWERED_NS: u64 = 10_000_000_000;
const LEAST_NS: u64 = 1_000_000_000;

impl Ledger {
    /// Without packets. Packets carry `token`, and are lost after this number of nanoseconds.
    pub(super) const fn new(token: u32, lost_after_ns: u64) -> Self {
        Self {
            token,
            lost_after_ns,
            longest_ns: None,
            packets: Vec::new(),
            next: 0,
            queue: VecDeque::new(),
            waiting: 0,
        }
    }

    /// Waits no longer than two of the longest RTT, as ping does after its last packet; a second at least, and
    /// [`UNANSWERED_NS`] if nothing was ever answered.
    pub(super) fn hasten(&mut self) {
        let enough = self.longest_ns.map_or(UNANSWERED_NS, |rtt| rtt.saturating_mul(2).max(LEAST_NS));
        self.lost_after_ns = self.lost_after_ns.min(enough);
    }

    /// Number of packets without a result.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Adds a packet and returns its contents; `None` if too many are outstanding.
    pub(super) fn enter(&mut self, departure: &Departure, identifier: u16) -> Option<Echo> {
        let &Departure { host, address, number, length, sent } = departure;
        let packet = Packet { host, address, number, length, sent, state: State::Waiting };
        let sequence = self.next;
        match self.packets.get_mut(usize::from(sequence)) {
            Some(old) if old.state == State::Waiting => return None,
            Some(old) => *old = packet,
            None => self.packets.push(packet),
        }
        self.next = self.next.wrapping_add(1);
        self.queue.push_back(sequence);
        self.waiting += 1;
        debug_assert!(self.waiting as u64 <= MOST_WAITING);
        Some(Echo { identifier, sequence, token: self.token, sent: sent.wall })
    }

    /// The packet that was added last could not be sent.
    pub(super) fn not_sent(&mut self, sequence: u16, errno: i32) -> Option<Row> {
        let packet = self.packets.get_mut(usize::from(sequence))?;
        if packet.state != State::Waiting {
            return None;
        }
        packet.state = State::GivenUp;
        self.waiting -= 1;
        Some(Row { errno: Some(errno), ..packet.row(Event::SendFailed) })
    }

    /// Processes a reply in a packet of `length` bytes.
    pub(super) fn reply(
        &mut self,
        from: IpAddr,
        echo: &Echo,
        length: u32,
        received: ReceiveTime,
    ) -> Result<Row, Foreign> {
        if echo.token != self.token {
            return Err(Foreign::Stranger);
        }
        let packet = self.packets.get_mut(usize::from(echo.sequence)).ok_or(Foreign::Altered)?;
        if packet.sent.wall != echo.sent || packet.address != from || u32::from(packet.length) != length {
            return Err(Foreign::Altered);
        }
        let (rtt_ns, stamped) = round_trip(packet.sent, received);
        // The timeout may have passed unnoticed.
        let in_time = rtt_ns <= self.lost_after_ns;
        let event = match packet.state {
            State::Waiting if in_time => Event::Reply,
            State::Waiting | State::GivenUp => Event::Late,
            State::Answered => Event::Duplicate,
        };
        if event == Event::Reply {
            packet.state = State::Answered;
            self.waiting -= 1;
            self.longest_ns = self.longest_ns.max(Some(rtt_ns));
        }
        Ok(Row { rtt_ns: Some(rtt_ns), stamped: Some(stamped), ..packet.row(event) })
    }

    /// Processes an ICMP error. Repeated errors and those about packets with a result are ignored.
    pub(super) fn icmp_error(
        &mut self,
        icmp_error: &IcmpError,
        received: ReceiveTime,
    ) -> Result<Option<Row>, Foreign> {
        let &IcmpError { about, quoted, from, icmp, event } = icmp_error;
        if quoted.mark.is_some_and(|(token, _)| token != self.token) {
            return Err(Foreign::Stranger);
        }
        let packet = self.packets.get_mut(usize::from(quoted.sequence)).ok_or(Foreign::Stranger)?;
        let other_time = quoted.mark.is_some_and(|(_, sent)| sent != packet.sent.wall);
        if packet.address != about || other_time {
            return Err(Foreign::Altered);
        }
        if packet.state != State::Waiting {
            return Ok(None);
        }
        packet.state = State::GivenUp;
        self.waiting -= 1;
        let (rtt_ns, stamped) = round_trip(packet.sent, received);
        let from = from.filter(|&from| from != packet.address);
        let row = packet.row(event);
        Ok(Some(Row { rtt_ns: Some(rtt_ns), stamped: Some(stamped), from, icmp: Some(icmp), ..row }))
    }

    /// The next packet whose timeout has passed.
    pub(super) fn give_up(&mut self, now: u64) -> Option<Row> {
        let lost_at = self.deadline()?;
        if now < lost_at {
            return None;
        }
        let packet = &mut self.packets[usize::from(self.queue.pop_front()?)];
        packet.state = State::GivenUp;
        self.waiting -= 1;
        Some(packet.row(Event::Lost))
    }

    /// When the next timeout passes.
    pub(super) fn deadline(&mut self) -> Option<u64> {
        while let Some(&sequence) = self.queue.front() {
            let packet = &self.packets[usize::from(sequence)];
            if packet.state == State::Waiting {
                return Some(packet.sent.steady.saturating_add(self.lost_after_ns));
            }
            self.queue.pop_front();
        }
        None
    }
}

impl Packet {
    fn row(&self, event: Event) -> Row {
        let &Self { host, number, length, sent, .. } = self;
        Row {
            host,
            number,
            sent,
            length,
            event,
            rtt_ns: None,
            stamped: None,
            from: None,
            icmp: None,
            errno: None,
        }
    }
}

/// The RTT by the kernel's timestamp, which does not include our own delay. If it contradicts the monotonic clock,
/// because the calendar clock was set, the monotonic clock is used.
fn round_trip(sent: Moment, received: ReceiveTime) -> (u64, Stamped) {
    let most = received.now.steady.saturating_sub(sent.steady);
    let by_kernel = received.kernel.and_then(|at| (at.0 + SLACK_NS).checked_sub(sent.wall.0));
    match by_kernel {
        Some(slack) if slack <= most + 2 * SLACK_NS => (slack.saturating_sub(SLACK_NS), Stamped::Kernel),
        _ => (most, Stamped::Reader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_sim::random::Stream;

    const MS: u64 = 1_000_000;
    const TOKEN: u32 = 0xC0FF_EE00;
    const DAY: u64 = 1_700_000_000_000 * MS;

    fn host() -> IpAddr {
        "192.0.2.1".parse().unwrap()
    }

    fn router() -> IpAddr {
        "198.51.100.7".parse().unwrap()
    }

    /// The time `ms` milliseconds after the start, on both clocks.
    const fn moment(ms: u64) -> Moment {
        Moment { wall: Stamp(DAY + ms * MS), steady: ms * MS }
    }

    const fn received(ms: u64) -> ReceiveTime {
        ReceiveTime { kernel: Some(moment(ms).wall), now: moment(ms + 1) }
    }

    fn ledger() -> Ledger {
        Ledger::new(TOKEN, 30_000 * MS)
    }

    fn send(ledger: &mut Ledger, number: u64, at: u64) -> Echo {
        let departure = Departure { host: 0, address: host(), number, length: 40, sent: moment(at) };
        ledger.enter(&departure, 77).unwrap()
    }

    fn icmp_error(echo: &Echo, event: Event) -> IcmpError {
        let quoted = Quoted { identifier: 77, sequence: echo.sequence, mark: None };
        IcmpError { about: host(), quoted, from: Some(router()), icmp: (3, 1), event }
    }

    #[test]
    fn a_reply_has_the_rtt_by_the_kernels_timestamp() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 1000);
        assert_eq!(all.waiting(), 1);
        let row = all.reply(host(), &echo, 40, received(1023)).unwrap();
        assert_eq!(
            (row.event, row.rtt_ns, row.stamped),
            (Event::Reply, Some(23 * MS), Some(Stamped::Kernel))
        );
        assert_eq!((all.waiting(), all.deadline()), (0, None));
    }

    #[test]
    fn a_second_reply_is_a_duplicate_and_one_after_the_timeout_is_late() {
        let mut all = ledger();
        let (first, second) = (send(&mut all, 0, 0), send(&mut all, 1, 1));
        assert_eq!(all.reply(host(), &first, 40, received(5)).unwrap().event, Event::Reply);
        assert_eq!(all.reply(host(), &first, 40, received(6)).unwrap().event, Event::Duplicate);
        assert_eq!(all.deadline(), Some(30_001 * MS));
        assert_eq!(all.give_up(30_000 * MS), None);
        let lost = all.give_up(30_001 * MS).unwrap();
        assert_eq!((lost.event, lost.number, lost.rtt_ns), (Event::Lost, 1, None));
        assert_eq!((all.give_up(u64::MAX), all.waiting()), (None, 0));
        assert_eq!(all.reply(host(), &second, 40, received(40_000)).unwrap().event, Event::Late);
        assert_eq!(all.reply(host(), &second, 40, received(40_001)).unwrap().event, Event::Late);
    }

    #[test]
    fn after_the_last_packet_the_wait_is_two_of_the_longest_rtt() {
        let mut slow = ledger();
        for (number, rtt) in [(0, 900), (1, 700)] {
            let echo = send(&mut slow, number, 0);
            slow.reply(host(), &echo, 40, received(rtt)).unwrap();
        }
        send(&mut slow, 2, 5000);
        slow.hasten();
        assert_eq!(slow.deadline(), Some(6800 * MS));
        let mut near = ledger();
        let echo = send(&mut near, 0, 0);
        near.reply(host(), &echo, 40, received(3)).unwrap();
        send(&mut near, 1, 100);
        near.hasten();
        assert_eq!(near.deadline(), Some(1100 * MS));
        let mut silent = ledger();
        send(&mut silent, 0, 0);
        silent.hasten();
        assert_eq!(silent.deadline(), Some(10_000 * MS));
        let mut short = Ledger::new(TOKEN, 500 * MS);
        send(&mut short, 0, 0);
        short.hasten();
        assert_eq!(short.deadline(), Some(500 * MS));
    }

    #[test]
    fn a_late_reply_is_late_even_if_the_timeout_was_not_noticed() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        assert_eq!(all.reply(host(), &echo, 40, received(30_500)).unwrap().event, Event::Late);
        assert_eq!(all.give_up(30_501 * MS).map(|row| row.event), Some(Event::Lost));
    }

    #[test]
    fn an_icmp_error_ends_the_wait_and_has_its_sender() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        let unreachable = icmp_error(&echo, Event::Unreachable);
        let row = all.icmp_error(&unreachable, received(8)).unwrap().unwrap();
        assert_eq!((row.event, row.from, row.icmp), (Event::Unreachable, Some(router()), Some((3, 1))));
        assert_eq!((row.rtt_ns, all.waiting()), (Some(8 * MS), 0));
        assert_eq!(all.icmp_error(&unreachable, received(9)), Ok(None), "once is enough");
        assert_eq!(all.reply(host(), &echo, 40, received(9)).unwrap().event, Event::Late);
        assert_eq!(all.give_up(u64::MAX), None);
    }

    #[test]
    fn forged_and_altered_replies_are_ignored() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        let reply = |all: &mut Ledger, from, echo: &Echo, length| all.reply(from, echo, length, received(1));
        assert_eq!(reply(&mut all, host(), &Echo { token: 1, ..echo }, 40), Err(Foreign::Stranger));
        assert_eq!(reply(&mut all, host(), &Echo { sequence: 9, ..echo }, 40), Err(Foreign::Altered));
        assert_eq!(reply(&mut all, host(), &Echo { sent: Stamp(1), ..echo }, 40), Err(Foreign::Altered));
        assert_eq!(reply(&mut all, router(), &echo, 40), Err(Foreign::Altered));
        assert_eq!(reply(&mut all, host(), &echo, 41), Err(Foreign::Altered));
        let real = icmp_error(&echo, Event::Unreachable);
        let quoting = |mark| IcmpError { quoted: Quoted { mark, ..real.quoted }, ..real };
        assert_eq!(all.icmp_error(&quoting(Some((1, echo.sent))), received(1)), Err(Foreign::Stranger));
        assert_eq!(all.icmp_error(&quoting(Some((TOKEN, Stamp(1)))), received(1)), Err(Foreign::Altered));
        assert_eq!(
            all.icmp_error(&IcmpError { about: router(), ..real }, received(1)),
            Err(Foreign::Altered)
        );
        assert_eq!(all.waiting(), 1);
        assert_eq!(reply(&mut all, host(), &echo, 40).unwrap().event, Event::Reply);
    }

    #[test]
    fn setting_the_clock_does_not_change_the_rtt() {
        for kernel in
            [Some(Stamp(DAY - 5000 * MS)), Some(Stamp(DAY + 5000 * MS)), Some(Stamp(u64::MAX / 2)), None]
        {
            let mut all = ledger();
            let echo = send(&mut all, 0, 0);
            let row = all.reply(host(), &echo, 40, ReceiveTime { kernel, now: moment(20) }).unwrap();
            assert_eq!((row.rtt_ns, row.stamped), (Some(20 * MS), Some(Stamped::Reader)), "{kernel:?}");
        }
    }

    #[test]
    fn sequence_numbers_are_reused_but_not_while_outstanding() {
        let mut all = Ledger::new(TOKEN, u64::MAX);
        let first = send(&mut all, 0, 0);
        for number in 1..MOST_WAITING {
            let echo = send(&mut all, number, 0);
            all.reply(host(), &echo, 40, received(0)).unwrap();
        }
        let departure = Departure { host: 0, address: host(), number: 0, length: 40, sent: moment(2) };
        assert!(all.enter(&departure, 77).is_none(), "the first still waits");
        all.reply(host(), &first, 40, received(1)).unwrap();
        assert_eq!(all.enter(&departure, 77).map(|echo| echo.sequence), Some(0));
        assert_eq!(all.reply(host(), &first, 40, received(3)), Err(Foreign::Altered), "of the last round");
        assert_eq!(all.packets.len() as u64, MOST_WAITING);
    }

    #[test]
    fn a_packet_that_could_not_be_sent_has_its_result() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        let row = all.not_sent(echo.sequence, 101).unwrap();
        assert_eq!((row.event, row.errno, all.waiting()), (Event::SendFailed, Some(101), 0));
        assert_eq!(all.not_sent(echo.sequence, 101), None);
    }

    /// With any messages in any order, each packet gets exactly one result.
    #[test]
    fn every_packet_gets_one_result() {
        for seed in 0..300 {
            let mut random = Stream::new(seed, "ledger");
            let mut all = Ledger::new(TOKEN, 50 * MS);
            let mut echoes: Vec<Echo> = Vec::new();
            let mut fates = vec![0_u32; 400];
            let mut take = |row: Row| {
                if !matches!(row.event, Event::Duplicate | Event::Late) {
                    fates[row.number as usize] += 1;
                }
            };
            for at in 0..400 {
                echoes.push(send(&mut all, at, at));
                for _ in 0..random.below(4) {
                    let mut echo = echoes[random.below(echoes.len() as u64) as usize];
                    match random.below(8) {
                        0 => echo.sequence ^= random.bits() as u16,
                        1 => echo.sent.0 ^= random.bits(),
                        _ => {}
                    }
                    if random.below(3) == 0 {
                        let about = icmp_error(&echo, Event::TimeExceeded);
                        let row = all.icmp_error(&about, received(at)).ok().flatten();
                        row.into_iter().for_each(&mut take);
                    } else {
                        let _ = all.reply(host(), &echo, 40, received(at)).map(&mut take);
                    }
                }
                while let Some(row) = all.give_up(at * MS) {
                    take(row);
                }
            }
            while let Some(row) = all.give_up(u64::MAX) {
                take(row);
            }
            assert_eq!(all.waiting(), 0, "seed {seed}");
            assert!(fates.iter().all(|&count| count == 1), "seed {seed}: {fates:?}");
        }
    }
}
