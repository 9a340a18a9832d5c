//! The named patterns: the two sets Logstash ships, and the user's own.
//!
//! Invariant: a set is read on first use and nothing in it is compiled before a pattern names it.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use temblor_lang::diagnostic::nearest;

use super::error::{GrokError, GrokErrorKind};

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

type Definitions = HashMap<&'static str, &'static str>;

/// A set of named patterns: a shipped set, or none, under the user's own definitions.
#[derive(Debug, Clone, Default)]
pub struct Library {
    shipped: Option<&'static Definitions>,
    own: BTreeMap<String, String>,
}

impl Library {
    /// No patterns at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The classic set, with field names such as `clientip`.
    pub fn legacy() -> Self {
        static SET: OnceLock<Definitions> = OnceLock::new();
        Self { shipped: Some(SET.get_or_init(|| read_shipped(LEGACY_FILES))), own: BTreeMap::new() }
    }

    /// The set with names after the Elastic Common Schema, such as `[source][address]`.
    pub fn ecs() -> Self {
        static SET: OnceLock<Definitions> = OnceLock::new();
        Self { shipped: Some(SET.get_or_init(|| read_shipped(ECS_FILES))), own: BTreeMap::new() }
    }

    /// Adds definitions; a definition hides an earlier one of the same name.
    pub fn with_definitions<N: Into<String>, P: Into<String>>(
        mut self,
        definitions: impl IntoIterator<Item = (N, P)>,
    ) -> Self {
        self.own.extend(definitions.into_iter().map(|(name, text)| (name.into(), text.into())));
        self
    }

    /// Adds the definitions of a pattern file: lines of a name, white space and a pattern; empty
    /// lines and lines that start with `#` are skipped.
    ///
    /// Fails when a line has a name but no pattern.
    pub fn with_pattern_file(mut self, text: &str) -> Result<Self, GrokError> {
        for (index, line) in text.lines().enumerate() {
            match read_line(line) {
                Line::Blank => {}
                Line::Definition(name, pattern) => {
                    self.own.insert(name.to_string(), pattern.to_string());
                }
                Line::Bad => {
                    let kind = GrokErrorKind::PatternFile { line: index + 1 };
                    return Err(GrokError::new(kind, 0));
                }
            }
        }
        Ok(self)
    }

    /// The pattern of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let own = self.own.get(name).map(String::as_str);
        own.or_else(|| self.shipped.and_then(|set| set.get(name).copied()))
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&str> {
        let shipped = self.shipped.into_iter().flat_map(|set| set.keys().copied());
        let mut names: Vec<&str> = self.own.keys().map(String::as_str).chain(shipped).collect();
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

fn read_shipped(files: &[&'static str]) -> Definitions {
    let lines = files.iter().flat_map(|text| text.lines());
    lines
        .filter_map(|line| match read_line(line) {
            Line::Definition(name, pattern) => Some((name, pattern)),
            Line::Blank | Line::Bad => None,
        })
        .collect()
}
