//! Paths that police, shape, reorder, delay or stop packets.

use super::draw::{Draw, Settings};

/// Adds what a path with the trouble of this kind has.
pub(super) fn trouble(draw: &mut Draw, settings: &mut Settings) {
    let line = match draw.kind {
        "policer" => policer(draw),
        "shaper" => shaper(draw),
        "path-mtu" => path_mtu(draw, settings),
        "outage" => outage(draw, settings),
        "reordering" => {
            let (probability, delay) = (draw.between(0.003, 0.1), draw.rtt * draw.between(0.1, 0.9));
            let delay = (delay * 1e6) as u64;
            let none = "{ probability = 0.0, delay = \"0 ms\" }";
            format!("reorder = [{{ probability = {probability:.4}, delay = \"{delay} us\" }}, {none}]\n")
        }
        "spurious" => delay_spikes(draw, settings),
        "ack-path" => ack_path(draw),
        _ => return,
    };
    settings.loss.push_str(&line);
}

/// A token bucket with a part of the rate, and its burst in seconds of that rate.
fn bucket(draw: &mut Draw, seconds: f64) -> (u64, u64) {
    let share = draw.between(0.1, 0.7);
    let rate = draw.rate * share;
    draw.seconds *= share;
    (rate as u64, (rate / 8.0 * seconds).clamp(10_000.0, 2e6) as u64)
}

fn policer(draw: &mut Draw) -> String {
    let seconds = draw.between(0.01, 0.5);
    let (rate, burst) = bucket(draw, seconds);
    format!("policer = [{{ rate = \"{rate} bit/s\", burst = \"{burst} B\" }}, \"none\"]\n")
}

fn shaper(draw: &mut Draw) -> String {
    let seconds = draw.between(0.05, 2.0);
    let (rate, burst) = bucket(draw, seconds);
    format!("shaper = [{{ rate = \"{rate} bit/s\", burst = \"{burst} B\" }}, \"none\"]\n")
}

/// A black hole for large packets, from the beginning or from a later time on. Half of the senders search for a smaller size.
fn path_mtu(draw: &mut Draw, settings: &mut Settings) -> String {
    let size = draw.between(1000.0, 1480.0) as u64;
    let from = (draw.seconds * (draw.between(0.1, 1.0) - 0.1) * 1e3) as u64;
    if draw.between(0.5, 2.0) > 1.0 {
        settings.both.push_str("path_mtu_discovery = \"probe-after-black-hole\"\n");
    }
    format!("mtu = {{ size = \"{size} B\", too_big = \"silent\", from = \"{from} ms\" }}\n")
}

/// A time during which nothing passes, in either direction: packets are lost, or they wait.
fn outage(draw: &mut Draw, settings: &mut Settings) -> String {
    let begin = draw.seconds * draw.between(0.1, 0.6);
    let lasts = draw.between((4.0 * draw.rtt).max(0.3), 6.0);
    let loses = draw.between(0.5, 2.0) > 1.0;
    let [down, up] = if loses {
        ["\"link.path.loss.rate\" = 1.0", "\"link.path.loss.rate\" = 0.0"]
    } else {
        ["\"link.path.up\" = false", "\"link.path.up\" = true"]
    };
    change(settings, begin, down);
    change(settings, begin + lasts, up);
    if loses { "loss = { kind = \"packet-error\", rate = 0.0 }\n".to_owned() } else { String::new() }
}

/// Packets take much longer for a while, as on a mobile network, and the retransmission timer expires for nothing.
fn delay_spikes(draw: &mut Draw, settings: &mut Settings) -> String {
    let delay = draw.rtt + draw.between(0.4, 2.0);
    let first = draw.seconds * draw.between(0.1, 0.3);
    for spike in 0..3 {
        let begin = first + f64::from(spike) * (draw.seconds / 3.0).max(2.0 * delay);
        change(settings, begin, &format!("\"link.path.delay\" = \"{} us\"", (delay * 1e6) as u64));
        change(settings, begin + 0.2, "\"link.path.delay\" = \"0 us\"");
    }
    String::new()
}

/// Most ACKs are left out, or lost.
fn ack_path(draw: &mut Draw) -> String {
    if draw.between(0.5, 2.0) > 1.0 {
        let rate = draw.between(0.2, 0.8);
        return format!(
            "loss = {{ kind = \"packet-error\", rate = {rate:.3}, direction = \"right->left\" }}\n"
        );
    }
    let (keep, interval) = (draw.between(10.0, 500.0) as u64, draw.rtt * draw.between(0.1, 2.0));
    let interval = (interval * 1e6) as u64;
    format!("ack_thinning = [\"none\", {{ keep = {keep}, interval = \"{interval} us\" }}]\n")
}

fn change(settings: &mut Settings, at: f64, set: &str) {
    let at = (at * 1e6) as u64;
    settings.changes.push_str(&format!("[[change]]\nat = \"{at} us\"\nset = {{ {set} }}\n"));
}
