//! The applications of a scenario: what is said over the connections of a flow.

use crate::flow::arrivals::Arrivals;
use crate::flow::closes::Closes;
use crate::flow::datagrams::{Call, Datagrams};
use crate::flow::incast::Incast;
use crate::flow::streams::Streams;
use crate::flow::video::Video;
use crate::own::{Algorithms, OwnName};
use crate::values::distribution::{self, Count, Drawn, Draws};
use crate::values::form::Named;
use crate::values::quantity::{Duration, Size};
use netspurt_sim::host::app::{AppSpec, OwnApp};
use netspurt_sim::host::session::{self, Pattern, SessionSpec};
use netspurt_sim::random::distribution::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The application: the traffic of a flow, over one connection, several connections or none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum App {
    /// `from` sends to `to` as fast as TCP lets it, then closes.
    Bulk {
        /// Bytes to send. Default: without end.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<Size>,
    },
    /// `from` sends requests, `to` sends responses, over one connection; `from` closes.
    RequestResponse {
        /// Each request: its length, or how it is written.
        request: Message,
        /// Each response: its length, or how it is written.
        response: Message,
        /// The number of requests on the connection, or "forever".
        #[serde(default)]
        exchanges: HowOften,
        /// Pause between a response and the next request.
        #[serde(default)]
        gap: Duration,
    },
    /// `from` downloads files from `to` one after the other, each over a new connection.
    Files(Files),
    /// `from` downloads pages of several files from `to`.
    ///
    /// Document: HTTP as RFC 2415, section 2, models it; RFC 1945; RFC 9112.
    Web(Web),
    /// Transfers from `to` to `from` that arrive in an open loop at a given load. Many may be active at once.
    Arrivals(Arrivals),
    /// `from` sends requests to many servers at `to` at the same time, and repeats this when all have responded.
    Incast(Incast),
    /// `from` downloads several files from `to` in parallel over one connection, each with a flow-control window.
    ///
    /// Document: HTTP/2, RFC 9113, section 5.2.
    Streams(Streams),
    /// Adaptive video over TCP: the quality follows the measured throughput.
    Video(Video),
    /// UDP datagrams, without a connection.
    Datagrams(Datagrams),
    /// One direction of a voice call.
    Call(Call),
    /// A user-defined application: one or two Python classes. Results are about data from `from` to `to`.
    Python {
        /// The class for `from`.
        client: OwnName,
        /// The class for `to`. Default: reads all data, and closes after `from` has closed.
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<OwnName>,
    },
}

/// One file after the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Length of a file.
    pub size: Drawn<Size>,
    /// Length of the request for it.
    #[serde(default = "short_request")]
    pub request: Drawn<Size>,
    /// From the last byte of a file to asking for the next one.
    #[serde(default = "at_once")]
    pub think: Drawn<Duration>,
    /// From the start of the flow to asking for the first file.
    #[serde(default = "at_once")]
    pub first: Drawn<Duration>,
    /// How many files. Default: as long as the simulation lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub transfers: Option<u32>,
    /// Which end closes.
    #[serde(default)]
    pub closes: Closes,
}

/// Page after page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// Files of a page, the first among them.
    pub files: Drawn<Count>,
    /// Length of a file.
    pub size: Drawn<Size>,
    /// Length of the first file of a page. Default: as all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Drawn<Size>>,
    /// Length of the request for a file.
    #[serde(default = "web_request")]
    pub request: Drawn<Size>,
    /// From the last byte of a page to asking for the next one.
    #[serde(default = "at_once")]
    pub think: Drawn<Duration>,
    /// From the start of the flow to asking for the first page.
    #[serde(default = "at_once")]
    pub first: Drawn<Duration>,
    /// How many pages. Default: as long as the simulation lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub pages: Option<u32>,
    /// How the files of a page are fetched.
    #[serde(default)]
    pub http: Named<Http>,
    /// Which end closes a connection that has done its work, and keeps it in TIME-WAIT.
    #[serde(default)]
    pub closes: Closes,
}

/// How the files of a page are downloaded. The first file names the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum Http {
    /// Each over a new connection; those after the first one in parallel.
    ///
    /// Document: RFC 1945; RFC 2415, section 2.
    #[serde(rename = "1.0")]
    One {
        /// The maximum number of parallel connections. Default: the number of files.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        parallel: Option<u32>,
    },
    /// All over one connection.
    ///
    /// Document: RFC 9112, section 9.3; RFC 2415, section 3.
    #[serde(rename = "1.1")]
    OneDotOne {
        /// When a file is requested.
        #[serde(default)]
        order: Order,
        /// How long the connection lasts.
        #[serde(default)]
        lasts: Lasts,
    },
}

impl Default for Named<Http> {
    fn default() -> Self {
        Self(Http::One { parallel: None })
    }
}

/// When a file is requested over a shared connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// After the previous file is complete.
    #[default]
    InTurn,
    /// All others at once after the first file is complete.
    Pipelined,
    /// All with the first: one request, and one reply as long as all of them together.
    ///
    /// Document: RFC 2415, section 3.
    AsOne,
}

/// How long a connection lasts that several files share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lasts {
    /// For one page.
    #[default]
    Page,
    /// For all pages.
    Session,
}

/// A question or an answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Message {
    /// So long, in one write.
    Whole(Size),
    /// Written in pieces.
    Written(Written),
}

/// How a message is written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Its length. Default: that of its first writes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Drawn<Size>>,
    /// Lengths of the first writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Size>,
    /// Length of each write behind those. Default: all that is left at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<Size>,
    /// From one write to the next.
    #[serde(default)]
    pub gap: Duration,
}

/// How often something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HowOften {
    /// So often.
    Times(#[schemars(range(min = 1))] u32),
    /// As long as the simulation lasts.
    Endless(Endless),
}

/// Without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Endless {
    /// As long as the simulation lasts.
    Forever,
}

impl Default for HowOften {
    fn default() -> Self {
        Self::Times(1)
    }
}

const fn short_request() -> Drawn<Size> {
    Drawn::Always(Size(64))
}

const fn web_request() -> Drawn<Size> {
    Drawn::Always(Size(300))
}

fn at_once() -> Drawn<Duration> {
    Drawn::Always(Duration::default())
}

impl Message {
    fn first_writes(&self) -> u64 {
        match self {
            Self::Whole(_) => 0,
            Self::Written(written) => written.writes.iter().map(|size| size.0).fold(0, u64::saturating_add),
        }
    }

    fn length(&self) -> Distribution {
        match self {
            Self::Whole(size) => Distribution::constant(size.0 as f64),
            Self::Written(Written { size: Some(size), .. }) => size.distribution(),
            Self::Written(_) => Distribution::constant(self.first_writes() as f64),
        }
    }

    fn pattern(&self) -> Arc<Pattern> {
        match self {
            Self::Whole(_) => Arc::default(),
            Self::Written(written) => Arc::new(Pattern {
                head: written.writes.iter().map(|size| size.0).collect(),
                piece: written.piece.map(|size| size.0),
                gap: written.gap.0,
            }),
        }
    }

    /// What it must not say, and the key at fault.
    fn check(&self) -> Result<(), (&'static str, String)> {
        let Self::Written(written) = self else { return Ok(()) };
        let zero = |sizes: &[Size]| sizes.iter().any(|size| size.0 == 0);
        if zero(&written.writes) || zero(written.piece.as_slice()) {
            let key = if zero(&written.writes) { "writes" } else { "piece" };
            return Err((key, "a write of no bytes is none: each must have one byte at least".to_owned()));
        }
        let least = match &written.size {
            Some(size) => size.least(),
            None if written.writes.is_empty() => {
                return Err((
                    "size",
                    "a message needs a \"size\", or \"writes\" that add up to it".to_owned(),
                ));
            }
            None => return Ok(()),
        };
        let first = self.first_writes();
        if let Some(Drawn::Always(_)) = written.size
            && least < first as f64
        {
            return Err((
                "size",
                format!("the message is shorter than its first writes, {first} bytes together"),
            ));
        }
        Ok(())
    }
}

impl App {
    /// What the results call it if the flow has no name.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Bulk { .. } => "bulk",
            Self::RequestResponse { .. } => "request-response",
            Self::Files(_) => "files",
            Self::Web(_) => "web",
            Self::Arrivals(_) => "arrivals",
            Self::Incast(_) => "incast",
            Self::Streams(_) => "streams",
            Self::Video(_) => "video",
            Self::Datagrams(_) => "datagrams",
            Self::Call(_) => "call",
            Self::Python { .. } => "python",
        }
    }

    /// Every distribution, under its path below the application.
    pub(crate) fn distributions(&mut self) -> Vec<(Vec<&'static str>, &mut dyn Draws)> {
        fn of<'a>(key: &'static str, draws: &'a mut dyn Draws) -> (Vec<&'static str>, &'a mut dyn Draws) {
            (vec![key], draws)
        }
        match self {
            Self::Bulk { .. } | Self::Call(_) | Self::Streams(_) | Self::Video(_) | Self::Python { .. } => {
                Vec::new()
            }
            Self::Arrivals(arrivals) => {
                arrivals.distributions().into_iter().map(|(key, draws)| (vec![key], draws)).collect()
            }
            Self::Incast(incast) => {
                incast.distributions().into_iter().map(|(key, draws)| (vec![key], draws)).collect()
            }
            Self::Datagrams(datagrams) => {
                datagrams.distributions().into_iter().map(|(key, draws)| (vec![key], draws)).collect()
            }
            Self::RequestResponse { request, response, .. } => [("request", request), ("response", response)]
                .into_iter()
                .filter_map(|(key, message)| match message {
                    Message::Written(Written { size: Some(size), .. }) => {
                        Some((vec![key, "size"], size as &mut dyn Draws))
                    }
                    _ => None,
                })
                .collect(),
            Self::Files(files) => vec![
                of("size", &mut files.size),
                of("request", &mut files.request),
                of("think", &mut files.think),
                of("first", &mut files.first),
            ],
            Self::Web(web) => {
                let mut all = vec![
                    of("files", &mut web.files),
                    of("size", &mut web.size),
                    of("request", &mut web.request),
                    of("think", &mut web.think),
                    of("first", &mut web.first),
                ];
                all.extend(web.primary.as_mut().map(|primary| of("primary", primary)));
                all
            }
        }
    }

    /// Whether it runs over TCP.
    pub(crate) const fn has_connection(&self) -> bool {
        !matches!(self, Self::Datagrams(_) | Self::Call(_))
    }

    /// Replaces the names of files by their contents.
    pub(crate) fn resolve(
        &mut self,
        files: distribution::Files<'_>,
    ) -> Result<(), (Vec<&'static str>, String)> {
        for (path, draws) in self.distributions() {
            draws
                .resolve(files)
                .map_err(|(key, message)| (path.into_iter().chain(key).collect(), message))?;
        }
        if let Self::Datagrams(datagrams) = self { datagrams.resolve(files) } else { Ok(()) }
    }

    /// What it must not say, and the path at fault.
    pub(crate) fn check(&self) -> Result<(), (Vec<&'static str>, String)> {
        let mut own = self.clone();
        for (path, draws) in own.distributions() {
            draws.check().map_err(|(key, message)| (path.iter().copied().chain(key).collect(), message))?;
        }
        match self {
            Self::Datagrams(datagrams) => datagrams.check(),
            Self::Call(call) => call.check(),
            Self::Streams(streams) => streams.check(),
            Self::Video(video) => video.check(),
            Self::Arrivals(arrivals) => arrivals.check(),
            Self::Web(web) if web.files.least() < 1.0 => {
                let message = "a page with no files is none: there must be 1 at least, its first".to_owned();
                Err((vec!["files"], message))
            }
            Self::RequestResponse { request, response, .. } => {
                for (key, message) in [("request", request), ("response", response)] {
                    message.check().map_err(|(inner, message)| (vec![key, inner], message))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The same for the simulator.
    pub(crate) fn build(&self, own: &dyn Algorithms) -> Result<AppSpec, String> {
        Ok(match self {
            Self::Python { client, server } => {
                let find = |key: &str, name: &OwnName| {
                    own.application(name.as_str()).map_err(|message| format!("app.{key}: {message}"))
                };
                let server = server.as_ref().map(|name| find("server", name)).transpose()?;
                AppSpec::Own(OwnApp { client: find("client", client)?, server })
            }
            Self::Bulk { bytes } => AppSpec::Bulk { bytes: bytes.map(|bytes| bytes.0) },
            Self::RequestResponse { request, response, exchanges, gap } => {
                match (request, response, exchanges) {
                    (Message::Whole(request), Message::Whole(response), HowOften::Times(times)) => {
                        AppSpec::RequestResponse {
                            request: request.0,
                            response: response.0,
                            exchanges: u64::from(*times),
                            gap: gap.0,
                        }
                    }
                    _ => AppSpec::Session(Arc::new(dialogue(request, response, *exchanges, *gap))),
                }
            }
            Self::Files(files) => AppSpec::Session(Arc::new(files.build())),
            Self::Web(web) => AppSpec::Session(Arc::new(web.build())),
            Self::Arrivals(arrivals) => AppSpec::Session(Arc::new(arrivals.build())),
            Self::Incast(incast) => AppSpec::Session(Arc::new(incast.build())),
            Self::Streams(streams) => AppSpec::Streams(Arc::new(streams.build())),
            Self::Video(video) => AppSpec::Session(Arc::new(video.build())),
            Self::Datagrams(datagrams) => AppSpec::Datagrams(Arc::new(datagrams.build())),
            Self::Call(call) => AppSpec::Datagrams(Arc::new(call.build())),
        })
    }
}

/// The server's port of an exchange without a name of its own.
const ANY_PORT: u16 = 5001;

/// One connection, over which the same is asked again and again.
fn dialogue(request: &Message, response: &Message, exchanges: HowOften, gap: Duration) -> SessionSpec {
    let lasts = session::Lasts::Session;
    SessionSpec {
        port: ANY_PORT,
        request: request.length(),
        think: Drawn::Always(gap).distribution(),
        pages: match exchanges {
            HowOften::Times(times) => Some(u64::from(times)),
            HowOften::Endless(Endless::Forever) => None,
        },
        fetch: session::Fetch::Single { order: session::Order::InTurn, lasts },
        closes: session::Closes::Client,
        writes: [request.pattern(), response.pattern()],
        ..SessionSpec::files(response.length())
    }
}

impl Files {
    fn build(&self) -> SessionSpec {
        SessionSpec {
            request: self.request.distribution(),
            think: self.think.distribution(),
            first: self.first.distribution(),
            pages: self.transfers.map(u64::from),
            closes: self.closes.build(),
            ..SessionSpec::files(self.size.distribution())
        }
    }
}

impl Web {
    fn build(&self) -> SessionSpec {
        let size = self.size.distribution();
        SessionSpec {
            port: 80,
            request: self.request.distribution(),
            files: self.files.distribution(),
            primary: self.primary.as_ref().map_or_else(|| size.clone(), Drawn::distribution),
            embedded: size,
            think: self.think.distribution(),
            first: self.first.distribution(),
            pages: self.pages.map(u64::from),
            fetch: match self.http.0 {
                Http::One { parallel } => session::Fetch::Parallel { limit: parallel },
                Http::OneDotOne { order, lasts } => session::Fetch::Single {
                    order: match order {
                        Order::InTurn => session::Order::InTurn,
                        Order::Pipelined => session::Order::Pipelined,
                        Order::AsOne => session::Order::AsOne,
                    },
                    lasts: match lasts {
                        Lasts::Page => session::Lasts::Page,
                        Lasts::Session => session::Lasts::Session,
                    },
                },
            },
            closes: self.closes.build(),
            writes: [Arc::default(), Arc::default()],
            video: None,
            arrivals: None,
        }
    }
}
