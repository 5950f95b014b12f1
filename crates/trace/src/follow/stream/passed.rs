//! How far the retransmissions of a recovery have come.

use crate::stamp::Stamp;

/// Number of stored positions. Beyond that, every second one is dropped.
const MOST: usize = 64;

/// Positions that retransmissions of the present recovery have reached, in order, each with its time.
#[derive(Clone, Debug, Default)]
pub(in crate::follow) struct Passed {
    /// When the recovery began.
    recovery: Stamp,
    positions: Vec<(i64, Stamp)>,
}

impl Passed {
    /// The data at `start` is retransmitted in the recovery that began at `recovery`.
    pub(in crate::follow) fn note(&mut self, recovery: Stamp, (start, at): (i64, Stamp)) {
        if self.recovery != recovery {
            self.recovery = recovery;
            self.positions.clear();
        }
        if self.positions.last().is_some_and(|last| last.0 >= start) {
            return;
        }
        if self.positions.len() == MOST {
            let mut index = 0;
            self.positions.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        self.positions.push((start, at));
    }

    /// When data after `start` was retransmitted first, or not much later.
    pub(in crate::follow) fn since(&self, start: i64) -> Option<Stamp> {
        let index = self.positions.partition_point(|passed| passed.0 <= start);
        self.positions.get(index).map(|passed| passed.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_passed_when_later_data_is_retransmitted() {
        let mut passed = Passed::default();
        passed.note(Stamp(1), (100, Stamp(1)));
        passed.note(Stamp(1), (300, Stamp(5)));
        passed.note(Stamp(1), (200, Stamp(9)));
        assert_eq!(
            [50, 100, 250, 300].map(|start| passed.since(start)),
            [Some(Stamp(1)), Some(Stamp(5)), Some(Stamp(5)), None]
        );
        passed.note(Stamp(20), (10, Stamp(20)));
        assert_eq!(passed.since(50), None, "another recovery");
    }

    #[test]
    fn many_retransmissions_need_bounded_memory() {
        let mut passed = Passed::default();
        for n in 0..10_000_u32 {
            passed.note(Stamp(0), (i64::from(n), Stamp(n.into())));
        }
        assert!(passed.positions.len() <= MOST);
        assert!(passed.since(5000).is_some_and(|at| at >= Stamp(5000)));
    }
}
