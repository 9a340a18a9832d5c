//! `temblor graph`: draws the operators of a program on standard output.

use super::GraphArgs;
use super::check::FAULTY;

/// Draws a program; gives the exit code.
pub(crate) fn graph(args: &GraphArgs) -> u8 {
    match args.program.load() {
        Err(reason) => {
            eprintln!("error: {reason}");
            FAULTY
        }
        Ok(loaded) if loaded.has_errors() => {
            eprint!("{}", loaded.report(false));
            FAULTY
        }
        Ok(loaded) => {
            print!("{}", loaded.graph.draw(args.format.into()));
            0
        }
    }
}
