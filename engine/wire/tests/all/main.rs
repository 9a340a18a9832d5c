//! Streams, datagrams and syslog on the wire, with real peers and with hostile ones.

mod examples;
mod hostile;
mod relp;
mod stream;
mod support;
mod syslog;
mod through;
mod tremor;
