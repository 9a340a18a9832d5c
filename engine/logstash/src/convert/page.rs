//! The Temblor file while it is written: chains of steps, the streams that they need, the comments of
//! the configuration in front of what they stand in front of there, and the report.

use super::Conversion;
use super::comments::{Comment, comments};
use super::notation::WIDTH;
use super::report::{Block, Coverage, Report};
use std::collections::HashSet;
use std::fmt::Write;
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax::{TextKind, format};

/// A file that is being written.
pub(super) struct Page<'t> {
    sources: &'t Sources,
    title: String,
    /// For each file: offsets at which lines begin, and comments that are still to be written.
    files: Vec<(Vec<usize>, std::vec::IntoIter<Comment>)>,
    /// Constants, sources and sinks.
    head: String,
    /// Streams in the order of their first use.
    streams: Vec<String>,
    names: HashSet<String>,
    /// The chains.
    body: String,
    /// Comments in front of the next step.
    waiting: Vec<String>,
    /// Whether a chain has begun that has no step yet.
    fresh: bool,
    /// How many chains stand in each other within steps.
    depth: usize,
    /// Whether the innermost of them has no step yet.
    is_open: bool,
    /// Whether each step has its file and line above it.
    pub(super) with_places: bool,
    pub report: Report,
}

impl<'t> Page<'t> {
    pub(crate) fn new(sources: &'t Sources, title: &str, with_places: bool) -> Self {
        let mut files = Vec::new();
        for number in 0..=u16::MAX {
            let Some(source) = sources.get(temblor_lang::span::SourceId(number)) else { break };
            let text = source.text.as_str();
            let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
            files.push((starts, comments(text).into_iter()));
        }
        Self {
            sources,
            title: title.to_string(),
            files,
            head: String::new(),
            streams: Vec::new(),
            names: ["in", "out", "err"].map(str::to_string).into(),
            body: String::new(),
            waiting: Vec::new(),
            fresh: false,
            depth: 0,
            is_open: false,
            with_places,
            report: Report::default(),
        }
    }

    /// The name of a file without its folders.
    fn file(&self, span: Span) -> String {
        let name = self.sources.get(span.source).map_or("", |source| source.name.as_str());
        name.rsplit('/').next().unwrap_or(name).to_string()
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, span: Span) -> usize {
        let starts = self.files.get(usize::from(span.source.0)).map(|(starts, _)| starts);
        starts.map_or(0, |starts| starts.partition_point(|start| *start <= span.start as usize))
    }

    /// `apache.conf:12`
    pub(super) fn place(&self, span: Span) -> String {
        format!("{}:{}", self.file(span), self.line(span))
    }

    /// What stands in the configuration.
    pub(super) fn original(&self, span: Span) -> &'t str {
        self.sources.text(span)
    }

    /// Notes what became of a block.
    pub(super) fn note(&mut self, span: Span, what: &str, coverage: Coverage, reason: &str) {
        let (file, line) = (self.file(span), self.line(span));
        let (what, reason) = (what.to_string(), reason.to_string());
        self.report.blocks.push(Block { file, line, what, coverage, reason });
    }

    /// Lets the comments up to `offset` of a file stand in front of the next step.
    pub(crate) fn comments_until(&mut self, span: Span, offset: u32) {
        let Some((_, comments)) = self.files.get_mut(usize::from(span.source.0)) else { return };
        let due = comments.as_slice().iter().take_while(|one| one.at < offset as usize).count();
        let due: Vec<_> = comments.take(due).collect();
        self.waiting.extend(due.into_iter().map(|one| one.text).filter(|text| !text.is_empty()));
    }

    /// Leaves out the comments within a place, which is written as it is.
    pub(crate) fn skip_comments(&mut self, span: Span) {
        let waiting = std::mem::take(&mut self.waiting);
        self.comments_until(span, span.end);
        self.waiting = waiting;
    }

    /// A remark in front of the next step.
    pub(super) fn remark(&mut self, text: &str) {
        self.waiting.push(text.to_string());
    }

    /// A remark that says where in the configuration the next step stood, if such are wanted.
    pub(crate) fn place_remark(&mut self, text: &str) {
        if self.with_places {
            self.remark(text);
        }
    }

    fn write_waiting(&mut self) {
        for comment in std::mem::take(&mut self.waiting) {
            let _ = writeln!(self.body, "# {comment}");
        }
    }

    /// A name that nothing else has.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// A stream that several chains name.
    pub(crate) fn shared_stream(&mut self, name: &str) -> String {
        if !self.streams.iter().any(|one| one == name) {
            self.names.insert(name.to_string());
            self.streams.push(name.to_string());
        }
        name.to_string()
    }

    /// A stream from which `count` chains can begin: where the open chain ends, if it must.
    pub(super) fn several(&mut self, from: Option<&str>, count: usize) -> Option<String> {
        match from {
            Some(from) => Some(from.to_string()),
            None if count == 1 => None,
            None => {
                let stream = self.stream("outputs");
                self.end_into(&stream);
                Some(stream)
            }
        }
    }

    /// Adds a source or sink.
    pub(crate) fn note_head(&mut self, text: &str) {
        self.head.push_str(text);
        self.head.push('\n');
    }

    /// A stream of its own.
    pub(super) fn stream(&mut self, wanted: &str) -> String {
        let name = self.name(wanted);
        self.streams.push(name.clone());
        name
    }

    /// Begins a chain.
    pub(crate) fn begin(&mut self, from: &str) {
        self.body.push_str(from);
        self.fresh = true;
    }

    /// Adds a step to the chain.
    pub(super) fn step(&mut self, text: &str) {
        self.body.push('\n');
        self.write_waiting();
        let arrow = if std::mem::take(&mut self.is_open) { "" } else { "|> " };
        let _ = write!(self.body, "{arrow}{text}");
        self.fresh = false;
    }

    /// Adds what stands between the chains of a step, and behind the last: `else`, `end`.
    pub(crate) fn between(&mut self, text: &str) {
        self.body.push('\n');
        self.write_waiting();
        self.body.push_str(text);
    }

    /// Begins a chain in a step.
    pub(crate) fn open(&mut self) {
        self.depth += 1;
        self.is_open = true;
    }

    /// Ends a chain in a step; one without steps passes events on.
    pub(crate) fn close(&mut self) {
        if self.is_open {
            self.step("pass");
        }
        self.depth -= 1;
    }

    /// Ends the chain with a step that leads elsewhere.
    pub(super) fn end(&mut self, text: &str) {
        self.step(text);
        self.finish_chain();
    }

    /// Ends the chain, unless it is one in a step.
    pub(crate) fn finish_chain(&mut self) {
        if self.depth == 0 {
            self.body.push_str(";\n\n");
        }
    }

    /// Ends the chain into a stream.
    pub(crate) fn end_into(&mut self, stream: &str) {
        if self.fresh && self.waiting.is_empty() {
            let _ = write!(self.body, " |> {stream};\n\n");
            self.fresh = false;
        } else {
            self.end(stream);
        }
    }

    /// The file.
    pub(super) fn finish(mut self) -> Conversion {
        self.write_waiting();
        let mut text =
            format!("### Converted from {} by `temblor convert logstash`.\n\n", self.title);
        text.push_str(&self.head);
        let mut line = String::new();
        for stream in &self.streams {
            let statement = format!("create stream {stream};");
            if !line.is_empty() && line.len() + statement.len() > WIDTH {
                text.push_str(&line);
                text.push('\n');
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&statement);
        }
        if !line.is_empty() {
            text.push_str(&line);
            text.push_str("\n\n");
        }
        text.push_str(&self.body);
        let text = format!("{}\n", text.trim_end());
        let text = format(&text, TextKind::Program).unwrap_or(text);
        Conversion { text, report: self.report }
    }
}
