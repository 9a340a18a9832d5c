//! The form of a `.conf` file: stanzas, settings, comments and lines that go on.
//!
//! Invariant: every setting knows its file and line.

use crate::records;
use std::fmt;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name.
    pub key: String,
    /// What stands behind the sign.
    pub value: String,
    /// Where, counted over all files.
    pub line: usize,
}

/// A stanza.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// What stands between the brackets.
    pub name: String,
    /// Where, counted over all files.
    pub line: usize,
    /// The settings, each once.
    pub entries: Vec<Entry>,
}

/// The stanzas of all files, merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conf {
    /// `[global]` and `[default]`.
    pub global: Section,
    /// All others.
    pub stanzas: Vec<Section>,
    /// Names of files, and how many lines stand before each.
    files: Vec<(String, usize)>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// File and line.
    pub place: String,
    /// The line, counted over all files.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.reason)
    }
}

impl Section {
    /// A setting.
    #[must_use]
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// What a setting says, if it says anything.
    #[must_use]
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(|entry| entry.value.as_str()).filter(|text| !text.is_empty())
    }

    fn set(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
    }

    /// Takes over what the other says and this one does not; its tokens get numbers behind those of this one.
    pub(crate) fn add_below(&mut self, other: &Section) {
        let is_token = |key: &str| key.strip_prefix("token.").and_then(number_of).is_some();
        let numbers =
            self.entries.iter().filter_map(|entry| number_of(entry.key.strip_prefix("token.")?));
        let first = numbers.max().map_or(0, |number| number + 1);
        for entry in &other.entries {
            let key = match entry.key.strip_prefix("token.").filter(|_| is_token(&entry.key)) {
                Some(rest) => {
                    let number = number_of(rest).unwrap_or(0);
                    let part = rest.split_once('.').map_or("", |(_, part)| part);
                    format!("token.{}.{part}", number + first)
                }
                None if self.get(&entry.key).is_some() => continue,
                None => entry.key.clone(),
            };
            self.entries.push(Entry { key, ..entry.clone() });
        }
    }
}

fn number_of(rest: &str) -> Option<u64> {
    rest.split_once('.')?.0.parse().ok()
}

impl Conf {
    /// Reads texts; what a later one says of a stanza counts.
    ///
    /// # Errors
    /// All lines that are none of a configuration.
    pub(super) fn parse(texts: &[(String, String)]) -> Result<Self, Vec<Complaint>> {
        let mut conf = Conf::default();
        let (mut complaints, mut before) = (Vec::new(), 0);
        for (name, text) in texts {
            conf.files.push((name.clone(), before));
            let mut reader = Reader { section: None, last: None, begun: false };
            for line in records::lines(text.as_bytes()) {
                before += 1;
                let line = String::from_utf8_lossy(line);
                if let Err(reason) = reader.line(&line, before, &mut conf) {
                    let place = conf.place(before);
                    complaints.push(Complaint { place, line: before, reason });
                }
            }
        }
        if complaints.is_empty() { Ok(conf) } else { Err(complaints) }
    }

    /// File and line.
    #[must_use]
    pub(super) fn place(&self, line: usize) -> String {
        let file = self.files.iter().rev().find(|(_, before)| line > *before);
        file.map_or(String::new(), |(name, before)| format!("{name}:{}", line - before))
    }

    /// Something that is wrong with a line.
    #[must_use]
    pub(super) fn complaint(&self, section: &Section, line: usize, reason: &str) -> Complaint {
        let reason = format!("[{}]: {reason}", section.name);
        Complaint { place: self.place(line), line, reason }
    }

    fn section(&mut self, index: Option<usize>) -> &mut Section {
        match index {
            Some(index) => &mut self.stanzas[index],
            None => &mut self.global,
        }
    }
}

/// Where the reader stands in a file.
struct Reader {
    /// The stanza; nothing is `[global]`.
    section: Option<usize>,
    /// The setting that a line may go on.
    last: Option<String>,
    /// Whether the line before ended with a backslash.
    begun: bool,
}

impl Reader {
    fn line(&mut self, line: &str, number: usize, conf: &mut Conf) -> Result<(), String> {
        let text = line.trim();
        let begun = std::mem::take(&mut self.begun);
        if text.is_empty() || text.starts_with(['#', ';']) && !begun {
            return Ok(());
        }
        let (text, goes_on) = match text.strip_suffix('\\') {
            Some(before) if !before.ends_with('\\') => (before.trim_end(), true),
            _ => (text, false),
        };
        let is_indented = line.starts_with([' ', '\t']);
        let goes_on_from = begun || is_indented && !is_setting(text) && !text.starts_with('[');
        if let Some(last) = self.last.clone().filter(|_| goes_on_from) {
            let section = conf.section(self.section);
            if let Some(entry) = section.entries.iter_mut().find(|entry| entry.key == last) {
                entry.value.push('\n');
                entry.value.push_str(text);
            }
            self.begun = goes_on;
            return Ok(());
        }
        self.last = None;
        if let Some(rest) = text.strip_prefix('[') {
            let Some(end) = rest.rfind(']').filter(|end| *end > 0) else {
                return Err("a stanza is written [name]".to_string());
            };
            self.enter(rest[..end].trim(), number, conf);
            return Ok(());
        }
        let Some((key, value)) = text.split_once('=').or_else(|| text.split_once(':')) else {
            return Err(format!("expected `key = value` or [stanza], found `{text}`"));
        };
        let key = key.trim().to_string();
        if key.is_empty() {
            return Err("there is no name before the equals sign".to_string());
        }
        (self.last, self.begun) = (Some(key.clone()), goes_on);
        let entry = Entry { key, value: value.trim().to_string(), line: number };
        conf.section(self.section).set(entry);
        Ok(())
    }

    fn enter(&mut self, name: &str, line: usize, conf: &mut Conf) {
        if matches!(name, "global" | "default") {
            self.section = None;
            return;
        }
        let known = conf.stanzas.iter().position(|section| section.name == name);
        self.section = Some(known.unwrap_or_else(|| {
            let entries = Vec::new();
            conf.stanzas.push(Section { name: name.to_string(), line, entries });
            conf.stanzas.len() - 1
        }));
    }
}

/// Whether a line begins with a name and an equals sign.
fn is_setting(text: &str) -> bool {
    let Some((key, _)) = text.split_once('=') else { return false };
    let key = key.trim();
    !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || "._:-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<Conf, Vec<Complaint>> {
        let texts = texts.iter().enumerate();
        let texts: Vec<_> = texts.map(|(n, text)| (format!("f{n}"), (*text).to_string())).collect();
        Conf::parse(&texts)
    }

    #[test]
    fn later_files_count_and_lines_go_on() {
        let default = "\u{feff}a = 1\r\n[x]\r\n  b = 2\r\n; note\n# note\nrates = {\"0\": 1, \\\n\"1\": 2}\nlist = [1,\n   2]\n";
        let local = "[x]\nb = 3\n[y] # note\nc: d = e\n[global]\nz = 9\n";
        let conf = parse(&[default, local]).unwrap();
        let x = &conf.stanzas[0];
        assert_eq!(x.text("b"), Some("3"));
        assert_eq!(conf.place(x.get("b").unwrap().line), "f1:2");
        assert_eq!(x.text("rates"), Some("{\"0\": 1,\n\"1\": 2}"));
        assert_eq!(x.text("list"), Some("[1,\n2]"));
        assert_eq!(conf.stanzas[1].text("c: d"), Some("e"));
        assert_eq!((conf.global.text("a"), conf.global.text("z")), (Some("1"), Some("9")));
    }

    #[test]
    fn lines_that_are_none_are_all_named() {
        let complaints = parse(&["[x\nnonsense\n = 3\n[]\n"]).unwrap_err();
        let places: Vec<_> = complaints.iter().map(|one| one.place.as_str()).collect();
        assert_eq!(places, ["f0:1", "f0:2", "f0:3", "f0:4"]);
    }

    #[test]
    fn tokens_of_others_follow() {
        let text = "[a]\ntoken.0.token = x\n[.*]\ntoken.0.token = y\ntoken.1.token = z\nb = 1\n";
        let conf = parse(&[text]).unwrap();
        let mut a = conf.stanzas[0].clone();
        a.add_below(&conf.stanzas[1]);
        assert_eq!(a.text("token.1.token"), Some("y"));
        assert_eq!((a.text("token.2.token"), a.text("b")), (Some("z"), Some("1")));
    }
}
