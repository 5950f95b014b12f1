//! Changes of links at given times: their keys in the file, and the schedule that follows from them.

use crate::network::delay::Delay;
use crate::network::route::Route;
use crate::network::{Duplex, Link, Loss, queue};
use crate::values::directed::Directed;
use crate::values::quantity::{Duration, Limit, Quantity, Rate};
use crate::values::{path, suggest};
use indexmap::IndexMap;
use netspurt_sim::network::schedule;
use netspurt_sim::spec::{Announced, ChannelSpec, Detour};
use netspurt_tcp::time::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys of a link that may change, as they are written behind its name.
const KNOWN: [&str; 5] = ["rate", "delay", "up", "queue.limit", "loss.rate"];

/// Numbers of links that are set at a time, or a route, once or periodically.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The first time.
    pub at: Duration,
    /// The period of repetitions. Default: no repetition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// The last time at which it may happen. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// The number of times, instead of `until`. Default: until the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u32>,
    /// The keys and their new values: `link.NAME.rate`, `link.NAME.delay`, `link.NAME.queue.limit`, `link.NAME.loss.rate`, or
    /// `link.NAME.up` for a link that goes down (`false`) and up (`true`). One value applies to both directions, a list of two
    /// to each; a path that ends with `.0` or `.1` names one direction. While a link is down, packets stay in its queue, and
    /// packets in transmission are completed. Packets do not overtake each other after a change of the delay.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub set: IndexMap<String, Directed<Setting>>,
    /// The route between two nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
}

/// A new value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Setting {
    /// Of `up`.
    Flag(bool),
    /// Of a loss.
    Number(f64),
    /// With its unit.
    Text(String),
}

impl Setting {
    /// As a file writes it.
    fn print(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => format!("{number:?}"),
            Self::Text(text) => text.clone(),
        }
    }
}

/// What is set in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Set {
    Rate(u64),
    Delay(Span),
    Up(bool),
    Limit(Limit),
    /// The entry in the list of that direction's losses, and its rate.
    Loss(usize, f64),
}

/// What is wrong with a change: with its path, or with a value of it, and a sentence.
pub(crate) enum Wrong {
    Path(String),
    Value(Option<&'static str>, String),
}

/// What is wrong with when a change happens: the key, and a sentence.
pub(crate) type WrongTime = (&'static str, String);

impl Change {
    /// When it must not happen.
    pub(crate) fn check_times(&self) -> Result<(), WrongTime> {
        let wrong = |key, message: String| Err((key, message));
        if self.every == Some(Duration(Span::ZERO)) {
            let message = "a period of 0 never lets time pass: write how long it is, such as \"15 s\", or leave it out for a \
                           change that happens once";
            return wrong("every", message.to_owned());
        }
        for (key, given) in [("until", self.until.is_some()), ("count", self.count.is_some())] {
            if given && self.every.is_none() {
                return wrong(key, format!("a change without \"every\" happens once: leave {key} out"));
            }
        }
        if self.until.is_some() && self.count.is_some() {
            return wrong("count", "until or count says when it ends, not both".to_owned());
        }
        match self.until {
            Some(until) if until < self.at => {
                let message =
                    format!("it ends at {}, before it begins at {}", until.print(), self.at.print());
                wrong("until", message)
            }
            _ => Ok(()),
        }
    }

    /// What `path` = `value` sets: the link, and for each direction that is set what.
    pub(crate) fn settings(
        path: &str,
        value: &Directed<Setting>,
        links: &IndexMap<String, Link>,
    ) -> Result<(usize, Vec<(usize, Set)>), Wrong> {
        let steps = path::split(path).map_err(Wrong::Path)?;
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let ["link", name, key @ ..] = &steps[..] else {
            let message = format!(
                "\"{path}\" is no number of a link: a change sets link.NAME.{}",
                KNOWN.join(", link.NAME.")
            );
            return Err(Wrong::Path(message));
        };
        let Some((index, name, link)) = links.get_full(*name) else {
            let known = suggest::among(name, links.keys().map(String::as_str));
            return Err(Wrong::Path(format!("there is no link \"{name}\": {known}")));
        };
        let target = Target { name, link, key };
        let (ways, what) = target.find()?;
        if ways.len() == 1 && matches!(value, Directed::Each(_)) {
            let message = format!("\"{path}\" names one direction, which has one value, not two");
            return Err(Wrong::Value(None, message));
        }
        let mut sets = Vec::new();
        for way in ways {
            let step = matches!(value, Directed::Each(_)).then_some(["0", "1"][way]);
            let set = what.read(value.of(way), target, way).map_err(|message| Wrong::Value(step, message))?;
            sets.extend(target.here(set, way).map(|set| (way, set)));
        }
        Ok((index, sets))
    }

    /// When `value` is set.
    fn schedule<T>(&self, value: T) -> schedule::Change<T> {
        let at = Time::ZERO + self.at.0;
        let last = |count: u32| {
            let periods = self.every.map_or(Span::ZERO, |every| every.0).saturating_mul(u64::from(count - 1));
            at + periods
        };
        let until = self.until.map(|until| Time::ZERO + until.0).or(self.count.map(last));
        schedule::Change { at, every: self.every.map(|every| every.0), until, value }
    }

    /// Puts it where links find it.
    pub(crate) fn apply(
        &self,
        links: &IndexMap<String, Link>,
        mut change: impl FnMut(usize, usize, &dyn Fn(&mut ChannelSpec)),
    ) {
        for (path, value) in &self.set {
            let Ok((link, sets)) = Self::settings(path, value, links) else { continue };
            for (way, set) in sets {
                change(link, way, &|direction| {
                    let ChannelSpec { changes, rate: first_rate, .. } = direction;
                    match set {
                        Set::Rate(rate) => changes.rate.push(self.schedule(rate)),
                        Set::Delay(delay) => changes.delay.push(self.schedule(delay)),
                        Set::Up(up) => changes.up.push(self.schedule(up)),
                        Set::Limit(limit) => {
                            changes.room.push(self.schedule(queue::room(limit, *first_rate)));
                        }
                        Set::Loss(place, rate) => changes.loss.push((place, self.schedule(rate))),
                    }
                });
            }
        }
    }

    /// Its route, for the simulator. `number` finds the number of a node.
    pub(crate) fn detour(
        &self,
        links: &IndexMap<String, Link>,
        number: impl Fn(&str) -> Option<usize>,
    ) -> Option<Detour> {
        self.route.as_ref()?.build(self.schedule(()), links, number)
    }

    /// The same in words.
    pub(crate) fn announce(&self) -> impl Iterator<Item = Announced> {
        let route = self.route.iter().map(|route| Announced {
            path: route.path().into(),
            change: self.schedule(route.links.join(", ").into()),
        });
        let set = self.set.iter().map(|(path, value)| {
            let words = match value {
                Directed::Both(value) => value.print(),
                Directed::Each([there, back]) => format!("{} / {}", there.print(), back.print()),
            };
            Announced { path: path.as_str().into(), change: self.schedule(words.into()) }
        });
        set.chain(route)
    }
}

/// The key of a link that a path leads to.
#[derive(Clone, Copy)]
struct Target<'a> {
    name: &'a str,
    link: &'a Link,
    key: &'a [&'a str],
}

/// What a path leads to.
#[derive(Clone, Copy)]
enum What {
    Rate,
    Delay,
    Up,
    Limit,
    Loss(usize),
}

impl What {
    /// The value of the key `of`, in direction `way`.
    fn read(self, value: &Setting, of: Target<'_>, way: usize) -> Result<Set, String> {
        fn quantity<Q: Quantity>(value: &Setting) -> Result<Q, String> {
            match value {
                Setting::Text(text) => Q::parse(text),
                other => Err(format!(
                    "{} has no unit: write {} such as \"{}\"",
                    other.print(),
                    Q::MEANING,
                    Q::EXAMPLES[0]
                )),
            }
        }
        let name = of.name;
        match self {
            Self::Rate => match quantity::<Rate>(value)? {
                Rate(0) => {
                    Err(format!("a rate of zero lets nothing leave: set \"link.{name}.up\" to false instead"))
                }
                Rate(rate) => Ok(Set::Rate(rate)),
            },
            Self::Delay => quantity::<Duration>(value).map(|delay| Set::Delay(delay.0)),
            Self::Limit => {
                let limit = quantity::<Limit>(value)?;
                let place = format!("the queue of link \"{name}\"");
                let line = of.link.line(way, &place);
                line.has_room("limit", Some(limit)).map_err(|(_, message)| message)?;
                Ok(Set::Limit(limit))
            }
            Self::Up => match value {
                Setting::Flag(up) => Ok(Set::Up(*up)),
                other => Err(format!("a link is up or not: write true or false, not {}", other.print())),
            },
            Self::Loss(entry) => match value {
                Setting::Number(rate) if (0.0..=1.0).contains(rate) => Ok(Set::Loss(entry, *rate)),
                other => Err(format!("{} is no rate of a loss: it must be between 0 and 1", other.print())),
            },
        }
    }
}

impl Target<'_> {
    /// The directions that are meant, and what is set there.
    fn find(&self) -> Result<(Vec<usize>, What), Wrong> {
        let (name, link) = (self.name, self.link);
        let no = |message: String| Err(Wrong::Path(message));
        match self.key {
            ["rate", way @ ..] => {
                let ways = self.ways(way)?;
                if !link.trace.is_empty() {
                    return no(format!(
                        "link \"{name}\" follows a recording: its rate does not change beside it"
                    ));
                }
                self.refuse_half("rate")?;
                Ok((ways, What::Rate))
            }
            ["up", way @ ..] => {
                self.refuse_half("up")?;
                Ok((self.ways(way)?, What::Up))
            }
            ["delay", way @ ..] => {
                let ways = self.ways(way)?;
                if ways.iter().any(|way| matches!(link.delay.of(*way), Delay::Varies(_))) {
                    return no(format!(
                        "the delay of link \"{name}\" varies by itself, and is not set beside that"
                    ));
                }
                Ok((ways, What::Delay))
            }
            ["queue", way @ .., "limit"] => {
                let ways = self.ways(way)?;
                let limited = |way: &usize| {
                    link.queue.as_ref().is_some_and(|queue| queue.of(*way).has_limit_on_arrival())
                };
                if ways.iter().all(limited) {
                    return Ok((ways, What::Limit));
                }
                no(format!(
                    "link \"{name}\" has no queue whose limit can change: give it one that drops on arrival, such as queue = \
                     {{ kind = \"drop-tail\", limit = \"50 packets\" }}"
                ))
            }
            ["loss", steps @ .., "rate"] => self.find_loss(steps),
            key => {
                let known = suggest::among(&key.join("."), KNOWN.into_iter());
                no(format!("link \"{name}\" has no \"{}\" that can change: {known}", key.join(".")))
            }
        }
    }

    fn find_loss(&self, steps: &[&str]) -> Result<(Vec<usize>, What), Wrong> {
        let losses = &self.link.loss;
        let rated = |loss: &Loss| matches!(loss, Loss::BitError { .. } | Loss::PacketError { .. });
        let number = |step: &str| step.parse::<usize>().ok();
        // As in the file: the direction if there are two, then the place in the list if there are several.
        let (ways, steps) = match (losses.is_directed(), steps) {
            (true, [way, rest @ ..]) => (self.ways(&[way])?, rest),
            (true, []) => (vec![0, 1], steps),
            (false, steps) => (vec![0, 1], steps),
        };
        let entry = match steps {
            [] => Some(0),
            [index] => number(index),
            _ => None,
        };
        let alone = |way: &usize| !steps.is_empty() || losses.of(*way).len() == 1;
        match entry {
            Some(entry)
                if ways.iter().all(|way| alone(way) && losses.of(*way).get(entry).is_some_and(rated)) =>
            {
                Ok((ways, What::Loss(entry)))
            }
            _ => Err(Wrong::Path(format!(
                "link \"{}\" has no loss with a rate there: give it one, such as loss = {{ kind = \"packet-error\", rate = 0 \
                 }}, and name the place of one among several, as in link.NAME.loss.0.rate",
                self.name
            ))),
        }
    }

    /// A loss that is confined to the other direction does not change in this one. Among the losses of a direction, those of
    /// the other do not count.
    fn here(&self, set: Set, way: usize) -> Option<Set> {
        let Set::Loss(entry, rate) = set else { return Some(set) };
        let [from, to] = [&self.link.between[way], &self.link.between[1 - way]];
        let here = |loss: &Loss| loss.direction().is_none_or(|way| way.from == *from && way.to == *to);
        let losses = self.link.loss.of(way);
        here(&losses[entry])
            .then(|| Set::Loss(losses[..entry].iter().filter(|loss| here(loss)).count(), rate))
    }

    fn ways(&self, steps: &[&str]) -> Result<Vec<usize>, Wrong> {
        match steps {
            [] => Ok(vec![0, 1]),
            ["0"] => Ok(vec![0]),
            ["1"] => Ok(vec![1]),
            steps => {
                let [a, b] = &self.link.between;
                Err(Wrong::Path(format!(
                    "\"{}\" is no direction of link \"{}\": it has 0, {a}->{b}, and 1, {b}->{a}",
                    steps.join("."),
                    self.name
                )))
            }
        }
    }

    fn refuse_half(&self, key: &str) -> Result<(), Wrong> {
        match self.link.duplex {
            Duplex::Full => Ok(()),
            Duplex::Half => Err(Wrong::Path(format!(
                "the directions of link \"{}\" share a medium: its {key} does not change",
                self.name
            ))),
        }
    }
}
