//! What a host stores for TCP Fast Open: a client's cache of servers, and a server's keys (RFC 7413; Linux,
//! net/ipv4/tcp_metrics.c, net/ipv4/tcp_fastopen.c).

use crate::sysctl::{FastOpenBits, Settings};
use netspurt_tcp::fast_open::{CookiePolicy, FastOpen, Form, Key, Outcome, Server, SynData};
use nix::errno::Errno;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What a client knows about a server (`struct tcp_fastopen_metrics`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) mss: Option<u16>,
    /// The option with the cookie that the server has sent.
    cookie: Option<FastOpen>,
    /// The form of the last request that got no cookie. The next request uses the other form, once.
    failed: Option<Form>,
}

impl Entry {
    /// The option of the next SYN: the cookie, or a request for one.
    pub(crate) fn option(&self) -> FastOpen {
        let form = if self.failed == Some(Form::Numbered) { Form::Experimental } else { Form::Numbered };
        self.cookie.unwrap_or(FastOpen { form, cookie: None })
    }
}

/// A client's cache of servers.
#[derive(Debug, Default)]
pub(crate) struct Cache(BTreeMap<IpAddr, Entry>);

impl Cache {
    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The entry of a server; empty if it is unknown.
    pub(crate) fn get(&self, server: IpAddr) -> Entry {
        self.0.get(&server).copied().unwrap_or_default()
    }

    /// Whether the cache holds a cookie of this server.
    pub(crate) fn has_cookie(&self, server: IpAddr) -> bool {
        self.get(server).cookie.is_some_and(|option| option.cookie.is_some())
    }

    /// Stores the outcome of a client's handshake in which the RTO expired `timeouts` times.
    pub(crate) fn record(&mut self, server: IpAddr, outcome: Outcome, timeouts: u32) {
        let entry = self.0.entry(server).or_default();
        entry.mss = Some(outcome.mss);
        let request = entry.option();
        match outcome.peer_option.filter(|_| outcome.option_sent) {
            Some(answer @ FastOpen { cookie: Some(_), .. }) => entry.cookie = Some(answer),
            _ if timeouts == 0 && outcome.data == SynData::None && request.cookie.is_none() => {
                entry.failed = Some(if entry.failed.is_some() { Form::Experimental } else { Form::Numbered });
            }
            _ => {}
        }
    }
}

/// The keys of a server: the current one, and the previous one if its cookies are still valid.
pub(crate) type Keys = (Key, Option<Key>);

/// The keys in the value of TCP_FASTOPEN_KEY: one or two of 16 bytes.
pub(crate) fn keys(bytes: &[u8]) -> Result<Keys, Errno> {
    let (keys, rest) = bytes.as_chunks::<16>();
    match (keys, rest) {
        (&[key], []) => Ok((Key(key), None)),
        (&[key, previous], []) => Ok((Key(key), Some(Key(previous)))),
        _ => Err(Errno::EINVAL),
    }
}

/// The keys of net.ipv4.tcp_fastopen_key: four words of hexadecimal digits each, little-endian.
fn read_keys(text: &str) -> Option<Keys> {
    let one = |text: &str| {
        let mut bytes = Vec::new();
        for word in text.trim().split('-') {
            bytes.extend(u32::from_str_radix(word, 16).ok()?.to_le_bytes());
        }
        bytes.try_into().ok().map(Key)
    };
    let mut all = text.split(',');
    Some((one(all.next()?)?, all.next().and_then(one)))
}

/// How many of a listener's connections may be open before their handshake is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) count: usize,
    pub(crate) limit: usize,
}

/// How a listener answers a SYN from `remote`. `keys` are those of TCP_FASTOPEN_KEY, if it was set.
pub(crate) fn server(
    settings: &Settings,
    keys: Option<Keys>,
    pending: Pending,
    local: IpAddr,
    remote: IpAddr,
) -> Server {
    let enabled = settings.fast_open(FastOpenBits::SERVER) && pending.count < pending.limit;
    let policy = match (enabled, settings.fast_open(FastOpenBits::SERVER_WITHOUT_COOKIE)) {
        (false, _) => CookiePolicy::Disabled,
        (true, true) => CookiePolicy::NotRequired,
        (true, false) => CookiePolicy::Required,
    };
    let read = || read_keys(&settings.text("tcp_fastopen_key")?);
    let (key, previous) = keys.or_else(read).unwrap_or((Key([0; 16]), None));
    let cookie = |key: Key| key.cookie(remote, local);
    Server { policy, cookie: cookie(key), previous: previous.map(cookie) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_the_kernel_writes_them() {
        let text = "01020304-05060708-090a0b0c-0d0e0f10,ffffffff-00000000-00000000-00000000\n";
        let (key, before) = read_keys(text).unwrap();
        assert_eq!(key.0, [4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13]);
        assert_eq!(before.unwrap().0[..4], [255; 4]);
        assert!(read_keys("1-2-3").is_none());
        assert_eq!(keys(&[0; 15]), Err(Errno::EINVAL));
        let cookie = key.cookie([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        assert_ne!(cookie, key.cookie([10, 0, 0, 2].into(), [10, 0, 0, 1].into()));
    }
}
