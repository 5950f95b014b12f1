//! Cases with a known truth, and how well a diagnosis from a capture agrees with it.
//!
//! * `cases.rs`: paths, TCP settings and applications, drawn from a seed by `draw.rs`
//! * `models.rs`: path models of the scenarios as paths of a case
//! * `queues.rs`: queues with active management or marks, and other traffic
//! * `troubles.rs`: paths that police, shape, reorder, delay or stop packets
//! * `apps.rs`: applications that limit a transfer
//! * `trial.rs`: a case simulated, captured and diagnosed
//! * `margin.rs`: how much of the wrong time lies near the changes of the true limit
//! * `reasons.rs`: why segments were retransmitted
//! * `matrix.rs`: sums over many trials; `page.rs`: these as a page of the documentation

mod apps;
mod cases;
mod draw;
mod margin;
mod matrix;
mod models;
mod page;
mod queues;
mod reasons;
mod trial;
mod troubles;
mod twins;

pub use cases::{Case, draw, draw_behind_queue, draw_mixture, draw_on_model, draw_with_offload};
pub use margin::Margin;
pub use matrix::{Matrix, Policers, Row};
pub use page::{Sums, page};
pub use reasons::Reasons;
pub use trial::{Place, Trial, run};
pub use twins::Twins;
