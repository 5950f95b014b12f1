//! Many short connections: the load of RFC 2415; or any scenario file.
//!
//! `web [SECONDS] [SEED]` and `scenario FILE [SEED]` print what was done and how fast, on one thread.

use crate::pace::pace;
use crate::request::{Request, wrong};
use crate::{Outcome, clock};
use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::record::result::SessionResult;

pub(crate) fn measure(request: &Request) -> Outcome {
    web(request.number(0, 360)?, request.number(1, 1)?);
    Ok(())
}

pub(crate) fn measure_scenario(request: &Request) -> Outcome {
    match request.word(0) {
        "" => Err(wrong("expected a scenario file")),
        file => scenario(file, request.number(1, 1)?),
    }
}

/// The load of RFC 2415: sixteen people with web pages and one with large files behind a T1 line, for so many seconds.
fn web(seconds: u32, seed: u64) {
    let scenario = Scenario::parse(WEB, "web", &[("duration", &format!("\"{seconds} s\""))]);
    let spec = scenario.and_then(|scenario| scenario.build("web")).expect("a good scenario");
    let begun = clock::now();
    let result = World::new(spec, seed, None).expect("a connected world").run(&|| false);
    let pace = pace(result.performance, begun);
    let count = |of: fn(&SessionResult) -> u64| -> u64 {
        result.groups.iter().filter_map(|group| group.session.as_ref()).map(of).sum()
    };
    println!(
        "web {seconds} s  {pace}  pages {}  \
         connections {}  drops {}  utilisation {:.4}  digest {}",
        count(|session| session.pages),
        count(|session| u64::from(session.connections)),
        result.links[1].drops_by(Cause::Queue),
        result.links[1].utilisation,
        result.digest,
    );
}

/// A scenario file.
fn scenario(file: &str, seed: u64) -> Outcome {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let scenario = Scenario::parse(&text, file, &[]).map_err(|error| error.to_string())?;
    let spec = scenario.build(file).map_err(|error| error.to_string())?;
    let world = World::new(spec, seed, None).map_err(|error| format!("{file}: {error:?}"))?;
    let begun = clock::now();
    let result = world.run(&|| false);
    let pace = pace(result.performance, begun);
    println!("{file}  {pace}  digest {}", result.digest,);
    Ok(())
}

/// See [`web`].
const WEB: &str = r#"duration = "360 s"
[link.line]
between = ["left", "right"]
rate = "1.5 Mbit/s"
delay = "25 ms"
queue = { kind = "drop-tail", limit = "25 packets" }
[link.clients]
between = ["client", "left"]
rate = "10 Mbit/s"
delay = "4 ms"
[link.servers]
between = ["right", "server"]
rate = "10 Mbit/s"
delay = "4 ms"
[tcp]
profile = "reno"
mss = "1460 B"
receive_window = "16060 B"
[[flow]]
from = "client"
to = "server"
count = 16
[flow.app]
kind = "web"
files = 4
size = { kind = "lomax", median = "1500 B", shape = 1.2, max = "1 MB" }
think = { kind = "uniform", min = "1 s", max = "5 s" }
first = { kind = "uniform", min = "0 s", max = "5 s" }
[[flow]]
app = { kind = "files", size = "1 MB" }
from = "client"
to = "server"
"#;
