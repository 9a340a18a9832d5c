//! `temblor repl`: the bench for rules, with a line editor or with commands given beforehand.

use super::check::FAULTY;
use super::logstash::ConfigurationArgs;
use super::tables;
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;
use temblor_lang::diagnostic::Colour;
use temblor_lang::syntax::is_open;
use temblor_logstash::configuration::Wishes;
use temblor_repl::{Reply, Session, interact};

/// What can be typed behind `temblor repl`.
#[derive(Debug, Args)]
pub(crate) struct ReplArgs {
    /// Program file whose pipeline or definitions are there from the start
    #[arg(conflicts_with = "logstash")]
    file: Option<PathBuf>,
    #[command(flatten)]
    configuration: ConfigurationArgs,
    /// File of samples, a line each
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Enter this and end; may be repeated
    #[arg(short, long, value_name = "ENTRY")]
    command: Vec<String>,
    /// Directory with module files; may be repeated
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    #[command(flatten)]
    tables: tables::TableArgs,
}

/// How often a file that is watched is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the REPL; gives the exit code.
pub(crate) fn repl(args: &ReplArgs) -> u8 {
    let is_terminal = std::io::stdout().is_terminal();
    let mut session = Session::new(args.path.clone(), colour(is_terminal));
    let mut faulty = false;
    match args.tables.open() {
        Ok(tables) => session.set_tables(tables.shared()),
        Err(reason) => {
            eprintln!("error: {reason}");
            return FAULTY;
        }
    }
    if let Some(input) = &args.input
        && let Err(reason) = session.load(input)
    {
        eprintln!("{reason}");
        return FAULTY;
    }
    let settings = match args.configuration.settings() {
        Ok(settings) => settings,
        Err(reason) => {
            eprintln!("error: {reason}");
            return FAULTY;
        }
    };
    let wishes = Wishes { settings, ..Wishes::default() };
    if let Some(path) = &args.configuration.logstash {
        faulty |= !tell(&session.load_configuration(path, wishes));
    } else {
        session.set_wishes(wishes);
    }
    if let Some(file) = &args.file {
        faulty |= !enter(&mut session, &format!(":load {}", file.display()));
    }
    if !args.command.is_empty() {
        for entry in &args.command {
            faulty |= !enter(&mut session, entry);
        }
        while session.watched().is_some() {
            std::thread::sleep(LOOK);
            print(&session.look_at_watched().unwrap_or_default());
        }
    } else if is_terminal && std::io::stdin().is_terminal() {
        println!(":help lists the commands, :quit ends");
        if let Err(error) = interact(session) {
            eprintln!("error: the terminal cannot be used: {error}");
            return FAULTY;
        }
        return 0;
    } else {
        faulty |= !read_entries(&mut session);
    }
    if faulty { FAULTY } else { 0 }
}

/// Colour on a terminal, when the user does not object (<https://no-color.org>).
fn colour(is_terminal: bool) -> Colour {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && is_terminal { Colour::On } else { Colour::Off }
}

/// Enters standard input; an entry goes on while a bracket or form is open. Whether all was right.
fn read_entries(session: &mut Session) -> bool {
    let mut right = true;
    let mut entry = String::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        entry.push_str(&line);
        let goes_on = is_open(&entry) || line.trim_end().ends_with("|>");
        if goes_on && !entry.starts_with(':') && !line.is_empty() {
            entry.push('\n');
            continue;
        }
        right &= enter(session, &std::mem::take(&mut entry));
    }
    right && (entry.is_empty() || enter(session, &entry))
}

/// Enters one entry; whether it was right.
fn enter(session: &mut Session, entry: &str) -> bool {
    tell(&session.enter(entry))
}

/// Shows a reply; whether it is no failure.
fn tell(reply: &Reply) -> bool {
    if reply.failed {
        eprint!("{}", reply.text);
    } else {
        print(&reply.text);
    }
    !reply.failed
}

/// Prints; what nobody reads any more is not missed.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
