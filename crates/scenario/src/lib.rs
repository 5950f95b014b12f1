//! The scenario file: one tree of types defines its keys, defaults, help and schema. From a file come worlds for the
//! simulator ([`Scenario::build`]) and synthetic paths, which are delays without packets ([`synthetic`]). [`document`]
//! writes the results of a run as JSON.
//!
//! | where | holds |
//! | --- | --- |
//! | `scenario.rs`, `network/`, `flow/`, `tcp/` | the types, whose doc comments are the file's reference |
//! | `values/` | values with units, exact; a bare name for a table, a table for a list |
//! | `paths/` | path models: `path = "leo"` on a link, expanded to plain keys |
//! | `own.rs` | a built-in choice, or an algorithm of the user |
//! | `reading/` | from text to a type, for every kind of file |
//! | `parse.rs`, `meaning/`, `build.rs` | from text to a checked [`Scenario`], and from there to a world |
//! | `meaning/remarks.rs` | keys without effect, and what a choice switches on |
//! | `catalogue.rs` | the lists of profiles and mechanisms |
//! | `synthetic/` | synthetic paths, with their file |
//! | `document.rs` | results as JSON |
//!
//! A file is read in four steps: TOML with the place of every key and value; overrides applied; its shape compared
//! with the schema; its meaning checked. The types are only filled when the shape is correct.

mod build;
mod catalogue;
pub mod document;
mod flow;
mod meaning;
mod network;
mod own;
mod parse;
mod paths;
mod reading;
mod scenario;
pub mod synthetic;
mod tcp;
mod values;

pub use catalogue::{mechanisms_json, paths_json, profiles_json};
pub use flow::app::{App, Endless, Files as FilesApp, HowOften, Http, Lasts, Message, Order, Web, Written};
pub use flow::closes::Closes;
pub use flow::{End, Flow};
pub use meaning::remarks::{Remark, Weight};
pub use network::change::{Change, Setting};
pub use network::delay::{Delay, Varies};
pub use network::middlebox::{AckThinning, Aggregation, Middlebox, Stripped};
pub use network::queue::Queue;
pub use network::tokens::{Action, Policer, Shaper};
pub use network::trace::Trace;
pub use network::{
    Access, Corrupt, Duplex, Duplicate, Handover, Host, Hub, Link, Loss, Mtu, Ports, Processor, Reader,
    Reorder, Reuse, TooBig,
};
pub use own::{Algorithms, Choice, NoAlgorithms, OwnName};
pub use reading::error::ScenarioError;
pub use scenario::{Scenario, schema};
pub use synthetic::file::{Calibrate, Glitch, GlitchShape, Length, Line, PathLoss, SyntheticPath};
pub use tcp::acking::Acking;
pub use tcp::choices::{
    Congestion, Cutting, DupAcksBesideNaks, Grows, LossMeans, MssCounts, Recovery, Transmit, WindowGrowth,
    WindowOption,
};
pub use tcp::estimator::estimator;
pub use tcp::parametric::{Counting, KeepAlive, OptionLayout, Rto};
pub use tcp::table::{ProfileName, TcpError, TcpTable};
pub use values::directed::{Directed, Nothing, OrNone, Several};
pub use values::distribution::{Count, Drawn, Files, Kind, Measure};
pub use values::form::{Named, OneOrMany};
pub use values::quantity::{
    Cap, Direction, Duration, Grain, InitialCwnd, Limit, Packets, Quantity, Rate, Size, TimeLimit, Window,
};
