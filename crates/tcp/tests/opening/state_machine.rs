//! Every (state × segment) pair of RFC 9293, section 3.10.7, against a table written from that text.
//!
//! A row names segments, the states in which it speaks of them, what the document wants, and the clause. Every pair is
//! spoken of exactly once. Where we knowingly do otherwise, the row says so.

use crate::common::lone::{
    ACK, FIN, FIN_ACK, Lone, Out, RST, RST_ACK, SYN, SYN_ACK, WINDOW, data, ours, plain, segment, theirs,
    with_text,
};
use State::{CloseWait, Closing, Established, FinWait1, FinWait2, LastAck, TimeWait};
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::{CloseReason, State};

/// A state, with the way into it where the document tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Closed,
    Listen,
    SynSent,
    /// SYN-RECEIVED from LISTEN, and from SYN-SENT (simultaneous open).
    Passive,
    Active,
    /// A synchronized state.
    In(State),
}

const PLACES: [At; 12] =
    [At::Closed, At::Listen, At::SynSent, At::Passive, At::Active, EST, FW1, FW2, CW, CLOSING, LAST, TW];
const EST: At = At::In(Established);
const FW1: At = At::In(FinWait1);
const FW2: At = At::In(FinWait2);
const CW: At = At::In(CloseWait);
const CLOSING: At = At::In(Closing);
const LAST: At = At::In(LastAck);
const TW: At = At::In(TimeWait);

/// SYN-RECEIVED, whichever way.
const RECEIVED: &[At] = &[At::Passive, At::Active];
const SYNCHRONIZED: &[At] = &[EST, FW1, FW2, CW, CLOSING, LAST, TW];
/// The peer may still send.
const RECEIVING: &[At] = &[EST, FW1, FW2];
/// The peer has sent its FIN.
const FINISHED: &[At] = &[CW, CLOSING, LAST, TW];

impl At {
    fn state(self) -> State {
        match self {
            Self::Closed => State::Closed,
            Self::Listen => State::Listen,
            Self::SynSent => State::SynSent,
            Self::Passive | Self::Active => State::SynReceived,
            Self::In(state) => state,
        }
    }

    /// (SND.UNA, SND.NXT, RCV.NXT), relative to the initial numbers. Where data may be outstanding, we have written 3000
    /// bytes and the peer has acknowledged 1000 of them; it has sent 500.
    fn numbers(self) -> (i32, i32, i32) {
        match self {
            Self::Closed | Self::Listen => (0, 0, 0),
            Self::SynSent => (0, 1, 0),
            Self::Passive | Self::Active => (0, 1, 1),
            EST => (1001, 3001, 501),
            FW1 => (1001, 3002, 501),
            FW2 => (3002, 3002, 501),
            CW => (1001, 3001, 502),
            CLOSING | LAST => (1001, 3002, 502),
            Self::In(_) => (3002, 3002, 502),
        }
    }

    /// Brings a connection here by the book.
    fn reach(self) -> Lone {
        let mut lone = match self {
            Self::Closed => Lone::closed(plain()),
            Self::Listen | Self::Passive => Lone::listening(plain()),
            Self::SynSent | Self::Active | Self::In(_) => {
                let mut lone = Lone::closed(plain());
                lone.c.open(lone.now);
                lone
            }
        };
        lone.poll();
        match self {
            Self::Closed | Self::Listen | Self::SynSent => {}
            Self::Passive | Self::Active => drop(lone.gets(segment(SYN, 0, 0))),
            Self::In(state) => lone.walk(state),
        }
        assert_eq!(lone.c.state(), self.state());
        lone
    }
}

macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        /// What arrives.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum Kind { $($name),* }
        const KINDS: &[Kind] = &[$(Kind::$name),*];
    };
}

kinds! {
    // SYN at RCV.NXT; SYN at IRS again; with 100 bytes; with a FIN as well; with RST.
    Syn, SynAgain, SynText, SynTextFin, SynRst,
    // SYN+ACK of SND.NXT; that at IRS again; of SND.NXT + 1; of ISS; with 100 bytes.
    SynAck, SynAckAgain, SynAckUnsent, SynAckOfNothing, SynAckText,
    // ACK at RCV.NXT of SND.NXT; of a part; of SND.UNA; of less; of less than any window; of SND.NXT + 1.
    AckAll, AckPart, AckAgain, AckOld, AckTooOld, AckUnsent,
    // ACK behind the window, and before it.
    AckBeyond, AckBefore,
    // RST at RCV.NXT; within the window; one before it; behind it; with ACK of SND.NXT, and of SND.NXT + 1.
    RstExact, RstInside, RstBefore, RstBeyond, RstAck, RstAckUnsent,
    // 100 bytes at RCV.NXT; 100 behind it; just before it; half before it; behind the window; half behind it.
    Text, TextAhead, TextOld, TextHalfOld, TextBeyond, TextOverEdge, TextNoAck, TextAckUnsent,
    // FIN at RCV.NXT; behind 100 bytes that are missing; just before; with the ACK of all; with 100 bytes.
    Fin, FinAhead, FinOld, FinAckAll, FinText, FinNoAck,
    // No control bit, no text.
    Nothing,
}
use Kind::*;

/// Everything that bears an ACK, SYN and RST apart; of these, what acknowledges exactly SND.NXT before the connection
/// is open; and so on.
const RESETS: &[Kind] = &[RstExact, RstInside, RstBefore, RstBeyond, RstAck, RstAckUnsent, SynRst];
const WITH_ACK: &[Kind] = &[
    SynAck,
    SynAckAgain,
    SynAckUnsent,
    SynAckOfNothing,
    SynAckText,
    AckAll,
    AckPart,
    AckAgain,
    AckOld,
    AckTooOld,
    AckUnsent,
    AckBeyond,
    AckBefore,
    Text,
    TextAhead,
    TextOld,
    TextHalfOld,
    TextBeyond,
    TextOverEdge,
    TextAckUnsent,
    Fin,
    FinAhead,
    FinOld,
    FinAckAll,
    FinText,
];
/// Of those, the ones that acknowledge our SYN in SYN-SENT, without bearing one.
const GOOD_ACK: &[Kind] = &[
    AckAll,
    AckPart,
    AckBeyond,
    AckBefore,
    Text,
    TextAhead,
    TextOld,
    TextHalfOld,
    TextBeyond,
    TextOverEdge,
    Fin,
    FinAhead,
    FinOld,
    FinAckAll,
    FinText,
];
const BAD_ACK: &[Kind] =
    &[SynAckUnsent, SynAckOfNothing, AckAgain, AckOld, AckTooOld, AckUnsent, TextAckUnsent];
/// Neither ACK nor SYN nor RST.
const BARE: &[Kind] = &[TextNoAck, FinNoAck, Nothing];
/// A SYN within the window.
const SYN_INSIDE: &[Kind] = &[Syn, SynText, SynTextFin, SynAck, SynAckUnsent, SynAckOfNothing, SynAckText];

impl Kind {
    fn segment(self, at: At) -> Segment {
        let (una, nxt, rcv) = at.numbers();
        // The window that our SYN offered; 500 bytes read are too few to move its right edge (3.8.6.2.2).
        let edge = 1 + 10_000;
        // Before the connection is open, only an ACK of our SYN opens it.
        let usual = if una == 0 { nxt } else { una };
        let part = if nxt - una > 1000 { una + 1000 } else { nxt };
        match self {
            Syn => segment(SYN, rcv, 0),
            SynAgain => segment(SYN, 0, 0),
            SynText => with_text(segment(SYN, rcv, 0), 100),
            SynTextFin => with_text(segment(SYN | FIN, rcv, 0), 100),
            SynRst => segment(SYN | RST, rcv, 0),
            SynAck => segment(SYN_ACK, rcv, nxt),
            SynAckAgain => segment(SYN_ACK, 0, nxt),
            SynAckUnsent => segment(SYN_ACK, rcv, nxt + 1),
            SynAckOfNothing => segment(SYN_ACK, rcv, 0),
            SynAckText => with_text(segment(SYN_ACK, rcv, nxt), 100),
            AckAll => segment(ACK, rcv, nxt),
            AckPart => segment(ACK, rcv, part),
            AckAgain => segment(ACK, rcv, una),
            AckOld => segment(ACK, rcv, una - 500),
            AckTooOld => segment(ACK, rcv, una - i32::from(WINDOW) - 1),
            AckUnsent => segment(ACK, rcv, nxt + 1),
            AckBeyond => segment(ACK, edge, nxt),
            AckBefore => segment(ACK, rcv - 1, nxt),
            RstExact => segment(RST, rcv, 0),
            RstInside => segment(RST, rcv + 1, 0),
            RstBefore => segment(RST, rcv - 1, 0),
            RstBeyond => segment(RST, edge, 0),
            RstAck => segment(RST_ACK, rcv, nxt),
            RstAckUnsent => segment(RST_ACK, rcv, nxt + 1),
            Text => data(rcv, usual, 100),
            TextAhead => data(rcv + 100, usual, 100),
            TextOld => data(rcv - 100, usual, 100),
            TextHalfOld => data(rcv - 50, usual, 100),
            TextBeyond => data(edge, usual, 100),
            TextOverEdge => data(edge - 50, usual, 100),
            TextNoAck => with_text(segment(Flags::NONE, rcv, 0), 100),
            TextAckUnsent => data(rcv, nxt + 1, 100),
            Fin => segment(FIN_ACK, rcv, usual),
            FinAhead => segment(FIN_ACK, rcv + 100, usual),
            FinOld => segment(FIN_ACK, rcv - 1, usual),
            FinAckAll => segment(FIN_ACK, rcv, nxt),
            FinText => with_text(segment(FIN_ACK, rcv, usual), 100),
            FinNoAck => segment(FIN, rcv, 0),
            Nothing => segment(Flags::NONE, rcv, 0),
        }
    }
}

/// Which state follows.
#[derive(Clone, Copy, Debug)]
enum Next {
    Same,
    To(State),
    Over(CloseReason),
}
use Next::{Over, Same, To};

/// What is sent.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Silence,
    /// SEQ=SND.NXT, ACK=RCV.NXT moved on by so much, CTL=ACK.
    Ack(Reason, i32),
    /// SEQ=ISS, ACK=RCV.NXT moved on by so much, CTL=SYN,ACK.
    SynAck(i32),
    /// SEQ=SEG.ACK, CTL=RST.
    ResetAtAck,
    /// SEQ=0, ACK=SEG.SEQ+SEG.LEN, CTL=RST,ACK.
    ResetBehind,
}
use Answer::{Ack, ResetAtAck, ResetBehind, Silence};

struct Row {
    kinds: &'static [Kind],
    places: &'static [At],
    next: Next,
    answer: Answer,
    /// Bytes that the application can read afterwards.
    delivered: u64,
    /// Bytes of ours that were acknowledged.
    acked: u64,
    clause: &'static str,
}

const fn row(
    kinds: &'static [Kind],
    places: &'static [At],
    next: Next,
    answer: Answer,
    clause: &'static str,
) -> Row {
    Row { kinds, places, next, answer, delivered: 0, acked: 0, clause }
}

impl Row {
    const fn delivers(mut self, bytes: u64) -> Self {
        self.delivered = bytes;
        self
    }

    const fn acks(mut self, bytes: u64) -> Self {
        self.acked = bytes;
        self
    }
}

const CHALLENGE: Answer = Ack(Reason::ChallengeAck, 0);
const REPEAT: Answer = Ack(Reason::DuplicateAck, 0);
const OPENED: Next = To(Established);

const BEFORE_OPEN: &[Row] = &[
    // CLOSED.
    row(RESETS, &[At::Closed], Same, Silence, "3.10.7.1: a RST is discarded"),
    row(WITH_ACK, &[At::Closed], Same, ResetAtAck, "3.10.7.1: ACK bit on"),
    row(
        &[Syn, SynAgain, SynText, SynTextFin, TextNoAck, FinNoAck, Nothing],
        &[At::Closed],
        Same,
        ResetBehind,
        "3.10.7.1: ACK bit off",
    ),
    // LISTEN.
    row(RESETS, &[At::Listen], Same, Silence, "3.10.7.2, first: a RST is ignored"),
    row(WITH_ACK, &[At::Listen], Same, ResetAtAck, "3.10.7.2, second: any ACK is bad"),
    row(&[Syn, SynAgain], &[At::Listen], To(State::SynReceived), Answer::SynAck(1), "3.10.7.2, third"),
    // RCV.NXT would be SEG.SEQ+1 and the text processed in SYN-RECEIVED; we take it and acknowledge it at once. The FIN
    // is left for the peer to repeat.
    row(
        &[SynText, SynTextFin],
        &[At::Listen],
        To(State::SynReceived),
        Answer::SynAck(101),
        "3.10.7.2, third: text is queued",
    ),
    row(BARE, &[At::Listen], Same, Silence, "3.10.7.2, fourth: drop"),
    // SYN-SENT.
    row(BAD_ACK, &[At::SynSent], Same, ResetAtAck, "3.10.7.3, first: SEG.ACK =< ISS or > SND.NXT"),
    row(
        &[RstExact, RstInside, RstBefore, RstBeyond, SynRst],
        &[At::SynSent],
        Same,
        Silence,
        "3.10.7.3, second: RST without ACK is dropped",
    ),
    row(&[RstAckUnsent], &[At::SynSent], Same, Silence, "3.10.7.3, first: bad ACK with RST is dropped"),
    row(&[RstAck], &[At::SynSent], Over(CloseReason::Refused), Silence, "3.10.7.3, second"),
    row(
        &[SynAck, SynAckAgain],
        &[At::SynSent],
        OPENED,
        Ack(Reason::Ack, 1),
        "3.10.7.3, fourth: our SYN is ACKed",
    ),
    row(
        &[SynAckText],
        &[At::SynSent],
        OPENED,
        Ack(Reason::Ack, 101),
        "3.10.7.3, fourth: text goes on at the sixth step",
    )
    .delivers(100),
    row(
        &[Syn, SynAgain],
        &[At::SynSent],
        To(State::SynReceived),
        Answer::SynAck(1),
        "3.10.7.3, fourth: otherwise",
    ),
    row(
        &[SynText, SynTextFin],
        &[At::SynSent],
        To(State::SynReceived),
        Answer::SynAck(1),
        "3.10.7.3, fourth: text is queued until ESTABLISHED",
    ),
    row(GOOD_ACK, &[At::SynSent], Same, Silence, "3.10.7.3, fifth: neither SYN nor RST"),
    row(BARE, &[At::SynSent], Same, Silence, "3.10.7.3, fifth: neither SYN nor RST"),
];

const RECEIVED_ROWS: &[Row] = &[
    row(
        &[AckBeyond, AckBefore, TextOld, TextBeyond, FinOld],
        RECEIVED,
        Same,
        REPEAT,
        "3.10.7.4, first: not acceptable",
    ),
    // The document wants SEQ=SND.NXT, CTL=ACK; but a peer in SYN-SENT, whose SYN this is, could make nothing of it.
    row(&[SynAgain], RECEIVED, Same, Answer::SynAck(1), "3.10.7.4, first: not acceptable"),
    // The same, were it not for figure 8: in a simultaneous open, this is how both sides get on.
    row(&[SynAckAgain], RECEIVED, OPENED, Ack(Reason::Ack, 0), "3.5, figure 8"),
    row(&[RstBefore, RstBeyond], RECEIVED, Same, Silence, "3.10.7.4, second, 1): outside, drop silently"),
    row(&[RstInside], RECEIVED, Same, CHALLENGE, "3.10.7.4, second, 3)"),
    row(
        &[RstExact, RstAck, RstAckUnsent, SynRst],
        &[At::Passive],
        To(State::Listen),
        Silence,
        "3.10.7.4, second: back to LISTEN after a passive open",
    ),
    row(
        &[RstExact, RstAck, RstAckUnsent, SynRst],
        &[At::Active],
        Over(CloseReason::Refused),
        Silence,
        "3.10.7.4, second: refused after an active open",
    ),
    row(SYN_INSIDE, &[At::Passive], To(State::Listen), Silence, "3.10.7.4, fourth: back to LISTEN"),
    row(SYN_INSIDE, &[At::Active], Same, CHALLENGE, "3.10.7.4, fourth: as in synchronized states"),
    row(BARE, RECEIVED, Same, Silence, "3.10.7.4, fifth: ACK bit off"),
    row(&[AckAll, AckPart], RECEIVED, OPENED, Silence, "3.10.7.4, fifth: SND.UNA < SEG.ACK =< SND.NXT"),
    row(
        &[AckAgain, AckOld, AckTooOld, AckUnsent, TextAckUnsent],
        RECEIVED,
        Same,
        ResetAtAck,
        "3.10.7.4, fifth: not acceptable, form a reset",
    ),
    row(&[Text], RECEIVED, OPENED, Ack(Reason::Ack, 100), "3.10.7.4, fifth and seventh").delivers(100),
    row(&[TextHalfOld], RECEIVED, OPENED, Ack(Reason::Ack, 50), "3.10.7.4, first: only the new part")
        .delivers(50),
    row(&[TextAhead, TextOverEdge], RECEIVED, OPENED, REPEAT, "3.10.7.4, seventh; MAY-13, SHLD-31"),
    row(&[Fin, FinAckAll], RECEIVED, To(CloseWait), Ack(Reason::Ack, 1), "3.10.7.4, eighth"),
    row(&[FinText], RECEIVED, To(CloseWait), Ack(Reason::Ack, 101), "3.10.7.4, seventh and eighth")
        .delivers(100),
    row(&[FinAhead], RECEIVED, OPENED, REPEAT, "3.10.7.4, first: held, SHLD-31; MAY-13"),
];

const SYNCHRONIZED_ROWS: &[Row] = &[
    row(&[TextOld, TextBeyond, FinOld], SYNCHRONIZED, Same, REPEAT, "3.10.7.4, first: not acceptable"),
    // Not acceptable, but heard: else two ends that probe each other answer ACK with ACK for ever.
    row(&[AckBeyond, AckBefore], &[EST, CW], Same, REPEAT, "appendix A.2").acks(2000),
    row(&[AckBeyond, AckBefore], &[FW1], To(FinWait2), REPEAT, "appendix A.2").acks(2000),
    row(&[AckBeyond, AckBefore], &[CLOSING], To(TimeWait), REPEAT, "appendix A.2").acks(2000),
    row(&[AckBeyond, AckBefore], &[LAST], Over(CloseReason::Finished), Silence, "appendix A.2").acks(2000),
    row(&[AckBeyond, AckBefore], &[FW2, TW], Same, REPEAT, "3.10.7.4, first: not acceptable"),
    row(&[RstBefore, RstBeyond], SYNCHRONIZED, Same, Silence, "3.10.7.4, second, 1)"),
    row(&[RstInside], SYNCHRONIZED, Same, CHALLENGE, "3.10.7.4, second, 3)"),
    row(
        &[RstExact, RstAck, RstAckUnsent, SynRst],
        &[EST, FW1, FW2, CW],
        Over(CloseReason::Reset),
        Silence,
        "3.10.7.4, second: the user hears \"connection reset\"",
    ),
    // The document has the user hear nothing; but data that was never acknowledged cannot pass for delivered.
    row(
        &[RstExact, RstAck, RstAckUnsent, SynRst],
        &[CLOSING, LAST],
        Over(CloseReason::Reset),
        Silence,
        "3.10.7.4, second: enter CLOSED",
    ),
    row(
        &[RstExact, RstAck, RstAckUnsent, SynRst],
        &[TW],
        Over(CloseReason::Finished),
        Silence,
        "3.10.7.4, second: enter CLOSED",
    ),
    row(SYN_INSIDE, SYNCHRONIZED, Same, CHALLENGE, "3.10.7.4, fourth: challenge ACK"),
    row(
        &[SynAgain, SynAckAgain],
        SYNCHRONIZED,
        Same,
        CHALLENGE,
        "3.10.7.4, fourth: irrespective of the sequence number",
    ),
    row(BARE, SYNCHRONIZED, Same, Silence, "3.10.7.4, fifth: ACK bit off"),
    row(
        &[AckTooOld, AckUnsent, TextAckUnsent],
        SYNCHRONIZED,
        Same,
        CHALLENGE,
        "3.10.7.4, fifth: outside SND.UNA - MAX.SND.WND =< SEG.ACK =< SND.NXT",
    ),
    row(&[AckAgain, AckOld], SYNCHRONIZED, Same, Silence, "3.10.7.4, fifth: a duplicate can be ignored"),
    row(&[AckPart], &[EST, FW1, CW, CLOSING, LAST], Same, Silence, "3.10.7.4, fifth: not our FIN").acks(1000),
    row(&[AckAll], &[EST, CW], Same, Silence, "3.10.7.4, fifth, ESTABLISHED").acks(2000),
    row(&[AckAll], &[FW1], To(FinWait2), Silence, "3.10.7.4, fifth, FIN-WAIT-1").acks(2000),
    row(&[AckAll], &[CLOSING], To(TimeWait), Silence, "3.10.7.4, fifth, CLOSING").acks(2000),
    row(&[AckAll], &[LAST], Over(CloseReason::Finished), Silence, "3.10.7.4, fifth, LAST-ACK").acks(2000),
    row(&[AckAll, AckPart], &[FW2, TW], Same, Silence, "3.10.7.4, fifth: nothing new"),
    row(&[Text], RECEIVING, Same, Ack(Reason::Ack, 100), "3.10.7.4, seventh").delivers(100),
    row(&[TextHalfOld], RECEIVING, Same, Ack(Reason::Ack, 50), "3.10.7.4, first: only the new part")
        .delivers(50),
    row(&[TextAhead, TextOverEdge], RECEIVING, Same, REPEAT, "3.10.7.4, seventh: MAY-13, SHLD-31"),
    row(
        &[Text, TextAhead, TextHalfOld, TextOverEdge],
        FINISHED,
        Same,
        Silence,
        "3.10.7.4, seventh: a FIN was received, ignore the text",
    ),
    row(&[Fin], &[EST], To(CloseWait), Ack(Reason::Ack, 1), "3.10.7.4, eighth, ESTABLISHED"),
    row(
        &[Fin],
        &[FW1],
        To(Closing),
        Ack(Reason::Ack, 1),
        "3.10.7.4, eighth, FIN-WAIT-1: our FIN is not ACKed",
    ),
    row(&[Fin, FinAckAll], &[FW2], To(TimeWait), Ack(Reason::Ack, 1), "3.10.7.4, eighth, FIN-WAIT-2"),
    row(&[FinAckAll], &[EST], To(CloseWait), Ack(Reason::Ack, 1), "3.10.7.4, eighth, ESTABLISHED").acks(2000),
    row(&[FinAckAll], &[FW1], To(TimeWait), Ack(Reason::Ack, 1), "3.10.7.4, eighth: ACKed in this segment")
        .acks(2000),
    row(&[FinText], &[EST], To(CloseWait), Ack(Reason::Ack, 101), "3.10.7.4, seventh, eighth").delivers(100),
    row(&[FinText], &[FW1], To(Closing), Ack(Reason::Ack, 101), "3.10.7.4, seventh, eighth").delivers(100),
    row(&[FinText], &[FW2], To(TimeWait), Ack(Reason::Ack, 101), "3.10.7.4, seventh, eighth").delivers(100),
    row(&[FinAhead], RECEIVING, Same, REPEAT, "3.10.7.4, first: held, SHLD-31; MAY-13"),
    // There is only one FIN; what the document calls advancing over it has been done.
    row(&[Fin, FinAhead, FinText], FINISHED, Same, REPEAT, "3.10.7.4, eighth: remain, acknowledge"),
    row(&[FinAckAll], &[CW], Same, REPEAT, "3.10.7.4, eighth: remain in CLOSE-WAIT").acks(2000),
    row(&[FinAckAll], &[CLOSING], To(TimeWait), REPEAT, "3.10.7.4, fifth, then eighth").acks(2000),
    row(&[FinAckAll], &[LAST], Over(CloseReason::Finished), Silence, "3.10.7.4, fifth, LAST-ACK: return")
        .acks(2000),
    row(&[FinAckAll], &[TW], Same, REPEAT, "3.10.7.4, eighth: remain in TIME-WAIT"),
];

fn rows() -> impl Iterator<Item = &'static Row> {
    BEFORE_OPEN.iter().chain(RECEIVED_ROWS).chain(SYNCHRONIZED_ROWS)
}

/// What is wrong with the way a connection `at` takes a segment, if anything is.
fn judge(at: At, kind: Kind, want: &Row) -> Option<String> {
    let mut lone = at.reach();
    let (_, nxt, rcv) = at.numbers();
    let segment = kind.segment(at);
    let acknowledged = lone.c.acknowledged();
    let got: Vec<(i32, i32, Flags, Reason)> = lone
        .gets(segment)
        .iter()
        .map(|Out { seq, ack, flags, reason, .. }| (*seq, *ack, *flags, *reason))
        .collect();
    // Numbers of a reset are absolute.
    let relative = |absolute: netspurt_tcp::seq::Seq| absolute.distance_from(ours(0));
    let answer = match want.answer {
        Silence => vec![],
        Ack(reason, moved) => vec![(nxt, rcv + moved, ACK, reason)],
        Answer::SynAck(ack) => vec![(0, ack, SYN_ACK, Reason::Accept)],
        ResetAtAck => vec![(relative(segment.ack), 0, RST, Reason::Reset)],
        ResetBehind => {
            let behind = segment.seq.plus(segment.seq_len()).distance_from(theirs(0));
            vec![(relative(netspurt_tcp::seq::Seq(0)), behind, RST_ACK, Reason::Reset)]
        }
    };
    let (state, closed) = match want.next {
        Same => (at.state(), None),
        To(state) => (state, None),
        Over(why) => (State::Closed, Some(why)),
    };
    let wanted = (state, closed, answer, want.delivered, want.acked);
    let found =
        (lone.c.state(), lone.c.closed(), got, lone.c.readable(), lone.c.acknowledged() - acknowledged);
    (wanted != found).then(|| {
        format!("{at:?} gets {kind:?} ({}):\n  wanted {wanted:?}\n  found  {found:?}\n", want.clause)
    })
}

#[test]
fn the_table_has_every_pair_exactly_once() {
    for at in PLACES {
        for &kind in KINDS {
            let said: Vec<_> = rows()
                .filter(|row| row.places.contains(&at) && row.kinds.contains(&kind))
                .map(|row| row.clause)
                .collect();
            assert_eq!(said.len(), 1, "{at:?} gets {kind:?}: {said:?}");
        }
    }
    let states: Vec<State> = PLACES.iter().map(|at| at.state()).collect();
    assert!(State::ALL.iter().all(|state| states.contains(state)), "a state is missing: {states:?}");
}

#[test]
fn every_state_handles_every_segment_by_section_3_10_7() {
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for row in rows() {
        for &at in row.places {
            for &kind in row.kinds {
                pairs += 1;
                wrong.extend(judge(at, kind, row));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {pairs} pairs:\n{}", wrong.len(), wrong.concat());
}
