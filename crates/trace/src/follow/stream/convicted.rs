//! Retransmissions that ACKs prove spurious.

use crate::follow::retransmission::spurious::{Proof, is_too_soon, was_sent_later};
use crate::follow::stream::Stream;
use crate::follow::stream::pieces::Sending;
use crate::follow::watch::{Event, EventContext, Watch};

impl Stream {
    pub(super) fn convicted<W: Watch>(
        &mut self,
        start: i64,
        len: u32,
        proof: Proof,
        scene: &mut EventContext<'_, W>,
    ) {
        self.report.spurious += 1;
        scene.report(self.side, start, len, Event::Spurious { proof });
    }

    /// The original of `start..end` passes after its retransmission, which looked like new data and was not counted.
    #[cold]
    pub(super) fn comes_late<W: Watch>(
        &mut self,
        start: i64,
        end: i64,
        original: &Sending,
        resent: Sending,
        scene: &mut EventContext<'_, W>,
    ) {
        let len = (end - start) as u32;
        self.pieces.send_again(start, end, resent);
        self.report.reordered += 1;
        let late = original.at.since(resent.at);
        scene.report(self.side, start, len, Event::Reordered { extent: 1, late });
        scene.report(self.side, start, len, Event::Spurious { proof: Proof::Original });
    }

    /// Looks for retransmissions behind the first one that cannot have caused the ACK that covers them.
    #[cold]
    pub(super) fn convict_later<W: Watch>(
        &mut self,
        ack: i64,
        echo: Option<u32>,
        scene: &mut EventContext<'_, W>,
    ) {
        let mut pieces = self.pieces.below(ack);
        let Some(front) = pieces.next() else { return };
        let later: Vec<_> = pieces.filter(|piece| piece.resent).copied().collect();
        // An ACK of two segments may have been delayed: then it did not fill a hole.
        let filler = echo.filter(|_| self.pieces.below(ack).nth(2).is_some()).map(|echo| (*front, echo));
        for piece in later {
            let proved = is_too_soon(&piece, scene.at, self.estimate.least())
                || filler.is_some_and(|(front, echo)| was_sent_later(&front, &piece, echo));
            if proved && self.suspects.prove(piece.start, piece.end).is_some() {
                self.convicted(piece.start, piece.len(), Proof::Order, scene);
            }
        }
    }
}
