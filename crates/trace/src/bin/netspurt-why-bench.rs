//! Diagnoses a capture and prints each budget, for `tools/bench.py`.

use netspurt_trace::capture::CaptureReader;
use netspurt_trace::diagnosis::Diagnoser;
use netspurt_trace::follow::{Limits, follow};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: netspurt-why-bench CAPTURE");
        return ExitCode::from(2);
    };
    let mut reader = match CaptureReader::open(path.as_ref()) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut diagnoser = Diagnoser::new(1);
    let (tally, _) = follow(&mut reader, Limits::default(), &mut diagnoser);
    for connection in diagnoser.take() {
        let direction = connection.main();
        println!("{} -> {}: {}", connection.who.client, connection.who.server, direction.sentence);
        for (line, evidence) in direction.lines() {
            let (limit, time) = (line.limit.name(), line.time.as_secs_f64());
            let numbers = evidence.measured.quantities(line.limit);
            println!("  {limit:20} {time:9.3} s {:5.1} %  {:?}", line.share * 100.0, numbers);
        }
    }
    println!("packets {}", tally.packets);
    ExitCode::SUCCESS
}
