//! The Fast Open option (RFC 7413, section 4.1.1).

/// The encoding of the option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Kind 34 (RFC 7413, section 4.1.1).
    Numbered,
    /// Kind 254 with ExID 0xF989: the form before the assignment of a kind (RFC 7413, section 4.1.1; RFC 6994).
    Experimental,
}

/// A cookie of 4 to 16 bytes; the length is even (RFC 7413, section 4.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cookie {
    pub(super) len: u8,
    pub(super) octets: [u8; 16],
}

impl Cookie {
    /// A cookie whose length of `len` bytes is valid.
    pub(crate) const fn of(len: u8, octets: [u8; 16]) -> Self {
        Self { len, octets }
    }

    /// A cookie of these bytes; `None` if the length is illegal.
    pub fn new(from: &[u8]) -> Option<Self> {
        let mut octets = [0; 16];
        octets.get_mut(..from.len())?.copy_from_slice(from);
        (from.len() >= 4 && from.len().is_multiple_of(2)).then_some(Self { len: from.len() as u8, octets })
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }
}

/// The content of a Fast Open option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FastOpen {
    /// The encoding.
    pub form: Form,
    /// The cookie; `None` requests one.
    pub cookie: Option<Cookie>,
}

/// Form and cookie length, as [`Options`](crate::wire::options::Options) store them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub(super) form: Form,
    pub(super) len: u8,
}

impl Head {
    /// Length on the wire without padding.
    pub(crate) fn wire_len(self) -> u8 {
        self.len + if self.form == Form::Numbered { 2 } else { 4 }
    }
}
