//! `temblor dead`: dead letters are listed, shown, and replayed through a program that can use them.
//!
//! Invariant: a letter goes away only when its event has gone through the program as a whole and all that stems from
//! it is where it should be; killed in between, it is still there.

use clap::{Args, Subcommand};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use temblor_buffer::letters::{self, OnFull};
use temblor_codec::{Encoding, OutputCodec};
use temblor_lang::value::{Arena, Key, Value};
use temblor_pipeline::dead_letters::{BYTES_DEFAULT, letters as folder};
use temblor_pipeline::endpoint::SinkEndpoint;
use temblor_pipeline::load::{Language, LoadOptions, Loaded};
use temblor_pipeline::operator::ERR;
use temblor_pipeline::pipeline::Output;
use temblor_runtime::outlet::QueuePolicy;
use temblor_runtime::outputs::SinkId;
use temblor_runtime::run::{NamedSink, RunPlan};
use temblor_runtime::sink::OpenSink;

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

#[derive(Clone, Debug, Args)]
pub(crate) struct WhichArgs {
    /// The directory of the letters
    pub(crate) directory: PathBuf,
    /// Only letters with this code, or with this text in their reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Only the letter with this number
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<u64>,
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
}

/// What a letter says that is asked for here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) time_ns: u64,
    pub(crate) reason: String,
    pub(crate) code: String,
    pub(crate) step: String,
    pub(crate) program: String,
    /// The input port that its event came by.
    pub(crate) input: Option<String>,
    pub(crate) source: String,
    pub(crate) line: u64,
    /// The original bytes, when they are known as a whole.
    pub(crate) original: Option<Vec<u8>>,
    /// The metadata that the event came with, as JSON.
    pub(crate) meta: String,
}

impl Letter {
    /// The letter of a line of JSON; nothing when it is none.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let arena = Arena::new();
        let text = std::str::from_utf8(line).ok()?;
        let letter = temblor_stdlib::formats::json::parse(text, &arena).ok()?;
        let part = |name: &str| letter.get(&Key::new(name));
        let text = |name: &str| part(name).and_then(Value::as_str).map(str::to_string);
        let number = |name: &str| part(name).and_then(Value::as_u64).unwrap_or(0);
        let is_whole = part("truncated").is_none();
        let original = text("original").map(String::into_bytes).or_else(|| {
            use base64::Engine;
            base64::engine::general_purpose::STANDARD.decode(text("original_base64")?).ok()
        });
        Some(Self {
            time_ns: number("time_ns"),
            reason: text("reason").unwrap_or_default(),
            code: text("code").unwrap_or_default(),
            step: text("step").unwrap_or_default(),
            program: text("program").unwrap_or_default(),
            input: text("input"),
            source: text("source").unwrap_or_default(),
            line: number("line"),
            original: original.filter(|_| is_whole),
            meta: part("meta").map(temblor_lang::value::to_json).unwrap_or_default(),
        })
    }
}

impl WhichArgs {
    /// Whether this letter is meant.
    pub(crate) fn means(&self, number: u64, letter: &Letter) -> bool {
        let by_reason = self.reason.as_ref().is_none_or(|text| {
            letter.code.eq_ignore_ascii_case(text) || letter.reason.contains(text.as_str())
        });
        by_reason && self.number.is_none_or(|wanted| wanted == number)
    }

    /// Gives the letters that are meant, the oldest first.
    pub(crate) fn each(
        &self,
        mut give: impl FnMut(u64, Letter, &[u8]) -> std::io::Result<()>,
    ) -> Result<(), String> {
        let read = letters::read(&self.directory, |number, line| match Letter::read(line) {
            Some(letter) if self.means(number, &letter) => give(number, letter, line),
            _ => Ok(()),
        });
        read.map_err(|error| {
            let place = self.directory.display();
            format!("{place}: {error}\n  help: give the directory of a sink `dead_letters`, or of `run --dead-letters`")
        })
    }
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

/// Gives a program the sink `err` for its dead letters, unless it has one, or cannot have one.
pub(crate) fn keep_letters(loaded: &mut Loaded, directory: &Path) {
    if !loaded.endpoints.sinks.iter().any(|sink| sink.port == ERR) {
        give_err(loaded, Arc::new(folder_at(directory)));
    }
}

fn folder_at(directory: &Path) -> letters::Letters {
    folder(directory.to_path_buf(), BYTES_DEFAULT, OnFull::DropOldest, true)
}

/// The sink for events whose failures no port takes: that of the port `err`, if it takes letters, else one of its own in
/// the directory of the command line.
pub(crate) fn letters_of(
    outputs: &[Vec<Output>],
    plan: &mut RunPlan,
    directory: Option<&Path>,
) -> Option<SinkId> {
    let mut all = outputs.iter().flatten();
    let takes = |one: &&Output| {
        one.encoding.codec == OutputCodec::Letter
            && plan.ports.get(one.port).is_some_and(|port| port == ERR)
    };
    if let Some(output) = all.find(takes) {
        return Some(output.sink);
    }
    let directory = directory?;
    plan.sinks.push(NamedSink::new("dead letters", folder_at(directory)));
    Some(plan.sinks.len() - 1)
}

/// Gives a program the sink of its port `err`, which takes letters; false, when it has no such port.
pub(crate) fn give_err(loaded: &mut Loaded, sink: Arc<dyn OpenSink>) -> bool {
    if loaded.language != Language::Temblor || loaded.graph.output(ERR).is_none() {
        return false;
    }
    loaded.graph.tell_codes();
    loaded.endpoints.sinks.retain(|one| one.port != ERR);
    loaded.endpoints.sinks.push(SinkEndpoint {
        port: ERR.to_string(),
        config: sink,
        path: None,
        encoding: Encoding { codec: OutputCodec::Letter, post: None },
        each_member: true,
        attributes: Some(Box::default()),
        queue: QueuePolicy::default(),
    });
    true
}

/// The letters that a replay has to do with.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    /// Numbers of those that were handed over, and settled well.
    through: BTreeSet<u64>,
    /// Numbers of those that failed again.
    again: BTreeSet<u64>,
}

/// The same, shared by source, sink and witnesses.
pub(crate) type SharedFates = Arc<Mutex<Fates>>;

/// What became of letters, for a moment.
pub(crate) fn lock(fates: &SharedFates) -> MutexGuard<'_, Fates> {
    fates.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fates {
    /// All that stems from a letter is where it should be.
    pub(crate) fn settle(&mut self, number: u64) {
        self.through.insert(number);
    }

    /// A part of a letter failed again.
    pub(crate) fn fail(&mut self, number: u64) {
        self.again.insert(number);
    }

    /// The letters that can go.
    fn gone(&self) -> BTreeSet<u64> {
        self.through.difference(&self.again).copied().collect()
    }
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
        (None, 1, Some(program)) if Path::new(program).is_file() => PathBuf::from(program),
        _ => return Err("which program? give it with --through FILE".to_string()),
    };
    let options = LoadOptions::new(temblor_catalog::registry()).with_path(&args.path);
    let loaded = LoadOptions { errors_leave: true, ..options }.file(&file)?;
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
