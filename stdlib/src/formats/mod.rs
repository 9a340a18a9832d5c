//! Text formats: each a struct compiled once and a `parse` from text to value. Strings in results
//! refer to the text where no escape forbids it; a failure is a [`FormatError`] without allocation.

mod error;
mod keys;
mod cursor;
mod delimiter;
pub(crate) mod base64;
pub mod cef;
pub mod cidr;
pub mod csv;
pub mod datetime;
pub mod dissect;
pub(crate) mod glob;
pub mod statsd;
pub mod dogstatsd;
pub mod graphite;
pub mod influx;
pub mod json;
pub mod kv;
pub mod leef;
pub mod logfmt;
pub mod pairs;
pub mod regex;
pub mod rfc3339;
pub mod syslog;
pub mod reach;
pub mod user_agent;
pub mod yaml;

pub use error::FormatError;

pub(crate) use error::EncodeError;
pub use keys::Keys;
pub(crate) use keys::PlacedKeys;
