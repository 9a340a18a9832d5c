//! Plays a case: compiles its text and sends its events through the graph. Every event leaves at
//! least one line, in the order of what happened.

use crate::case::{Case, Played};
use temblor_engine::ack::Token;
use temblor_engine::event::Event;
use temblor_engine::graph::{Graph, Memory, Receiver};
use temblor_engine::load::{self, Language, Loaded};
use temblor_engine::operator::{IN, OUT, Surroundings};
use temblor_engine::pipeline::{Decoder, InputCodec};
use temblor_lang::builtin::{Call, Facts};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::lower::Loader;
use temblor_lang::span::{Sources, Span};
use temblor_lang::value::{Arena, JsonStyle, Value, push_json};

/// The name of the program in messages.
const PROGRAM: &str = "case";

/// The modules of a case.
#[derive(Debug)]
struct Modules<'c>(&'c [(String, String)]);

impl Loader for Modules<'_> {
    fn load(&self, path: &[&str]) -> Option<(String, String)> {
        let wanted = path.join("/");
        self.0.iter().find(|(name, _)| name.split('.').next() == Some(&wanted)).cloned()
    }
}

/// Compiles a case and runs it, if it has events and no errors.
pub fn play(case: &Case) -> Played {
    let language = match case.kind.as_str() {
        "script" => Language::Script,
        "query" => Language::Query,
        "deploy" => Language::Deploy,
        _ => Language::Temblor,
    };
    let loaded = load::compile(PROGRAM, case.source.clone(), language, &Modules(&case.modules));
    let diagnostics =
        loaded.diagnostics.iter().map(|one| said(one, &loaded.sources)).collect::<String>();
    let output = match &case.input {
        Some(input) if !loaded.has_errors() => run(&loaded, case, input),
        _ => String::new(),
    };
    Played { diagnostics, output }
}

/// `line:column`, with the file when it is not the program.
fn place(span: Span, sources: &Sources) -> String {
    let at = sources.position(span);
    match sources.get(span.source) {
        Some(source) if source.name != PROGRAM => {
            format!("{}:{}:{}", source.name, at.line, at.column)
        }
        _ => format!("{}:{}", at.line, at.column),
    }
}

fn said(one: &Diagnostic, sources: &Sources) -> String {
    let label = if one.label.is_empty() { String::new() } else { format!(" ({})", one.label) };
    let help = one.help.as_ref().map_or(String::new(), |help| format!("\n    help: {help}"));
    format!("{} {} {}{label}{help}\n", place(one.span, sources), one.code, one.message)
}

fn run(loaded: &Loaded, case: &Case, input: &[String]) -> String {
    let graph = &loaded.graph;
    let (mut local, mut shared) = (graph.start(), graph.start());
    let mut facts = Facts::default();
    let mut decoder = Decoder::default();
    let codec = if case.strings { InputCodec::String } else { InputCodec::Json };
    let mut lines = Lines { text: String::new(), sources: &loaded.sources, meta: case.meta };
    let Some(entry) = graph.input(IN) else {
        return "the program has no input `in`\n".to_string();
    };
    for (number, line) in input.iter().enumerate() {
        let arena = Arena::new();
        facts.arrive(number as u64 * case.step_ns);
        let call = Call { arena: &arena, facts: &facts };
        let around = Surroundings { call, now_ns: facts.now_ns, token: None };
        graph.tick(&mut shared, &mut local, &around, &mut lines);
        match decoder.decode(codec, line.as_bytes(), &arena) {
            Ok((value, _)) => {
                let meta = arena.record_builder(0).finish();
                let event = Event::new(value, meta, facts.ingest_ns);
                let mut way = Graph::enter(entry, event, &around);
                let mut memory = Memory { local: &mut local, shared: Some(&mut shared) };
                graph.advance(&mut way, &mut memory, &around, &mut lines);
            }
            Err(reason) => lines.push(format_args!("(undecodable: {reason})")),
        }
    }
    let arena = Arena::new();
    let call = Call { arena: &arena, facts: &facts };
    let around = Surroundings { call, now_ns: facts.now_ns, token: None };
    graph.flush(&mut shared, &mut local, &around, &mut lines);
    lines.text
}

/// What leaves the graph, as lines.
struct Lines<'s> {
    text: String,
    sources: &'s Sources,
    meta: bool,
}

impl Lines<'_> {
    fn push(&mut self, line: std::fmt::Arguments<'_>) {
        self.text.push_str(&format!("{line}\n"));
    }
}

fn json(value: Value<'_>) -> String {
    let mut bytes = Vec::new();
    push_json(&mut bytes, value, JsonStyle::Sorted);
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

impl<'a> Receiver<'a> for Lines<'_> {
    fn output(&mut self, _: usize, port: &'a str, event: Event<'a>) {
        let port = if port == OUT { String::new() } else { format!("{port}: ") };
        let meta = if self.meta { format!(" $ {}", json(event.meta)) } else { String::new() };
        self.push(format_args!("{port}{}{meta}", json(event.value)));
    }

    fn failed(&mut self, _: &str, _: Event<'a>, error: &EvalError) {
        let said = self.describe(error);
        self.push(format_args!("error: {said}"));
    }

    fn describe(&mut self, error: &EvalError) -> String {
        let at =
            error.span().map_or(String::new(), |span| format!(" at {}", place(span, self.sources)));
        let help = error.help().map_or(String::new(), |help| format!(" (help: {help})"));
        format!("{} {}{at}{help}", error.code(), error.message())
    }

    fn dropped(&mut self, events: u64) {
        for _ in 0..events {
            self.push(format_args!("(dropped)"));
        }
    }

    fn delayed(&mut self, _: u64) {}

    fn released(&mut self, _: Vec<Token>) {}
}
