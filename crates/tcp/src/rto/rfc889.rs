//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Rfc889;
