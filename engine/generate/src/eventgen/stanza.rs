//! A stanza with all that it inherits becomes the settings of a generator, as a program would have them.
//!
//! Invariant: each option of the stanza is used, or has a note that says why it is not.

use super::conf::{Complaint, Conf, Section};
use super::options::{self, is_true};
use super::outputs;
use super::places::Places;
use super::tokens::TokenReader;
use super::{Stanza, file_name};
use crate::finder::Finder;
use crate::relative::TimeWord;
use crate::spec::Spec;
use crate::zone::Zone;
use serde_json::{Map, Value, json};
use std::path::Path;
use temblor_lang::value::Arena;

/// What begins an event when a stanza does not say: nothing does, events are lines.
const BREAKER: &str = r"[^\r\n\s]+";

/// The kinds of generators that a configuration can name.
const GENERATORS: [(&str, &str); 8] = [
    ("default", "sample"),
    ("perdayvolumegenerator", "sample"),
    ("perdayvolume", "sample"),
    ("replay", "replay"),
    ("windbag", "windbag"),
    ("weblog", "weblog"),
    ("counter", "counter"),
    ("jinja", "jinja"),
];

/// Whether a stanza gives nothing without a sample file.
pub(super) fn needs_file(keys: &Section) -> bool {
    kind(keys).is_ok_and(|kind| kind == "sample" || kind == "replay")
}

fn kind(keys: &Section) -> Result<&'static str, String> {
    let word = keys.text("generator").unwrap_or("default");
    let Some((_, kind)) = GENERATORS.iter().find(|(name, _)| *name == word) else {
        let known = GENERATORS.map(|(name, _)| name).join(", ");
        return Err(format!("generator: there is no generator `{word}` here; known are {known}"));
    };
    let is_replay = keys.text("mode") == Some("replay") && *kind == "sample";
    Ok(if is_replay && keys.text("perDayVolume").is_none() { "replay" } else { kind })
}

/// Makes settings.
pub(super) struct Maker<'m> {
    pub(super) keys: &'m Section,
    pub(super) conf: &'m Conf,
    pub(super) places: &'m Places,
    pub(super) sample: Option<&'m Path>,
    pub(super) kind: &'static str,
    pub(super) settings: Map<String, Value>,
    pub(super) notes: Vec<String>,
}

/// The stanza of a sample, or of none.
pub(super) fn make(
    keys: &Section,
    sample: Option<&Path>,
    conf: &Conf,
    places: &Places,
) -> Result<Stanza, Complaint> {
    let at = |key: &str| keys.get(key).map_or(keys.line, |entry| entry.line);
    let kind = kind(keys).map_err(|reason| conf.complaint(keys, at("generator"), &reason))?;
    let (settings, notes) = (Map::new(), Vec::new());
    let mut maker = Maker { keys, conf, places, sample, kind, settings, notes };
    if let Some(seed) = maker.number("seed").filter(|seed| *seed >= 0.0) {
        maker.set("seed", seed as u64);
    }
    maker.events()?;
    match kind {
        "replay" => maker.rounds()?,
        _ => maker.executions()?,
    }
    let name = sample.map_or(keys.name.as_str(), file_name);
    let output = outputs::of(keys, places, name, &mut maker.notes);
    let (output, form) =
        output.map_err(|reason| conf.complaint(keys, at("outputMode"), &reason))?;
    maker.envelope(form, name)?;
    maker.idle();
    let Maker { settings, notes, .. } = maker;
    let text = Value::from(settings.clone()).to_string();
    let arena = Arena::new();
    let value = temblor_stdlib::formats::json::parse(&text, &arena)
        .map_err(|error| conf.complaint(keys, keys.line, &error.to_string()))?;
    let spec = Spec::from_settings(kind, value, None);
    let spec = spec.map_err(|error| {
        let (line, key) = maker_line(keys, error.name);
        conf.complaint(keys, line, &format!("{key}: {}", error.reason))
    })?;
    Ok(Stanza {
        name: name.to_string(),
        section: keys.name.clone(),
        place: conf.place(keys.line),
        kind,
        settings,
        spec,
        output,
        notes,
    })
}

/// Where an option stands that became a setting, and what it is called there.
fn maker_line<'k>(keys: &'k Section, setting: &'k str) -> (usize, &'k str) {
    const NAMES: [(&str, &str); 12] = [
        ("hours", "hourOfDayRate"),
        ("weekdays", "dayOfWeekRate"),
        ("minutes", "minuteOfHourRate"),
        ("days", "dayOfMonthRate"),
        ("months", "monthOfYearRate"),
        ("until", "end"),
        ("executions", "end"),
        ("amount", "count"),
        ("rate", "perDayVolume"),
        ("wait", "delay"),
        ("variables", "jinja_variables"),
        ("file", "jinja_target_template"),
    ];
    let named = NAMES.iter().find(|(name, _)| *name == setting).map(|(_, key)| *key);
    let entry = keys.get(setting).or_else(|| keys.get(named?));
    entry.map_or((keys.line, setting), |entry| (entry.line, entry.key.as_str()))
}

impl Maker<'_> {
    pub(super) fn wrong(&self, key: &str, reason: &str) -> Complaint {
        let line = self.keys.get(key).map_or(self.keys.line, |entry| entry.line);
        self.conf.complaint(self.keys, line, &format!("{key}: {reason}"))
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.settings.insert(name.to_string(), value.into());
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.keys.text(key).and_then(|text| text.parse().ok())
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.keys.text(key).is_some_and(is_true)
    }

    fn finder(&self, key: &str) -> Result<Option<String>, Complaint> {
        let Some(text) = self.keys.text(key) else { return Ok(None) };
        let finder = Finder::python(text).map_err(|reason| self.wrong(key, &reason))?;
        Ok(Some(finder.pattern().to_string()))
    }

    /// A time word, as the stanza has it.
    pub(super) fn word(&mut self, key: &str, name: &str) -> Result<(), Complaint> {
        let Some(text) = self.keys.text(key) else { return Ok(()) };
        let text = text.trim().trim_matches('"').to_string();
        let read = |text: &str| TimeWord::parse(text, &Zone::UTC);
        // `15m` of the past is as long ago as `-15m`.
        let signed = format!("-{text}");
        let text = if read(&text).is_err() && key == "backfill" && read(&signed).is_ok() {
            signed
        } else {
            text
        };
        if !read(&text).map_err(|reason| self.wrong(key, &reason))?.is_now() {
            self.set(name, text);
        }
        Ok(())
    }

    /// What the events look like.
    fn events(&mut self) -> Result<(), Complaint> {
        if let Some(text) = self.keys.text("timezone") {
            Zone::parse(text).map_err(|reason| self.wrong("timezone", &reason))?;
            self.set("timezone", text);
        } else {
            self.set("timezone", "local");
        }
        match self.kind {
            "jinja" => return self.jinja(),
            "sample" | "replay" => {}
            _ => return Ok(()),
        }
        let path = self.sample.map_or(String::new(), |path| path.display().to_string());
        self.set("file", path);
        let is_csv = self.keys.text("sampletype") == Some("csv");
        if is_csv {
            self.set("sampletype", "csv");
            if let Some(field) = self.keys.text("timeField").filter(|field| *field != "_raw") {
                self.set("time_field", field);
            }
        } else if let Some(breaker) = self.finder("breaker")? {
            let is_default = self.keys.text("breaker") == Some(BREAKER);
            if !is_default && !self.flag("bundlelines") {
                // Eventgen looks for breakers line by line.
                self.set("breaker", format!("(?m){breaker}"));
            }
        }
        let Self { keys, conf, places, sample, .. } = *self;
        let mut reader = TokenReader { keys, conf, places, notes: &mut self.notes };
        let mut tokens = reader.tokens()?;
        let has_time = tokens
            .iter()
            .any(|token| token["type"].as_str().is_some_and(|kind| kind.ends_with("timestamp")));
        if keys.text("autotimestamp").is_some_and(is_true) || self.kind == "replay" && !has_time {
            tokens.extend(reader.common_times(sample));
        }
        if !tokens.is_empty() {
            self.set("tokens", tokens);
        }
        if self.kind == "sample" {
            for (key, name) in [
                ("randomizeEvents", "shuffle"),
                ("bundlelines", "bundle"),
                ("sequentialTimestamp", "sequential"),
            ] {
                if self.flag(key) {
                    self.set(name, true);
                }
            }
        }
        Ok(())
    }

    fn jinja(&mut self) -> Result<(), Complaint> {
        let Some(template) = self.keys.text("jinja_target_template") else {
            return Err(self.wrong("jinja_target_template", "the name of a template is missing"));
        };
        self.set("file", template);
        let given = self.keys.text("jinja_template_dir").unwrap_or("templates");
        let mut directories: Vec<_> = self.places.directory(given).into_iter().collect();
        directories.extend(self.places.directory("templates"));
        directories.extend(self.places.directory("."));
        directories.dedup();
        let directories: Vec<_> =
            directories.iter().map(|path| Value::from(path.display().to_string())).collect();
        self.set("directories", directories);
        let variables = self.keys.text("jinja_variables");
        if let Some(variables) = variables.and_then(|text| serde_json::from_str::<Value>(text).ok())
        {
            if !variables.is_object() {
                return Err(self.wrong("jinja_variables", "expected a JSON record"));
            }
            self.set("variables", variables);
        }
        if self.keys.text("jinja_count_type") == Some("cycles") {
            self.set("count_type", "cycles");
        }
        Ok(())
    }

    /// What is wrapped around events.
    fn envelope(&mut self, form: &str, sample: &str) -> Result<(), Complaint> {
        let host_regex = self.finder("hostRegex")?;
        let Self { keys, conf, places, .. } = *self;
        let host_token = TokenReader { keys, conf, places, notes: &mut self.notes }.host()?;
        const FIELDS: [&str; 8] = [
            "host",
            "source",
            "sourcetype",
            "index",
            "extendIndexes",
            "host.token",
            "hostRegex",
            "extend_index",
        ];
        if form == "raw" {
            let said: Vec<_> = FIELDS.into_iter().filter(|key| keys.get(key).is_some()).collect();
            if !said.is_empty() {
                let list = said.join(", ");
                self.notes.push(format!("{list}: this output carries the event alone"));
            }
            return Ok(());
        }
        self.set("output", form);
        for (name, other) in [("host", "127.0.0.1"), ("source", sample), ("sourcetype", "eventgen")]
        {
            self.set(name, keys.text(name).unwrap_or(other));
        }
        let mut indexes = Vec::new();
        for item in
            keys.text("extendIndexes").or(keys.text("extend_index")).unwrap_or_default().split(',')
        {
            match item.trim().rsplit_once(':').map(|(name, count)| (name, count.parse::<u32>())) {
                Some((name, Ok(count))) => {
                    indexes.extend(
                        (0..count.min(INDEXES_MAX)).map(|number| json!(format!("{name}{number}"))),
                    );
                }
                _ if item.trim().is_empty() => {}
                _ => indexes.push(json!(item.trim())),
            }
        }
        indexes.push(json!(keys.text("index").unwrap_or("main")));
        self.set("index", indexes);
        if let Some(token) = host_token {
            self.set("host_token", vec![token]);
        }
        if let Some(regex) = host_regex {
            self.set("host_regex", regex);
        }
        Ok(())
    }

    /// Notes on the options of the stanza itself that do nothing.
    fn idle(&mut self) {
        let is_own = |line: usize| !self.conf.global.entries.iter().any(|one| one.line == line);
        let own = self.keys.entries.iter().filter(|entry| is_own(entry.line));
        self.notes.extend(options::idle_notes(own));
    }
}

/// Indexes that one prefix stands for.
const INDEXES_MAX: u32 = 10_000;
