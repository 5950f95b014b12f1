//! What a queue must not say.

use super::Queue;
use super::amount::{bytes_in, unit};
use crate::values::dscp::Dscp;
use crate::values::quantity::{Duration, Limit, Quantity, Rate, Size};
use netspurt_sim::spec::Unit;
use netspurt_tcp::time::Span;

/// The smallest packet: two headers and nothing else.
const SMALLEST: u64 = 40;
/// The largest number that may be given as a packet's size.
const LARGEST: u64 = 1 << 20;

/// The shortest round trip for which packets can be held to a twentieth of it.
const LEAST_RTT: Span = Span::from_us(20);
/// The largest overhead that `tc-cake(8)` takes.
const MOST_OVERHEAD: u64 = 256;
/// How often a controller computes its probability.
const LEAST_UPDATE: Span = Span::from_us(100);
const MOST_UPDATE: Span = Span::from_secs(10);

/// A wrong key, and the reason.
pub(crate) type Fault = (&'static str, String);

/// How fast the link behind a queue sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// Infinitely fast.
    Infinite,
    /// At so many bits per second.
    Fixed(u64),
    /// As a recording says, which has not been read yet.
    Recorded,
}

/// Where a queue stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Its name in a message.
    pub(crate) place: &'a str,
    /// How fast its link sends.
    pub(crate) pace: Pace,
    /// Others send on the same medium.
    pub(crate) shared: bool,
}

impl Queue {
    /// Why this makes no sense on `line`.
    pub(crate) fn check(&self, line: Line<'_>) -> Result<(), Fault> {
        match *self {
            Self::DropTail { limit, mark_above } => {
                line.has_room("limit", Some(limit))?;
                line.check_step(limit, mark_above)
            }
            Self::ResendFirst { limit } => line.has_room("limit", limit),
            Self::Red { .. } => self.check_red(line),
            Self::Codel { limit, target, interval, mtu, ecn: _ } => {
                line.has_room("limit", Some(limit))?;
                line.check_codel(target, interval, mtu)
            }
            Self::FqCodel { limit, target, interval, mtu, quantum, flows: _, ecn: _ } => {
                line.has_room("limit", Some(limit))?;
                line.check_codel(target, interval, mtu)?;
                line.is_packet("quantum", quantum)
            }
            Self::Pie { limit, target, update, mean_packet, .. } => {
                line.has_room("limit", Some(limit))?;
                line.check_pie(target, update)?;
                line.is_packet("mean_packet", mean_packet)
            }
            Self::DualPi2 { limit, target, update, mtu, .. } => {
                line.has_room("limit", Some(limit))?;
                line.check_pie(target, update)?;
                line.is_packet("mtu", mtu)
            }
            Self::Priority { ref classes, limit } => {
                line.has_room("limit", Some(limit))?;
                line.check_classes(classes)
            }
            Self::Drr { ref classes, ref quanta, limit } => {
                line.has_room("limit", Some(limit))?;
                line.check_classes(classes)?;
                let (given, wanted) = (quanta.len(), classes.len() + 1);
                if given != 0 && given != wanted {
                    let message = format!(
                        "{} has {wanted} classes, that of all other packets included, but {given} quanta: give one for each",
                        line.place
                    );
                    return Err(("quanta", message));
                }
                quanta.iter().try_for_each(|quantum| line.is_packet("quanta", *quantum))
            }
            Self::Cake { .. } => self.check_cake(line),
            Self::DocsisPie { limit, target } => {
                if line.pace == Pace::Infinite {
                    let message = format!(
                        "{} divides what waits by the rate of its link, which has none: give the link a rate",
                        line.place
                    );
                    return Err(("kind", message));
                }
                line.has_room("limit", Some(limit))?;
                line.has_target(target)
            }
            Self::FqPie { limit, target, update, quantum, .. } => {
                line.has_room("limit", Some(limit))?;
                line.check_pie(target, update)?;
                line.is_packet("quantum", quantum)
            }
        }
    }

    fn check_cake(&self, line: Line<'_>) -> Result<(), Fault> {
        let Self::Cake { bandwidth, rtt, overhead, mpu, limit, .. } = *self else { return Ok(()) };
        let place = line.place;
        line.has_room("limit", limit)?;
        if bandwidth == Some(Rate(0)) {
            let message = format!("a bandwidth of zero makes {place} keep all packets: give it one, or none");
            return Err(("bandwidth", message));
        }
        if bandwidth.is_some() && line.shared {
            let message = format!(
                "{place} stands before a medium that others use too, and sends when it has its turn: leave bandwidth out"
            );
            return Err(("bandwidth", message));
        }
        if rtt.0 < LEAST_RTT {
            let message = format!(
                "a round trip of {} is too short for {place}: {} at least",
                rtt.print(),
                Duration(LEAST_RTT).print()
            );
            return Err(("rtt", message));
        }
        for (key, size) in [("overhead", overhead), ("mpu", mpu)] {
            if size.0 > MOST_OVERHEAD {
                let most = Size(MOST_OVERHEAD).print();
                return Err((key, format!("{key} of {place} is {most} at most, not {}", size.print())));
            }
        }
        Ok(())
    }

    fn check_red(&self, line: Line<'_>) -> Result<(), Fault> {
        let Self::Red { limit, min, max, max_p, weight, gentle: _, mean_packet, ecn: _ } = *self else {
            return Ok(());
        };
        let place = line.place;
        line.has_room("limit", limit)?;
        line.is_packet("mean_packet", mean_packet)?;
        let given = [("limit", limit), ("min", min), ("max", max)];
        let mut units = given.iter().filter_map(|(key, limit)| Some((*key, unit(&(*limit)?))));
        if let Some((first, wanted)) = units.next()
            && let Some((other, _)) = units.find(|(_, unit)| *unit != wanted)
        {
            let message =
                format!("{place} counts both packets and bytes: give {other} in the same unit as {first}");
            return Err((other, message));
        }
        for (key, limit) in [("min", min), ("max", max)] {
            line.has_rate(key, limit)?;
        }
        if let (Some(min), Some(max)) = (min, max)
            && !line.is_below(min, max)
        {
            let message = format!(
                "max, {}, is not above min, {}: {place} drops between the two",
                max.print(),
                min.print()
            );
            return Err(("max", message));
        }
        for (key, limit) in [("min", min), ("max", max)] {
            if limit.is_some_and(|limit| line.amount(limit) == Some(0)) {
                return Err((key, format!("a threshold of zero leaves {place} no queue at all")));
            }
        }
        for (key, share) in [("max_p", Some(max_p)), ("weight", weight)] {
            if share.is_some_and(|share| share <= 0.0) {
                return Err((key, format!("{key} must be above 0, or {place} never drops early")));
            }
        }
        Ok(())
    }
}

impl Line<'_> {
    fn check_step(self, limit: Limit, mark_above: Option<Limit>) -> Result<(), Fault> {
        let Some(above) = mark_above else { return Ok(()) };
        let place = self.place;
        if unit(&above) != unit(&limit) {
            let message =
                format!("{place} counts both packets and bytes: give mark_above in the same unit as limit");
            return Err(("mark_above", message));
        }
        self.has_rate("mark_above", Some(above))?;
        if !self.is_below(above, limit) {
            let message = format!(
                "mark_above, {}, is not below limit, {}: {place} would drop packets before it marks any",
                above.print(),
                limit.print()
            );
            return Err(("mark_above", message));
        }
        Ok(())
    }

    fn check_codel(self, target: Duration, interval: Duration, mtu: Size) -> Result<(), Fault> {
        let place = self.place;
        self.has_target(target)?;
        if interval.0 <= target.0 {
            let message = format!(
                "interval, {}, is not above target, {}: {place} needs a round trip to see what its drops have done",
                interval.print(),
                target.print()
            );
            return Err(("interval", message));
        }
        self.is_packet("mtu", mtu)
    }

    /// Each codepoint belongs to one class.
    fn check_classes(self, classes: &[Vec<Dscp>]) -> Result<(), Fault> {
        let mut known: Vec<Dscp> = Vec::new();
        for class in classes {
            if class.is_empty() {
                return Err((
                    "classes",
                    format!("a class of {} has no codepoint: name one, or leave it out", self.place),
                ));
            }
            for codepoint in class {
                if known.contains(codepoint) {
                    let message = format!("{codepoint} stands twice in the classes of {}", self.place);
                    return Err(("classes", message));
                }
                known.push(*codepoint);
            }
        }
        Ok(())
    }

    fn check_pie(self, target: Duration, update: Duration) -> Result<(), Fault> {
        self.has_target(target)?;
        self.has_interval(update)
    }

    /// A controller with a clock ticks, but not all the time.
    pub(super) fn has_interval(self, update: Duration) -> Result<(), Fault> {
        if (LEAST_UPDATE..=MOST_UPDATE).contains(&update.0) {
            return Ok(());
        }
        let [least, most] = [LEAST_UPDATE, MOST_UPDATE].map(|span| Duration(span).print());
        let place = self.place;
        Err((
            "update",
            format!("{place} computes its probability every {least} … {most}, not every {}", update.print()),
        ))
    }

    pub(super) fn has_target(self, target: Duration) -> Result<(), Fault> {
        if target.0 == Span::ZERO {
            return Err(("target", format!("a target of zero makes {} drop whatever waits", self.place)));
        }
        Ok(())
    }

    /// At least one packet may wait.
    pub(crate) fn has_room(self, key: &'static str, limit: Option<Limit>) -> Result<(), Fault> {
        self.has_rate(key, limit)?;
        let Some(limit) = limit else { return Ok(()) };
        let least = if unit(&limit) == Unit::Packets { 1 } else { SMALLEST };
        match self.amount(limit) {
            Some(amount) if amount < least => {
                Err((key, format!("{} has no room for a single packet", self.place)))
            }
            _ => Ok(()),
        }
    }

    /// A limit in time needs a rate.
    fn has_rate(self, key: &'static str, limit: Option<Limit>) -> Result<(), Fault> {
        match (limit, self.pace) {
            (Some(Limit::Time(_)), Pace::Infinite) => {
                let message = format!(
                    "{key} is a time, and {} is before an infinitely fast link: give it in packets or bytes, or give the \
                     link a rate",
                    self.place
                );
                Err((key, message))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_packet(self, key: &'static str, size: Size) -> Result<(), Fault> {
        if (SMALLEST..=LARGEST).contains(&size.0) {
            return Ok(());
        }
        let [least, most] = [Size(SMALLEST), Size(LARGEST)].map(|size| size.print());
        let place = self.place;
        Err((key, format!("{key} of {place} must be the size of a packet, between {least} and {most}")))
    }

    /// Packets or bytes, if they are known.
    fn amount(self, limit: Limit) -> Option<u64> {
        match (limit, self.pace) {
            (Limit::Packets(n) | Limit::Bytes(n), _) => Some(n),
            (Limit::Time(time), Pace::Fixed(rate)) => Some(bytes_in(time, rate)),
            (Limit::Time(_), _) => None,
        }
    }

    /// Whether `less` is below `more`, as far as that is known.
    fn is_below(self, less: Limit, more: Limit) -> bool {
        match (less, more) {
            (Limit::Time(less), Limit::Time(more)) => less < more,
            _ => self.amount(less).zip(self.amount(more)).is_none_or(|(less, more)| less < more),
        }
    }
}
