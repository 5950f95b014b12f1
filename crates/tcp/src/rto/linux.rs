//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Linux;
