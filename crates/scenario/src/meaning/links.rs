//! Checks links.

use crate::meaning::objection::{
    Objection, check_names, check_queue, object, object_to_loss, stray_direction,
};
use crate::network::middlebox::{AckThinning, Aggregation, Middlebox};
use crate::network::{Duplex, Link, delay, middlebox, tokens, trace};
use crate::reading::tree::Part;
use crate::values::directed::{Directed, OrNone};
use crate::values::distribution::Files;
use crate::values::quantity::{Direction, Quantity, Rate};

/// Every link must carry packets of this many bytes.
const LEAST_MTU: u64 = 68;

/// Replaces names of files by their contents.
pub(super) fn resolve(name: &str, link: &mut Link, files: Files<'_>) -> Result<(), Objection> {
    for (steps, trace) in link.trace.written_mut() {
        trace.resolve(files).map_err(|wrong| of_trace(name, &steps, wrong))?;
    }
    for (step, delay) in link.delay.written_mut() {
        delay.resolve(files).map_err(|wrong| of_delay(name, step, wrong))?;
    }
    Ok(())
}

/// An error in a delay that varies.
fn of_delay(link: &str, step: Option<&str>, (key, message): delay::Wrong) -> Objection {
    let steps: Vec<String> = step.iter().map(|&step| step.to_owned()).collect();
    of(link, "delay", &steps, Some(key), format!("the delay of link \"{link}\": {message}"))
}

/// An error in a key below a key of a link.
fn of(link: &str, key: &str, steps: &[String], last: Option<&str>, message: String) -> Objection {
    let steps = steps.iter().map(String::as_str);
    let path: Vec<&str> = ["link", link, key].into_iter().chain(steps).chain(last).collect();
    object(&path, Part::Value, message)
}

/// An error in a recording that a link follows.
fn of_trace(link: &str, steps: &[String], (key, message): trace::Wrong) -> Objection {
    of(link, "trace", steps, Some(key), format!("the recording of link \"{link}\": {message}"))
}

pub(super) fn check(name: &str, link: &Link) -> Result<(), Objection> {
    let [a, b] = &link.between;
    check_names(&["link", name, "between"], &link.between)?;
    if a == b {
        let message = format!("link \"{name}\" joins \"{a}\" to itself: a link joins two different nodes");
        return Err(object(&["link", name, "between", "1"], Part::Value, message));
    }
    for (step, rate) in link.rate.iter().flat_map(|rate| rate.written()) {
        if *rate == Rate(0) {
            let message = format!(
                "link \"{name}\" has a rate of zero: give it a rate above zero, or none for infinitely fast"
            );
            let path: Vec<&str> = ["link", name, "rate"].into_iter().chain(step).collect();
            return Err(object(&path, Part::Value, message));
        }
    }
    for (step, delay) in link.delay.written() {
        delay.check().map_err(|wrong| of_delay(name, step, wrong))?;
    }
    for (step, queue) in link.queue.iter().flat_map(|queue| queue.written()) {
        let path: Vec<&str> = ["link", name, "queue"].into_iter().chain(step).collect();
        let place = format!("the queue of link \"{name}\"");
        for way in (0..2).filter(|way| step.is_none_or(|step| step == way.to_string())) {
            check_queue(&path, Some(queue), link.line(way, &place))?;
        }
    }
    let [there, back] = [[a, b], [b, a]].map(|[from, to]| [from.as_str(), to.as_str()]);
    check_traces(name, link, &[there, back])?;
    check_mtus(name, link)?;
    check_buckets(name, link)?;
    check_each(name, "middlebox", link.middlebox.as_ref(), Middlebox::check)?;
    check_each(name, "aggregation", link.aggregation.as_ref(), Aggregation::check)?;
    check_each(name, "ack_thinning", link.ack_thinning.as_ref(), AckThinning::check)?;
    for (steps, loss) in link.loss.written() {
        if let Some((key, message)) = object_to_loss(&["link", name], loss, &[there, back]) {
            return Err(of(name, "loss", &steps, Some(key), message));
        }
        if let Some(message) = said_twice(name, link.loss.is_directed(), loss.direction()) {
            return Err(of(name, "loss", &steps, Some("direction"), message));
        }
    }
    Ok(())
}

/// Checks that token buckets are filled and hold at least one packet.
fn check_buckets(name: &str, link: &Link) -> Result<(), Objection> {
    let fault = |key, step: Option<&str>, (inner, message): tokens::Wrong| {
        let steps: Vec<String> = step.iter().map(|&step| step.to_owned()).collect();
        Err(of(name, key, &steps, Some(inner), format!("the {key} of link \"{name}\": {message}")))
    };
    let largest = |step: Option<&str>| match step {
        Some(step) => link.largest(usize::from(step == "1")),
        None => link.largest(0).max(link.largest(1)),
    };
    for (step, policer) in link.policer.iter().flat_map(|policer| policer.written()) {
        if let Some(Err(wrong)) = policer.get().map(|policer| policer.check(largest(step))) {
            return fault("policer", step, wrong);
        }
    }
    for (step, shaper) in link.shaper.iter().flat_map(|shaper| shaper.written()) {
        if let Some(Err(wrong)) = shaper.get().map(|shaper| shaper.check(largest(step))) {
            return fault("shaper", step, wrong);
        }
    }
    if link.shaper.is_some() && link.duplex == Duplex::Half {
        let message = format!(
            "the directions of link \"{name}\" share a medium, and have no shaper: leave \"half\" out, or put the shaper on a \
             link of its own"
        );
        return Err(object(&["link", name, "shaper"], Part::Key, message));
    }
    Ok(())
}

/// The settings of one kind, for one direction or for both.
fn check_each<T>(
    name: &str,
    key: &str,
    all: Option<&Directed<OrNone<T>>>,
    check: fn(&T) -> Result<(), middlebox::Wrong>,
) -> Result<(), Objection> {
    for (step, one) in all.into_iter().flat_map(|all| all.written()) {
        if let Some(Err((inner, message))) = one.get().map(check) {
            let steps: Vec<String> = step.iter().map(|&step| step.to_owned()).collect();
            return Err(of(name, key, &steps, inner, format!("the {key} of link \"{name}\": {message}")));
        }
    }
    Ok(())
}

/// In a list of two, the position gives the direction, so no entry may name one.
fn said_twice(name: &str, directed: bool, way: Option<&Direction>) -> Option<String> {
    let way = way.filter(|_| directed)?;
    Some(format!(
        "the place in the list of two says the direction of link \"{name}\": leave out direction = \"{}\"",
        way.print()
    ))
}

/// Checks MTUs: not less than every link must carry, and in order of time.
fn check_mtus(name: &str, link: &Link) -> Result<(), Objection> {
    let mut before = None;
    for (steps, mtu) in link.mtu.written() {
        if mtu.size.0 < LEAST_MTU {
            let message = format!(
                "link \"{name}\" takes packets of {} at most: every link takes {LEAST_MTU} bytes (RFC 791, section 3.2)",
                mtu.size.print()
            );
            return Err(of(name, "mtu", &steps, Some("size"), message));
        }
        // The first of a direction follows none.
        let first =
            steps.last().is_none_or(|index| index == "0") || steps.len() == 1 && link.mtu.is_directed();
        if !first && before.is_some_and(|before| mtu.from <= before) {
            let message = format!(
                "the mtu of link \"{name}\" changes at {}, no later than the one before: name them in the order in which they \
                 begin",
                mtu.from.print()
            );
            return Err(of(name, "mtu", &steps, Some("from"), message));
        }
        before = Some(mtu.from);
    }
    Ok(())
}

/// The recordings of a link with these directions: at most one for each direction, and then no rate.
fn check_traces(name: &str, link: &Link, ways: &[[&str; 2]; 2]) -> Result<(), Objection> {
    let fault = |steps: &[String], key, message: String| Err(of_trace(name, steps, (key, message)));
    let all = || link.trace.written();
    // If neither of two names a direction, each belongs to the direction of its position.
    let one_each = !link.trace.is_directed()
        && link.trace.of(0).len() == 2
        && all().all(|(_, trace)| trace.direction().is_none());
    let mut followed = [0; 2];
    for (place, (steps, trace)) in all().enumerate() {
        trace.check().map_err(|wrong| of_trace(name, &steps, wrong))?;
        if let Some(message) = stray_direction(&["link", name], trace.direction(), ways) {
            return fault(&steps, "direction", message);
        }
        if let Some(message) = said_twice(name, link.trace.is_directed(), trace.direction()) {
            return fault(&steps, "direction", message);
        }
        for (way, count) in followed.iter_mut().enumerate() {
            let [from, to] = ways[way];
            let here = match trace.direction() {
                Some(direction) => direction.from == from && direction.to == to,
                None if link.trace.is_directed() => steps[0] == way.to_string(),
                None => !one_each || place == way,
            };
            *count += usize::from(here);
            if here && *count > 1 {
                return fault(&steps, "kind", "a direction follows one recording, not two".to_owned());
            }
        }
    }
    if followed == [1; 2] && link.rate.is_some() {
        let message = format!("both directions of link \"{name}\" follow a recording: leave its rate out");
        return Err(object(&["link", name, "rate"], Part::Value, message));
    }
    if followed != [0; 2] && link.duplex == Duplex::Half {
        let message = format!(
            "the directions of link \"{name}\" share a medium, and cannot follow a recording: leave \"half\" out"
        );
        return Err(object(&["link", name, "duplex"], Part::Value, message));
    }
    Ok(())
}
