//! Deficit round robin over classes (Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", 1996): each
//! class with packets sends its quantum in turn. The unused part of a quantum is added to the next one.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use crate::network::queue::by_class::classes::Classes;
use crate::network::queue::order::{Kept, Order, Outbox, send};
use crate::spec::DrrSpec;
use std::collections::VecDeque;

/// Queues that send in turn.
#[derive(Debug)]
pub(in crate::network::queue) struct Drr {
    spec: DrrSpec,
    classes: Classes,
    /// The remaining bytes of each class.
    deficits: Box<[u64]>,
    /// The classes with packets; the first one is sending.
    active: VecDeque<usize>,
    /// Whether the first class has received its quantum for this turn.
    granted: bool,
}

impl Drr {
    pub(in crate::network::queue) fn new(spec: DrrSpec) -> Self {
        let classes = Classes::new(spec.classes);
        let deficits = vec![0; classes.count()].into();
        Self { spec, classes, deficits, active: VecDeque::new(), granted: false }
    }

    fn next(&mut self) -> Option<Kept> {
        loop {
            let class = *self.active.front()?;
            let deficit = &mut self.deficits[class];
            if !self.granted {
                *deficit += u64::from(self.spec.quanta[class].max(1));
                self.granted = true;
            }
            match self.classes.first(class) {
                Some(size) if u64::from(size) <= *deficit => {
                    *deficit -= u64::from(size);
                    let kept = self.classes.take(class);
                    if self.classes.first(class).is_none() {
                        // An empty class saves nothing.
                        self.deficits[class] = 0;
                        self.active.pop_front();
                        self.granted = false;
                    }
                    return kept;
                }
                _ => {
                    self.active.rotate_left(1);
                    self.granted = false;
                }
            }
        }
    }
}

impl Order for Drr {
    fn push(&mut self, kept: Kept, _packet: &Packet, out: &mut Outbox) {
        if let Some(class) = self.classes.admit(kept, out)
            && !self.active.contains(&class)
        {
            self.active.push_back(class);
        }
    }

    fn pop(&mut self, _now: u64, out: &mut Outbox) {
        send(out, self.next());
    }

    fn causes(&self) -> &'static [Cause] {
        self.classes.causes()
    }

    fn classifies(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::Origin;
    use crate::random::Stream;
    use crate::spec::{ClassesSpec, Room};

    fn bench(quanta: &[u32]) -> Drr {
        let classes = ClassesSpec::new(Room::Unlimited, &[&[46], &[34]]).unwrap();
        Drr::new(DrrSpec::new(classes, quanta))
    }

    fn push(order: &mut Drr, dscp: u8, size: u32) {
        let kept = Kept {
            slot: u32::from(dscp),
            size,
            origin: Origin { dscp, ..Origin::default() },
            ..Kept::default()
        };
        order.push(kept, &Packet::default(), &mut Outbox::new());
    }

    #[test]
    fn classes_share_by_their_quanta_and_not_by_packets() {
        let quanta = [1000, 2000, 4500];
        let mut order = bench(&quanta);
        let mut stream = Stream::new(1, "sizes");
        let codepoints = [46, 34, 0];
        for _ in 0..20_000 {
            for (dscp, most) in codepoints.into_iter().zip([300, 1500, 900]) {
                push(&mut order, dscp, 40 + stream.below(most) as u32);
            }
        }
        let mut sent = [0u64; 3];
        for _ in 0..20_000 {
            let kept = order.next().unwrap();
            let class = codepoints.iter().position(|dscp| u32::from(*dscp) == kept.slot).unwrap();
            sent[class] += u64::from(kept.size);
            // Never further off than a quantum and a packet (lemma 2 of the paper).
            let shares = [0, 1, 2].map(|n| sent[n] as f64 / f64::from(quanta[n]));
            let (most, least) =
                (shares.iter().copied().fold(0.0, f64::max), shares.iter().copied().fold(1e9, f64::min));
            assert!(most - least <= 1.0 + 1540.0 / 1000.0, "{shares:?}");
        }
        assert!(sent.iter().all(|&octets| octets > 1_000_000), "{sent:?}");
    }

    #[test]
    fn an_idle_class_saves_nothing_and_leaves_the_link_to_the_others() {
        let mut order = bench(&[1500, 1500, 1500]);
        for _ in 0..100 {
            push(&mut order, 0, 1500);
        }
        assert!((0..50).all(|_| order.next().unwrap().slot == 0));
        for _ in 0..4 {
            push(&mut order, 46, 1500);
        }
        let next: Vec<u32> = (0..8).map(|_| order.next().unwrap().slot).collect();
        assert_eq!(next.iter().filter(|&&slot| slot == 46).count(), 4);
        assert!(next.windows(3).all(|three| three.contains(&0)), "{next:?}");
    }

    #[test]
    fn a_quantum_below_a_packet_takes_several_turns() {
        let mut order = bench(&[100, 100, 50]);
        push(&mut order, 46, 1500);
        push(&mut order, 0, 700);
        assert_eq!(
            [order.next(), order.next(), order.next()].map(|kept| kept.map(|kept| kept.slot)),
            [Some(0), Some(46), None]
        );
    }
}
