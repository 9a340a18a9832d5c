//! Dead letters as the command knows them: what a letter says, which are meant, what became of them, and the sink that
//! a program gets for its own.
//!
//! Invariant: what cannot be read as a letter is none; nothing here removes one.

use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use temblor_buffer::letters::{self, OnFull};
use temblor_codec::OutputCodec;
use temblor_lang::value::{Arena, Key, Value};
use temblor_pipeline::dead_letters::{BYTES_DEFAULT, keep, letters as folder};
use temblor_pipeline::load::Loaded;
use temblor_pipeline::operator::ERR;
use temblor_pipeline::pipeline::Output;
use temblor_runtime::outputs::SinkId;
use temblor_runtime::run::{NamedSink, RunPlan};

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

/// Gives a program the sink `err` for its dead letters, unless it has one.
pub(crate) fn keep_letters(loaded: &mut Loaded, directory: &Path) {
    keep(loaded, directory.to_path_buf(), BYTES_DEFAULT, true);
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
    pub(crate) fn gone(&self) -> BTreeSet<u64> {
        self.through.difference(&self.again).copied().collect()
    }
}
