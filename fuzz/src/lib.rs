//! What is fuzzed: each function takes any bytes and must come back without a panic. A bounded run
//! of the same functions on seeded bytes is a test of the engine (`engine/tests/hostile.rs`).

// A test of the command takes this file for a module of its own, where nothing is public.
#![allow(unreachable_pub, reason = "in the crate of the fuzz targets all of it can be reached")]

mod blocks;
mod claims;
mod runs;

pub use blocks::ruby;
pub use claims::{inference, logic};
pub use runs::{filters, flows};
use temblor_catalog::registry;
use temblor_codec::{Decoder, InputCodec};
use temblor_lang::builtin::{Call, Facts};
use temblor_lang::diagnostic::{Colour, Severity, render_all};
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::span::Sources;
use temblor_lang::syntax;
use temblor_lang::value::{Arena, Frozen, JsonStyle, Owned, Value};
use temblor_lang::value::{equal, hash128, push_json, to_json, total_order};
use temblor_logstash::load::of_text;
use temblor_logstash::settings::Settings;
use temblor_logstash::{configuration, convert};
use temblor_pipeline::load::{Language, LoadOptions};
use temblor_stdlib::extractors::EXTRACTORS;
use temblor_stdlib::formats::dissect::LogstashDissect;
use temblor_stdlib::formats::json;
use temblor_stdlib::formats::pairs::{Pairs, PairsOptions};

/// Between the parts of an input that has several.
pub const SEPARATOR: u8 = 0;

const LANGUAGES: [Language; 4] =
    [Language::Script, Language::Query, Language::Temblor, Language::Deploy];

/// The parts before and behind the first [`SEPARATOR`].
fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    match data.iter().position(|byte| *byte == SEPARATOR) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &[]),
    }
}

/// Compiles the text as a Logstash configuration and converts it. What a configuration without errors
/// is converted to reads as a Temblor file.
pub fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (found, sources) = configuration::diagnose("fuzz", text.to_string());
    let shown = render_all(&found, &sources, Colour::Off);
    assert_eq!(shown.is_empty(), found.is_empty());
    let read = of_text("fuzz", text.to_string(), &Settings::default());
    let is_good = !read.has_errors();
    let converted = convert::convert(&read, convert::Wishes::default());
    if is_good {
        let mut sources = Sources::default();
        let source = sources.add("converted", converted.text.clone());
        let parsed = syntax::parse_program(&sources, source);
        let faults = render_all(&parsed.diagnostics, &sources, Colour::Off);
        assert!(parsed.diagnostics.is_empty(), "{}\n{faults}", converted.text);
    }
}

/// Compiles the text as each kind of program file, and renders what is wrong with it.
pub fn program(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for language in LANGUAGES {
        let loaded =
            LoadOptions::new(registry()).compile("fuzz", text.to_string(), language, &NoModules);
        let shown = render_all(&loaded.diagnostics, &loaded.sources, Colour::Off);
        assert_eq!(shown.is_empty(), loaded.diagnostics.is_empty());
    }
}

fn compile(text: &str) -> Option<Script> {
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    let source = compiler.sources.add("fuzz", text);
    let parsed = syntax::parse_script(&compiler.sources, source);
    compiler.diagnostics.extend(parsed.diagnostics);
    let script = compiler.lower_script(&parsed.tree, Scope::default(), Rules::SCRIPT, None);
    let bad = compiler.diagnostics.iter().any(|one| one.severity == Severity::Error);
    (!bad).then_some(script)
}

/// Runs the script in the first part twice, with one state, on the JSON value in the second.
pub fn script(data: &[u8]) {
    let (text, event) = halves(data);
    let (Ok(text), Ok(event)) = (std::str::from_utf8(text), std::str::from_utf8(event)) else {
        return;
    };
    let Some(script) = compile(text) else { return };
    let mut state = Owned::Null;
    for _ in 0..2 {
        let (arena, facts) = (Arena::new(), Facts::default());
        let event = json::parse(event, &arena).unwrap_or(Value::Null);
        let mut context = Context::new(&arena, &facts, event, Value::Null, &mut state);
        match script.run(&mut context) {
            Ok(Outcome::Emit { value, .. }) => drop(to_json(value)),
            Ok(Outcome::Drop) => {}
            Err(error) => drop(error.to_string()),
        }
    }
}

/// Compiles the first part as every kind of pattern, and takes the second part apart with it.
pub fn patterns(data: &[u8]) {
    let (pattern, text) = halves(data);
    let (Ok(pattern), Ok(text)) = (std::str::from_utf8(pattern), std::str::from_utf8(text)) else {
        return;
    };
    let (arena, facts) = (Arena::new(), Facts::default());
    let call = Call { arena: &arena, facts: &facts };
    for kind in EXTRACTORS {
        let Ok(extractor) = (kind.compile)(pattern) else { continue };
        let _ = extractor.matches(text);
        if let Some(value) = extractor.extract(text, &call) {
            drop(to_json(value));
        }
    }
    if let Ok(mapping) = LogstashDissect::compile(pattern) {
        drop(mapping.parse(text, &arena).map(to_json));
    }
    let options =
        PairsOptions { field_split: pattern.into(), brackets: true, ..Default::default() };
    if let Ok(pairs) = Pairs::compile(options) {
        drop(pairs.parse(text, &arena).map(to_json));
    }
}

/// Decodes JSON in both ways; what both accept is the same value, and survives being written.
pub fn json(data: &[u8]) {
    let arena = Arena::new();
    let decoded = Decoder::default().decode(InputCodec::Json, data, 0, &arena);
    let Ok(Some((value, _))) = decoded else { return };
    for style in [JsonStyle::Compact, JsonStyle::Sorted, JsonStyle::Pretty] {
        let mut text = Vec::new();
        push_json(&mut text, value, style);
        let text = String::from_utf8(text).expect("what is written is UTF-8");
        let again = json::parse(&text, &arena).expect("what is written can be read");
        assert!(equal(value, again), "{text}");
        assert_eq!(hash128(value), hash128(again), "{text}");
    }
    let copy = Frozen::new(value);
    assert!(total_order(value, copy.get()).is_eq());
    assert!(equal(Owned::from(value).read(&arena), value));
}
