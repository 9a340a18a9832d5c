//! `temblor repl`: the bench for rules, with a line editor or with commands given beforehand.

use super::check::FAULTY;
use crate::load::colour;
use crate::repl::{Session, interact};
use clap::Args;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use temblor_lang::diagnostic::Colour;

/// What can be typed behind `temblor repl`.
#[derive(Debug, Args)]
pub struct ReplArgs {
    /// Program file whose pipeline or definitions are there from the start
    file: Option<PathBuf>,
    /// File of samples, a line each
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Enter this and end; may be repeated
    #[arg(short, long, value_name = "ENTRY")]
    command: Vec<String>,
    /// Directory with module files; may be repeated
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
}

/// Runs the REPL; gives the exit code.
pub fn repl(args: &ReplArgs) -> u8 {
    let is_terminal = std::io::stdout().is_terminal();
    let colour = if is_terminal { colour() } else { Colour::Off };
    let mut session = Session::new(args.path.clone(), colour);
    let mut faulty = false;
    if let Some(input) = &args.input
        && let Err(reason) = session.load(input)
    {
        eprintln!("{reason}");
        return FAULTY;
    }
    if let Some(file) = &args.file {
        faulty |= !enter(&mut session, &format!(":load {}", file.display()));
    }
    if !args.command.is_empty() {
        for entry in &args.command {
            faulty |= !enter(&mut session, entry);
        }
    } else if is_terminal && std::io::stdin().is_terminal() {
        println!(":help lists the commands, :quit ends");
        if let Err(error) = interact(&mut session) {
            eprintln!("error: the terminal cannot be used: {error}");
            return FAULTY;
        }
        return 0;
    } else {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            faulty |= !enter(&mut session, &line);
        }
    }
    if faulty { FAULTY } else { 0 }
}

/// Enters one entry; whether it was right.
fn enter(session: &mut Session, entry: &str) -> bool {
    let reply = session.enter(entry);
    if reply.failed {
        eprint!("{}", reply.text);
    } else {
        print!("{}", reply.text);
    }
    !reply.failed
}
