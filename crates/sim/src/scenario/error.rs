//! What is wrong with a scenario, and where.

use std::fmt;

/// What is wrong with a scenario: one sentence, and where it applies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// The file as the caller named it.
    pub file: String,
    /// Line in the file, counted from 1; `None` if an override is at fault.
    pub line: Option<usize>,
    /// Column in characters, counted from 1.
    pub column: Option<usize>,
    /// The path of the override at fault, if one is.
    pub override_path: Option<String>,
    /// What is wrong, and what would be right.
    pub message: String,
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
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
