//! An error in a scenario, and its place.

use crate::reading::tree::{At, Fault};
use std::fmt;

/// An error in a scenario: one sentence and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The file as the caller named it.
    pub file: String,
    /// Line in the file, counted from 1; `None` if the error is in an override.
    pub line: Option<usize>,
    /// Column in characters, counted from 1.
    pub column: Option<usize>,
    /// The path of the override, if the error is in one.
    pub override_path: Option<String>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl ScenarioError {
    /// An error in `text`, or in one of the overrides that were applied to it.
    pub(crate) fn new(fault: Fault, text: &str, file: &str, overrides: &[(&str, &str)]) -> Self {
        let mut error = Self {
            file: file.to_owned(),
            line: None,
            column: None,
            override_path: None,
            message: fault.message,
        };
        match fault.at {
            At::File(offset) => {
                let (line, column) = line_and_column(text, offset);
                (error.line, error.column) = (Some(line), Some(column));
            }
            At::Override(index) => {
                let path = overrides.get(index).map_or("", |(path, _)| *path);
                // The path need not be repeated.
                if let Some(rest) = error.message.strip_prefix(path).and_then(|rest| rest.strip_prefix(": "))
                {
                    error.message = rest.to_owned();
                }
                error.override_path = Some(path.to_owned());
            }
        }
        error
    }
}

impl fmt::Display for ScenarioError {
    /// `file:line:column: message`, or `--set path: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.override_path {
            return write!(f, "--set {path}: {}", self.message);
        }
        f.write_str(&self.file)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// Line and column of a byte offset, both counted from 1.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
