//! The changes of links that took place in a run.

use super::result::ChangeResult;
use crate::network::schedule::Change;
use crate::spec::Announced;
use netspurt_tcp::time::Time;

/// Maximum number of changes in the list: a link that changes every millisecond needs no list.
pub(crate) const MOST: usize = 10_000;

/// The changes until `until`, in order of time; those at the same time in the order of the scenario.
pub(crate) fn happened(announced: &[Announced], until: Time) -> impl Iterator<Item = (Time, &Announced)> {
    let mut next: Vec<u64> = announced.iter().map(|announced| first(&announced.change)).collect();
    let soonest = move || {
        let (place, &time) = next.iter().enumerate().min_by_key(|(_, time)| **time)?;
        let takes_place = time <= until.as_ps() && time < u64::MAX;
        takes_place.then(|| {
            next[place] = announced[place].change.next_after(time);
            (Time::from_ps(time), &announced[place])
        })
    };
    core::iter::from_fn(soonest).take(MOST)
}

/// A comment for each of these changes, for the first packet of a capture after it.
pub fn comments(announced: &[Announced], until: Time) -> Vec<(Time, String)> {
    let comment = |(time, Announced { path, change }): (Time, &Announced)| {
        (time, format!("changed: {path} = {}", change.value))
    };
    happened(announced, until).map(comment).collect()
}

/// The same as a result.
pub(crate) fn list(announced: &[Announced], until: Time) -> Vec<ChangeResult> {
    let result = |(time, Announced { path, change }): (Time, &Announced)| ChangeResult {
        time_s: time.as_secs_f64(),
        path: path.clone(),
        value: change.value.clone(),
    };
    happened(announced, until).map(result).collect()
}

fn first<T>(change: &Change<T>) -> u64 {
    if change.until.is_some_and(|until| until < change.at) { u64::MAX } else { change.at.as_ps() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::time::Span;

    #[test]
    fn changes_are_listed_in_order_and_not_without_end() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let announced = |path: &str, ms, every: Option<u64>, until: Option<u64>, value: &str| Announced {
            path: path.into(),
            change: Change {
                at: at(ms),
                every: every.map(Span::from_ms),
                until: until.map(at),
                value: value.into(),
            },
        };
        let all = [
            announced("b", 10, Some(10), Some(30), "1"),
            announced("a", 20, None, None, "2"),
            announced("c", 90, None, None, "3"),
        ];
        let list = list(&all, at(50));
        let seen: Vec<_> =
            list.iter().map(|change| (libm::round(change.time_s * 1e3) as u64, &*change.path)).collect();
        assert_eq!(seen, [(10, "b"), (20, "b"), (20, "a"), (30, "b")]);
        let expected = [(10, "changed: b = 1"), (20, "changed: b = 1"), (20, "changed: a = 2")];
        let expected = expected.map(|(ms, text)| (at(ms), text.to_owned()));
        assert_eq!(comments(&all, at(25)), expected);
        let endless = [announced("b", 0, Some(1), None, "1")];
        assert_eq!(happened(&endless, at(1_000_000)).count(), MOST);
    }
}
