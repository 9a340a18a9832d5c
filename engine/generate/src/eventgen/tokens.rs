//! The tokens of a stanza, as the settings of a program have them.
//!
//! Invariant: a token that Eventgen would log about and leave alone is left out with a note; the others have
//! patterns in the syntax of programs and files that are there.

use super::conf::{Complaint, Conf, Section};
use super::places::Places;
use crate::finder::Finder;
use crate::reading::TimeReader;
use crate::replacement::Replacement;
use crate::stamp::Stamp;
use serde_json::{Value, json};
use std::path::Path;

/// How times look that are found without being described, the most special first.
const COMMON_TIMES: [(&str, &str); 12] = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", "%Y-%m-%dT%H:%M:%S.%3f"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "%Y-%m-%dT%H:%M:%S"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{3}", "%Y-%m-%d %H:%M:%S.%3f"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "%Y-%m-%d %H:%M:%S"),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "%Y/%m/%d %H:%M:%S"),
    (r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d", "%d/%b/%Y:%H:%M:%S"),
    (r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M", "%m/%d/%Y %I:%M:%S %p"),
    (r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", "%m/%d/%Y %H:%M:%S"),
    (r"\d\d-\d\d-\d{4} \d\d:\d\d:\d\d", "%m-%d-%Y %H:%M:%S"),
    (r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}", "%a %b %e %H:%M:%S %Y"),
    (r"\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d", "%d-%b-%Y %H:%M:%S"),
    (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d", "%b %e %H:%M:%S"),
];

/// Lines of a sample in which times are looked for.
const TRIED_LINES_MAX: usize = 1_000;

/// Reads tokens.
pub(super) struct TokenReader<'r> {
    pub(super) keys: &'r Section,
    pub(super) conf: &'r Conf,
    pub(super) places: &'r Places,
    pub(super) notes: &'r mut Vec<String>,
}

impl TokenReader<'_> {
    /// The tokens from 0 up to the first gap in the numbering.
    pub(super) fn tokens(&mut self) -> Result<Vec<Value>, Complaint> {
        let mut tokens = Vec::new();
        let mut number = 0;
        loop {
            let name = format!("token.{number}.");
            if !self.keys.entries.iter().any(|entry| entry.key.starts_with(&name)) {
                break;
            }
            tokens.extend(self.token(&name)?);
            number += 1;
        }
        let behind: Vec<_> = self
            .keys
            .entries
            .iter()
            .filter_map(|entry| {
                let (rest, part) = entry.key.strip_prefix("token.")?.split_once('.')?;
                let is_behind = rest.parse::<u64>().is_ok_and(|other| other > number);
                (is_behind && part == "token").then(|| format!("token.{rest}"))
            })
            .collect();
        if !behind.is_empty() {
            let list = behind.join(", ");
            self.notes.push(format!("{list}: the numbering ends before, at token.{number}"));
        }
        Ok(tokens)
    }

    fn token(&mut self, name: &str) -> Result<Option<Value>, Complaint> {
        let entry = |part: &str| self.keys.get(&format!("{name}{part}"));
        let (Some(find), Some(kind), Some(replacement)) =
            (entry("token"), entry("replacementType"), entry("replacement"))
        else {
            self.notes.push(format!(
                "{}: a token has token, replacementType and replacement; Eventgen, too, leaves it out",
                name.trim_end_matches('.')
            ));
            return Ok(None);
        };
        if find.value.is_empty() {
            self.notes.push(format!("{name}token: there is no pattern, so nothing is replaced"));
            return Ok(None);
        }
        let finder = Finder::python(&find.value);
        let finder = finder.map_err(|reason| self.conf.complaint(self.keys, find.line, &reason))?;
        match self.replacement(&kind.value, &replacement.value) {
            Ok(text) => Ok(Some(token(&finder, &kind.value, text))),
            Err(reason) => {
                let name = name.trim_end_matches('.');
                self.notes.push(format!("{name}: {reason}; as in Eventgen, its text stays"));
                Ok(None)
            }
        }
    }

    /// A replacement as programs write it.
    fn replacement(&self, kind: &str, text: &str) -> Result<String, String> {
        match kind {
            "timestamp" => Ok(strict(text)),
            "replaytimestamp" => {
                let list = serde_json::from_str::<Vec<String>>(text);
                let list = list.unwrap_or_else(|_| vec![text.to_string()]);
                let list: Vec<_> = list.iter().map(|format| strict(format)).collect();
                match list.iter().find(|format| TimeReader::compile(format).is_none()) {
                    Some(bad) => Err(format!("`{bad}` is no format that times are read by")),
                    None => Ok(json!(list).to_string()),
                }
            }
            "random" => Replacement::random(text).map(|_| text.to_string()),
            "rated" => {
                let tables = std::sync::Arc::new(crate::rate::Tables::default());
                Replacement::rated(text, &tables).map(|_| text.to_string())
            }
            "file" | "mvfile" | "seqfile" => self.file(text),
            "integerid" => match text.trim().parse::<i64>() {
                Ok(number) => Ok(number.to_string()),
                Err(_) => Err(format!("`{text}` is no whole number")),
            },
            _ => Ok(text.to_string()),
        }
    }

    /// `path:column`, with the path of a file that is there and has a line.
    fn file(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        let is_column = |digits: &&str| digits.trim().parse::<u64>().is_ok_and(|column| column > 0);
        let (path, column) = match text.rsplit_once(':').filter(|(_, digits)| is_column(digits)) {
            Some((path, digits)) => (path, format!(":{}", digits.trim())),
            None => (text, String::new()),
        };
        let Some(found) = self.places.file(path) else {
            return Err(format!("there is no file `{path}`, here or seen from the app"));
        };
        let bytes = crate::settings::read_file(&found)?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(format!("`{path}` is empty"));
        }
        Ok(format!("{}{column}", found.display()))
    }

    /// Tokens for the times of a sample, as far as it has some: for each line the first that fits.
    pub(super) fn common_times(&self, sample: Option<&Path>) -> Vec<Value> {
        let given = self.keys.text("autotimestamps");
        let given = given.and_then(|text| serde_json::from_str::<Vec<(String, String)>>(text).ok());
        let common = || {
            let pairs = COMMON_TIMES.iter();
            pairs.map(|(find, format)| ((*find).to_string(), (*format).to_string())).collect()
        };
        let pairs = given.unwrap_or_else(common);
        let pairs: Vec<_> = pairs
            .into_iter()
            .filter_map(|(find, format)| Some((Finder::python(&find).ok()?, format)))
            .collect();
        let text = sample.and_then(|path| crate::settings::read_file(path).ok());
        let text = text.unwrap_or_default();
        let mut used = vec![false; pairs.len()];
        for line in crate::records::lines(&text).take(TRIED_LINES_MAX) {
            if let Some(index) = pairs.iter().position(|(finder, _)| finder.first(line).is_some()) {
                used[index] = true;
            }
        }
        let pairs = pairs.iter().zip(used).filter(|(_, is_used)| *is_used);
        pairs.map(|((finder, format), _)| token(finder, "timestamp", strict(format))).collect()
    }

    /// What replaces the host, or parts of it.
    pub(super) fn host(&mut self) -> Result<Option<Value>, Complaint> {
        let entries = (self.keys.get("host.token"), self.keys.get("host.replacement"));
        let (Some(find), Some(replacement)) = entries else { return Ok(None) };
        let finder = Finder::python(&find.value);
        let finder = finder.map_err(|reason| self.conf.complaint(self.keys, find.line, &reason))?;
        match self.file(&replacement.value) {
            Ok(path) => Ok(Some(token(&finder, "file", path))),
            Err(reason) => {
                self.notes.push(format!("host.replacement: {reason}; the host stays"));
                Ok(None)
            }
        }
    }
}

fn token(finder: &Finder, kind: &str, replacement: String) -> Value {
    json!({"token": finder.pattern(), "type": kind, "replacement": replacement})
}

/// A format in which letters that stand for nothing stand for themselves.
fn strict(format: &str) -> String {
    if Stamp::new(format).is_ok() {
        return format.to_string();
    }
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let end = |letters: usize| {
            rest[at..].char_indices().nth(letters).map_or(rest.len(), |(length, _)| at + length)
        };
        let known = [3, 2]
            .into_iter()
            .map(end)
            .find(|end| Stamp::new(&rest[at..*end]).is_ok_and(|_| *end > at + 1));
        out.push_str(&rest[..at]);
        let stop = match known {
            // Three letters are one part only where two are none.
            Some(end3) if Stamp::new(&rest[at..end(2)]).is_err() => {
                out.push_str(&rest[at..end3]);
                end3
            }
            Some(_) => {
                out.push_str(&rest[at..end(2)]);
                end(2)
            }
            None => {
                out.push_str("%%");
                at + 1
            }
        };
        rest = &rest[stop..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_time_is_found_and_written() {
        for (find, format) in COMMON_TIMES {
            let mut written = Vec::new();
            Stamp::new(format).unwrap().push(1_772_323_445_067_000_000, &mut written);
            let finder = Finder::new(&format!("^{find}$")).unwrap();
            assert!(
                finder.first(&written).is_some(),
                "{format}: {}",
                String::from_utf8_lossy(&written)
            );
        }
    }

    #[test]
    fn unknown_letters_of_formats_stand_for_themselves() {
        for (format, expected) in
            [("%H:%M", "%H:%M"), ("%3N %i %-d%", "%3N %%i %-d%%"), ("%!%Y%ü", "%%!%Y%%ü")]
        {
            assert_eq!(strict(format), expected);
            assert!(Stamp::new(&strict(format)).is_ok());
        }
    }
}
