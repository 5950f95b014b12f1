//! Paths with active queue management, marks, and other traffic than endless transfers.

use super::draw::Draw;

/// What is drawn behind such queues.
pub(super) const KINDS: [&str; 12] = [
    "bottleneck",
    "bottleneck",
    "receive-window",
    "send-buffer",
    "slow-receiver",
    "random-loss",
    "application",
    "requests",
    "short",
    "cross-traffic",
    "cross-traffic",
    "cross-traffic",
];

/// A queue with its default settings, and the key that lets it mark packets, if it can.
struct Kind {
    name: &'static str,
    marks: Option<&'static str>,
}

const MARKS: Option<&str> = Some(", ecn = true");

const QUEUES: [Kind; 8] = [
    Kind { name: "codel", marks: MARKS },
    Kind { name: "fq-codel", marks: MARKS },
    Kind { name: "pie", marks: MARKS },
    Kind { name: "fq-pie", marks: MARKS },
    Kind { name: "red", marks: MARKS },
    Kind { name: "cake", marks: Some("") },
    Kind { name: "dualpi2", marks: Some("") },
    Kind { name: "drop-tail", marks: Some(", mark_above = ") },
];

/// Profiles of senders on paths that mark. The last two were made for them.
const WITH_MARKS: [&str; 6] = ["linux", "newreno", "freebsd", "bbr", "dctcp", "prague"];

/// Those that ask for the reports of marks that they need.
pub(super) const OWN_FEEDBACK: [&str; 2] = ["dctcp", "prague"];

/// Draws the queue and the other traffic of a case, whose rate and round trip are known. Returns a profile for both ends, if
/// the path marks packets: the senders react to marks then.
pub(super) fn queue(draw: &mut Draw) -> Option<&'static str> {
    let kind = &QUEUES[draw.pick(QUEUES.len())];
    let marks = kind.marks.filter(|_| draw.pick(2) == 1);
    let limit = (draw.product() * draw.between(1.0, 4.0) / 1500.0).max(20.0) as u64;
    let more = match (kind.name, marks) {
        ("drop-tail", Some(key)) => {
            format!(", limit = \"{limit} packets\"{key}\"{} packets\"", limit.div_ceil(6))
        }
        ("drop-tail", None) => format!(", limit = \"{limit} packets\""),
        (_, key) => key.unwrap_or_default().to_owned(),
    };
    let (rate, name) = (draw.rate as u64, kind.name);
    let path = format!(
        "between = [\"left\", \"right\"]\nrate = \"{rate} bit/s\"\nqueue = {{ kind = \"{name}\"{more} }}\n"
    );
    draw.path = Some(path);
    draw.others = Some(others(draw));
    marks.map(|_| {
        let profile = draw.one_of(&WITH_MARKS);
        draw.tcp = if OWN_FEEDBACK.contains(&profile) { "" } else { "ecn = \"rfc3168\"\n" };
        profile
    })
}

/// Other traffic in the direction of the data: transfers, answers to many users, or datagrams.
fn others(draw: &mut Draw) -> String {
    match draw.pick(4) {
        0 => {
            let (count, congestion) = (draw.between(1.0, 9.0) as u64, draw.one_of(&["cubic", "reno"]));
            format!(
                "[[flow]]\napp = {{ kind = \"bulk\" }}\nfrom = \"c\"\nto = \"d\"\ncount = {count}\n\
                 [flow.tcp]\nprofile = \"linux\"\ncongestion = \"{congestion}\"\n"
            )
        }
        1 => {
            let (load, size) = (draw.between(0.3, 0.95), draw.between(8_000.0, 500_000.0) as u64);
            format!(
                "[[flow]]\napp = {{ kind = \"arrivals\", load = {load:.3}, \
                 size = {{ kind = \"exponential\", mean = \"{size} B\" }} }}\nfrom = \"d\"\nto = \"c\"\n"
            )
        }
        2 => {
            let (count, size) = (draw.between(10.0, 60.0) as u64, draw.between(3_000.0, 100_000.0));
            // All users together would use the link between half and twice.
            let gap = size * 8.0 * count as f64 / (draw.rate * draw.between(0.5, 2.0));
            let (size, gap) = (size as u64, (gap * 1e6) as u64);
            format!(
                "[[flow]]\napp = {{ kind = \"request-response\", request = \"300 B\", response = \"{size} B\", \
                 exchanges = \"forever\", gap = \"{gap} us\" }}\nfrom = \"d\"\nto = \"c\"\ncount = {count}\n"
            )
        }
        _ => {
            let (size, load) = (draw.between(100.0, 1400.0) as u64, draw.between(0.3, 0.95));
            let interval = (size as f64 * 8.0 / (draw.rate * load) * 1e9) as u64;
            format!(
                "[[flow]]\napp = {{ kind = \"datagrams\", size = \"{size} B\", \
                 interval = {{ kind = \"exponential\", mean = \"{interval} ns\" }} }}\nfrom = \"c\"\nto = \"d\"\n"
            )
        }
    }
}
