//! Links whose capacity follows a recording: keys and formats.

use crate::values::columns::{LONGEST_S, WrongLine, read_columns, shown};
use crate::values::distribution::Files;
use crate::values::quantity::{Direction, Duration, Quantity, Rate};
use netspurt_sim::network::capacity::{Capacity, Deliveries, Piece, Rates};
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Columns of rates, and how many bits per second their unit is.
const RATES: [(&str, f64); 4] =
    [("rate_bps", 1.0), ("rate_kbps", 1e3), ("rate_mbps", 1e6), ("rate_gbps", 1e9)];

/// A recording of the capacity of a link, instead of its rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Trace {
    /// Times at which 1504 bytes may leave: a packet of 1500 bytes, or several shorter ones. The recording repeats. An
    /// opportunity without a waiting packet is lost. Each packet counts with 4 additional bytes, as in the recordings.
    ///
    /// Document: Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", 2015, section 4.
    Mahimahi {
        /// The file, its path relative to the scenario's: a whole number of milliseconds on each line, in ascending
        /// order. The last one is the length of the recording.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The lines of such a file, instead of a file.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        milliseconds: Vec<u64>,
        /// Only in this direction. The other direction has the rate of the link or its own recording. Default: both.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// Rates over time, each from its time on.
    Rates {
        /// A CSV file, its path relative to the scenario's, with a column `time_s` that begins at 0 and rises, and a column
        /// `rate_bps`, `rate_kbps`, `rate_mbps` or `rate_gbps`.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The times, instead of a file.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        times: Vec<Duration>,
        /// The rates, instead of a file: one for each time.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rates: Vec<Rate>,
        /// After this time the recording starts again. Default: the last rate remains.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeat: Option<Duration>,
        /// Only in this direction. The other direction has the rate of the link or its own recording. Default: both.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
}

/// The key at fault, and a sentence.
pub(crate) type Wrong = (&'static str, String);

impl Trace {
    /// The direction to which it is confined.
    pub const fn direction(&self) -> Option<&Direction> {
        match self {
            Self::Mahimahi { direction, .. } | Self::Rates { direction, .. } => direction.as_ref(),
        }
    }

    /// Replaces the name of a file by its contents.
    pub(crate) fn resolve(&mut self, files: Files<'_>) -> Result<(), Wrong> {
        let (Self::Mahimahi { file, .. } | Self::Rates { file, .. }) = &mut *self;
        let Some(name) = file.take() else { return Ok(()) };
        let wrong = |message: String| ("file", message);
        let text = files(&name).map_err(|why| wrong(format!("\"{name}\" cannot be read: {why}")))?;
        let placed = |(line, message): (usize, String)| wrong(format!("\"{name}\", line {line}: {message}"));
        let twice = || wrong("a recording stands in a file or here, not in both".to_owned());
        match self {
            Self::Mahimahi { milliseconds, .. } => {
                if !milliseconds.is_empty() {
                    return Err(twice());
                }
                *milliseconds = read_milliseconds(&text).map_err(placed)?;
            }
            Self::Rates { times, rates, .. } => {
                if !times.is_empty() || !rates.is_empty() {
                    return Err(twice());
                }
                (*times, *rates) = read_rates(&text).map_err(placed)?;
            }
        }
        // Errors of a whole recording are reported with its file.
        self.check().map_err(|(_, message)| wrong(format!("\"{name}\": {message}")))
    }

    /// Checks the values.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        match self {
            Self::Mahimahi { milliseconds, .. } => check_milliseconds(milliseconds),
            Self::Rates { times, rates, repeat, .. } => check_rates(times, rates, *repeat),
        }
    }

    /// The same for the simulator; `None` for one that [`Trace::check`] refuses.
    pub(crate) fn build(&self) -> Option<Arc<Capacity>> {
        let capacity = match self {
            Self::Mahimahi { milliseconds, .. } => {
                Capacity::Deliveries(Arc::new(Deliveries::new(milliseconds)?))
            }
            Self::Rates { times, rates, repeat, .. } => {
                let piece = |(time, rate): (&Duration, &Rate)| Piece { from: time.0.as_ps(), rate: rate.0 };
                let pieces: Vec<Piece> = times.iter().zip(rates).map(piece).collect();
                Capacity::Rates(Arc::new(Rates::new(&pieces, repeat.map(|time| time.0.as_ps()))?))
            }
        };
        Some(Arc::new(capacity))
    }
}

fn check_milliseconds(milliseconds: &[u64]) -> Result<(), Wrong> {
    let wrong = |message: String| Err(("milliseconds", message));
    let Some(&last) = milliseconds.last() else {
        return wrong("a recording has at least one line: name a file, or milliseconds".to_owned());
    };
    if let Some(pair) = milliseconds.windows(2).find(|pair| pair[1] < pair[0]) {
        return wrong(format!("{} ms come after {} ms: times must not fall", pair[1], pair[0]));
    }
    if last == 0 {
        return wrong("the last time is the recording's length, and must be above 0 ms".to_owned());
    }
    if last as f64 > LONGEST_S * 1e3 {
        return wrong(format!("{last} ms are too long for a recording: {:.0} s at most", LONGEST_S));
    }
    Ok(())
}

fn check_rates(times: &[Duration], rates: &[Rate], repeat: Option<Duration>) -> Result<(), Wrong> {
    let wrong = |key, message: &str| Err((key, message.to_owned()));
    match times.first() {
        None => return wrong("times", "a recording has at least one rate: name a file, or times and rates"),
        Some(first) if first.0 > Span::ZERO => return wrong("times", "the first time must be 0 s"),
        Some(_) => {}
    }
    if times.len() != rates.len() {
        let message = format!("{} times need as many rates, not {}", times.len(), rates.len());
        return Err(("rates", message));
    }
    if let Some(pair) = times.windows(2).find(|pair| pair[1] <= pair[0]) {
        let message = format!("{} comes after {}: times must rise", pair[1].print(), pair[0].print());
        return Err(("times", message));
    }
    if rates.iter().all(|rate| rate.0 == 0) {
        return wrong("rates", "with all rates zero nothing ever leaves: one at least must be above it");
    }
    match (repeat, times.last()) {
        (Some(repeat), Some(&last)) if repeat <= last => {
            let message = format!(
                "it cannot begin anew after {}, before its last rate at {}",
                repeat.print(),
                last.print()
            );
            Err(("repeat", message))
        }
        _ => Ok(()),
    }
}

/// The lines of a Mahimahi file. Empty lines at its end are none.
fn read_milliseconds(text: &str) -> Result<Vec<u64>, WrongLine> {
    let mut last = 0;
    let line = |(number, line): (usize, &str)| {
        let wrong = || (number, format!("{:?} is no whole number of milliseconds", shown(line)));
        let time: u64 = line.trim().parse().map_err(|_| wrong())?;
        if time < last {
            return Err((number, format!("{time} ms come after {last} ms: times must not fall")));
        }
        last = time;
        Ok(time)
    };
    (1..).zip(text.trim_end().lines()).map(line).collect()
}

/// Times and rates of a CSV file.
fn read_rates(text: &str) -> Result<(Vec<Duration>, Vec<Rate>), WrongLine> {
    let rows = read_columns(text, &RATES, 1e15)?;
    Ok(rows.into_iter().map(|(time, rate)| (time, Rate(rate.round() as u64))).unzip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mahimahi_files_are_read_as_they_are() {
        assert_eq!(read_milliseconds("0\n5\n5\n12\n"), Ok(vec![0, 5, 5, 12]));
        assert_eq!(read_milliseconds(" 1\r\n2\r\n\n"), Ok(vec![1, 2]));
        assert_eq!(
            read_milliseconds("1\n2 5\n"),
            Err((2, "\"2 5\" is no whole number of milliseconds".into()))
        );
        assert_eq!(read_milliseconds("1\n\n2\n").unwrap_err().0, 2, "an empty line in the middle is none");
        assert_eq!(read_milliseconds("4\n3\n"), Err((2, "3 ms come after 4 ms: times must not fall".into())));
        assert_eq!(read_milliseconds("-1\n").unwrap_err().0, 1);
    }

    #[test]
    fn rates_are_found_by_name_and_have_their_unit() {
        let (times, rates) = read_rates("# a phone\nrate_mbps,x,time_s\n1.5,a,0\n0,b,0.25\n").unwrap();
        assert_eq!(times, [Duration::ms(0), Duration::ms(250)]);
        assert_eq!(rates, [Rate(1_500_000), Rate(0)]);
        let error = |text| read_rates(text).unwrap_err();
        assert_eq!(error("time_s,rate\n0,1\n").0, 1);
        assert!(error("time_s,rate\n0,1\n").1.contains("rate_mbps"));
        assert_eq!(error("time_s,rate_bps\n0,1\n1,-5\n").0, 3);
        assert_eq!(error("time_s,rate_bps\n0,nan\n").0, 2);
        assert_eq!(error("time_s,rate_bps\n0\n").0, 2);
        assert_eq!(error("\n").1, "the file is empty");
    }
}
