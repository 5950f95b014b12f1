//! Spellings of units that other tools accept, beside the file's own: those of tc and iperf3.
//!
//! Each quantity lists its own units first, which error messages show. These stand behind them. A spelling that means
//! different things in different tools is refused with a sentence that says what to write.

use crate::values::decimal::{Unit, Units};

const KI: u64 = 1 << 10;

const fn unit(name: &'static str, size: u64) -> Unit {
    Unit { name, size }
}

/// Bits per second: tc's `10mbit` (powers of 1000, or of 1024 with an `i`) and iperf3's `-b 10M` (powers of 1000).
const RATES: [Unit; 29] = [
    unit("bit", 1),
    unit("kbit", 1_000),
    unit("Kbit", 1_000),
    unit("mbit", 1_000_000),
    unit("Mbit", 1_000_000),
    unit("gbit", 1_000_000_000),
    unit("Gbit", 1_000_000_000),
    unit("tbit", 1_000_000_000_000),
    unit("Tbit", 1_000_000_000_000),
    unit("kibit", KI),
    unit("Kibit", KI),
    unit("mibit", KI * KI),
    unit("Mibit", KI * KI),
    unit("gibit", KI * KI * KI),
    unit("Gibit", KI * KI * KI),
    unit("mbit/s", 1_000_000),
    unit("gbit/s", 1_000_000_000),
    unit("tbit/s", 1_000_000_000_000),
    unit("Kbit/s", 1_000),
    unit("k", 1_000),
    unit("K", 1_000),
    unit("m", 1_000_000),
    unit("M", 1_000_000),
    unit("g", 1_000_000_000),
    unit("G", 1_000_000_000),
    unit("t", 1_000_000_000_000),
    unit("T", 1_000_000_000_000),
    unit("kbits/s", 1_000),
    unit("Mbits/s", 1_000_000),
];

const UNCLEAR_RATES: [(&str, &str); 7] = [
    ("mbps", "bytes per second in tc, and bits per second elsewhere: write \"Mbit/s\""),
    ("gbps", "bytes per second in tc, and bits per second elsewhere: write \"Gbit/s\""),
    ("tbps", "bytes per second in tc, and bits per second elsewhere: write \"Tbit/s\""),
    ("MB/s", "bytes per second, and a rate counts bits: write eight times the number in \"Mbit/s\""),
    ("kB/s", "bytes per second, and a rate counts bits: write eight times the number in \"kbit/s\""),
    ("B/s", "bytes per second, and a rate counts bits: write eight times the number in \"bit/s\""),
    ("Bps", "bytes per second, and a rate counts bits: write eight times the number in \"bit/s\""),
];

/// Bytes: tc's `1500b`, and one letter as in tc, iperf3 `-n` and dd: a power of 1024.
const SIZES: [Unit; 9] = [
    unit("b", 1),
    unit("k", KI),
    unit("K", KI),
    unit("m", KI * KI),
    unit("M", KI * KI),
    unit("g", KI * KI * KI),
    unit("G", KI * KI * KI),
    unit("t", KI * KI * KI * KI),
    unit("T", KI * KI * KI * KI),
];

const UNCLEAR_SIZES: [(&str, &str); 7] = [
    ("kb", "1024 bytes in tc, and 1000 bits elsewhere: write \"KiB\" for 1024 bytes, or \"kB\" for 1000"),
    ("KB", "1024 bytes in some tools, and 1000 in others: write \"KiB\" for 1024 bytes, or \"kB\" for 1000"),
    ("mb", "2^20 bytes in tc, and 10^6 bits elsewhere: write \"MiB\" for 2^20 bytes, or \"MB\" for 10^6"),
    ("gb", "2^30 bytes in tc, and 10^9 bits elsewhere: write \"GiB\" for 2^30 bytes, or \"GB\" for 10^9"),
    ("Mb", "a million bits: write \"MB\" for 10^6 bytes, or \"MiB\" for 2^20"),
    ("kbit", "1000 bits, and a size counts bytes: write \"kB\" or \"KiB\""),
    ("mbit", "a million bits, and a size counts bytes: write \"MB\" or \"MiB\""),
];

/// Times: tc's.
const SPANS: [Unit; 8] = [
    unit("nsec", 1_000),
    unit("nsecs", 1_000),
    unit("usec", 1_000_000),
    unit("usecs", 1_000_000),
    unit("msec", 1_000_000_000),
    unit("msecs", 1_000_000_000),
    unit("sec", 1_000_000_000_000),
    unit("secs", 1_000_000_000_000),
];

const UNCLEAR_SPANS: [(&str, &str); 2] = [
    ("m", "minutes in some tools, and milliseconds to some readers: write \"min\" or \"ms\""),
    ("d", "days, which a scenario does not count: write hours, \"h\""),
];

/// Counts of packets: tc's `100p`.
const PACKETS: [Unit; 3] = [unit("p", 1), unit("pkt", 1), unit("pkts", 1)];

pub(crate) const fn rates(own: &'static [Unit]) -> Units {
    Units { own, also: &RATES, unclear: &UNCLEAR_RATES }
}

pub(crate) const fn sizes(own: &'static [Unit]) -> Units {
    Units { own, also: &SIZES, unclear: &UNCLEAR_SIZES }
}

pub(crate) const fn spans(own: &'static [Unit]) -> Units {
    Units { own, also: &SPANS, unclear: &UNCLEAR_SPANS }
}

pub(crate) const fn packets(own: &'static [Unit]) -> Units {
    Units { own, also: &PACKETS, unclear: &[] }
}

pub(crate) const fn segments(own: &'static [Unit]) -> Units {
    Units { own, also: &[], unclear: &[] }
}

/// What else than a quantity's own units may stand behind a number, for its schema.
pub(crate) fn also(own: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    let families: [(&str, &'static [Unit]); 4] =
        [("bit/s", &RATES), ("B", &SIZES), ("ms", &SPANS), ("packets", &PACKETS)];
    families
        .into_iter()
        .filter(|(first, _)| own.contains(first))
        .flat_map(|(_, units)| units.iter().map(|unit| unit.name))
}
