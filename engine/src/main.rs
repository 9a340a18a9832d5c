//! The `temblor` command.

fn main() {}
