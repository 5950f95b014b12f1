//! How both ends come to be open: with or without data on the SYN, whatever either knows of the other.

use super::dice::Dice;
use super::twice::Twice;
use netspurt_tcp::fast_open::{Client, Cookie, Demand, FastOpen, Form, Server};
use netspurt_tcp::state::State;
use netspurt_tcp::time::Time;

/// Whether either end knows of Fast Open (RFC 7413) is drawn once.
#[derive(Clone, Copy)]
pub(super) struct Opening {
    fast: bool,
}

impl Opening {
    pub(super) fn random(dice: &mut Dice) -> Self {
        Self { fast: dice.permille(300) }
    }

    /// Opens it, if it is to be opened actively: with a cookie that is right, out of date, or wrong; or without one.
    pub(super) fn open(self, tcp: &mut Twice, now: Time, dice: &mut Dice) {
        let shown = dice.pick(&[Some(1), Some(1), Some(2), Some(3), None]).map(cookie);
        let form = dice.pick(&[Form::Numbered, Form::Experimental]);
        let option = dice.pick(&[Some(FastOpen { form, cookie: shown }), None]);
        match (tcp.state(), self.fast) {
            (State::Closed, true) => {
                let mss = dice.pick(&[64, 536, 1460]);
                tcp.each(|tcp| tcp.open_fast(now, Client { option, mss }));
            }
            (State::Closed, false) => tcp.each(|tcp| tcp.open(now)),
            _ => {}
        }
    }

    /// What a listener grants cookies by, if it does.
    pub(super) fn server(self, dice: &mut Dice) -> Option<Server> {
        let demand = dice.pick(&[Demand::Never, Demand::Cookie, Demand::Cookie, Demand::Nothing]);
        let server = Server { demand, cookie: cookie(1), before: dice.pick(&[None, Some(cookie(2))]) };
        self.fast.then_some(server)
    }
}

fn cookie(n: u8) -> Cookie {
    Cookie::new(&[n; 8]).expect("eight octets")
}
