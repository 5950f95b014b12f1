//! Losses on the way through a link. One file each.
//!
//! A lost packet has occupied the link, and never arrives. Whether a packet is lost is decided when it enters, from the
//! direction's own random stream.

mod bit_error;
mod cause;
mod ecn_black_hole;
mod exponential_gaps;
mod gilbert_elliott;
mod packet_error;
mod process;
mod script;

pub use bit_error::BitError;
pub use cause::Cause;
pub use ecn_black_hole::EcnBlackHole;
pub use exponential_gaps::ExponentialGaps;
pub use gilbert_elliott::GilbertElliott;
pub use packet_error::PacketError;
pub use process::LossProcess;
pub use script::Script;

use crate::network::packet::Packet;
use crate::random::Stream;
use crate::spec::LossSpec;

/// The built-in loss processes.
#[derive(Clone, Debug)]
pub enum Loss {
    /// Bit errors.
    BitError(BitError),
    /// Packet errors.
    PacketError(PacketError),
    /// Exponential gaps.
    ExponentialGaps(ExponentialGaps),
    /// Gilbert–Elliott.
    GilbertElliott(GilbertElliott),
    /// A script.
    Script(Script),
    /// What requests ECN.
    EcnBlackHole(EcnBlackHole),
}

impl Loss {
    /// The process of `spec`, if it is a single one.
    pub fn new(spec: &LossSpec) -> Option<Self> {
        Some(match spec {
            LossSpec::None | LossSpec::Several(_) => return None,
            LossSpec::BitError { rate } => Self::BitError(BitError::new(*rate)),
            LossSpec::PacketError { rate } => Self::PacketError(PacketError::new(*rate)),
            LossSpec::ExponentialGaps { mean_packets } => {
                Self::ExponentialGaps(ExponentialGaps::new(*mean_packets))
            }
            LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                Self::GilbertElliott(GilbertElliott::new(*good_to_bad, *bad_to_good, *loss_good, *loss_bad))
            }
            LossSpec::Script { counted, drop } => Self::Script(Script::new(*counted, drop.clone())),
            LossSpec::EcnBlackHole => Self::EcnBlackHole(EcnBlackHole),
        })
    }
}

impl Loss {
    /// From now on it is this; nothing for a process without such a number.
    pub(crate) fn set_rate(&mut self, rate: f64) {
        match self {
            Self::BitError(loss) => *loss = BitError::new(rate),
            Self::PacketError(loss) => *loss = PacketError::new(rate),
            _ => {}
        }
    }
}

impl LossProcess for Loss {
    fn loses(&mut self, packet: &Packet, size: u32, stream: &mut Stream) -> bool {
        match self {
            Self::BitError(loss) => loss.loses(packet, size, stream),
            Self::PacketError(loss) => loss.loses(packet, size, stream),
            Self::ExponentialGaps(loss) => loss.loses(packet, size, stream),
            Self::GilbertElliott(loss) => loss.loses(packet, size, stream),
            Self::Script(loss) => loss.loses(packet, size, stream),
            Self::EcnBlackHole(loss) => loss.loses(packet, size, stream),
        }
    }

    fn cause(&self) -> Cause {
        match self {
            Self::BitError(loss) => loss.cause(),
            Self::PacketError(loss) => loss.cause(),
            Self::ExponentialGaps(loss) => loss.cause(),
            Self::GilbertElliott(loss) => loss.cause(),
            Self::Script(loss) => loss.cause(),
            Self::EcnBlackHole(loss) => loss.cause(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Counted;

    /// Share of `n` packets of 1000 bytes that are lost.
    fn share(spec: &LossSpec, n: u32) -> f64 {
        let (mut loss, mut stream) = (Loss::new(spec).unwrap(), Stream::new(11, "loss"));
        let lost = (0..n).filter(|_| loss.loses(&Packet::default(), 1000, &mut stream)).count();
        lost as f64 / f64::from(n)
    }

    fn assert_share(spec: &LossSpec, expected: f64) {
        let n = 400_000;
        let (got, sigma) = (share(spec, n), libm::sqrt(expected * (1.0 - expected) / f64::from(n)));
        assert!((got - expected).abs() < 5.0 * sigma, "{spec:?}: {got} instead of {expected}");
    }

    #[test]
    fn independent_losses_come_at_their_rates() {
        let ber = 1e-6;
        assert_share(&LossSpec::BitError { rate: ber }, 1.0 - libm::pow(1.0 - ber, 8000.0));
        assert_share(&LossSpec::PacketError { rate: 0.02 }, 0.02);
        assert_share(&LossSpec::ExponentialGaps { mean_packets: 40.0 }, 1.0 - libm::exp(-1.0 / 40.0));
    }

    #[test]
    fn gilbert_elliott_losses_come_at_the_stationary_rate_and_in_bursts() {
        let spec =
            LossSpec::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
        let got = share(&spec, 400_000);
        assert!((got - 0.01 / 0.26).abs() < 0.002, "{got}");
        let (mut loss, mut stream) = (Loss::new(&spec).unwrap(), Stream::new(11, "loss"));
        let lost: Vec<bool> =
            (0..400_000).map(|_| loss.loses(&Packet::default(), 1000, &mut stream)).collect();
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let mean_burst = lost.iter().filter(|&&lost| lost).count() as f64 / bursts as f64;
        assert!((mean_burst - 4.0).abs() < 0.2, "{mean_burst}");
    }

    #[test]
    fn the_same_stream_loses_the_same_packets() {
        let spec = LossSpec::PacketError { rate: 0.5 };
        assert!((share(&spec, 1000) - share(&spec, 1000)).abs() < 1e-12);
    }

    #[test]
    fn a_script_is_followed_to_the_letter() {
        let mut stream = Stream::new(0, "");
        let spec = LossSpec::Script { counted: Counted::Packets, drop: vec![7, 2, 7] };
        let mut loss = Loss::new(&spec).unwrap();
        let lost: Vec<u32> = (1..=10).filter(|_| loss.loses(&Packet::default(), 40, &mut stream)).collect();
        assert_eq!(lost, [2, 7]);

        let mut data = Packet::default();
        data.segment.payload.len = 1;
        let mut loss = Loss::new(&LossSpec::Script { counted: Counted::Data, drop: vec![2] }).unwrap();
        let mix = [Packet::default(), data, Packet::default(), data, data];
        let lost: Vec<bool> = mix.iter().map(|packet| loss.loses(packet, 40, &mut stream)).collect();
        assert_eq!(lost, [false, false, false, true, false]);
    }
}
