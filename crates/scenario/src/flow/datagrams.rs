//! Flows without a connection: datagrams and calls. Keys, checks, and the conversion for the simulator.

use crate::values::columns::read_columns;
use crate::values::distribution::{Drawn, Draws, Files};
use crate::values::form::Named;
use crate::values::quantity::{Duration, Quantity, Rate, Size};
use netspurt_sim::host::datagram::{self, CallSpec, DatagramSpec, MAX_PAYLOAD, Recorded, Spacing};
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Columns of lengths in a recording, in bytes.
const LENGTHS: [(&str, f64); 1] = [("bytes", 1.0)];
/// The shortest and the longest speech in a datagram.
const FRAMES: [Span; 2] = [Span::from_ms(5), Span::from_ms(200)];
/// The default duration of speech in a datagram of a call.
const FRAME: Span = Span::from_ms(20);

/// UDP datagrams from `from` to `to`, without feedback. Exactly one of `rate`, `interval` and `recording` sets the times of
/// sending. The first datagram is sent at the start of the flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Datagrams {
    /// Payload of a datagram. Default: 1200 B, which fits all links.
    #[serde(default = "usual_size")]
    pub size: Drawn<Size>,
    /// Payload per second while it sends: each datagram is followed by the time that it takes at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// From one datagram to the next. Drawn from `exponential` they are a Poisson process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Drawn<Duration>>,
    /// The times and lengths of recorded datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// How long it sends before it pauses. Default: it never pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<Drawn<Duration>>,
    /// How long it pauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Drawn<Duration>>,
    /// How many datagrams. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u64>,
    /// The longest time from the first datagram to the last. Default: as long as the simulation lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Duration>,
    /// The ECN field of the packets. Nothing reacts to marks; they are counted.
    #[serde(default, skip_serializing_if = "EcnField::is_default")]
    pub ecn: EcnField,
}

/// The ECN field of datagrams.
///
/// Document: RFC 3168, section 5; RFC 9331.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnField {
    /// Queues drop instead of marking.
    #[default]
    NotEct,
    /// ECT(0): queues may mark.
    Ect0,
    /// ECT(1): queues may mark, and DualPI2 takes it for L4S.
    Ect1,
}

impl EcnField {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    const fn build(self) -> Ecn {
        match self {
            Self::NotEct => Ecn::NotEct,
            Self::Ect0 => Ecn::Ect0,
            Self::Ect1 => Ecn::Ect1,
        }
    }
}

/// Recorded datagrams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// A CSV file, its path relative to the scenario's, with a column `time_s` that rises, counted from the start of the
    /// flow, and a column `bytes` with the payloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The times instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<Duration>,
    /// The payloads instead, one for each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Size>,
}

/// One direction of a voice call over UDP and RTP: equal datagrams at equal intervals. The result has the transmission
/// rating and the opinion score of the E-model.
///
/// Document: ITU-T G.107; ITU-T G.113, Appendix I; RFC 3550.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// How speech is encoded.
    #[serde(default)]
    pub codec: Codec,
    /// The speech in one datagram.
    #[serde(default = "usual_frame")]
    pub frame: Duration,
    /// The playout delay of the receiver.
    #[serde(default)]
    pub playout: Named<Playout>,
    /// How long it lasts. Default: as long as the simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Duration>,
}

/// How speech is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// 64 kbit/s, with packet loss concealment.
    ///
    /// Document: ITU-T G.711.
    #[default]
    G711,
    /// 8 kbit/s.
    ///
    /// Document: ITU-T G.729, Annex A.
    G729a,
}

/// The playout delay of the receiver of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Playout {
    /// At the start of each second, behind the smoothed delay by four times its smoothed deviation, and by one frame at
    /// least.
    ///
    /// Document: Ramjee et al., "Adaptive playout mechanisms for packetized audio applications", 1994, algorithm 1, with
    /// talk spurts of one second.
    #[default]
    Adaptive,
    /// The first datagram waits in a buffer, and all others are played at the pace at which they were sent.
    Fixed {
        /// How long the first datagram waits.
        buffer: Duration,
    },
}

impl Default for Named<Playout> {
    fn default() -> Self {
        Self(Playout::default())
    }
}

const fn usual_size() -> Drawn<Size> {
    Drawn::Always(Size(1200))
}

const fn usual_frame() -> Duration {
    Duration(FRAME)
}

/// The keys at fault, from the outer to the inner, and a sentence.
type Wrong = (Vec<&'static str>, String);

impl Datagrams {
    /// Every distribution, under its key.
    pub(super) fn distributions(&mut self) -> Vec<(&'static str, &mut dyn Draws)> {
        let mut all: Vec<(&'static str, &mut dyn Draws)> = vec![("size", &mut self.size)];
        all.extend(self.interval.as_mut().map(|draws| ("interval", draws as _)));
        all.extend(self.on.as_mut().map(|draws| ("on", draws as _)));
        all.extend(self.off.as_mut().map(|draws| ("off", draws as _)));
        all
    }

    /// Replaces the name of the recording by its contents.
    pub(super) fn resolve(&mut self, files: Files<'_>) -> Result<(), Wrong> {
        self.recording.as_mut().map_or(Ok(()), |recording| recording.resolve(files))
    }

    /// Checks the values. Its distributions have been checked.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let given = [self.rate.is_some(), self.interval.is_some(), self.recording.is_some()];
        match given.iter().filter(|is_there| **is_there).count() {
            0 => {
                let message = "datagrams need a \"rate\", an \"interval\" or a \"recording\"".to_owned();
                return Err((vec!["rate"], message));
            }
            1 => {}
            _ => {
                let key = if given[0] && given[1] { "interval" } else { "recording" };
                let message = "say when datagrams leave once: by rate, by interval, or by recording";
                return Err((vec![key], message.to_owned()));
            }
        }
        if self.rate == Some(Rate(0)) {
            return Err((vec!["rate"], "a rate of zero sends nothing: give a rate above zero".to_owned()));
        }
        if let Some(Drawn::Always(Duration(Span::ZERO))) = self.interval {
            let message = "an interval of zero sends for ever at one instant: give one above zero".to_owned();
            return Err((vec!["interval"], message));
        }
        check_payload(&["size"], self.size.least())?;
        if let Drawn::Always(size) = self.size {
            check_payload(&["size"], size.0 as f64)?;
        }
        match (&self.on, &self.off) {
            (Some(_), None) => {
                return Err((vec!["on"], "\"on\" needs \"off\", the pause behind it".to_owned()));
            }
            (None, Some(_)) => {
                return Err((vec!["off"], "\"off\" needs \"on\", the time of sending before it".to_owned()));
            }
            (Some(_), Some(_)) if self.recording.is_some() => {
                let message = "a recording has its own pauses: leave out \"on\" and \"off\"".to_owned();
                return Err((vec!["on"], message));
            }
            _ => {}
        }
        self.recording.as_ref().map_or(Ok(()), Recording::check)
    }

    pub(super) fn build(&self) -> DatagramSpec {
        let spacing = match (&self.rate, &self.interval, &self.recording) {
            (Some(rate), ..) => Spacing::Rate(rate.0),
            (_, Some(interval), _) => Spacing::Interval(interval.distribution()),
            (_, _, Some(recording)) => Spacing::Recording(recording.build()),
            // It was refused when the file was read.
            _ => Spacing::Recording(Arc::default()),
        };
        let periods = self.on.as_ref().zip(self.off.as_ref());
        DatagramSpec {
            size: self.size.distribution().at_most(f64::from(MAX_PAYLOAD)),
            spacing,
            periods: periods.map(|(on, off)| [on.distribution(), off.distribution()]),
            count: self.packets,
            lasts: self.lasts.map(|lasts| lasts.0),
            ecn: self.ecn.build(),
            call: None,
        }
    }
}

fn check_payload(path: &[&'static str], bytes: f64) -> Result<(), Wrong> {
    if (0.0..=f64::from(MAX_PAYLOAD)).contains(&bytes) {
        return Ok(());
    }
    Err((path.to_vec(), format!("a datagram carries {MAX_PAYLOAD} B at most, not {bytes} B")))
}

impl Recording {
    fn resolve(&mut self, files: Files<'_>) -> Result<(), Wrong> {
        let Some(name) = self.file.take() else { return Ok(()) };
        let wrong = |message: String| (vec!["recording", "file"], message);
        if !self.times.is_empty() || !self.sizes.is_empty() {
            return Err(wrong("a recording stands in a file or here, not in both".to_owned()));
        }
        let text = files(&name).map_err(|why| wrong(format!("\"{name}\" cannot be read: {why}")))?;
        let rows = read_columns(&text, &LENGTHS, f64::from(MAX_PAYLOAD))
            .map_err(|(line, message)| wrong(format!("\"{name}\", line {line}: {message}")))?;
        for (time, bytes) in rows {
            self.times.push(time);
            self.sizes.push(Size(bytes.round() as u64));
        }
        self.check().map_err(|(_, message)| wrong(format!("\"{name}\": {message}")))
    }

    fn check(&self) -> Result<(), Wrong> {
        let wrong = |key, message: String| Err((vec!["recording", key], message));
        if self.times.is_empty() {
            return wrong("times", "a recording needs at least one datagram".to_owned());
        }
        if self.times.len() != self.sizes.len() {
            let (times, sizes) = (self.times.len(), self.sizes.len());
            return wrong(
                "sizes",
                format!("a recording needs one size for each time: {times} times, {sizes} sizes"),
            );
        }
        if let Some(pair) = self.times.windows(2).find(|pair| pair[1] < pair[0]) {
            let message = format!("{} comes after {}: times must not fall", pair[1].print(), pair[0].print());
            return wrong("times", message);
        }
        self.sizes.iter().try_for_each(|size| check_payload(&["recording", "sizes"], size.0 as f64))
    }

    fn build(&self) -> Arc<[Recorded]> {
        let rows = self.times.iter().zip(&self.sizes);
        rows.map(|(time, size)| Recorded { at: time.0, bytes: size.0 as u32 }).collect()
    }
}

impl Call {
    /// Checks the values.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let [least, most] = FRAMES.map(Duration);
        if self.frame < least || self.frame > most {
            let message = format!(
                "a datagram carries {} to {} of speech, not {}",
                least.print(),
                most.print(),
                self.frame.print()
            );
            return Err((vec!["frame"], message));
        }
        Ok(())
    }

    pub(super) fn build(&self) -> DatagramSpec {
        let call = CallSpec {
            codec: match self.codec {
                Codec::G711 => datagram::Codec::G711,
                Codec::G729a => datagram::Codec::G729a,
            },
            frame: self.frame.0,
            playout: match self.playout.0 {
                Playout::Adaptive => datagram::Playout::Adaptive,
                Playout::Fixed { buffer } => datagram::Playout::Fixed(buffer.0),
            },
        };
        let lasts = self.lasts.map(|lasts| lasts.0);
        DatagramSpec { lasts, ..DatagramSpec::call(call) }
    }
}
