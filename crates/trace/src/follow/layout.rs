//! Encodings of options without assigned numbers: with a shared kind (RFC 6994), or as in their own documents.

use netspurt_tcp::options::Layout;

const TIMESTAMPS_ALONE: [u8; 4] = [1, 1, 8, 10];

/// The encoding in a packet, which starts with its network header: the shared one, unless an option has a kind of the
/// other encoding, which nothing else uses in practice.
#[inline]
pub(super) fn layout_of(packet: &[u8]) -> Layout {
    match options(packet) {
        None | Some([]) => Layout::SHARED,
        Some(options) if options.len() == 12 && options.starts_with(&TIMESTAMPS_ALONE) => Layout::SHARED,
        Some(options) => search(options),
    }
}

/// The TCP options of a packet without IP options or extension headers.
#[inline]
fn options(packet: &[u8]) -> Option<&[u8]> {
    let first = *packet.first()?;
    let tcp = if first >> 4 == 4 { usize::from(first & 0xF) * 4 } else { 40 };
    let len = usize::from(packet.get(tcp + 12)? >> 4) * 4;
    packet.get(tcp + 20..tcp + len)
}

fn search(mut options: &[u8]) -> Layout {
    let Layout::Document { nak, offer, upper, scale } = Layout::DOCUMENT else { return Layout::SHARED };
    while let [kind, rest @ ..] = options {
        let len = match (kind, rest) {
            (0, _) => break,
            (1, _) => 1,
            (kind, _) if [nak, offer, upper, scale].contains(kind) => return Layout::DOCUMENT,
            (_, &[len, ..]) if len >= 2 => usize::from(len),
            _ => break,
        };
        options = options.get(len..).unwrap_or_default();
    }
    Layout::SHARED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(version: u8, options: &[u8]) -> Vec<u8> {
        let ip = if version == 4 { 20 } else { 40 };
        let mut packet = vec![0; ip + 20];
        packet[0] = version << 4 | 5;
        packet[ip + 12] = ((20 + options.len()) << 2) as u8;
        packet.extend(options);
        packet
    }

    #[test]
    fn the_kind_of_rfc_1106_s_nak_is_found_after_any_other_option() {
        let nak = [2, 4, 5, 180, 1, 200, 7, 0, 0, 0, 1, 1];
        let shared = [253, 9, 0x4E, 0x41, 200, 200, 200, 200, 1, 0, 0, 0];
        for version in [4, 6] {
            assert_eq!(layout_of(&packet(version, &nak)), Layout::DOCUMENT);
            assert_eq!(
                layout_of(&packet(version, &shared)),
                Layout::SHARED,
                "bytes within an option are not kinds"
            );
            assert_eq!(layout_of(&packet(version, &[])), Layout::SHARED);
        }
    }

    #[test]
    fn truncated_and_invalid_options_are_ignored() {
        let whole = packet(4, &[8, 0, 200, 7, 0, 0, 0, 0]);
        for len in 0..=whole.len() {
            assert_eq!(layout_of(&whole[..len]), Layout::SHARED);
        }
    }
}
