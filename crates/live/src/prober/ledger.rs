//! Which answer belongs to which packet, and what it is. No I/O: what arrived and when are arguments.
//!
//! A packet is known by its sequence number, which has 16 bits; that an answer is one to *this* packet is told by the token
//! and the time that it carries back. A packet is remembered until its number is used again, so that duplicates and late
//! answers are known for what they are long after, in bounded memory.

use super::clock::Moment;
use super::echo::{Echo, Quoted};
use super::plan::MOST_WAITING;
use super::row::{Event, Row, Stamped};
use netspurt_trace::Stamp;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The kernel's stamp may lie a little before the time at which we asked for the time of sending.
const SLACK_NS: u64 = 1_000_000;

/// Packets and what became of them.
#[derive(Debug)]
pub(super) struct Ledger {
    token: u32,
    lost_after_ns: u64,
    /// By sequence number; as many as were ever used.
    packets: Vec<Packet>,
    next: u16,
    /// Sequence numbers in the order of sending; some of them may be over.
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
    /// Lost, or complained about.
    GivenUp,
}

/// A packet about to leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) host: usize,
    pub(super) address: IpAddr,
    pub(super) number: u64,
    pub(super) length: u16,
    pub(super) sent: Moment,
}

/// When something was heard: by the kernel, if it said so, and by us.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) kernel: Option<Stamp>,
    pub(super) now: Moment,
}

/// Why a message was put aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Foreign {
    /// It answers nothing that we sent: another program's, or made up.
    Stranger,
    /// It has our token, but not what the packet of its number said.
    Altered,
}

/// What somebody complains about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Complaint {
    /// Where the packet was to go.
    pub(super) about: IpAddr,
    pub(super) quoted: Quoted,
    /// Who says so.
    pub(super) from: Option<IpAddr>,
    pub(super) icmp: (u8, u8),
    pub(super) event: Event,
}

impl Ledger {
    /// An empty one; its packets carry `token` and are lost after so many nanoseconds.
    pub(super) const fn new(token: u32, lost_after_ns: u64) -> Self {
        Self { token, lost_after_ns, packets: Vec::new(), next: 0, queue: VecDeque::new(), waiting: 0 }
    }

    /// How many packets wait for an answer.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Enters a packet; `None` if too many wait. Returns what it is to say.
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

    /// The packet that was entered last could not be sent.
    pub(super) fn not_sent(&mut self, sequence: u16, errno: i32) -> Option<Row> {
        let packet = self.packets.get_mut(usize::from(sequence))?;
        if packet.state != State::Waiting {
            return None;
        }
        packet.state = State::GivenUp;
        self.waiting -= 1;
        Some(Row { errno: Some(errno), ..packet.row(Event::SendFailed) })
    }

    /// An answer in a packet of `length` octets.
    pub(super) fn reply(
        &mut self,
        from: IpAddr,
        echo: &Echo,
        length: u32,
        heard: Heard,
    ) -> Result<Row, Foreign> {
        if echo.token != self.token {
            return Err(Foreign::Stranger);
        }
        let packet = self.packets.get_mut(usize::from(echo.sequence)).ok_or(Foreign::Altered)?;
        if packet.sent.wall != echo.sent || packet.address != from || u32::from(packet.length) != length {
            return Err(Foreign::Altered);
        }
        let (rtt_ns, stamped) = round_trip(packet.sent, heard);
        // Nobody may have looked at the clock since it ran out.
        let in_time = rtt_ns <= self.lost_after_ns;
        let event = match packet.state {
            State::Waiting if in_time => Event::Reply,
            State::Waiting | State::GivenUp => Event::Late,
            State::Answered => Event::Duplicate,
        };
        if event == Event::Reply {
            packet.state = State::Answered;
            self.waiting -= 1;
        }
        Ok(Row { rtt_ns: Some(rtt_ns), stamped: Some(stamped), ..packet.row(event) })
    }

    /// An ICMP error. The same complaint twice, or one about a packet that is over, is none.
    pub(super) fn complaint(&mut self, complaint: &Complaint, heard: Heard) -> Result<Option<Row>, Foreign> {
        let &Complaint { about, quoted, from, icmp, event } = complaint;
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
        let (rtt_ns, stamped) = round_trip(packet.sent, heard);
        let from = from.filter(|&from| from != packet.address);
        let row = packet.row(event);
        Ok(Some(Row { rtt_ns: Some(rtt_ns), stamped: Some(stamped), from, icmp: Some(icmp), ..row }))
    }

    /// The next packet that has waited too long by now.
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

    /// When the next packet will have waited too long.
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

/// The round-trip time by the kernel's stamp, which does not wait for us; but where that contradicts the clock that never
/// steps (the calendar was set meanwhile), by that clock.
fn round_trip(sent: Moment, heard: Heard) -> (u64, Stamped) {
    let most = heard.now.steady.saturating_sub(sent.steady);
    let by_kernel = heard.kernel.and_then(|at| (at.0 + SLACK_NS).checked_sub(sent.wall.0));
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

    /// So many milliseconds after the start, on both clocks.
    const fn moment(ms: u64) -> Moment {
        Moment { wall: Stamp(DAY + ms * MS), steady: ms * MS }
    }

    const fn heard(ms: u64) -> Heard {
        Heard { kernel: Some(moment(ms).wall), now: moment(ms + 1) }
    }

    fn ledger() -> Ledger {
        Ledger::new(TOKEN, 30_000 * MS)
    }

    fn send(ledger: &mut Ledger, number: u64, at: u64) -> Echo {
        let departure = Departure { host: 0, address: host(), number, length: 40, sent: moment(at) };
        ledger.enter(&departure, 77).unwrap()
    }

    fn complaint(echo: &Echo, event: Event) -> Complaint {
        let quoted = Quoted { identifier: 77, sequence: echo.sequence, mark: None };
        Complaint { about: host(), quoted, from: Some(router()), icmp: (3, 1), event }
    }

    #[test]
    fn an_answer_has_the_kernels_round_trip_time() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 1000);
        assert_eq!(all.waiting(), 1);
        let row = all.reply(host(), &echo, 40, heard(1023)).unwrap();
        assert_eq!(
            (row.event, row.rtt_ns, row.stamped),
            (Event::Reply, Some(23 * MS), Some(Stamped::Kernel))
        );
        assert_eq!((all.waiting(), all.deadline()), (0, None));
    }

    #[test]
    fn a_second_answer_is_a_duplicate_and_one_after_the_end_of_patience_is_late() {
        let mut all = ledger();
        let (first, second) = (send(&mut all, 0, 0), send(&mut all, 1, 1));
        assert_eq!(all.reply(host(), &first, 40, heard(5)).unwrap().event, Event::Reply);
        assert_eq!(all.reply(host(), &first, 40, heard(6)).unwrap().event, Event::Duplicate);
        assert_eq!(all.deadline(), Some(30_001 * MS));
        assert_eq!(all.give_up(30_000 * MS), None);
        let lost = all.give_up(30_001 * MS).unwrap();
        assert_eq!((lost.event, lost.number, lost.rtt_ns), (Event::Lost, 1, None));
        assert_eq!((all.give_up(u64::MAX), all.waiting()), (None, 0));
        assert_eq!(all.reply(host(), &second, 40, heard(40_000)).unwrap().event, Event::Late);
        assert_eq!(all.reply(host(), &second, 40, heard(40_001)).unwrap().event, Event::Late);
    }

    #[test]
    fn an_answer_that_came_too_late_does_not_count_because_nobody_had_looked() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        assert_eq!(all.reply(host(), &echo, 40, heard(30_500)).unwrap().event, Event::Late);
        assert_eq!(all.give_up(30_501 * MS).map(|row| row.event), Some(Event::Lost));
    }

    #[test]
    fn a_complaint_ends_the_wait_and_says_whose_it_is() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        let unreachable = complaint(&echo, Event::Unreachable);
        let row = all.complaint(&unreachable, heard(8)).unwrap().unwrap();
        assert_eq!((row.event, row.from, row.icmp), (Event::Unreachable, Some(router()), Some((3, 1))));
        assert_eq!((row.rtt_ns, all.waiting()), (Some(8 * MS), 0));
        assert_eq!(all.complaint(&unreachable, heard(9)), Ok(None), "once is enough");
        assert_eq!(all.reply(host(), &echo, 40, heard(9)).unwrap().event, Event::Late);
        assert_eq!(all.give_up(u64::MAX), None);
    }

    #[test]
    fn what_was_made_up_or_altered_is_put_aside_and_changes_nothing() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        let reply = |all: &mut Ledger, from, echo: &Echo, length| all.reply(from, echo, length, heard(1));
        assert_eq!(reply(&mut all, host(), &Echo { token: 1, ..echo }, 40), Err(Foreign::Stranger));
        assert_eq!(reply(&mut all, host(), &Echo { sequence: 9, ..echo }, 40), Err(Foreign::Altered));
        assert_eq!(reply(&mut all, host(), &Echo { sent: Stamp(1), ..echo }, 40), Err(Foreign::Altered));
        assert_eq!(reply(&mut all, router(), &echo, 40), Err(Foreign::Altered));
        assert_eq!(reply(&mut all, host(), &echo, 41), Err(Foreign::Altered));
        let real = complaint(&echo, Event::Unreachable);
        let quoting = |mark| Complaint { quoted: Quoted { mark, ..real.quoted }, ..real };
        assert_eq!(all.complaint(&quoting(Some((1, echo.sent))), heard(1)), Err(Foreign::Stranger));
        assert_eq!(all.complaint(&quoting(Some((TOKEN, Stamp(1)))), heard(1)), Err(Foreign::Altered));
        assert_eq!(all.complaint(&Complaint { about: router(), ..real }, heard(1)), Err(Foreign::Altered));
        assert_eq!(all.waiting(), 1);
        assert_eq!(reply(&mut all, host(), &echo, 40).unwrap().event, Event::Reply);
    }

    #[test]
    fn a_clock_that_is_set_meanwhile_spoils_no_round_trip_time() {
        for kernel in
            [Some(Stamp(DAY - 5000 * MS)), Some(Stamp(DAY + 5000 * MS)), Some(Stamp(u64::MAX / 2)), None]
        {
            let mut all = ledger();
            let echo = send(&mut all, 0, 0);
            let row = all.reply(host(), &echo, 40, Heard { kernel, now: moment(20) }).unwrap();
            assert_eq!((row.rtt_ns, row.stamped), (Some(20 * MS), Some(Stamped::Reader)), "{kernel:?}");
        }
    }

    #[test]
    fn sequence_numbers_are_used_again_and_never_while_their_packet_waits() {
        let mut all = Ledger::new(TOKEN, u64::MAX);
        let first = send(&mut all, 0, 0);
        for number in 1..MOST_WAITING {
            let echo = send(&mut all, number, 0);
            all.reply(host(), &echo, 40, heard(0)).unwrap();
        }
        let departure = Departure { host: 0, address: host(), number: 0, length: 40, sent: moment(2) };
        assert!(all.enter(&departure, 77).is_none(), "the first still waits");
        all.reply(host(), &first, 40, heard(1)).unwrap();
        assert_eq!(all.enter(&departure, 77).map(|echo| echo.sequence), Some(0));
        assert_eq!(all.reply(host(), &first, 40, heard(3)), Err(Foreign::Altered), "of the last round");
        assert_eq!(all.packets.len() as u64, MOST_WAITING);
    }

    #[test]
    fn what_could_not_be_sent_is_over() {
        let mut all = ledger();
        let echo = send(&mut all, 0, 0);
        let row = all.not_sent(echo.sequence, 101).unwrap();
        assert_eq!((row.event, row.errno, all.waiting()), (Event::SendFailed, Some(101), 0));
        assert_eq!(all.not_sent(echo.sequence, 101), None);
    }

    /// Whatever comes, in whatever order, each packet has one fate, and none waits for ever.
    #[test]
    fn every_packet_has_one_fate() {
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
                        let about = complaint(&echo, Event::TimeExceeded);
                        let row = all.complaint(&about, heard(at)).ok().flatten();
                        row.into_iter().for_each(&mut take);
                    } else {
                        let _ = all.reply(host(), &echo, 40, heard(at)).map(&mut take);
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
