//! `temblor completions` and `temblor man`: made from the same declarations as the parser, so that
//! they cannot differ from it.

use super::Command;
use super::check::FAULTY;
use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The command's name.
const NAME: &str = "temblor";

/// What can be typed behind `temblor completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(required_unless_present = "directory")]
    shell: Option<Shell>,
    /// Write a file for each shell into this directory, named as the shells look for them
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    directory: Option<PathBuf>,
}

/// What can be typed behind `temblor man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory [default: one page to standard output]
    directory: Option<PathBuf>,
}

/// Writes the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> u8 {
    match (args.shell, &args.directory) {
        (Some(shell), _) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Command::command(), NAME, &mut text);
            finish(io::stdout().write_all(&text))
        }
        (None, Some(directory)) => finish(all_completions(directory)),
        (None, None) => FAULTY,
    }
}

fn all_completions(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    Shell::value_variants().iter().try_for_each(|shell| {
        clap_complete::generate_to(*shell, &mut Command::command(), NAME, directory).map(drop)
    })
}

/// Writes the manual pages.
pub(crate) fn man(args: &ManArgs) -> u8 {
    match &args.directory {
        Some(directory) => finish(
            std::fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(Command::command(), directory)),
        ),
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
