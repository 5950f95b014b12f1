//! Negotiation on the SYN segments: pure functions of our configuration and the options of the peer's SYN.

use crate::config::{Config, MssCounts, ReceiverCongestion, Recovery, SynOptions, WindowOption};
use crate::wire::options::{BigWindow, Layout, Options, Timestamps};

/// MSS of a peer that announces none (RFC 9293, section 3.7.1, MUST-15; the value for IPv4).
const DEFAULT_MSS: u16 = 536;
/// Largest window scale shift (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;
/// Bytes of the headers of IPv4 and TCP without options.
pub(crate) const HEADERS: u32 = 40;
/// No shift: the options of each segment say how its window is to be read.
const BY_OPTIONS: u8 = u8::MAX;
/// Largest Big Window: 30 bits (RFC 1106, section 1).
const BIGGEST: u32 = (1 << 30) - 1;

/// The encoding of windows after the SYN segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum WindowForm {
    /// 16 bits without scaling.
    #[default]
    Plain,
    /// Shifts negotiated on the SYN segments (RFC 7323).
    Shifted { ours: u8, theirs: u8 },
    /// A shift in every segment.
    EachSegment,
    /// Options B and C of RFC 1106.
    Big,
}

/// The result of the negotiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Agreed {
    /// The effective send MSS: the smaller of our limit and the peer's.
    pub(crate) mss: u16,
    /// Payload bytes of a full segment: the MSS, minus the options of every segment if the MSS includes them.
    pub(crate) payload: u16,
    /// Header length of a segment with the options that every segment carries.
    pub(crate) header_len: u8,
    pub(crate) window: WindowForm,
    /// By how much a window that arrives is shifted; [`BY_OPTIONS`] where its options say more.
    read_shift: u8,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    /// We may send NAKs.
    pub(crate) nak: bool,
}

/// The smallest shift that brings `window` below 2^16, at most 14.
pub(crate) const fn shift_for(window: u32) -> u8 {
    let mut shift = 0;
    while shift < MAX_SHIFT && window >> shift > 0xFFFF {
        shift += 1;
    }
    shift
}

/// RFC 9840: with a larger shift, RLWND could not be announced in steps of a segment.
const MAX_RLEDBAT_SHIFT: u8 = 11;

/// The shift of the windows that we announce.
const fn own_shift(config: &Config) -> u8 {
    let shift = shift_for(config.receive_window);
    match config.receiver_congestion {
        ReceiverCongestion::Rledbat if shift > MAX_RLEDBAT_SHIFT => MAX_RLEDBAT_SHIFT,
        ReceiverCongestion::Off | ReceiverCongestion::Rledbat => shift,
    }
}

/// The options of our SYN, or of our SYN-ACK if `peer` are the options of the peer's SYN. A SYN-ACK offers only what
/// the peer has offered (RFC 7323, sections 2.2 and 3.2; RFC 1106, section 3).
///
/// A `path_mtu` of zero means unknown. A known path MTU limits the announced MSS, as in Linux (`dst_metric_advmss()`).
pub(crate) fn syn_options(
    config: &Config,
    peer: Option<&Options>,
    timestamps: Timestamps,
    path_mtu: u32,
) -> Options {
    match config.syn_options {
        SynOptions::Announced => {
            let options = offer(config, peer, timestamps);
            Options { mss: options.mss.map(|mss| mss.min(mss_for_path_mtu(path_mtu))), ..options }
        }
        SynOptions::Assumed => Options::NONE,
    }
}

/// The options of a SYN or a SYN-ACK according to the configuration.
fn offer(config: &Config, peer: Option<&Options>, timestamps: Timestamps) -> Options {
    let offered = |by_us: bool, by_peer: fn(&Options) -> bool| by_us && peer.is_none_or(by_peer);
    let window = config.window_option;
    let shift = own_shift(config);
    Options {
        mss: Some(config.mss),
        window_scale: offered(window == WindowOption::Rfc7323, |o| o.window_scale.is_some()).then_some(shift),
        segment_scale: offered(window == WindowOption::ScaleEverySegment, |o| o.segment_scale.is_some())
            .then_some(shift),
        sack_permitted: offered(config.sack, |o| o.sack_permitted),
        nak_permitted: config.recovery == Recovery::Nak
            && match config.layout {
                Layout::Document { .. } => false,
                Layout::Shared { .. } => offered(true, |o| o.nak_permitted),
            },
        timestamps: offered(config.timestamps, |o| o.timestamps.is_some()).then_some(timestamps),
        big_window: offered(window == WindowOption::BigWindow, |o| {
            matches!(o.big_window, Some(BigWindow::Offer(_)))
        })
        .then_some(BigWindow::Offer(config.receive_window)),
        ..Options::NONE
    }
}

/// The peer's offer: the options of its SYN, or our own offer if SYN segments carry no options.
pub(crate) fn peer_offer(config: &Config, peer: &Options) -> Options {
    match config.syn_options {
        SynOptions::Announced => Options { mss: Some(peer.mss.unwrap_or(DEFAULT_MSS)), ..*peer },
        SynOptions::Assumed => offer(config, None, Timestamps::default()),
    }
}

/// The result of the negotiation, from both SYN segments. A `path_mtu` of zero means unknown.
pub(crate) fn agree(config: &Config, peer: &Options, path_mtu: u32) -> Agreed {
    let peer = &peer_offer(config, peer);
    let window = match config.window_option {
        WindowOption::Rfc7323 => peer.window_scale.map_or(WindowForm::Plain, |theirs| WindowForm::Shifted {
            ours: own_shift(config),
            theirs: theirs.min(MAX_SHIFT),
        }),
        WindowOption::ScaleEverySegment if peer.segment_scale.is_some() => WindowForm::EachSegment,
        WindowOption::BigWindow if matches!(peer.big_window, Some(BigWindow::Offer(_))) => WindowForm::Big,
        WindowOption::None | WindowOption::ScaleEverySegment | WindowOption::BigWindow => WindowForm::Plain,
    };
    let mut agreed = Agreed {
        window,
        read_shift: match window {
            WindowForm::Plain => 0,
            WindowForm::Shifted { theirs, .. } => theirs,
            WindowForm::EachSegment | WindowForm::Big => BY_OPTIONS,
        },
        timestamps: config.timestamps && peer.timestamps.is_some(),
        sack: config.sack && peer.sack_permitted,
        nak: config.recovery == Recovery::Nak
            && match config.layout {
                Layout::Document { .. } => true,
                Layout::Shared { .. } => peer.nak_permitted,
            },
        ..Agreed::default()
    };
    let options = agreed.every_segment(Timestamps::default(), 0).wire_len(config.layout);
    agreed.header_len = 20 + options;
    agreed.limit_segments(config, peer.mss.unwrap_or(DEFAULT_MSS), path_mtu);
    agreed
}

/// The largest MSS for a path MTU; a path MTU of zero is no limit.
pub(crate) fn mss_for_path_mtu(path_mtu: u32) -> u16 {
    if path_mtu == 0 {
        u16::MAX
    } else {
        u16::try_from(path_mtu.saturating_sub(HEADERS)).unwrap_or(u16::MAX).max(64)
    }
}

impl Agreed {
    /// The values before the peer's SYN has arrived.
    pub(crate) fn before_syn(config: &Config) -> Self {
        Self { mss: config.mss, payload: config.mss, header_len: 20, ..Self::default() }
    }

    /// Sets the segment size from the peer's MSS and the path MTU (RFC 9293, section 3.7.1: Eff.snd.MSS).
    pub(crate) fn limit_segments(&mut self, config: &Config, peer: u16, path_mtu: u32) {
        let (path, options) = (mss_for_path_mtu(path_mtu), u16::from(self.header_len - 20));
        // The lower bound protects against a peer with a tiny MSS.
        self.mss = config.mss.min(peer.max(64)).min(path).max(64);
        self.payload = match config.mss_counts {
            // The path MTU includes the options, even if the MSS does not.
            MssCounts::Data => self.mss.min(path.saturating_sub(options).max(1)),
            MssCounts::DataAndOptions => self.mss - options.min(self.mss - 1),
        };
    }

    /// The options that every segment after the SYN carries. They include the upper bits or the shift of `window`, if
    /// the encoding needs them.
    #[inline]
    pub(crate) fn every_segment(&self, timestamps: Timestamps, window: u32) -> Options {
        let mut options = Options::NONE;
        if self.timestamps {
            options.timestamps = Some(timestamps);
        }
        match self.window {
            WindowForm::Plain | WindowForm::Shifted { .. } => {}
            WindowForm::EachSegment => options.segment_scale = Some(shift_for(window)),
            WindowForm::Big => options.big_window = Some(BigWindow::Upper((window >> 16) as u16)),
        }
        options
    }

    /// The window that a SYN announces. It is never scaled (RFC 7323, section 2.2). A negotiated Big Window offer
    /// contains the initial window (RFC 1106, section 3).
    pub(crate) fn read_syn_window(&self, field: u16, options: &Options) -> u32 {
        match (self.window, options.big_window) {
            (WindowForm::Big, Some(BigWindow::Offer(offer))) => offer & BIGGEST,
            _ => u32::from(field),
        }
    }

    /// The window that a segment after the SYN announces in the header `field` and in its options. Without the required
    /// option only the 16 bits of the header apply.
    #[inline]
    pub(crate) fn read_window(&self, field: u16, options: &Options) -> u32 {
        let field = u32::from(field);
        if self.read_shift <= MAX_SHIFT {
            field << self.read_shift
        } else {
            self.read_window_by(field, options)
        }
    }

    /// The field that announces `window` in every header, if there is one: [`Self::read_window`] reads no other as `window`.
    pub(crate) fn window_field(&self, window: u32) -> Option<u16> {
        let by_field = self.read_shift <= MAX_SHIFT;
        let field = if by_field { u16::try_from(window >> self.read_shift).ok()? } else { return None };
        (u32::from(field) << self.read_shift == window).then_some(field)
    }

    /// The same where the options say more than the header.
    #[cold]
    fn read_window_by(&self, field: u32, options: &Options) -> u32 {
        match self.window {
            WindowForm::Plain | WindowForm::Shifted { .. } => field << self.read_shift,
            WindowForm::EachSegment => field << options.segment_scale.unwrap_or(0).min(MAX_SHIFT),
            WindowForm::Big => match options.big_window {
                // The option holds 15 bits, the window has 30 (RFC 1106, sections 1 and 3.1).
                Some(BigWindow::Upper(upper)) => (u32::from(upper & 0x7FFF) << 16 | field).min(BIGGEST),
                Some(BigWindow::Offer(_)) | None => field,
            },
        }
    }

    /// The peer's offer that leads to this result. A retransmitted SYN-ACK must not offer more than the first.
    pub(crate) fn as_offer(&self) -> Options {
        Options {
            window_scale: matches!(self.window, WindowForm::Shifted { .. }).then_some(0),
            segment_scale: matches!(self.window, WindowForm::EachSegment).then_some(0),
            sack_permitted: self.sack,
            nak_permitted: self.nak,
            timestamps: self.timestamps.then(Timestamps::default),
            big_window: matches!(self.window, WindowForm::Big).then_some(BigWindow::Offer(0)),
            ..Options::NONE
        }
    }

    /// The negotiated shifts: of the peer's windows, and of ours.
    pub(crate) const fn shifts(&self) -> (u8, u8) {
        match self.window {
            WindowForm::Shifted { ours, theirs } => (theirs, ours),
            _ => (0, 0),
        }
    }

    /// The largest window that our SYN can announce: 16 bits, or 30 with a Big Window offer.
    pub(crate) const fn syn_window(&self) -> u32 {
        match self.window {
            WindowForm::Big => BIGGEST,
            _ => 0xFFFF,
        }
    }

    /// The largest window that can be announced.
    pub(crate) const fn largest_window(&self) -> u32 {
        match self.window {
            WindowForm::Plain => 0xFFFF,
            WindowForm::Shifted { ours, .. } => 0xFFFF << ours,
            WindowForm::EachSegment => 0xFFFF << MAX_SHIFT,
            WindowForm::Big => BIGGEST,
        }
    }

    /// Encodes a window; returns the header field and the window that the peer decodes. It rounds down, but not below
    /// `announced`, the window that was announced before (RFC 7323, section 2.4).
    #[inline(always)]
    pub(crate) fn write_window(&self, window: u32, announced: u32) -> (u16, u32) {
        match self.window {
            WindowForm::Plain => (window.min(0xFFFF) as u16, window.min(0xFFFF)),
            WindowForm::Shifted { ours, .. } => shifted(window, announced, ours),
            WindowForm::EachSegment | WindowForm::Big => self.write_window_by_options(window, announced),
        }
    }

    /// The same where the options say more than the header.
    #[cold]
    fn write_window_by_options(&self, window: u32, announced: u32) -> (u16, u32) {
        if self.window == WindowForm::Big {
            return (window as u16, window);
        }
        // To round `announced` up may require a larger shift.
        let shift = shift_for(window);
        let fits = announced.div_ceil(1 << shift) <= 0xFFFF;
        shifted(window, announced, if fits { shift } else { (shift + 1).min(MAX_SHIFT) })
    }
}

/// A window in units of 1 << `shift`, and what it is then. It rounds down, but not below `announced`.
#[inline(always)]
fn shifted(window: u32, announced: u32, shift: u8) -> (u16, u32) {
    let (down, step) = (window >> shift, 1_u32 << shift);
    let field = if down << shift >= announced { down } else { announced.div_ceil(step) }.min(0xFFFF);
    (field as u16, field << shift)
}
