//! Samples: the lines of a file, or events that were typed. A file is read where it stands: lines
//! are found when they are asked for, so that a file of any size opens at once.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use temblor_lang::value::{Arena, Owned, Value};
use temblor_stdlib::formats::json;

/// Samples longer than this are refused.
const SAMPLE_BYTES_MAX: u64 = 16 << 20;

/// The lines of a file, or events that were typed.
#[derive(Debug, Default)]
pub struct Samples {
    file: Option<BufReader<File>>,
    /// Where each line that was found so far begins.
    starts: Vec<u64>,
    /// Where the next line begins; `None` when there is none.
    next: Option<u64>,
    typed: Vec<String>,
    /// The current one, from 0.
    at: usize,
}

/// One sample.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The line; `None` when there are no samples.
    pub line: Option<String>,
}

impl Sample {
    /// The event: the value of a line of JSON, or else the line as a string.
    pub fn event(&self) -> Owned {
        let Some(line) = &self.line else { return Owned::Null };
        let arena = Arena::new();
        let value = json::parse(line, &arena).unwrap_or(Value::Str(line));
        Owned::from(value)
    }
}

impl Samples {
    /// Opens a file; nothing but its first line is read.
    pub fn open(file: &Path) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("error: {}: {error}", file.display());
        let reader = BufReader::new(File::open(file).map_err(told)?);
        let mut samples = Self { file: Some(reader), next: Some(0), ..Self::default() };
        if samples.read(0)?.is_none() {
            return Err(format!("error: {}: there is no line in it", file.display()));
        }
        Ok(samples)
    }

    /// Adds a sample that was typed, behind all others, and makes it the current one.
    pub fn add(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() {
            return Err("error: write the sample behind the command, such as `:sample {\"a\": 1}`"
                .to_string());
        }
        if self.file.is_some() {
            *self = Self::default();
        }
        self.typed.push(line.to_string());
        self.at = self.typed.len() - 1;
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.file.is_none() && self.typed.is_empty()
    }

    /// The number of the current sample, from 1.
    pub fn number(&self) -> usize {
        self.at + 1
    }

    pub fn current(&mut self) -> Result<Sample, String> {
        if self.is_empty() {
            return Ok(Sample::default());
        }
        let line = self.read(self.at)?;
        Ok(Sample { line })
    }

    /// Goes to the sample with this number, from 1.
    pub fn go_to(&mut self, number: usize) -> Result<(), String> {
        let at = number.checked_sub(1).ok_or("error: samples are counted from 1")?;
        match self.read(at)? {
            Some(_) => self.at = at,
            None => return Err(format!("error: there is no sample {number}")),
        }
        Ok(())
    }

    /// The sample with this index, from 0; `None` behind the last.
    pub fn read(&mut self, index: usize) -> Result<Option<String>, String> {
        let Some(file) = &mut self.file else { return Ok(self.typed.get(index).cloned()) };
        let told = |error: std::io::Error| format!("error: the samples cannot be read: {error}");
        while self.starts.len() <= index {
            let Some(start) = self.next else { return Ok(None) };
            file.seek(SeekFrom::Start(start)).map_err(told)?;
            let length = file.skip_until(b'\n').map_err(told)? as u64;
            if length == 0 {
                self.next = None;
                return Ok(None);
            }
            self.starts.push(start);
            self.next = Some(start + length);
        }
        file.seek(SeekFrom::Start(self.starts[index])).map_err(told)?;
        let mut bytes = Vec::new();
        file.by_ref().take(SAMPLE_BYTES_MAX).read_until(b'\n', &mut bytes).map_err(told)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_string()))
    }
}
