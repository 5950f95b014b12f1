//! How far the retransmissions of a recovery have come.

use crate::stamp::Stamp;

/// Number of stored positions. Beyond that, every second one is dropped.
const MOST: usize = 64;

/// Positions that retransmissions of the present recovery have reached, in order, each with its time.
#[derive(Clone, Debug, Default)]
pub(in crate::follow) struct Passed(Vec<(i64, Stamp)>);

impl Passed {
    /// A recovery begins.
    pub(in crate::follow) fn clear(&mut self) {
        self.0.clear();
    }

    /// The data at `start` is retransmitted.
    pub(in crate::follow) fn note(&mut self, start: i64, at: Stamp) {
        if self.0.last().is_some_and(|last| last.0 >= start) {
            return;
        }
        if self.0.len() == MOST {
            let mut index = 0;
            self.0.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        self.0.push((start, at));
    }

    /// When data after `start` was retransmitted first, or not much later.
    pub(in crate::follow) fn since(&self, start: i64) -> Option<Stamp> {
        let index = self.0.partition_point(|passed| passed.0 <= start);
        self.0.get(index).map(|passed| passed.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_passed_when_later_data_is_retransmitted() {
        let mut passed = Passed::default();
        passed.note(100, Stamp(1));
        passed.note(300, Stamp(5));
        passed.note(200, Stamp(9));
        assert_eq!(
            [50, 100, 250, 300].map(|start| passed.since(start)),
            [Some(Stamp(1)), Some(Stamp(5)), Some(Stamp(5)), None]
        );
        passed.clear();
        assert_eq!(passed.since(50), None);
    }

    #[test]
    fn many_retransmissions_need_bounded_memory() {
        let mut passed = Passed::default();
        for n in 0..10_000_u32 {
            passed.note(i64::from(n), Stamp(n.into()));
        }
        assert!(passed.0.len() <= MOST);
        assert!(passed.since(5000).is_some_and(|at| at >= Stamp(5000)));
    }
}
