//! Values that carry their unit: text in the file, integers here.
//!
//! Every quantity is one type with [`Quantity::parse`] and [`Quantity::print`]; what a file may say of it, what the
//! schema says, and what an error says all follow from the trait's constants.

use crate::values::decimal::{self, Unit, Units};
use crate::values::{spelling, suggest};
use netspurt_tcp::time::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A value written as text with its unit.
pub trait Quantity: Sized {
    /// Its name as the schema's `format`.
    const FORMAT: &'static str;
    /// What it is, for errors and the schema.
    const MEANING: &'static str;
    /// How it may look.
    const EXAMPLES: &'static [&'static str];
    /// Units that may stand behind a number.
    const UNITS: &'static [&'static str];
    /// Words that may stand alone.
    const WORDS: &'static [&'static str] = &[];

    /// Reads it; the error is one sentence without a full stop.
    fn parse(text: &str) -> Result<Self, String>;
    /// Writes it so that [`Quantity::parse`] gives the same value.
    fn print(&self) -> String;
}

/// What the walk over a file needs to know of a quantity, without its type.
pub(crate) struct Format {
    pub(crate) meaning: &'static str,
    pub(crate) examples: &'static [&'static str],
    pub(crate) units: &'static [&'static str],
    pub(crate) check: fn(&str) -> Result<(), String>,
}

/// Gives each type its place in the file format, and [`format`] the list of them all.
macro_rules! quantities {
    ($($type:ident),+ $(,)?) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(&self.print())
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let text = String::deserialize(deserializer)?;
                    Self::parse(&text).map_err(serde::de::Error::custom)
                }
            }

            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    schema_of::<Self>()
                }
            }

            impl core::fmt::Display for $type {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.write_str(&self.print())
                }
            }

            impl core::str::FromStr for $type {
                type Err = String;
                fn from_str(text: &str) -> Result<Self, String> {
                    Self::parse(text)
                }
            }
        )+

        /// The quantity of that schema `format`.
        pub(crate) fn format(name: &str) -> Option<Format> {
            match name {
                $($type::FORMAT => Some(Format {
                    meaning: $type::MEANING,
                    examples: $type::EXAMPLES,
                    units: $type::UNITS,
                    check: |text| $type::parse(text).map(drop),
                }),)+
                _ => None,
            }
        }
    };
}

quantities!(Duration, Rate, Size, Packets, Limit, Window, Cap, Grain, TimeLimit, InitialCwnd, Direction);

fn schema_of<Q: Quantity>() -> Schema {
    let mut forms: Vec<String> = Q::WORDS.iter().map(|word| (*word).to_owned()).collect();
    if !Q::UNITS.is_empty() {
        let units: Vec<&str> = Q::UNITS.iter().copied().chain(spelling::also(Q::UNITS)).collect();
        forms.push(format!(r"[0-9.][0-9._eE+-]*\s*({})", units.join("|")));
    }
    let mut schema = json_schema!({
        "type": "string",
        "format": Q::FORMAT,
        "description": Q::MEANING,
        "examples": Q::EXAMPLES,
    });
    if !forms.is_empty() {
        schema.insert("pattern".to_owned(), format!(r"^\s*({})\s*$", forms.join("|")).into());
    }
    schema
}

const SPAN_UNITS: [Unit; 8] = [
    Unit { name: "ps", size: 1 },
    Unit { name: "ns", size: 1_000 },
    Unit { name: "us", size: 1_000_000 },
    Unit { name: "µs", size: 1_000_000 },
    Unit { name: "ms", size: 1_000_000_000 },
    Unit { name: "s", size: 1_000_000_000_000 },
    Unit { name: "min", size: 60_000_000_000_000 },
    Unit { name: "h", size: 3_600_000_000_000_000 },
];
const SPAN_PRINT: [Unit; 5] = [SPAN_UNITS[5], SPAN_UNITS[4], SPAN_UNITS[2], SPAN_UNITS[1], SPAN_UNITS[0]];
const SPAN_NAMES: &[&str] = &["ps", "ns", "us", "µs", "ms", "s", "min", "h"];

/// A time span: `290 ms`, `1 us`, `500 ps`, `1 min`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Duration(pub Span);

impl Duration {
    /// Whether it is no time at all.
    pub(crate) fn is_nothing(&self) -> bool {
        self.0 == Span::ZERO
    }
    pub(crate) const fn ms(n: u64) -> Self {
        Self(Span::from_ms(n))
    }
    pub(crate) const fn secs(n: u64) -> Self {
        Self(Span::from_secs(n))
    }
}

impl Quantity for Duration {
    const FORMAT: &'static str = "time span";
    const MEANING: &'static str = "a time span, at most 213 days, to the picosecond";
    const EXAMPLES: &'static [&'static str] = &["290 ms", "1 us", "2 s"];
    const UNITS: &'static [&'static str] = SPAN_NAMES;

    fn parse(text: &str) -> Result<Self, String> {
        decimal::parse(text, &[spelling::spans(&SPAN_UNITS)]).map(|ps| Self(Span::from_ps(ps)))
    }

    fn print(&self) -> String {
        if self.0 == Span::ZERO { "0 s".to_owned() } else { decimal::print(self.0.as_ps(), &SPAN_PRINT) }
    }
}

const RATE_UNITS: [Unit; 15] = [
    Unit { name: "Tbit/s", size: 1_000_000_000_000 },
    Unit { name: "Gbit/s", size: 1_000_000_000 },
    Unit { name: "Mbit/s", size: 1_000_000 },
    Unit { name: "kbit/s", size: 1_000 },
    Unit { name: "bit/s", size: 1 },
    Unit { name: "Tb/s", size: 1_000_000_000_000 },
    Unit { name: "Gb/s", size: 1_000_000_000 },
    Unit { name: "Mb/s", size: 1_000_000 },
    Unit { name: "kb/s", size: 1_000 },
    Unit { name: "b/s", size: 1 },
    Unit { name: "Tbps", size: 1_000_000_000_000 },
    Unit { name: "Gbps", size: 1_000_000_000 },
    Unit { name: "Mbps", size: 1_000_000 },
    Unit { name: "kbps", size: 1_000 },
    Unit { name: "bps", size: 1 },
];

/// Bits per second: `1.544 Mbit/s`, `10 Tbit/s`, `1 Gb/s`. The prefixes are powers of ten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rate(pub u64);

impl Quantity for Rate {
    const FORMAT: &'static str = "rate";
    const MEANING: &'static str = "bits per second; the prefixes are powers of ten";
    const EXAMPLES: &'static [&'static str] = &["1.544 Mbit/s", "10 Tbit/s"];
    const UNITS: &'static [&'static str] = &[
        "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "bps",
        "kbps", "Mbps", "Gbps", "Tbps",
    ];

    fn parse(text: &str) -> Result<Self, String> {
        decimal::parse(text, &[spelling::rates(&RATE_UNITS)]).map(Self)
    }

    fn print(&self) -> String {
        decimal::print(self.0, &RATE_UNITS[..5])
    }
}

const SIZE_UNITS: [Unit; 10] = [
    Unit { name: "B", size: 1 },
    Unit { name: "byte", size: 1 },
    Unit { name: "bytes", size: 1 },
    Unit { name: "kB", size: 1_000 },
    Unit { name: "MB", size: 1_000_000 },
    Unit { name: "GB", size: 1_000_000_000 },
    Unit { name: "KiB", size: 1 << 10 },
    Unit { name: "MiB", size: 1 << 20 },
    Unit { name: "GiB", size: 1 << 30 },
    Unit { name: "TiB", size: 1 << 40 },
];
const SIZE_PRINT: [Unit; 7] =
    [SIZE_UNITS[9], SIZE_UNITS[8], SIZE_UNITS[7], SIZE_UNITS[6], SIZE_UNITS[5], SIZE_UNITS[4], SIZE_UNITS[3]];

/// In the largest unit of which it is a whole number.
fn print_size(bytes: u64) -> String {
    let unit =
        SIZE_PRINT.iter().find(|unit| bytes > 0 && bytes.is_multiple_of(unit.size)).unwrap_or(&SIZE_UNITS[0]);
    format!("{} {}", bytes / unit.size, unit.name)
}

/// Bytes: `8 MiB`, `156 KiB`, `150 kB`, `1460 B`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size(pub u64);

impl Quantity for Size {
    const FORMAT: &'static str = "size";
    const MEANING: &'static str = "bytes; kB, MB and GB are powers of 1000, KiB, MiB, GiB and TiB of 1024";
    const EXAMPLES: &'static [&'static str] = &["8 MiB", "156 KiB", "1460 B"];
    const UNITS: &'static [&'static str] =
        &["B", "byte", "bytes", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB"];

    fn parse(text: &str) -> Result<Self, String> {
        decimal::parse(text, &[SIZES]).map(Self)
    }

    fn print(&self) -> String {
        print_size(self.0)
    }
}

const PACKET_UNITS: [Unit; 2] = [Unit { name: "packets", size: 1 }, Unit { name: "packet", size: 1 }];
const SEGMENT_UNITS: [Unit; 2] = [Unit { name: "segments", size: 1 }, Unit { name: "segment", size: 1 }];
const PACKETS: Units = spelling::packets(&PACKET_UNITS);
const SEGMENTS: Units = spelling::segments(&SEGMENT_UNITS);
const SIZES: Units = spelling::sizes(&SIZE_UNITS);

/// Reads bytes or a count of things; the things have the units `things`.
fn parse_either<T>(
    text: &str,
    things: Units,
    of_things: impl Fn(u64) -> T,
    of_bytes: impl Fn(u64) -> T,
) -> Result<T, String> {
    let counts = things.own.iter().chain(things.also).any(|unit| text.trim_end().ends_with(unit.name));
    if counts {
        return decimal::parse_whole(text, things).map(of_things);
    }
    decimal::parse(text, &[things, SIZES]).map(of_bytes)
}

/// A count of packets: `1000 packets`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Packets(pub u64);

impl Quantity for Packets {
    const FORMAT: &'static str = "packet count";
    const MEANING: &'static str = "a count of packets";
    const EXAMPLES: &'static [&'static str] = &["1000 packets"];
    const UNITS: &'static [&'static str] = &["packets", "packet"];

    fn parse(text: &str) -> Result<Self, String> {
        decimal::parse_whole(text, PACKETS).map(Self)
    }

    fn print(&self) -> String {
        format!("{} packets", self.0)
    }
}

/// The room of a queue: `50 packets`, `64 KiB` or `100 ms`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// So many packets, whatever their length.
    Packets(u64),
    /// So many bytes, headers included.
    Bytes(u64),
    /// As many bytes as the link sends in this time.
    Time(Span),
}

impl Quantity for Limit {
    const FORMAT: &'static str = "packets, bytes or time";
    const MEANING: &'static str =
        "a count of packets, or of bytes with their headers, or the time in which the link sends those bytes";
    const EXAMPLES: &'static [&'static str] = &["50 packets", "64 KiB", "100 ms"];
    const UNITS: &'static [&'static str] = &[
        "packets", "packet", "B", "byte", "bytes", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB", "ps", "ns",
        "us", "µs", "ms", "s", "min", "h",
    ];

    fn parse(text: &str) -> Result<Self, String> {
        let unit = text.trim().rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        if SPAN_NAMES.contains(&unit) {
            return Duration::parse(text).map(|duration| Self::Time(duration.0));
        }
        parse_either(text, PACKETS, Self::Packets, Self::Bytes)
    }

    fn print(&self) -> String {
        match self {
            Self::Packets(n) => format!("{n} packets"),
            Self::Bytes(n) => print_size(*n),
            Self::Time(span) => Duration(*span).print(),
        }
    }
}

/// A window: `156 KiB`, or `100 segments` of the connection's MSS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// Bytes.
    Bytes(u64),
    /// Segments of the MSS.
    Segments(u64),
}

impl Window {
    /// In bytes, for segments of `mss` bytes; saturates.
    pub const fn bytes(self, mss: u16) -> u64 {
        match self {
            Self::Bytes(n) => n,
            Self::Segments(n) => n.saturating_mul(mss as u64),
        }
    }
}

const WINDOW_NAMES: &[&str] =
    &["B", "byte", "bytes", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB", "segments", "segment"];

impl Quantity for Window {
    const FORMAT: &'static str = "bytes or segments";
    const MEANING: &'static str = "bytes, or segments of the connection's MSS";
    const EXAMPLES: &'static [&'static str] = &["156 KiB", "100 segments"];
    const UNITS: &'static [&'static str] = WINDOW_NAMES;

    fn parse(text: &str) -> Result<Self, String> {
        parse_either(text, SEGMENTS, Self::Segments, Self::Bytes)
    }

    fn print(&self) -> String {
        match self {
            Self::Bytes(n) => print_size(*n),
            Self::Segments(n) => format!("{n} segments"),
        }
    }
}

/// A bound on a window that need not be there: `65535 B`, `40 segments`, `infinite`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cap {
    /// No bound.
    Infinite,
    /// This one.
    At(Window),
}

impl Quantity for Cap {
    const FORMAT: &'static str = "bytes, segments or infinite";
    const MEANING: &'static str = "bytes, or segments of the connection's MSS, or \"infinite\" for no bound";
    const EXAMPLES: &'static [&'static str] = &["65535 B", "40 segments", "infinite"];
    const UNITS: &'static [&'static str] = WINDOW_NAMES;
    const WORDS: &'static [&'static str] = &["infinite"];

    fn parse(text: &str) -> Result<Self, String> {
        word(text, &[("infinite", Self::Infinite)], || Window::parse(text).map(Self::At))
    }

    fn print(&self) -> String {
        match self {
            Self::Infinite => "infinite".to_owned(),
            Self::At(window) => window.print(),
        }
    }
}

/// The grain of the timers: `continuous`, or the length of a tick (`500 ms`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Timers run out when they are due.
    Continuous,
    /// They run out at a tick of this period, which runs freely.
    Ticks(Duration),
}

impl Quantity for Grain {
    const FORMAT: &'static str = "time span or continuous";
    const MEANING: &'static str = "the period of a free-running tick, or \"continuous\"";
    const EXAMPLES: &'static [&'static str] = &["500 ms", "continuous"];
    const UNITS: &'static [&'static str] = SPAN_NAMES;
    const WORDS: &'static [&'static str] = &["continuous"];

    fn parse(text: &str) -> Result<Self, String> {
        word(text, &[("continuous", Self::Continuous)], || Duration::parse(text).map(Self::Ticks))
    }

    fn print(&self) -> String {
        match self {
            Self::Continuous => "continuous".to_owned(),
            Self::Ticks(period) => period.print(),
        }
    }
}

/// A time limit: `5 min`, or `forever` for none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeLimit {
    /// No limit.
    Forever,
    /// This time.
    For(Duration),
}

impl Quantity for TimeLimit {
    const FORMAT: &'static str = "time span or forever";
    const MEANING: &'static str = "a time span, or \"forever\"";
    const EXAMPLES: &'static [&'static str] = &["5 min", "forever"];
    const UNITS: &'static [&'static str] = SPAN_NAMES;
    const WORDS: &'static [&'static str] = &["forever"];

    fn parse(text: &str) -> Result<Self, String> {
        word(text, &[("forever", Self::Forever)], || Duration::parse(text).map(Self::For))
    }

    fn print(&self) -> String {
        match self {
            Self::Forever => "forever".to_owned(),
            Self::For(span) => span.print(),
        }
    }
}

/// The congestion window at the start: `1 segment`, or the rule of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialCwnd {
    /// So many full segments.
    Segments(u32),
    /// RFC 2581, section 3.1.
    Rfc2581,
    /// RFC 3390.
    Rfc3390,
    /// RFC 6928.
    Rfc6928,
}

impl Quantity for InitialCwnd {
    const FORMAT: &'static str = "segments or a rule";
    const MEANING: &'static str = "full segments, or the rule of a document: rfc2581 (at most 2 segments), \
                                   rfc3390 (2 to 4), rfc6928 (10)";
    const EXAMPLES: &'static [&'static str] = &["1 segment", "10 segments", "rfc6928"];
    const UNITS: &'static [&'static str] = &["segments", "segment"];
    const WORDS: &'static [&'static str] = &["rfc2581", "rfc3390", "rfc6928"];

    fn parse(text: &str) -> Result<Self, String> {
        let rules = [("rfc2581", Self::Rfc2581), ("rfc3390", Self::Rfc3390), ("rfc6928", Self::Rfc6928)];
        word(text, &rules, || {
            let n = decimal::parse_whole(text, SEGMENTS)?;
            u32::try_from(n).map(Self::Segments).map_err(|_| format!("{text:?} is too large"))
        })
    }

    fn print(&self) -> String {
        match self {
            Self::Segments(n) => format!("{n} segments"),
            Self::Rfc2581 => "rfc2581".to_owned(),
            Self::Rfc3390 => "rfc3390".to_owned(),
            Self::Rfc6928 => "rfc6928".to_owned(),
        }
    }
}

/// One of the words, or else a number with a unit; what begins with a letter was meant to be a word.
fn word<T: Copy>(
    text: &str,
    words: &[(&str, T)],
    number: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    let text = text.trim();
    match words.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None if text.starts_with(char::is_alphabetic) => Err(format!(
            "unknown name {text:?}: {}",
            suggest::among(text, words.iter().map(|(name, _)| *name))
        )),
        None => number(),
    }
}

/// One direction of a link: `earth->space`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Direction {
    /// The node at which packets enter the link.
    pub from: String,
    /// The node at which they leave it.
    pub to: String,
}

impl Quantity for Direction {
    const FORMAT: &'static str = "direction";
    const MEANING: &'static str = "one direction of a link: the two nodes with \"->\" between them";
    const EXAMPLES: &'static [&'static str] = &["earth->space"];
    const UNITS: &'static [&'static str] = &[];

    fn parse(text: &str) -> Result<Self, String> {
        let Some((from, to)) = text.split_once("->") else {
            return Err(format!("{text:?} is not a direction: write it like \"earth->space\""));
        };
        Ok(Self { from: from.trim().to_owned(), to: to.trim().to_owned() })
    }

    fn print(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }
}
