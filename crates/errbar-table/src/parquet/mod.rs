//! Parquet tables: opened, read whole or as a stream, and written.

pub(crate) mod calendar;
pub(crate) mod file;
pub(crate) mod leaf;
mod pages;
pub(crate) mod read;
pub(crate) mod reading;
pub(crate) mod values;
pub(crate) mod write;
