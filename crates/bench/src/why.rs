//! Diagnoses a capture.
//!
//! `why CAPTURE` prints the budget of each connection.

use crate::Outcome;
use crate::request::Request;
use netspurt_trace::capture::CaptureReader;
use netspurt_trace::diagnosis::Diagnoser;
use netspurt_trace::follow::{Limits, follow};

pub(crate) fn measure(request: &Request) -> Outcome {
    let mut reader = CaptureReader::open(request.word(0).as_ref())?;
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
    Ok(())
}
