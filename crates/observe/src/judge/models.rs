//! Path models of the scenarios (`path = "…"`) as paths of a case.

/// A model: its name, the rates in bits per second from and to the user, and its round trip in seconds without queue. The rates
/// and round trips choose the windows and sizes of a case; the model itself decides what the path does.
pub(super) struct Model {
    pub(super) name: &'static str,
    up: f64,
    down: f64,
    pub(super) rtt: f64,
}

/// The models whose rate is at most that of the hosts' own links.
pub(super) const MODELS: [Model; 10] = [
    Model { name: "adsl", up: 1e6, down: 10e6, rtt: 0.043 },
    Model { name: "vdsl", up: 10e6, down: 50e6, rtt: 0.011 },
    Model { name: "docsis", up: 25e6, down: 250e6, rtt: 0.027 },
    Model { name: "gpon", up: 500e6, down: 1e9, rtt: 0.017 },
    Model { name: "wifi", up: 150e6, down: 150e6, rtt: 0.003 },
    Model { name: "lte", up: 5.64e6, down: 12.74e6, rtt: 0.064 },
    Model { name: "5g", up: 50e6, down: 400e6, rtt: 0.018 },
    Model { name: "leo", up: 16e6, down: 170e6, rtt: 0.0475 },
    Model { name: "geo", up: 5e6, down: 30e6, rtt: 0.58 },
    Model { name: "transatlantic", up: 1e9, down: 1e9, rtt: 0.0686 },
];

/// What is drawn on a path model: limits that use no key of the link that the model sets.
pub(super) const KINDS: [&str; 9] = [
    "bottleneck",
    "receive-window",
    "send-buffer",
    "slow-receiver",
    "application",
    "short",
    "cross-traffic",
    "policer",
    "reordering",
];

impl Model {
    /// The rate in the direction of the data.
    pub(super) const fn rate(&self, down: bool) -> f64 {
        if down { self.down } else { self.up }
    }

    /// Lines of the link that carries the data from `left` to `right`.
    pub(super) fn link(&self, down: bool) -> String {
        let ends = if down { "\"right\", \"left\"" } else { "\"left\", \"right\"" };
        format!("between = [{ends}]\npath = \"{}\"\n", self.name)
    }
}
