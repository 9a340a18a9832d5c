//! The named patterns: the two sets Logstash ships, and the user's own.
//!
//! Invariant: a set is read on first use and nothing in it is parsed before a pattern names it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use temblor_lang::diagnostic::nearest;

use super::error::{GrokError, GrokErrorKind};
use super::parsed::Parsed;

macro_rules! pattern_files {
    ($set:literal: $($file:literal)+) => {
        &[$(include_str!(concat!("patterns/", $set, "/", $file))),+]
    };
}

const LEGACY_FILES: &[&str] = pattern_files!("legacy":
    "aws" "bacula" "bind" "bro" "exim" "firewalls" "grok-patterns" "haproxy" "httpd" "java"
    "junos" "linux-syslog" "maven" "mcollective" "mcollective-patterns" "mongodb" "nagios"
    "postgresql" "rails" "redis" "ruby" "squid");

const ECS_FILES: &[&str] = pattern_files!("ecs":
    "aws" "bacula" "bind" "bro" "exim" "firewalls" "grok-patterns" "haproxy" "httpd" "java"
    "junos" "linux-syslog" "maven" "mcollective" "mongodb" "nagios" "postgresql" "rails" "redis"
    "ruby" "squid" "zeek");

/// A set as it is shipped.
#[derive(Debug)]
struct Shipped {
    definitions: HashMap<&'static str, &'static str>,
    parsed: Parsed,
}

/// The definitions of a user.
#[derive(Debug, Default)]
struct Own {
    definitions: BTreeMap<String, String>,
    /// Whether one of them has the name of a shipped one, which other shipped ones may refer to.
    hides_shipped: bool,
    parsed: Parsed,
}

/// A set of named patterns: a shipped set, or none, under the user's own definitions. Copies are cheap, and
/// share what was parsed.
#[derive(Debug, Clone, Default)]
pub struct Library {
    shipped: Option<&'static Shipped>,
    own: Arc<Own>,
}

impl Library {
    /// No patterns at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The classic set, with field names such as `clientip`.
    pub fn legacy() -> Self {
        static SET: OnceLock<Shipped> = OnceLock::new();
        Self::of(SET.get_or_init(|| read_shipped(LEGACY_FILES)))
    }

    /// The set with names after the Elastic Common Schema, such as `[source][address]`.
    pub fn ecs() -> Self {
        static SET: OnceLock<Shipped> = OnceLock::new();
        Self::of(SET.get_or_init(|| read_shipped(ECS_FILES)))
    }

    fn of(shipped: &'static Shipped) -> Self {
        Self { shipped: Some(shipped), own: Arc::default() }
    }

    /// Adds definitions; a definition hides an earlier one of the same name.
    pub fn with_definitions<N: Into<String>, P: Into<String>>(
        self,
        definitions: impl IntoIterator<Item = (N, P)>,
    ) -> Self {
        let mut added = definitions.into_iter().map(|(name, text)| (name.into(), text.into()));
        let Some(first) = added.next() else { return self };
        let mut definitions = self.own.definitions.clone();
        definitions.insert(first.0, first.1);
        definitions.extend(added);
        let is_shipped = |name: &String| {
            self.shipped.is_some_and(|set| set.definitions.contains_key(name.as_str()))
        };
        let hides_shipped = definitions.keys().any(is_shipped);
        let own = Own { definitions, hides_shipped, parsed: Parsed::default() };
        Self { own: Arc::new(own), ..self }
    }

    /// Adds the definitions of a pattern file: lines of a name, white space and a pattern; empty
    /// lines and lines that start with `#` are skipped.
    ///
    /// Fails when a line has a name but no pattern.
    pub fn with_pattern_file(self, text: &str) -> Result<Self, GrokError> {
        let mut definitions = Vec::new();
        for (index, line) in text.lines().enumerate() {
            match read_line(line) {
                Line::Blank => {}
                Line::Definition(name, pattern) => definitions.push((name, pattern)),
                Line::Bad => {
                    let kind = GrokErrorKind::PatternFile { line: index + 1 };
                    return Err(GrokError::new(kind, 0));
                }
            }
        }
        Ok(self.with_definitions(definitions))
    }

    /// The pattern of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let own = self.own.definitions.get(name).map(String::as_str);
        own.or_else(|| self.shipped.and_then(|set| set.definitions.get(name).copied()))
    }

    /// Where what the pattern of this name was parsed to is kept. A shipped pattern means the same to all
    /// users, unless one of them has changed what it may refer to.
    pub(super) fn parsed(&self, name: &str) -> &Parsed {
        match self.shipped {
            Some(set) if !self.own.hides_shipped && set.definitions.contains_key(name) => {
                &set.parsed
            }
            _ => &self.own.parsed,
        }
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&str> {
        let shipped = self.shipped.into_iter().flat_map(|set| set.definitions.keys().copied());
        let own = self.own.definitions.keys().map(String::as_str);
        let mut names: Vec<&str> = own.chain(shipped).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The name most like a misspelt one, if any is close.
    pub(super) fn nearest(&self, wrong: &str) -> Option<String> {
        nearest(wrong, self.names()).map(str::to_string)
    }
}

enum Line<'a> {
    Blank,
    Definition(&'a str, &'a str),
    Bad,
}

fn read_line(line: &str) -> Line<'_> {
    let line = line.trim_start();
    if line.is_empty() || line.starts_with('#') {
        return Line::Blank;
    }
    match line.split_once(char::is_whitespace) {
        Some((name, pattern)) if !pattern.trim_start().is_empty() => {
            Line::Definition(name, pattern.trim_start())
        }
        _ => Line::Bad,
    }
}

fn read_shipped(files: &[&'static str]) -> Shipped {
    let lines = files.iter().flat_map(|text| text.lines());
    let definitions = lines.filter_map(|line| match read_line(line) {
        Line::Definition(name, pattern) => Some((name, pattern)),
        Line::Blank | Line::Bad => None,
    });
    Shipped { definitions: definitions.collect(), parsed: Parsed::default() }
}
