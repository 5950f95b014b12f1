pub(crate) mod connection;
pub(crate) mod info;
pub(crate) mod options;
pub(crate) mod poll;
