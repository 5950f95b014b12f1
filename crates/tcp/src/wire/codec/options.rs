//! Encoding and decoding of options (RFC 9293, section 3.2; RFC 7323; RFC 2018; RFC 1106; RFC 6994).

use super::field;
use crate::congestion::ecn::{AccurateEcn, Order};
use crate::wire::fast_open::{Cookie, FastOpen, Form};
use crate::wire::options::{BigWindow, Layout, Nak, Options, Packing, SackBlock, SackBlocks, Timestamps};
use crate::wire::seq::Seq;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const FAST_OPEN: u8 = 34;
const ACCURATE_ECN_0: u8 = 172;
const ACCURATE_ECN_1: u8 = 174;
/// The experimental kind that early versions of Fast Open used with an ExID (RFC 6994).
const EXPERIMENTAL: u8 = 254;
const FAST_OPEN_EXID: [u8; 2] = [0xF9, 0x89];

/// The options that have no assigned kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Experimental {
    Nak,
    Offer,
    Upper,
    Scale,
}

/// Appends the options, padded with zeros to `Options::wire_len`. The order is that of Linux: MSS, SACK-permitted,
/// timestamps, window scale, SACK, Fast Open, accurate ECN; or that of BSD systems, where the window scale follows the
/// MSS. The options without an assigned kind follow.
pub(super) fn write(options: &Options, layout: Layout, out: &mut Vec<u8>) {
    let start = out.len();
    let (packing, len) = options.packing(layout);
    let nops = |out: &mut Vec<u8>, n| {
        if packing == Packing::Aligned {
            out.extend(core::iter::repeat_n(NOP, n));
        }
    };
    if let Some(mss) = options.mss {
        out.extend([MSS, 4]);
        out.extend(mss.to_be_bytes());
    }
    let write_scale = |out: &mut Vec<u8>| {
        if let Some(shift) = options.window_scale {
            nops(out, 1);
            out.extend([WINDOW_SCALE, 3, shift]);
        }
    };
    let bsd_order = matches!(layout, Layout::Shared { bsd_order: true, .. });
    let pads_behind = matches!(layout, Layout::Shared { pads_behind: true, .. });
    if bsd_order {
        write_scale(out);
    }
    if options.sack_permitted {
        nops(out, if options.timestamps.is_none() && !pads_behind { 2 } else { 0 });
        out.extend([SACK_PERMITTED, 2]);
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        nops(out, if options.sack_permitted { 0 } else { 2 });
        out.extend([TIMESTAMPS, 10]);
        out.extend(value.to_be_bytes());
        out.extend(echo.to_be_bytes());
    }
    if !bsd_order {
        write_scale(out);
    }
    if !options.sack.is_empty() {
        let blocks = options.sack.as_slice();
        nops(out, 2);
        out.extend([SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            out.extend(block.left.0.to_be_bytes());
            out.extend(block.right.0.to_be_bytes());
        }
    }
    if let Some(FastOpen { form, cookie }) = options.fast_open() {
        let cookie = cookie.as_ref().map_or(&[][..], Cookie::as_slice);
        let start = out.len();
        match form {
            Form::Numbered => out.extend([FAST_OPEN, 2 + cookie.len() as u8]),
            Form::Experimental => {
                out.extend([EXPERIMENTAL, 4 + cookie.len() as u8]);
                out.extend(FAST_OPEN_EXID);
            }
        }
        out.extend(cookie);
        if !pads_behind {
            nops(out, (out.len() - start).next_multiple_of(4) - (out.len() - start));
        }
    }
    if let Some(option) = options.accurate_ecn() {
        let kind = match option.order {
            Order::Ect0First => ACCURATE_ECN_0,
            Order::Ect1First => ACCURATE_ECN_1,
        };
        out.extend([kind, option.wire_len()]);
        option.fields().for_each(|counter| out.extend(&counter.to_be_bytes()[1..]));
    }
    write_experimental(options, layout, out);
    out.resize(start + usize::from(len), END);
}

fn write_experimental(options: &Options, layout: Layout, out: &mut Vec<u8>) {
    if options.nak_permitted && matches!(layout, Layout::Shared { .. }) {
        write_head(Experimental::Nak, 0, layout, out);
    }
    match options.big_window {
        Some(BigWindow::Offer(window)) => {
            write_head(Experimental::Offer, 4, layout, out);
            out.extend(window.to_be_bytes());
        }
        Some(BigWindow::Upper(bits)) => {
            write_head(Experimental::Upper, 2, layout, out);
            out.extend(bits.to_be_bytes());
        }
        None => {}
    }
    if let Some(Nak { first, count }) = options.nak {
        write_head(Experimental::Nak, 5, layout, out);
        out.extend(first.0.to_be_bytes());
        out.push(count);
    }
    if let Some(shift) = options.segment_scale {
        write_head(Experimental::Scale, 1, layout, out);
        out.push(shift);
    }
}

/// Appends kind and length, and in the shared layout the ExID, of an option with `len` bytes of content.
fn write_head(own: Experimental, len: u8, layout: Layout, out: &mut Vec<u8>) {
    match layout {
        Layout::Document { nak, offer, upper, scale } => {
            let kind = match own {
                Experimental::Nak => nak,
                Experimental::Offer => offer,
                Experimental::Upper => upper,
                Experimental::Scale => scale,
            };
            out.extend([kind, 2 + len]);
        }
        Layout::Shared { kind, nak, offer, upper, scale, .. } => {
            let exid = match own {
                Experimental::Nak => nak,
                Experimental::Offer => offer,
                Experimental::Upper => upper,
                Experimental::Scale => scale,
            };
            out.extend([kind, 4 + len]);
            out.extend(exid.to_be_bytes());
        }
    }
}

/// Kind and length byte of an option with an illegal length.
pub(super) type Bad = (u8, u8);

/// Decodes the options of a header. It skips unknown kinds by their length (RFC 9293, section 3.2, MUST-6). If a kind
/// occurs twice, the last one applies.
pub(super) fn read(mut bytes: &[u8], layout: Layout) -> Result<Options, Bad> {
    let mut options = Options::NONE;
    while let Some((&kind, rest)) = bytes.split_first() {
        match kind {
            END => break,
            NOP => bytes = rest,
            _ => {
                // RFC 9293, section 3.2, MUST-7: the length can be illegal.
                let length = *rest.first().ok_or((kind, 0))?;
                let bad = (kind, length);
                if length < 2 || usize::from(length) > bytes.len() {
                    return Err(bad);
                }
                let (option, behind) = bytes.split_at(usize::from(length));
                read_one(kind, &option[2..], layout, &mut options).ok_or(bad)?;
                bytes = behind;
            }
        }
    }
    Ok(options)
}

/// Decodes the options that are whole, of a header whose end was not captured.
#[cold]
pub(super) fn read_cut(bytes: &[u8], layout: Layout) -> Options {
    // The end of the last whole option.
    let mut whole = 0;
    while let Some(&kind) = bytes.get(whole) {
        let end = match (kind, bytes.get(whole + 1)) {
            (END, _) => break,
            (NOP, _) => whole + 1,
            (_, Some(&length)) if length >= 2 => whole + usize::from(length),
            _ => break,
        };
        if end > bytes.len() {
            break;
        }
        whole = end;
    }
    read(&bytes[..whole], layout).unwrap_or(Options::NONE)
}

/// Decodes one option with this content; `None` if the length is illegal for the kind.
fn read_one(kind: u8, body: &[u8], layout: Layout, options: &mut Options) -> Option<()> {
    match kind {
        MSS => options.mss = Some(u16::from_be_bytes(body.try_into().ok()?)),
        WINDOW_SCALE => options.window_scale = Some(u8::from_be_bytes(body.try_into().ok()?)),
        SACK_PERMITTED => {
            let [] = body.try_into().ok()?;
            options.sack_permitted = true;
        }
        SACK => {
            let blocks = read_sack(body)?;
            // A Fast Open cookie is on a SYN, which must not carry SACK blocks.
            if options.fast_open.is_none() {
                *options = options.with_sack(blocks);
            }
        }
        ACCURATE_ECN_0 => read_accurate_ecn(Order::Ect0First, body, options),
        ACCURATE_ECN_1 => read_accurate_ecn(Order::Ect1First, body, options),
        FAST_OPEN => read_fast_open(Form::Numbered, body, options),
        TIMESTAMPS => {
            let [v0, v1, v2, v3, e0, e1, e2, e3] = body.try_into().ok()?;
            let (value, echo) = (u32::from_be_bytes([v0, v1, v2, v3]), u32::from_be_bytes([e0, e1, e2, e3]));
            options.timestamps = Some(Timestamps { value, echo });
        }
        _ => {
            if let Some((own, body)) = find_experimental(kind, body, layout) {
                read_experimental(own, body, layout, options)?;
            } else if let Some(cookie) = body.strip_prefix(&FAST_OPEN_EXID)
                && kind == EXPERIMENTAL
            {
                read_fast_open(Form::Experimental, cookie, options);
            }
        }
    }
    Some(())
}

/// Decodes a Fast Open option. It ignores a cookie of an illegal length; the SYN stays valid (RFC 7413, section 4.1.1).
fn read_fast_open(form: Form, cookie: &[u8], options: &mut Options) {
    let cookie = if cookie.is_empty() { Some(None) } else { Cookie::new(cookie).map(Some) };
    if let Some(cookie) = cookie {
        *options = options.with_fast_open(FastOpen { form, cookie });
    }
}

/// Decodes the counters of accurate ECN: all complete ones, at most three (RFC 9768, section 3.2.3). The option is
/// ignored beside a cookie or four SACK blocks, which occupy its place.
fn read_accurate_ecn(order: Order, body: &[u8], options: &mut Options) {
    if options.fast_open.is_none() && options.sack.as_slice().len() < 4 {
        let (fields, _) = body.as_chunks::<3>();
        let counters = fields.iter().map(|&[a, b, c]| u32::from_be_bytes([0, a, b, c]));
        *options = options.with_accurate_ecn(AccurateEcn::read(order, counters));
    }
}

fn read_sack(body: &[u8]) -> Option<SackBlocks> {
    let mut blocks = SackBlocks::EMPTY;
    let (pairs, rest) = body.as_chunks::<8>();
    for &[l0, l1, l2, l3, r0, r1, r2, r3] in pairs {
        let left = Seq(u32::from_be_bytes([l0, l1, l2, l3]));
        let right = Seq(u32::from_be_bytes([r0, r1, r2, r3]));
        blocks.push(SackBlock { left, right });
    }
    (rest.is_empty() && !blocks.is_empty()).then_some(blocks)
}

/// Finds the option without assigned kind that matches, and its content after the ExID. An experimental option without
/// one of our ExIDs belongs to another experiment (RFC 6994, section 3).
fn find_experimental(kind: u8, body: &[u8], layout: Layout) -> Option<(Experimental, &[u8])> {
    const OWN: [Experimental; 4] =
        [Experimental::Nak, Experimental::Offer, Experimental::Upper, Experimental::Scale];
    match layout {
        Layout::Document { nak, offer, upper, scale } => {
            let which = [nak, offer, upper, scale].into_iter().position(|own| own == kind)?;
            Some((OWN[which], body))
        }
        Layout::Shared { kind: ours, nak, offer, upper, scale, .. } => {
            let (exid, body) = body.split_first_chunk().filter(|_| kind == ours)?;
            let exid = u16::from_be_bytes(*exid);
            let which = [nak, offer, upper, scale].into_iter().position(|own| own == exid)?;
            Some((OWN[which], body))
        }
    }
}

fn read_experimental(own: Experimental, body: &[u8], layout: Layout, options: &mut Options) -> Option<()> {
    match own {
        Experimental::Nak if body.is_empty() && matches!(layout, Layout::Shared { .. }) => {
            options.nak_permitted = true;
        }
        Experimental::Nak => {
            let [_, _, _, _, count] = body.try_into().ok()?;
            let first = Seq(u32::from_be_bytes(field(body, 0)?));
            options.nak = Some(Nak { first, count });
        }
        Experimental::Offer => {
            options.big_window = Some(BigWindow::Offer(u32::from_be_bytes(body.try_into().ok()?)));
        }
        Experimental::Upper => {
            options.big_window = Some(BigWindow::Upper(u16::from_be_bytes(body.try_into().ok()?)));
        }
        Experimental::Scale => options.segment_scale = Some(u8::from_be_bytes(body.try_into().ok()?)),
    }
    Some(())
}
