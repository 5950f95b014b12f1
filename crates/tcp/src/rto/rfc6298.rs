//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Rfc6298;
