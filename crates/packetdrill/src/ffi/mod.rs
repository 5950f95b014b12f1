pub(crate) mod interface;
pub(crate) mod memory;
pub(crate) mod preload;
