//! Paths, TCP settings and applications, drawn from a seed.

use super::apps::Writer;
use super::draw::{Draw, Settings};
use super::models::{KINDS as ON_MODELS, MODELS};
use super::queues::{KINDS as BEHIND_QUEUES, queue};
use super::troubles::trouble;
use netspurt_scenario::Scenario;
use netspurt_sim::random::Stream;
use netspurt_sim::spec::WorldSpec;
use netspurt_tcp::time::Span;

/// The limits that a case is made for; a transfer has others as well.
const KINDS: [&str; 18] = [
    "bottleneck",
    "receive-window",
    "send-buffer",
    "slow-receiver",
    "random-loss",
    "shallow-queue",
    "application",
    "requests",
    "short",
    "cross-traffic",
    "policer",
    "shaper",
    "path-mtu",
    "outage",
    "reordering",
    "spurious",
    "idle-restart",
    "ack-path",
];

/// Limits of the ends, and limits of the path: a mixture has one of each.
const OF_ENDS: [&str; 4] = ["receive-window", "send-buffer", "slow-receiver", "application"];
const OF_PATH: [&str; 9] = [
    "random-loss",
    "shallow-queue",
    "cross-traffic",
    "policer",
    "shaper",
    "outage",
    "reordering",
    "spurious",
    "ack-path",
];

/// The profiles that are drawn.
const PROFILES: [&str; 6] = ["linux", "newreno", "freebsd", "reno", "bbr", "windows"];

/// What Microsoft documents of the TCP of Windows: CUBIC with HyStart++, RACK with tail loss probes, no timestamps, a least
/// retransmission timeout of 300 ms, ACKs delayed by 40 ms.
const WINDOWS: &str = "timestamps = false
hystart = \"rfc9406\"
recovery = \"rack\"
tail_loss_probe = true
prr = true
rto = { kind = \"rfc6298\", min = \"300 ms\" }
acking = { kind = \"delayed\", delay = \"40 ms\" }
";

/// Cases of earlier seeds have none of the last profile: tests name them by their seeds.
const FIRST_OF_WINDOWS: u64 = 6_000_000;

/// The profiles of which a case with this seed has one.
fn profiles(seed: u64) -> &'static [&'static str] {
    if seed < FIRST_OF_WINDOWS { &PROFILES[..PROFILES.len() - 1] } else { &PROFILES }
}

/// A case: the simulated scenario, and the limit that it was made for.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its seed, for a failure to be repeated.
    pub seed: u64,
    /// The limit that it was made for.
    pub kind: &'static str,
    /// A limit of the path beside it, in a mixture.
    pub second: Option<&'static str>,
    /// The profile of both ends.
    pub profile: &'static str,
    /// One-way delay in microseconds from the sender to the bottleneck, and from there to the receiver.
    pub delays: [u64; 2],
    /// The scenario file.
    pub text: String,
    /// Blocks that the application writes, in place of a transfer in one piece: size, interval in microseconds, how many.
    pub writer: Option<(u64, u64, u64)>,
    /// Whether a capture at the sender is taken above segmentation offload.
    pub offload: bool,
}

impl Draw {
    /// Packets that the queue of the bottleneck holds.
    fn queue(&mut self) -> u64 {
        let share = match self.second.unwrap_or(self.kind) {
            "shallow-queue" => self.between(0.02, 0.2),
            "bottleneck" => self.between(0.8, 5.0),
            _ => self.between(0.5, 2.0),
        };
        (self.product() * share / 1500.0).max(6.0) as u64
    }

    /// Lines of both hosts and of the bottleneck.
    fn settings(&mut self) -> Settings {
        let mut settings = Settings::default();
        self.limit(&mut settings);
        if let Some(second) = self.second {
            let first = core::mem::replace(&mut self.kind, second);
            self.limit(&mut settings);
            self.kind = first;
        }
        settings
    }

    /// Adds what `kind` limits.
    fn limit(&mut self, settings: &mut Settings) {
        match self.kind {
            "receive-window" => {
                settings.receiver = format!("receive_window = \"{} B\"\n", self.small_window().min(65_535));
            }
            "send-buffer" => settings.sender = format!("send_buffer = \"{} B\"\n", self.small_window()),
            "slow-receiver" => {
                let pace = (self.rate * self.between(0.1, 0.7)) as u64;
                let window = (self.product() * 1.5).clamp(16_000.0, 65_535.0) as u64;
                settings.reader = format!("reader = {{ rate = \"{pace} bit/s\", buffer = \"16 KiB\" }}\n");
                settings.receiver = format!("receive_window = \"{window} B\"\n");
            }
            "random-loss" => {
                let rate = self.between(0.0005, 0.03);
                settings.loss = format!("loss = {{ kind = \"packet-error\", rate = {rate:.5} }}\n");
            }
            "cross-traffic" => settings.others = self.others.take().unwrap_or_else(|| OTHERS.to_owned()),
            _ => trouble(self, settings),
        }
    }

    /// Blocks that the application writes: size, interval in microseconds, how many.
    fn writer(&mut self) -> Option<(u64, u64, u64)> {
        if self.kind != "application" {
            return None;
        }
        let every = self.between(0.01, 1.0);
        let block = self.rate / 8.0 * every * self.between(0.05, 0.6);
        let blocks = (self.seconds / every).clamp(4.0, 400.0) as u64;
        Some((block.max(200.0) as u64, (every * 1e6) as u64, blocks))
    }

    /// The application as the scenario file says it, and which host opens the connection: `a` sends most of the data.
    fn app(&mut self) -> (String, [&'static str; 2]) {
        let requests = match self.kind {
            "requests" => Some((self.between(200.0, 300_000.0), self.between(0.5, 300.0), 20)),
            "idle-restart" => Some((self.between(50_000.0, 1_500_000.0), self.between(1000.0, 3000.0), 6)),
            _ => None,
        };
        if let Some((response, gap, exchanges)) = requests {
            let app = format!(
                "{{ kind = \"request-response\", request = \"300 B\", response = \"{} B\", exchanges = {exchanges}, \
                 gap = \"{} ms\" }}",
                response as u64, gap as u64
            );
            return (app, ["b", "a"]);
        }
        let bytes = match self.kind {
            "short" => self.between(2_000.0, 200_000.0),
            _ => (self.rate / 8.0 * self.seconds).clamp(60_000.0, 8e6),
        } as u64;
        (format!("{{ kind = \"bulk\", bytes = \"{bytes} B\" }}"), ["a", "b"])
    }
}

/// Three endless flows that share the bottleneck.
const OTHERS: &str = "[[flow]]
app = { kind = \"bulk\" }
from = \"c\"
to = \"d\"
count = 3
[flow.tcp]
profile = \"linux\"
";

/// A case, drawn from its seed.
pub fn draw(seed: u64) -> Case {
    let mut draw = Draw::new(Stream::new(seed, "case"));
    draw.kind = draw.one_of(&KINDS);
    let profile = draw.one_of(profiles(seed));
    case(seed, draw, profile)
}

/// The case of this seed, captured above segmentation offload at the sender.
pub fn draw_with_offload(seed: u64) -> Case {
    Case { offload: true, ..draw(seed) }
}

/// A case with one limit of the ends and one of the path, drawn from its seed.
pub fn draw_mixture(seed: u64) -> Case {
    let mut draw = Draw::new(Stream::new(seed, "mixture"));
    draw.kind = draw.one_of(&OF_ENDS);
    draw.second = Some(draw.one_of(&OF_PATH));
    let profile = draw.one_of(profiles(seed));
    case(seed, draw, profile)
}

/// A case on a path model, drawn from its seed, and the name of the model.
pub fn draw_on_model(seed: u64) -> (&'static str, Case) {
    let mut draw = Draw::new(Stream::new(seed, "model"));
    draw.kind = draw.one_of(&ON_MODELS);
    let profile = draw.one_of(&PROFILES);
    let (model, down) = (&MODELS[draw.pick(MODELS.len())], draw.pick(2) == 1);
    draw.path = Some(model.link(down));
    (draw.rate, draw.rtt) = (model.rate(down), model.rtt);
    draw.seconds = draw.between(3.0, 20.0);
    // Both delays are those of the access links: the model has the delay of the path.
    (model.name, finish(seed, draw, profile, [1, 1]))
}

/// A case behind a queue with active management or marks, or beside other traffic than endless transfers, drawn from its seed.
pub fn draw_behind_queue(seed: u64) -> Case {
    let mut draw = Draw::new(Stream::new(seed, "queue"));
    draw.kind = draw.one_of(&BEHIND_QUEUES);
    let unmarked = draw.one_of(&PROFILES);
    let delays = dimensions(&mut draw);
    let profile = queue(&mut draw).unwrap_or(unmarked);
    finish(seed, draw, profile, delays)
}

fn case(seed: u64, mut draw: Draw, profile: &'static str) -> Case {
    let delays = dimensions(&mut draw);
    finish(seed, draw, profile, delays)
}

/// Draws the rate, the round trip and the duration. Returns the one-way delays before and behind the bottleneck in microseconds.
fn dimensions(draw: &mut Draw) -> [u64; 2] {
    draw.rate = draw.between(2e6, 200e6);
    draw.rtt = draw.between(0.005, 0.2);
    draw.seconds = draw.between(3.0, 20.0);
    let split = draw.between(0.05, 0.95);
    [split, 1.0 - split].map(|share| (draw.rtt / 2.0 * share * 1e6).max(1.0) as u64)
}

fn finish(seed: u64, mut draw: Draw, profile: &'static str, delays: [u64; 2]) -> Case {
    let text = text(&mut draw, profile, delays);
    let (kind, second) = (draw.kind, draw.second);
    Case { seed, kind, second, profile, delays, text, writer: draw.writer(), offload: false }
}

/// The scenario file of a case.
fn text(draw: &mut Draw, profile: &str, [near, far]: [u64; 2]) -> String {
    let (rate, packets) = (draw.rate as u64, draw.queue());
    let Settings { both, sender, receiver, reader, loss, others, changes } = draw.settings();
    let (app, [from, to]) = draw.app();
    let path = draw.path.take().unwrap_or_else(|| {
        format!(
            "between = [\"left\", \"right\"]\nrate = \"{rate} bit/s\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"{packets} packets\" }}\n"
        )
    });
    let tcp = draw.tcp;
    let (profile, more) = match profile {
        "bbr" => ("linux", "congestion = \"bbr\"\npacing = true\n"),
        "windows" => ("rfc", WINDOWS),
        other => (other, ""),
    };
    format!(
        r#"duration = "60 s"
[tcp]
profile = "{profile}"
{more}{tcp}{both}[link.access]
between = ["a", "left"]
rate = "1 Gbit/s"
delay = "{near} us"
[link.other]
between = ["c", "left"]
rate = "1 Gbit/s"
delay = "{near} us"
[link.path]
{path}{loss}[link.home]
between = ["right", "b"]
rate = "1 Gbit/s"
delay = "{far} us"
[link.away]
between = ["right", "d"]
rate = "1 Gbit/s"
delay = "{far} us"
[host.a.tcp]
{sender}
[host.b]
{reader}
[host.b.tcp]
{receiver}
[[flow]]
app = {app}
from = "{from}"
to = "{to}"
{others}{changes}"#
    )
}

impl Case {
    /// The world of the case.
    ///
    /// # Errors
    ///
    /// The sentence of the scenario file's error: the generator is wrong then.
    pub fn world(&self) -> Result<WorldSpec, String> {
        let name = format!("case {}", self.seed);
        let scenario = Scenario::parse(&self.text, &name, &[]).and_then(|scenario| scenario.build(&name));
        let mut spec = scenario.map_err(|error| error.to_string())?;
        if let Some((block, every, blocks)) = self.writer {
            spec.flows[0].app = Writer::app(block, Span::from_us(every), blocks);
        }
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::super::queues::OWN_FEEDBACK;
    use super::*;

    #[test]
    fn each_path_model_carries_data_in_both_directions() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..300 {
            let (model, case) = draw_on_model(seed);
            assert!(case.world().is_ok(), "{}: {:?}", case.text, case.world().err());
            assert!(case.text.contains(&format!("path = \"{model}\"")));
            seen.insert((model, case.text.contains("between = [\"right\", \"left\"]")));
        }
        assert_eq!(seen.len(), 2 * MODELS.len());
    }

    #[test]
    fn each_profile_is_drawn_and_valid() {
        let cases: Vec<Case> = (FIRST_OF_WINDOWS..FIRST_OF_WINDOWS + 60).map(draw).collect();
        for profile in PROFILES {
            let case = cases.iter().find(|case| case.profile == profile).expect(profile);
            assert!(case.world().is_ok(), "{}: {:?}", case.text, case.world().err());
        }
    }

    #[test]
    fn cases_behind_queues_are_valid_and_have_every_queue_with_and_without_marks_and_every_kind_of_traffic() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..300 {
            let case = draw_behind_queue(seed);
            assert!(case.world().is_ok(), "{}: {:?}", case.text, case.world().err());
            let queue = case.text.split("queue = ").nth(1).and_then(|text| text.split('"').nth(1));
            let marks = case.text.contains("ecn = ") || OWN_FEEDBACK.contains(&case.profile);
            seen.insert(format!("{queue:?} {marks}"));
            if case.kind == "cross-traffic" {
                let app = case.text.split("[[flow]]").last().and_then(|text| text.split('"').nth(1));
                seen.insert(format!("{app:?}"));
            }
        }
        assert_eq!(seen.len(), 2 * 8 + 4, "{seen:?}");
    }

    #[test]
    fn a_mixture_has_a_limit_of_the_ends_and_one_of_the_path() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..1000 {
            let case = draw_mixture(seed);
            assert!(case.world().is_ok(), "{}", case.text);
            seen.insert((case.kind, case.second));
            assert!(case.kind != "receive-window" || case.text.contains("receive_window ="));
            assert!(case.second != Some("policer") || case.text.contains("policer ="));
        }
        assert!(seen.len() >= 30, "{} mixtures", seen.len());
    }
}
