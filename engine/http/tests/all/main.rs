//! Connectors over HTTP as users meet them: the command, curl as a client, real servers, and hostile peers.

mod collectors;
mod examples;
mod hostile;
mod lookups;
mod opensearch;
mod reply;
mod sending;
mod serving;
mod shippers;
mod stand_in;
mod started;
mod talking;
mod tremor;
