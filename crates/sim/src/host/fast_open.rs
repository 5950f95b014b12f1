//! Fast Open between simulated hosts (RFC 7413): servers grant cookies, and clients keep them for later connections.

use crate::host::endpoint::{Endpoint, Host, address};
use crate::host::processor::Pace;
use crate::spec::{FlowSpec, NodeId};
use netspurt_tcp::Connection;
use netspurt_tcp::config::FastOpenUse;
use netspurt_tcp::fast_open::{Client, Cookie, CookiePolicy, FastOpen, Form, Key, Server};
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;

/// What clients have stored about servers: the cookie, and the MSS announced with it.
#[derive(Debug, Default)]
pub(crate) struct Cookies(BTreeMap<(NodeId, NodeId), (Cookie, u16)>);

/// The MSS assumed for a server that was never contacted (RFC 9293, section 3.7.1).
const UNKNOWN_MSS: u16 = 536;

/// The cookie that the server of a flow expects from its clients, if it grants cookies; `host` is the server's.
pub(crate) fn server(flow: &FlowSpec, host: &mut Host, seed: u64) -> Option<Server> {
    if flow.server.fast_open == FastOpenUse::Off {
        return None;
    }
    let key = Key(host.cookie_key(seed));
    let cookie = key.cookie(address(flow.from.0).into(), address(flow.to.0).into());
    Some(Server { policy: CookiePolicy::Required, cookie, previous: None })
}

impl Cookies {
    /// Opens the client of a flow with the cookie and MSS that its host has stored for the server. With a cookie the
    /// application may write at once, like a program that connects and writes in one call. An application that needs its
    /// processor writes later.
    pub(crate) fn open_client(&self, now: Time, flow: &FlowSpec, endpoint: &mut Endpoint) {
        let Some(connection) = &mut endpoint.connection else { return };
        if connection.config().fast_open == FastOpenUse::Off {
            return connection.open(now);
        }
        let known = self.0.get(&(flow.from, flow.to));
        let option = FastOpen { form: Form::Numbered, cookie: known.map(|known| known.0) };
        let mss = known.map_or(UNKNOWN_MSS, |known| known.1);
        connection.open_fast(now, Client { option: Some(option), mss });
        endpoint.open = known.is_some() && endpoint.pace == Pace::Free;
    }

    /// A connection of a flow has opened: the client's host stores the cookie, if the server sent one.
    #[cold]
    pub(crate) fn keep_cookie(&mut self, flow: &FlowSpec, endpoint: &Endpoint) {
        let outcome = endpoint.connection.as_ref().and_then(Connection::fast_open);
        let Some(outcome) = outcome.filter(|outcome| outcome.option_sent) else { return };
        if let Some(FastOpen { cookie: Some(cookie), .. }) = outcome.peer_option {
            self.0.insert((flow.from, flow.to), (cookie, outcome.mss));
        }
    }
}
