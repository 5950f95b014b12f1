//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Jacobson88;
