//! RFC 9768 at work.

mod counts;
mod handshake;

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::Info;
use netspurt_tcp::config::{Config, EcnUse, Recovery};
use netspurt_tcp::ecn::{AccurateEcn, ByteCounters, Order};
use netspurt_tcp::options::Options;
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::seq::Seq;

const AE: Flags = Flags::AE;
const CWR: Flags = Flags::CWR;
const ECE: Flags = Flags::ECE;
const ALL: Flags = Flags(AE.0 | CWR.0 | ECE.0);
const OURS: Seq = Seq(0xFFFF_F000);

fn asking() -> Config {
    Config { ecn: EcnUse::Rfc9768, ..config(Recovery::NewReno) }
}

/// The three flags as a number.
fn ace(flags: Flags) -> u8 {
    u8::from(flags.has(AE)) << 2 | u8::from(flags.has(CWR)) << 1 | u8::from(flags.has(ECE))
}

/// The number as three flags.
fn field(ace: u32) -> Flags {
    let bit = |value, flag| if ace & value != 0 { flag } else { Flags::NONE };
    bit(4, AE) | bit(2, CWR) | bit(1, ECE)
}

/// A client whose SYN-ACK, with these flags, has come.
fn opened(config: Config, flags: Flags) -> Lab {
    Lab::open_with(config, Options { mss: Some(MSS as u16), ..Options::NONE }, flags)
}

/// One whose peer has agreed on accurate ECN.
fn agreed(config: Config) -> Lab {
    opened(config, CWR)
}

/// An ACK up to segment `n`, by a peer that has seen `marked` packets with a mark.
fn told(lab: &mut Lab, n: u32, marked: u32) {
    let flags = Flags::ACK | field(5 + marked);
    lab.arrives(Segment { ack: Lab::behind(n), flags, ..Segment::default() });
}

/// The same, with the bytes that were marked of all `n` segments.
fn told_in_bytes(lab: &mut Lab, n: u32, marked: u32, ce: u32) {
    let counters = ByteCounters { ect0: 1 + n * MSS - ce, ce, ect1: 1 };
    let option = AccurateEcn::new(Order::Ect0First, counters, 2);
    let options = Options::NONE.with_accurate_ecn(option);
    let flags = Flags::ACK | field(5 + marked);
    lab.arrives(Segment { ack: Lab::behind(n), flags, options, ..Segment::default() });
}

fn info(lab: &Lab) -> netspurt_tcp::ecn::AccurateEcnInfo {
    let Info { accurate_ecn: Some(info), .. } = lab.tcp.info() else { panic!("ECN is not accurate") };
    info
}

/// Whether new data of this connection can be marked.
fn sends(lab: &mut Lab) -> bool {
    let from = lab.sent.len();
    lab.write(1);
    let sent = &lab.sent[from..];
    assert!(!sent.is_empty());
    sent.iter().all(|(_, sent)| sent.segment.ecn == Ecn::Ect0)
}
