//! `temblor dead`: dead letters are listed, shown, and replayed through a program that can use them.
//!
//! Invariant: a letter goes away only when its event has gone through the program as a whole and all that stems from
//! it is where it should be; killed in between, it is still there.

use clap::{Args, Subcommand};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use temblor_buffer::letters;
use temblor_pipeline::load::{LoadOptions, Loaded};

use crate::letter::{Letter, SharedFates, WhichArgs, lock};
use crate::logstash::ReadingArgs;
use crate::replay;

/// Exit code when letters cannot be used.
const UNUSABLE: u8 = 6;
/// Exit code when letters remain that failed again.
const REMAIN: u8 = 3;

#[derive(Debug, Args)]
pub(crate) struct DeadArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// One line for each letter: number, time, code, source and reason
    List(WhichArgs),
    /// Each letter as it is kept, as a line of JSON
    Show(WhichArgs),
    /// Send original events through a program again: what goes through is removed, what fails again stays
    Replay(ReplayArgs),
}

#[derive(Debug, Args)]
struct ReplayArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// The program to send them through [default: the program that they died in]
    #[arg(long, value_name = "FILE")]
    through: Option<PathBuf>,
    /// Directory with module files; may be repeated
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    #[command(flatten)]
    logstash: ReadingArgs,
}

/// Does what is asked; gives the exit code.
pub(crate) fn dead(args: DeadArgs) -> u8 {
    let done = match args.verb {
        Verb::List(which) => print(&which, |number, letter, _| {
            let Letter { code, source, line, reason, .. } = letter;
            let code = if code.is_empty() { "-" } else { code };
            format!(
                "{number}\t{}\t{code}\t{source}:{line}\t{}\n",
                time(letter.time_ns),
                reason.replace('\n', " ")
            )
        }),
        Verb::Show(which) => print(&which, |_, _, line| String::from_utf8_lossy(line).into_owned()),
        Verb::Replay(args) => replay(&args),
    };
    done.unwrap_or_else(|reason| {
        eprintln!("error: {reason}");
        UNUSABLE
    })
}

fn print(which: &WhichArgs, row: impl Fn(u64, &Letter, &[u8]) -> String) -> Result<u8, String> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    which.each(|number, letter, line| out.write_all(row(number, &letter, line).as_bytes()))?;
    // Nobody may read it any more.
    let _ = out.flush();
    Ok(0)
}

/// A time as RFC 3339 has it, in UTC, to the second.
fn time(time_ns: u64) -> String {
    let seconds = time_ns / 1_000_000_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in eras of 400 years: years begin with March, so that the leap day is their last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z", year + era * 400)
}

/// The program: a configuration of Logstash by its ending, or a folder of them; else by the notation of the file.
fn load(args: &ReplayArgs, file: &Path) -> Result<Loaded, String> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    if file.is_dir() || matches!(ending, Some("conf" | "cfg" | "config" | "yml" | "yaml")) {
        return args.logstash.at(file);
    }
    let options = LoadOptions::new(temblor_catalog::registry()).with_path(&args.path);
    LoadOptions { errors_leave: true, ..options }.file(file)
}

fn replay(args: &ReplayArgs) -> Result<u8, String> {
    let (mut inputs, mut programs) = (BTreeSet::new(), BTreeSet::new());
    let (mut count, mut lacking) = (0_u64, 0_u64);
    args.which.each(|_, letter, _| {
        match (&letter.original, letter.input) {
            (Some(_), Some(input)) => {
                inputs.insert(input);
                count += 1;
            }
            _ => lacking += 1,
        }
        programs.insert(letter.program);
        Ok(())
    })?;
    if lacking > 0 {
        eprintln!(
            "note: {lacking} letters stay: they have no original that a source could give again"
        );
    }
    if count == 0 {
        eprintln!("note: there are no letters to replay");
        return Ok(0);
    }
    let file = match (&args.through, programs.len(), programs.first()) {
        (Some(file), _, _) => file.clone(),
        (None, 1, Some(program)) if Path::new(program).exists() => PathBuf::from(program),
        _ => return Err("which program? give it with --through FILE".to_string()),
    };
    let loaded = load(args, &file)?;
    if loaded.has_errors() {
        eprint!("{}", loaded.report(false));
        return Ok(crate::check::FAULTY);
    }
    let fates = SharedFates::default();
    let ended = replay::run(loaded, &args.which, &inputs, &fates);
    // Whatever ended the run: what went through is not sent once more.
    let gone = lock(&fates).gone();
    letters::remove(&args.which.directory, &gone)
        .map_err(|error| format!("{}: {error}", args.which.directory.display()))?;
    let summary = ended.map_err(|error| error.to_string())?;
    let stayed = count - gone.len() as u64;
    eprintln!("{} letters went through, {stayed} stay", gone.len());
    Ok(match summary.exit_code() {
        0 if stayed > 0 => REMAIN,
        code => code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(time(seconds * 1_000_000_000), text);
        }
    }
}
