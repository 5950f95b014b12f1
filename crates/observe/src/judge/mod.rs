//! Cases with a known truth, and how well a diagnosis from a capture agrees with it.
//!
//! * `cases.rs`: paths, TCP settings and applications, drawn from a seed
//! * `apps.rs`: applications that limit a transfer
//! * `trial.rs`: a case simulated, captured and diagnosed
//! * `matrix.rs`: sums over many trials

mod apps;
mod cases;
mod matrix;
mod trial;

pub use cases::{Case, draw};
pub use matrix::Matrix;
pub use trial::{Place, Trial, run};
