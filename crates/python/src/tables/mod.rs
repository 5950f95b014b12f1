//! Tables for Python and for files.

pub(crate) mod cells;
pub(crate) mod columns;
pub(crate) mod gather;
pub(crate) mod plain;
pub(crate) mod schema;
pub(crate) mod table;
pub(crate) mod wide;
