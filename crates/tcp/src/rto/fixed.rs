//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Fixed;
