//! Samples: the lines of a file, or events that were typed or pasted. A line that cannot be read
//! says so and stands in nobody's way.

use super::lines::Lines;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::budget::Budget;
use temblor_lang::value::{Arena, Key, Owned, Value, to_json};
use temblor_stdlib::formats::json;

/// Samples longer than this are refused.
const SAMPLE_BYTES_MAX: u64 = 16 << 20;
/// Samples that can be typed or pasted.
const TYPED_MAX: usize = 1_000_000;
/// Lines at the beginning of a file that tell what the file is.
const SNIFFED_LINES: usize = 64;

/// What the lines of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An event of JSON each.
    Json,
    /// Events that failed, each as `{"error", "event"}`: the samples are the events.
    DeadLetters,
    /// Text.
    Text,
}

#[derive(Debug)]
enum Source {
    /// Shared with whoever wants to begin anew from here.
    Typed(Arc<Vec<String>>),
    File(Box<Opened>),
}

/// A file of samples.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    lines: Lines,
    kind: Kind,
}

/// What samples can be had from once more.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    origin: Origin,
    at: usize,
}

#[derive(Clone, Debug)]
enum Origin {
    Typed(Arc<Vec<String>>),
    File(PathBuf),
}

/// Samples, and the one that is looked at.
#[derive(Debug)]
pub(crate) struct Samples {
    source: Source,
    /// The current one, from 0.
    at: usize,
    budget: Arc<Budget>,
}

/// One sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// The line; `None` when there are no samples.
    pub line: Option<String>,
    /// Whether the line is to be read as JSON.
    pub is_json: bool,
    /// Why it cannot be.
    pub problem: Option<String>,
    /// Of a dead letter: why it failed.
    pub error: Option<String>,
}

impl Sample {
    fn new(line: String, kind: Option<Kind>) -> Self {
        let arena = Arena::new();
        let parsed = match kind {
            Some(Kind::Text) => return Self { line: Some(line), ..Self::default() },
            _ => json::parse(&line, &arena),
        };
        let mut sample = Self { is_json: parsed.is_ok() || kind.is_some(), ..Self::default() };
        match parsed {
            Ok(letter) if kind == Some(Kind::DeadLetters) => {
                let part = |name| letter.get(&Key::new(name));
                sample.error = part("error").map(|error| match error {
                    Value::Str(text) => text.to_string(),
                    other => to_json(other),
                });
                sample.line = Some(part("event").map_or_else(|| line.clone(), to_json));
            }
            Ok(_) => sample.line = Some(line),
            Err(error) => {
                sample.problem = Some(format!("not JSON: {error}"));
                sample.line = Some(line);
            }
        }
        sample
    }

    /// The event: the value of a line of JSON, or else the line as a string.
    pub(crate) fn event(&self) -> Owned {
        let Some(line) = &self.line else { return Owned::Null };
        let arena = Arena::new();
        let value = if self.is_json { json::parse(line, &arena).ok() } else { None };
        Owned::from(value.unwrap_or(Value::Str(line)))
    }
}

impl Samples {
    /// No samples; long searches end when `budget` says so.
    pub(crate) fn none(budget: Arc<Budget>) -> Self {
        Self { source: Source::Typed(Arc::default()), at: 0, budget }
    }

    /// What these samples can be had from once more.
    pub(crate) fn seed(&self) -> Seed {
        let origin = match &self.source {
            Source::Typed(lines) => Origin::Typed(lines.clone()),
            Source::File(opened) => Origin::File(opened.path.clone()),
        };
        Seed { origin, at: self.at }
    }

    /// The samples of a seed; none when their file is gone.
    pub(crate) fn of_seed(seed: Seed, budget: Arc<Budget>) -> Self {
        match seed.origin {
            Origin::Typed(lines) => Self { source: Source::Typed(lines), at: seed.at, budget },
            Origin::File(path) => match Self::open(&path, budget.clone()) {
                Ok(samples) => Self { at: seed.at, ..samples },
                Err(_) => Self::none(budget),
            },
        }
    }

    /// Opens a file; only its beginning is read.
    pub(crate) fn open(file: &Path, budget: Arc<Budget>) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("error: {}: {error}", file.display());
        let opened = File::open(file).map_err(told)?;
        if opened.metadata().map_err(told)?.is_dir() {
            return Err(format!("error: {}: is a directory", file.display()));
        }
        let mut lines = Lines::new(opened);
        let mut kind = None;
        for index in 0..SNIFFED_LINES {
            let Some(line) = lines.read(index, SAMPLE_BYTES_MAX, &|| false).map_err(told)? else {
                break;
            };
            let line = String::from_utf8_lossy(&line);
            if !line.trim().is_empty() {
                kind = Some(sniff(&line));
                break;
            }
        }
        let kind =
            kind.ok_or_else(|| format!("error: {}: there is no line in it", file.display()))?;
        let opened = Opened { path: file.to_path_buf(), lines, kind };
        Ok(Self { source: Source::File(Box::new(opened)), at: 0, budget })
    }

    /// What the file holds; `None` for samples that were typed.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match &self.source {
            Source::File(opened) => Some(opened.kind),
            Source::Typed(_) => None,
        }
    }

    /// Adds a sample that was typed, behind all others, and makes it the current one. The answer
    /// says what is odd about it.
    pub(crate) fn add(&mut self, line: &str) -> Result<Option<String>, String> {
        if let Source::File(..) = self.source {
            (self.source, self.at) = (Source::Typed(Arc::default()), 0);
        }
        let Source::Typed(lines) = &mut self.source else { return Ok(None) };
        let lines = Arc::make_mut(lines);
        if lines.len() >= TYPED_MAX {
            return Err(format!("error: there are {TYPED_MAX} samples already"));
        }
        lines.push(line.to_string());
        self.at = lines.len() - 1;
        let meant = line.starts_with(['{', '[', '"']);
        Ok(Sample::new(line.to_string(), None).problem.filter(|_| meant))
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.source, Source::Typed(lines) if lines.is_empty())
    }

    /// The number of the current sample, from 1.
    pub(crate) fn number(&self) -> usize {
        self.at + 1
    }

    pub(crate) fn current(&mut self) -> Result<Sample, String> {
        if self.is_empty() {
            return Ok(Sample::default());
        }
        Ok(self.read(self.at)?.unwrap_or_default())
    }

    /// Goes to the sample with this number, from 1.
    pub(crate) fn go_to(&mut self, number: usize) -> Result<(), String> {
        let at = number.checked_sub(1).ok_or("error: samples are counted from 1")?;
        match self.read(at)? {
            Some(_) => self.at = at,
            None => return Err(format!("error: there is no sample {number}")),
        }
        Ok(())
    }

    /// The sample with this index, from 0; `None` behind the last.
    pub(crate) fn read(&mut self, index: usize) -> Result<Option<Sample>, String> {
        let (lines, kind) = match &mut self.source {
            Source::File(opened) => (&mut opened.lines, opened.kind),
            Source::Typed(lines) => {
                return Ok(lines.get(index).map(|line| Sample::new(line.clone(), None)));
            }
        };
        let stop = || self.budget.is_interrupted();
        let read = lines.read(index, SAMPLE_BYTES_MAX + 1, &stop);
        let bytes = read.map_err(|error| format!("error: the samples cannot be read: {error}"))?;
        if stop() {
            return Err("interrupted".to_string());
        }
        let Some(bytes) = bytes else { return Ok(None) };
        if bytes.len() as u64 > SAMPLE_BYTES_MAX {
            let problem = Some(format!("longer than {SAMPLE_BYTES_MAX} bytes"));
            let line = Some(String::new());
            return Ok(Some(Sample { line, is_json: true, problem, error: None }));
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = text.trim_end_matches(['\n', '\r']).to_string();
        Ok(Some(Sample::new(line, Some(kind))))
    }
}

/// What a file is, by its first line.
fn sniff(line: &str) -> Kind {
    let arena = Arena::new();
    let Ok(value) = json::parse(line.trim(), &arena) else {
        return if line.trim_start().starts_with("{\"") { Kind::Json } else { Kind::Text };
    };
    let has = |name| value.get(&Key::new(name)).is_some();
    if has("error") && has("event") {
        return Kind::DeadLetters;
    }
    let is_container = value.as_record(&arena).is_some() || value.as_array(&arena).is_some();
    if is_container || line.trim_start().starts_with('"') { Kind::Json } else { Kind::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells() {
        for (line, kind) in [
            ("{\"a\": 1}", Kind::Json),
            ("[1]", Kind::Json),
            ("\"x\"", Kind::Json),
            ("{\"a\": 1", Kind::Json),
            ("{\"error\": \"bad\", \"event\": {\"a\": 1}}", Kind::DeadLetters),
            ("10.0.0.1 GET /", Kind::Text),
            ("12", Kind::Text),
            ("[error] x", Kind::Text),
        ] {
            assert_eq!(sniff(line), kind, "{line}");
        }
    }

    #[test]
    fn dead_letters_are_opened() {
        let line = r#"{"error": "no field", "event": {"a": 1}}"#.to_string();
        let letter = Sample::new(line, Some(Kind::DeadLetters));
        assert_eq!(letter.line.as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(letter.error.as_deref(), Some("no field"));
    }
}
