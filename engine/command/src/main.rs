//! The `temblor` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    temblor_command::main()
}
