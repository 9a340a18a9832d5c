//! `temblor completions` and `temblor man`: made from the same declarations as the parser, so that
//! they cannot differ from it.

use super::Command;
use super::check::FAULTY;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::PathBuf;

/// What can be typed behind `temblor completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// What can be typed behind `temblor man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this directory [default: one page to standard output]
    directory: Option<PathBuf>,
}

/// Writes the completions of a shell.
pub fn completions(args: &CompletionsArgs) -> u8 {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Command::command(), "temblor", &mut text);
    finish(io::stdout().write_all(&text))
}

/// Writes the manual pages.
pub fn man(args: &ManArgs) -> u8 {
    match &args.directory {
        Some(directory) => finish(clap_mangen::generate_to(Command::command(), directory)),
        None => finish(clap_mangen::Man::new(Command::command()).render(&mut io::stdout())),
    }
}

fn finish(result: io::Result<()>) -> u8 {
    match result {
        Ok(()) => 0,
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            eprintln!("error: {error}");
            FAULTY
        }
    }
}
