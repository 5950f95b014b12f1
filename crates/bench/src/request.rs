//! The words behind the name of a work.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The words of a request, by their places.
pub(crate) struct Request(Vec<String>);

impl Request {
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Self {
        Self(words.collect())
    }

    /// All words.
    pub(crate) fn words(&self) -> &[String] {
        &self.0
    }

    /// One word; empty if it is missing.
    pub(crate) fn word(&self, at: usize) -> &str {
        self.0.get(at).map_or("", String::as_str)
    }

    /// A number; `otherwise` if it is missing.
    pub(crate) fn number<T: FromStr>(&self, at: usize, otherwise: T) -> Result<T, Box<dyn Error>> {
        match self.word(at) {
            "" => Ok(otherwise),
            word => word.parse().map_err(|_| wrong(format!("expected a number, not {word:?}"))),
        }
    }
}

/// A request that cannot be understood.
#[derive(Debug)]
pub(crate) struct Wrong(String);

/// An error that says what was expected.
pub(crate) fn wrong(what: impl Into<String>) -> Box<dyn Error> {
    Box::new(Wrong(what.into()))
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Wrong {}

/// A work that needs a privilege or a device that is not there.
#[derive(Debug)]
pub(crate) struct Skipped(pub(crate) String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl Error for Skipped {}
