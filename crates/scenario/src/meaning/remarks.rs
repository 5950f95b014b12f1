//! Remarks about a correct scenario: keys that another key makes ineffective, and mechanisms that a choice switches on by
//! itself.
//!
//! Lives here: one function for each rule. Must not live here: anything that refuses a scenario (`meaning`).

use crate::flow::app::App;
use crate::flow::{End, Flow};
use crate::network::{Duplex, Link};
use crate::paths;
use crate::reading::error::ScenarioError;
use crate::reading::tree::{At, Fault, Node, Part};
use crate::scenario::Scenario;
use crate::tcp::table::TcpTable;
use crate::values::quantity::{Cap, Duration, Quantity};
use netspurt_tcp::config::{Config, PathMtuDiscovery, Recovery, WindowOption};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::transmit::Transmit;

/// The largest window that a header can announce without a window option.
const UNSCALED: u32 = 65_535;

/// The severity of a remark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// A mechanism is switched on that no key names.
    Note,
    /// A key has no effect, or less than it says.
    Warning,
}

/// A remark, and the place in the file that it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Its severity.
    pub weight: Weight,
    /// The place and the sentence, in the form of an error.
    pub place: ScenarioError,
}

/// A remark before its place is known.
struct Found {
    weight: Weight,
    /// The paths at which the key may be, the nearest first.
    paths: Vec<Vec<String>>,
    message: String,
}

impl Scenario {
    /// The remarks on a scenario that was read from `text` with these overrides. Each remark is given once.
    pub fn remarks(&self, text: &str, file: &str, overrides: &[(&str, &str)]) -> Vec<Remark> {
        let Ok(tree) = paths::tree(text, overrides) else {
            return Vec::new();
        };
        let mut remarks: Vec<Remark> = Vec::new();
        for found in self.found() {
            let fault = Fault { at: locate(&tree, &found.paths), message: found.message };
            let place = ScenarioError::new(fault, text, file, overrides);
            let remark = Remark { weight: found.weight, place };
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        remarks
    }

    fn found(&self) -> Vec<Found> {
        let links = self.link.iter().flat_map(|(name, link)| of_link(name, link));
        let hosts = self.host.iter().filter_map(|(name, host)| {
            let idle =
                !self.flow.is_empty() && !self.flow.iter().any(|flow| flow.from == *name || flow.to == *name);
            (idle && !host.tcp.is_empty()).then(|| {
                let message =
                    format!("no flow starts or ends at \"{name}\", so its choices about TCP have no effect");
                warning(&["host", name, "tcp"], message)
            })
        });
        let flows = self.flow.iter().enumerate();
        let flows = flows.flat_map(|(index, flow)| {
            let late = of_start(index, flow, self.duration);
            let unheeded = of_datagrams(index, flow);
            let connected = flow.app.has_connection();
            let ends = [End::From, End::To].into_iter().filter(move |_| connected);
            let ends = ends.flat_map(move |end| self.of_end(index, flow, end));
            late.into_iter().chain(unheeded).chain(ends)
        });
        links.chain(hosts).chain(flows).collect()
    }

    /// The choices about TCP at one end of a flow.
    fn of_end(&self, index: usize, flow: &Flow, end: End) -> Vec<Found> {
        let table = self.choices(flow, end);
        let (node, other, far) = match end {
            End::From => (&flow.from, &flow.to, End::To),
            End::To => (&flow.to, &flow.from, End::From),
        };
        let (Ok(config), Ok(peer)) = (table.config(), self.choices(flow, far).config()) else {
            return Vec::new();
        };
        let paths = |key: &str| -> Vec<Vec<String>> {
            let index = index.to_string();
            let places = [vec!["flow", &index, "tcp", key], vec!["host", node, "tcp", key], vec!["tcp", key]];
            places.map(|path| path.into_iter().map(str::to_owned).collect()).to_vec()
        };
        let mut found: Vec<Found> = Vec::new();
        for (key, message) in switched_on(&table) {
            found.push(Found { weight: Weight::Note, paths: paths(key), message });
        }
        let credit = matches!((&flow.app, end), (App::Streams(_), End::From));
        if credit && config.transmit != Transmit::NoDelay {
            let message = format!(
                "\"{node}\" may hold back credit for a window until an earlier one is acknowledged: programs with HTTP/2 set \
                 TCP_NODELAY, which is transmit = \"nodelay\""
            );
            found.push(Found { weight: Weight::Note, paths: paths("transmit"), message });
        }
        let useless = useless(&table, &config);
        let window = unscaled(&table, &config, &peer, other);
        for (key, message) in useless.into_iter().chain(window) {
            found.push(Found { weight: Weight::Warning, paths: paths(key), message });
        }
        found
    }
}

fn warning(path: &[&str], message: String) -> Found {
    let path = path.iter().map(|step| (*step).to_owned()).collect();
    Found { weight: Weight::Warning, paths: vec![path], message }
}

/// The nearest place at which a key is written; otherwise the whole file.
fn locate(tree: &Node, paths: &[Vec<String>]) -> At {
    let paths = paths.iter().map(|path| path.iter().map(String::as_str).collect::<Vec<_>>());
    paths.into_iter().find(|path| tree.has(path)).map_or(tree.at, |path| tree.locate(&path, Part::Key))
}

/// What a choice switches on where no key says otherwise.
fn switched_on(table: &TcpTable) -> Vec<(&'static str, String)> {
    let requires = |key: &str, value: &str| {
        let name = table.congestion.as_ref().map(|choice| serde_json::json!(choice).to_string());
        let name = name.unwrap_or_else(|| "this congestion control".to_owned());
        ("congestion", format!("congestion {name} requires {key}, which is switched on: {key} = {value}"))
    };
    table.implied().into_iter().map(|implied| requires(implied.key, implied.value)).collect()
}

/// A receive window that the header cannot announce.
fn unscaled(table: &TcpTable, config: &Config, peer: &Config, other: &str) -> Option<(&'static str, String)> {
    let window = table.receive_window?;
    if config.receive_window <= UNSCALED {
        return None;
    }
    let remedy = match (config.window_option, peer.window_option) {
        (WindowOption::None, _) => {
            let profile =
                table.profile.map_or(String::new(), |name| format!(" of profile \"{}\"", name.as_str()));
            format!(
                "window_option{profile} is \"none\"; set window_option = \"rfc7323\" (window scaling) at both ends"
            )
        }
        (own, theirs) if own != theirs => {
            format!("the other end, \"{other}\", has another window_option; set the same at both ends")
        }
        _ => return None,
    };
    let window = window.print();
    let sentence = format!("a receive_window of {window} is announced as {UNSCALED} bytes at most: {remedy}");
    Some(("receive_window", sentence))
}

/// Keys that have no effect because of another one.
fn useless(table: &TcpTable, config: &Config) -> Vec<(&'static str, String)> {
    let own_control = table.congestion.as_ref().is_some_and(|choice| choice.own().is_some());
    let cubic = matches!(config.congestion, Kind::Cubic | Kind::CubicLinux);
    let windowed = own_control || config.congestion != Kind::None;
    let by_model = !own_control && matches!(config.congestion, Kind::Bbr | Kind::Bbr3);
    let counts_acks = config.recovery != Recovery::Timeout;
    let wide = matches!(config.window_option, WindowOption::BigWindow | WindowOption::ScaleEverySegment);
    let experimental = wide || config.recovery == Recovery::Nak;
    let probes = config.path_mtu_discovery != PathMtuDiscovery::Icmp;
    let finite = |cap: Option<Cap>| cap.is_some_and(|cap| cap != Cap::Infinite);
    let grows = windowed && !by_model;
    let rows = [
        (
            table.hystart.is_some() && (own_control || !cubic),
            "hystart",
            "congestion \"cubic\" or \"cubic-linux\"",
        ),
        (table.initial_window.is_some() && !windowed, "initial_window", "a congestion control"),
        (
            finite(table.initial_ssthresh) && !grows,
            "initial_ssthresh",
            "a congestion control with slow start",
        ),
        (
            table.slow_start_per_ack.is_some() && !grows,
            "slow_start_per_ack",
            "a congestion control with slow start",
        ),
        (table.counting.is_some() && !grows, "counting", "a congestion control with slow start"),
        (
            table.prr == Some(true) && by_model,
            "prr",
            "a congestion control that does not control recovery itself",
        ),
        (table.cwnd_grows.is_some() && !windowed, "cwnd_grows", "a congestion control"),
        (
            table.dup_ack_threshold.is_some() && !counts_acks,
            "dup_ack_threshold",
            "a recovery other than \"timeout\"",
        ),
        (
            table.limited_transmit == Some(true) && !counts_acks,
            "limited_transmit",
            "a recovery other than \"timeout\"",
        ),
        (
            table.dup_acks_beside_naks.is_some() && config.recovery != Recovery::Nak,
            "dup_acks_beside_naks",
            "recovery = \"nak\"",
        ),
        (
            table.reordering_tick.is_some_and(|tick| !tick.is_nothing()) && config.recovery != Recovery::Rack,
            "reordering_tick",
            "recovery = \"rack\"",
        ),
        (
            table.rto_tick.is_some_and(|tick| !tick.is_nothing())
                && !(config.recovery == Recovery::Rack && config.tail_loss_probe),
            "rto_tick",
            "recovery = \"rack\" and tail_loss_probe = true",
        ),
        (
            table.paced_bursts == Some(true) && !(config.pacing && config.push_bursts),
            "paced_bursts",
            "pacing = true and push_bursts = true",
        ),
        (
            table.base_mss.is_some() && !probes,
            "base_mss",
            "path_mtu_discovery = \"probe\" or \"probe-after-black-hole\"",
        ),
        (
            table.option_layout.is_some() && !experimental,
            "option_layout",
            "recovery = \"nak\", or window_option = \"big-window\" or \"scale-every-segment\"",
        ),
    ];
    let sentence = |key: &str, needs: &str| format!("{key} has no effect: it requires {needs}");
    rows.into_iter().filter(|row| row.0).map(|(_, key, needs)| (key, sentence(key, needs))).collect()
}

fn of_link(name: &str, link: &Link) -> Vec<Found> {
    if link.rate.is_some() || !link.trace.is_empty() {
        return Vec::new();
    }
    let needs = |key: &str, why: &str| {
        let message = format!("{key} of link \"{name}\" has no effect: without a rate {why}; set rate");
        warning(&["link", name, key], message)
    };
    let queue =
        link.queue.as_ref().map(|_| needs("queue", "the link is infinitely fast and no packet waits"));
    let half = link.duplex == Duplex::Half;
    let half = half.then(|| needs("duplex", "the link is infinitely fast and its directions never collide"));
    queue.into_iter().chain(half).collect()
}

/// Choices about TCP of a flow without TCP.
fn of_datagrams(index: usize, flow: &Flow) -> Option<Found> {
    (!flow.app.has_connection() && !flow.tcp.is_empty()).then(|| {
        let message =
            format!("tcp of flow.{index} has no effect: \"{}\" are datagrams, without TCP", flow.label());
        warning(&["flow", &index.to_string(), "tcp"], message)
    })
}

fn of_start(index: usize, flow: &Flow, duration: Duration) -> Option<Found> {
    (flow.start >= duration).then(|| {
        let (start, end) = (flow.start.print(), duration.print());
        let message =
            format!("flow.{index} starts at {start}, and the simulation ends at {end}: it never starts");
        warning(&["flow", &index.to_string(), "start"], message)
    })
}
