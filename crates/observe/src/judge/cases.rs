//! Paths, TCP settings and applications, drawn from a seed.

use super::apps::Writer;
use netspurt_scenario::Scenario;
use netspurt_sim::random::Stream;
use netspurt_sim::spec::WorldSpec;
use netspurt_tcp::time::Span;

/// The limits that a case is made for; a transfer has others as well.
const KINDS: [&str; 10] = [
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
];

/// The profiles that are drawn.
const PROFILES: [&str; 5] = ["linux", "newreno", "freebsd", "reno", "bbr"];

/// A case: what is simulated, and what it was made for.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its seed, for a failure to be repeated.
    pub seed: u64,
    /// What it was made for.
    pub kind: &'static str,
    /// The profile of both ends.
    pub profile: &'static str,
    /// The scenario file.
    pub text: String,
    /// Blocks that the application writes, in place of a transfer in one piece: size, interval in microseconds, how many.
    pub writer: Option<(u64, u64, u64)>,
}

/// A case, drawn from its seed.
pub fn draw(seed: u64) -> Case {
    let mut random = Stream::new(seed, "case");
    let mut pick = |n: usize| (random.unit() * n as f64) as usize;
    let kind = KINDS[pick(KINDS.len())];
    let profile = PROFILES[pick(PROFILES.len())];
    let mut between = |least: f64, most: f64| least * (most / least).powf(random.unit());
    let rate = between(2e6, 200e6);
    let rtt = between(0.005, 0.2);
    let product = rate * rtt / 8.0;
    let split = between(0.05, 0.95);
    let queue = match kind {
        "shallow-queue" => between(0.02, 0.2),
        "bottleneck" => between(0.8, 5.0),
        _ => between(0.5, 2.0),
    };
    let packets = (product * queue / 1500.0).max(6.0) as u64;
    let seconds = between(3.0, 20.0);
    let bytes = (rate / 8.0 * seconds).min(8e6).max(60_000.0);
    let (mut sender, mut receiver, mut host, mut writer) =
        (String::new(), String::new(), String::new(), None);
    let mut loss = String::new();
    let mut bytes = bytes as u64;
    let window = |share: f64| ((product * share) as u64).max(8_000);
    match kind {
        "receive-window" => {
            receiver = format!("receive_window = \"{} B\"\n", window(between(0.1, 0.8)).min(65_535))
        }
        "send-buffer" => sender = format!("send_buffer = \"{} B\"\n", window(between(0.1, 0.8))),
        "slow-receiver" => {
            host = format!(
                "reader = {{ rate = \"{} bit/s\", buffer = \"16 KiB\" }}\n",
                (rate * between(0.1, 0.7)) as u64
            );
            receiver =
                format!("receive_window = \"{} B\"\n", (product * 1.5).clamp(16_000.0, 65_535.0) as u64);
        }
        "random-loss" => {
            loss = format!("loss = {{ kind = \"packet-error\", rate = {:.5} }}\n", between(0.0005, 0.03))
        }
        "application" => {
            let every = between(0.01, 1.0);
            let block = rate / 8.0 * every * between(0.05, 0.6);
            let blocks = (seconds / every).clamp(4.0, 400.0) as u64;
            writer = Some((block.max(200.0) as u64, (every * 1e6) as u64, blocks));
        }
        "short" => bytes = between(2_000.0, 200_000.0) as u64,
        _ => {}
    }
    let app = if kind == "requests" {
        let response = between(200.0, 300_000.0) as u64;
        let gap = between(0.5, 300.0) as u64;
        format!(
            "{{ kind = \"request-response\", request = \"300 B\", response = \"{response} B\", exchanges = 20, gap = \"{gap} ms\" }}"
        )
    } else {
        format!("{{ kind = \"bulk\", bytes = \"{bytes} B\" }}")
    };
    let others = if kind == "cross-traffic" {
        "[[flow]]\napp = { kind = \"bulk\" }\nfrom = \"c\"\nto = \"d\"\ncount = 3\n[flow.tcp]\nprofile = \"linux\"\n"
    } else {
        ""
    };
    let (profile_name, more) = match profile {
        "bbr" => ("linux", "congestion = \"bbr\"\npacing = true\n"),
        other => (other, ""),
    };
    // The host at `a` sends most of the data.
    let ends = if kind == "requests" { "from = \"b\"\nto = \"a\"" } else { "from = \"a\"\nto = \"b\"" };
    let [near, far] = [rtt / 2.0 * split, rtt / 2.0 * (1.0 - split)].map(|s| (s * 1e6).max(1.0) as u64);
    let text = format!(
        r#"duration = "60 s"
[tcp]
profile = "{profile_name}"
{more}[link.access]
between = ["a", "left"]
rate = "1 Gbit/s"
delay = "{near} us"
[link.other]
between = ["c", "left"]
rate = "1 Gbit/s"
delay = "{near} us"
[link.path]
between = ["left", "right"]
rate = "{rate} bit/s"
queue = {{ kind = "drop-tail", limit = "{packets} packets" }}
{loss}[link.home]
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
{host}
[host.b.tcp]
{receiver}
[[flow]]
app = {app}
{ends}
{others}"#,
        rate = rate as u64,
    );
    Case { seed, kind, profile, text, writer }
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
