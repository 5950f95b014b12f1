//! The scenario file and the file of a synthetic path: what may stand there, and what is said about the rest.

mod bad_paths;
mod build;
mod changes;
mod delays;
mod directions;
mod errors;
mod middleboxes;
mod own;
mod paths;
mod properties;
mod quantiles;
mod remarks;
mod scenario;
mod synthetic;
mod tokens;
