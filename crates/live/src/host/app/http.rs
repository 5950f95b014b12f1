//! A small file server: HTTP/1.1 (RFC 9112) with GET and HEAD, and a configurable pattern of writes.

use crate::host::{Application, Next, Stream};
use netspurt_tcp::Behind;
use netspurt_tcp::time::{Span, Time};
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

/// Longer requests are rejected.
const LONGEST_REQUEST: usize = 8 << 10;
/// Requests with more header fields are rejected.
const MOST_HEADERS: usize = 64;
const TOO_LARGE: &str = "431 Request Header Fields Too Large";
/// Size of the reads from a file.
const PIECE: usize = 1 << 16;
/// A client that takes longer to send a request, or that accepts nothing for this time, is disconnected.
const IDLE: Span = Span::from_secs(60);

/// How a response is divided into writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Writes {
    /// The head and the whole body as one write.
    Whole,
    /// The head, then the body.
    HeadFirst,
    /// Writes of these lengths; the last length repeats.
    Lengths(Vec<u64>),
}

/// An invalid pattern of writes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "invalid write pattern \"{0}\": must be \"whole\", \"head-first\", or lengths in bytes such as 300,1460,4096"
)]
pub struct WritesError(String);

impl std::str::FromStr for Writes {
    type Err = WritesError;

    fn from_str(text: &str) -> Result<Self, WritesError> {
        let wrong = || WritesError(text.to_owned());
        match text {
            "whole" => Ok(Self::Whole),
            "head-first" => Ok(Self::HeadFirst),
            lengths => {
                let lengths = lengths.split(',').map(|length| length.trim().parse::<u64>());
                let lengths: Vec<u64> = lengths.collect::<Result<_, _>>().map_err(|_| wrong())?;
                if lengths.contains(&0) { Err(wrong()) } else { Ok(Self::Lengths(lengths)) }
            }
        }
    }
}

impl Writes {
    /// Length of write `n` of a response whose head has `head` bytes.
    fn length(&self, n: usize, head: u64) -> u64 {
        match self {
            Self::HeadFirst if n == 0 => head,
            Self::Whole | Self::HeadFirst => u64::MAX,
            Self::Lengths(lengths) => lengths.get(n).or(lengths.last()).copied().unwrap_or(u64::MAX),
        }
    }
}

/// Serves the files of a directory on a connection.
#[derive(Debug)]
pub struct Http {
    root: PathBuf,
    writes: Writes,
    request: Vec<u8>,
    response: Option<Response>,
    idle: Idle,
}

/// Since when a client has neither completed a request nor accepted data.
#[derive(Debug)]
struct Idle {
    since: Option<Time>,
    limit: Span,
    /// Bytes that the client had acknowledged.
    acknowledged: u64,
    /// The timeout has expired, and the connection was closed.
    closing: bool,
}

#[derive(Debug)]
struct Response {
    /// Bytes that were read from the file and not written.
    ready: Vec<u8>,
    at: usize,
    file: Option<File>,
    /// Bytes of the file that were not read.
    unread: u64,
    head: u64,
    /// The number of the present write, and its remaining length.
    nth: usize,
    missing: u64,
    then: Then,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    NextRequest,
    Close,
}

impl Http {
    /// Serves the files below `root`.
    pub const fn new(root: PathBuf, writes: Writes) -> Self {
        let idle = Idle { since: None, limit: IDLE, acknowledged: 0, closing: false };
        Self { root, writes, request: Vec::new(), response: None, idle }
    }

    /// Disconnects idle clients after this time instead of 60 s. A slow request counts as idle until it is complete.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Span) -> Self {
        self.idle.limit = limit;
        self
    }

    /// Reads a request. Returns the response when the request is complete.
    fn read_request(&mut self, stream: &mut Stream<'_>) -> Option<Response> {
        let (first, second) = stream.readable();
        let room = LONGEST_REQUEST - self.request.len();
        let arrived = first.len() + second.len();
        self.request.extend(first.iter().chain(second).take(room));
        stream.consume(arrived.min(room));
        let end = self.request.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else {
            return (self.request.len() == LONGEST_REQUEST).then(|| Response::plain(TOO_LARGE, Then::Close));
        };
        let rest = self.request.split_off(end + 4);
        let head = core::mem::replace(&mut self.request, rest);
        Some(answer(&self.root, &head))
    }
}

impl Idle {
    fn deadline(&self) -> Time {
        self.since.map_or(Time::NEVER, |since| since + self.limit)
    }

    /// Restarts the timeout.
    const fn restart(&mut self, now: Time) {
        self.since = Some(now);
    }

    /// Closes the connection when the timeout expires. If the client does not close it too, it is reset after the same
    /// time again.
    fn check(&mut self, stream: &mut Stream<'_>) {
        let now = stream.now();
        let acknowledged = stream.connection().acknowledged();
        if self.since.is_none() || acknowledged != self.acknowledged {
            self.acknowledged = acknowledged;
            self.restart(now);
        } else if self.deadline() <= now {
            if self.closing {
                self.since = None;
                return stream.abort();
            }
            self.closing = true;
            self.restart(now);
            stream.close();
        }
    }
}

impl Application for Http {
    fn deadline(&self) -> Time {
        self.idle.deadline()
    }

    fn serve(&mut self, stream: &mut Stream<'_>) -> Next {
        self.idle.check(stream);
        if self.response.is_none() {
            self.response = self.read_request(stream);
            if self.response.is_some() {
                self.idle.restart(stream.now());
            }
        }
        let Some(response) = &mut self.response else {
            if stream.peer_finished() {
                stream.close();
            }
            return Next::Waits;
        };
        if response.missing == 0 {
            response.missing = self.writes.length(response.nth, response.head);
            response.nth += 1;
        }
        loop {
            if response.fill().is_err() {
                stream.abort();
                return Next::Waits;
            }
            let ready = &response.ready[response.at..];
            let most = ready.len().min(usize::try_from(response.missing).unwrap_or(usize::MAX));
            let ends = most as u64 == response.missing || (most == ready.len() && response.unread == 0);
            let behind = if ends { Behind::Nothing } else { Behind::More };
            let written = stream.write_part(&ready[..most], behind);
            response.at += written;
            response.missing -= written as u64;
            if response.is_over() {
                if response.then == Then::Close {
                    stream.close();
                }
                self.response = None;
                return Next::WritesAgain;
            }
            if written < most || stream.room() == 0 {
                return Next::Waits;
            }
            if response.missing == 0 {
                return Next::WritesAgain;
            }
        }
    }
}

impl Response {
    fn plain(status: &str, then: Then) -> Self {
        let body = format!("{status}\n");
        let mut response = Self::head(status, "text/plain", body.len() as u64, then);
        response.ready.extend_from_slice(body.as_bytes());
        response
    }

    fn head(status: &str, kind: &str, length: u64, then: Then) -> Self {
        let connection = if then == Then::Close { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{connection}\r\n"
        );
        let (ready, head) = (head.clone().into_bytes(), head.len() as u64);
        Self { ready, at: 0, file: None, unread: 0, head, nth: 0, missing: 0, then }
    }

    /// Reads more of the file when all read bytes are written.
    fn fill(&mut self) -> Result<(), ErrorKind> {
        if self.at < self.ready.len() || self.unread == 0 {
            return Ok(());
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        self.ready.resize(PIECE.min(usize::try_from(self.unread).unwrap_or(PIECE)), 0);
        self.at = 0;
        // Fails if the file has become shorter than its announced length.
        file.read_exact(&mut self.ready).map_err(|error| error.kind())?;
        self.unread -= self.ready.len() as u64;
        Ok(())
    }

    const fn is_over(&self) -> bool {
        self.at == self.ready.len() && self.unread == 0
    }
}

/// The response to the head of a request.
fn answer(root: &Path, head: &[u8]) -> Response {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Response::plain(TOO_LARGE, Then::Close),
        Ok(httparse::Status::Partial) | Err(_) => return Response::plain("400 Bad Request", Then::Close),
    }
    let wants = |option: &str| {
        let connection = request.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("connection"));
        let options = connection
            .filter_map(|field| str::from_utf8(field.value).ok())
            .flat_map(|value| value.split(','));
        options.map(str::trim).any(|each| each.eq_ignore_ascii_case(option))
    };
    let then = match request.version {
        Some(1) if !wants("close") => Then::NextRequest,
        Some(0) if wants("keep-alive") => Then::NextRequest,
        _ => Then::Close,
    };
    let (method, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    if !matches!(method, "GET" | "HEAD") {
        return Response::plain("405 Method Not Allowed", Then::Close);
    }
    let Some((file, length)) = find(root, target) else { return Response::plain("404 Not Found", then) };
    let mut response = Response::head("200 OK", "application/octet-stream", length, then);
    if method == "GET" {
        (response.file, response.unread) = (Some(file), length);
    }
    response
}

/// The file of a target, always below the root; for a directory, its `index.html`.
fn find(root: &Path, target: &str) -> Option<(File, u64)> {
    let path = target.split(['?', '#']).next()?.trim_start_matches('/');
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let mut path = root.join(path);
    if path.is_dir() {
        path.push("index.html");
    }
    let (path, root) = (path.canonicalize().ok()?, root.canonicalize().ok()?);
    if !plain || !path.starts_with(&root) {
        return None;
    }
    let file = File::open(path).ok()?;
    let about = file.metadata().ok()?;
    about.is_file().then_some((file, about.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_writes_are_parsed_or_rejected_with_a_message() {
        assert_eq!("whole".parse(), Ok(Writes::Whole));
        assert_eq!("300, 1460".parse(), Ok(Writes::Lengths(vec![300, 1460])));
        for wrong in ["", "0", "12,", "half"] {
            let said = wrong.parse::<Writes>().expect_err(wrong).to_string();
            assert!(said.contains("head-first"), "{said}");
        }
    }

    #[test]
    fn requests_are_answered_or_rejected_by_their_heads() {
        let root = std::env::temp_dir().join(format!("netspurt-heads-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a directory");
        std::fs::write(root.join("page"), "text").expect("a file");
        let many = "x: 1\r\n".repeat(MOST_HEADERS + 1);
        for (head, status, then) in [
            ("GET /page HTTP/1.1\r\n\r\n", "200", Then::NextRequest),
            ("HEAD /page HTTP/1.1\r\nConnection: Upgrade, Close\r\n\r\n", "200", Then::Close),
            ("GET /page HTTP/1.1\r\nX-Connection: close\r\n\r\n", "200", Then::NextRequest),
            ("GET /page HTTP/1.0\r\n\r\n", "200", Then::Close),
            ("GET /page HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", "200", Then::NextRequest),
            ("GET /none HTTP/1.1\r\n\r\n", "404", Then::NextRequest),
            ("POST /page HTTP/1.1\r\n\r\n", "405", Then::Close),
            ("GET /page HTTP/2.0\r\n\r\n", "400", Then::Close),
            ("GET  /page HTTP/1.1\r\n\r\n", "400", Then::Close),
            ("GET /page HTTP/1.1\r\nno colon\r\n\r\n", "400", Then::Close),
            ("\r\n\r\n", "400", Then::Close),
            (&format!("GET /page HTTP/1.1\r\n{many}\r\n"), "431", Then::Close),
        ] {
            let response = answer(&root, head.as_bytes());
            let line = String::from_utf8_lossy(&response.ready);
            assert!(line.starts_with(&format!("HTTP/1.1 {status} ")), "{head:?}: {line}");
            assert_eq!(response.then, then, "{head:?}");
            assert_eq!(
                response.unread,
                if head.starts_with("GET") && status == "200" { 4 } else { 0 },
                "{head:?}"
            );
        }
        std::fs::remove_dir_all(root).expect("made above");
    }

    #[test]
    fn nothing_outside_the_root_is_served() {
        let root = std::env::temp_dir().join(format!("netspurt-http-{}", std::process::id()));
        std::fs::create_dir_all(root.join("inner")).expect("a directory");
        std::fs::write(root.join("inner/page"), "text").expect("a file");
        std::fs::write(root.join("secret"), "secret").expect("a file");
        let inner = root.join("inner");
        assert_eq!(find(&inner, "/page?x=1").map(|(_, length)| length), Some(4));
        for outside in ["/../secret", "//etc/passwd", "/./../secret", "/", "/page/../../secret"] {
            assert!(find(&inner, outside).is_none(), "{outside}");
        }
        std::fs::remove_dir_all(root).expect("made above");
    }
}
