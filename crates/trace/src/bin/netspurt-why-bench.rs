//! Diagnoses a capture, prints each budget, and how many packets a CPU second it has read: a benchmark.

use netspurt_trace::capture::CaptureReader;
use netspurt_trace::diagnosis::Diagnoser;
use netspurt_trace::follow::{Limits, follow};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: netspurt-why-bench CAPTURE");
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let mut reader = match CaptureReader::open(path.as_ref()) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut diagnoser = Diagnoser::new(1);
    let (tally, _) = follow(&mut reader, Limits::default(), &mut diagnoser);
    let seconds = began.elapsed().as_secs_f64();
    for connection in diagnoser.take() {
        let direction = connection.main();
        println!("{} -> {}: {}", connection.who.client, connection.who.server, direction.sentence);
        for (line, evidence) in direction.lines() {
            let (limit, time) = (line.limit.name(), line.time.as_secs_f64());
            println!("  {limit:20} {time:9.3} s {:5.1} %  {:?}", line.share * 100.0, evidence.quantities);
        }
    }
    println!("{} packets, {:.2} million a second", tally.packets, tally.packets as f64 / seconds / 1e6);
    ExitCode::SUCCESS
}
