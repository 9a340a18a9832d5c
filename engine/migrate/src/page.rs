//! The Temblor file while it is written: functions, sources, sinks, streams and chains, each with the comments of the
//! configuration that stood in front of it, and the report. Names are given once.

use crate::notation::text as quoted;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax::{TextKind, format};
use temblor_logstash::convert::report::{Block, Coverage, Report};

/// Lines are not filled beyond this.
const WIDTH: usize = 96;

/// Functions that conversions may need: their names, the modules that they need, and their text.
const SHARED: &[(&str, &[&str], &str)] = &[
    (
        "ordered_json",
        &["array", "json", "record"],
        "## JSON of the fields that are not empty, in the order in which syslog-ng writes them.\n\
         fn ordered_json(fields) with\n  \
         json::encode(record::from_array(array::reverse(array::sort(record::to_array(record::compact(fields))))))\nend;",
    ),
    (
        "json_text",
        &["json", "string"],
        "## A text as it stands in JSON, as rsyslog writes it.\n\
         fn json_text(text) with\n  \
         string::replace(string::slice(json::encode(text), 1, -1), \"/\", \"\\\\/\")\nend;",
    ),
    (
        "file_name",
        &["string"],
        "## A part of a path, as rsyslog makes it secure: never empty, and never a folder above.\n\
         fn file_name(text) with\n  \
         if text == \"\" then \"_\" elif text == \".\" then \"_\" elif text == \"..\" then \"_.\" else text end\nend;",
    ),
    (
        "header_of",
        &[],
        "## What stands in front of the message: the program and its process.\n\
         fn header_of(program, pid) with\n  \
         if program == \"\" then \"\" elif pid == \"\" then \"#{program}: \" else \"#{program}[#{pid}]: \" end\nend;",
    ),
];

/// Words that steps of conversions give to nodes.
const STEPS: &[&str] = &[
    "read",
    "undecided",
    "join",
    "parse",
    "where",
    "set",
    "select",
    "script",
    "drop",
    "when",
    "rate_limit",
    "route",
    "match",
    "pass",
];

/// A chain of steps that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// Where it begins.
    pub(crate) from: String,
    pub(crate) steps: Vec<String>,
    pub(crate) comments: Vec<String>,
}

impl Chain {
    pub(crate) fn from(name: &str) -> Self {
        Self { from: name.to_string(), ..Self::default() }
    }

    pub(crate) fn step(mut self, step: impl Into<String>) -> Self {
        self.steps.push(step.into());
        self
    }
}

/// The file.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    command: &'static str,
    uses: BTreeSet<&'static str>,
    functions: Vec<String>,
    ends: Vec<String>,
    streams: Vec<String>,
    chains: Vec<Chain>,
    /// Chains that lead to sinks, behind all others.
    last: Vec<Chain>,
    names: HashSet<String>,
    pub(crate) report: Report,
}

impl Page {
    pub(crate) fn new(title: &str, command: &'static str) -> Self {
        Self {
            title: title.to_string(),
            command,
            uses: BTreeSet::new(),
            functions: Vec::new(),
            ends: Vec::new(),
            streams: Vec::new(),
            chains: Vec::new(),
            last: Vec::new(),
            names: ["in", "out", "err", "event", "state", "args", "m"].map(str::to_string).into(),
            report: Report::default(),
        }
    }

    /// Notes that a module of the library is used, or a function that several texts share.
    pub(crate) fn uses(&mut self, module: &'static str) {
        match SHARED.iter().find(|(name, _, _)| *name == module) {
            None => {
                self.uses.insert(module);
            }
            Some((name, modules, text)) => {
                if self.names.insert((*name).to_string()) {
                    self.uses.extend(*modules);
                    self.functions.insert(0, (*text).to_string());
                }
            }
        }
    }

    /// A name that nothing else has.
    pub(crate) fn name(&mut self, wanted: &str) -> String {
        let mut wanted = crate::notation::plain(wanted);
        if STEPS.contains(&wanted.trim_end_matches(|one: char| one.is_ascii_digit() || one == '_'))
        {
            wanted = format!("the_{wanted}");
        }
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// A stream of its own.
    pub(crate) fn stream(&mut self, wanted: &str) -> String {
        let name = self.name(wanted);
        self.streams.push(name.clone());
        name
    }

    pub(crate) fn function(&mut self, comments: &[String], text: String) {
        self.functions.push(commented(comments, &text));
    }

    /// A source, a sink or a table.
    pub(crate) fn end(&mut self, comments: &[String], text: &str) {
        self.ends.push(commented(comments, text));
    }

    pub(crate) fn chain(&mut self, chain: Chain) {
        self.chains.push(chain);
    }

    /// A chain that leads to a sink.
    pub(crate) fn last_chain(&mut self, chain: Chain) {
        self.last.push(chain);
    }

    /// Notes what became of a part.
    pub(crate) fn note(
        &mut self,
        sources: &Sources,
        span: Span,
        what: &str,
        coverage: Coverage,
        reason: &str,
    ) {
        let (file, line) = place(sources, span);
        let (what, reason) = (what.to_string(), reason.to_string());
        self.report.blocks.push(Block { file, line, what, coverage, reason });
    }

    /// The file as text.
    pub(crate) fn finish(mut self) -> (String, Report) {
        self.chains.append(&mut self.last);
        let mut text =
            format!("### Converted from {} by `temblor convert {}`.\n\n", self.title, self.command);
        for module in &self.uses {
            let _ = writeln!(text, "use std::{module};");
        }
        if !self.uses.is_empty() {
            text.push('\n');
        }
        for item in self.functions.iter().chain(&self.ends) {
            let _ = writeln!(text, "{item}\n");
        }
        // Streams that nobody names were given up.
        let ends = |one: char| !one.is_alphanumeric() && one != '_';
        let named: HashSet<&str> = self
            .chains
            .iter()
            .flat_map(|chain| chain.steps.iter().chain([&chain.from]))
            .flat_map(|text| text.split(ends))
            .collect();
        self.streams.retain(|stream| named.contains(stream.as_str()));
        text.push_str(&filled(&self.streams));
        for chain in &self.chains {
            let mut body = chain.from.clone();
            for step in &chain.steps {
                let _ = write!(body, "\n|> {step}");
            }
            let _ = writeln!(text, "{};\n", commented(&chain.comments, &body));
        }
        let text = format!("{}\n", text.trim_end());
        let text = format(&text, TextKind::Program).unwrap_or(text);
        (text, self.report)
    }
}

/// The file without its folders, and the line.
fn place(sources: &Sources, span: Span) -> (String, usize) {
    let name = sources.get(span.source).map_or("", |source| source.name.as_str());
    let name = name.rsplit('/').next().unwrap_or(name);
    (name.to_string(), sources.position(span).line)
}

/// `syslog-ng.conf:12`
pub(crate) fn place_text(sources: &Sources, span: Span) -> String {
    let (file, line) = place(sources, span);
    format!("{file}:{line}")
}

fn commented(comments: &[String], text: &str) -> String {
    let mut out = String::new();
    for comment in comments {
        for line in comment.lines() {
            let _ = writeln!(out, "# {line}");
        }
    }
    out + text
}

/// `create stream a; create stream b;`, several on a line.
fn filled(streams: &[String]) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for stream in streams {
        let statement = format!("create stream {stream};");
        if !line.is_empty() && line.len() + statement.len() >= WIDTH {
            let _ = writeln!(text, "{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&statement);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{line}\n");
    }
    text
}

/// The step that stands for what could not be converted.
pub(crate) fn undecided(part: &str, because: &str) -> String {
    format!("migrate::undecided {} with because = {} end", quoted(part), quoted(because))
}
