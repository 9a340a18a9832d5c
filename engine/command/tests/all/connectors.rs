//! The page of connectors is made from their declarations, and what a declaration shows is true.
//! `TEMBLOR_BLESS=1 cargo test -p temblor-command --test all connectors` writes `engine/CONNECTORS.md`.

use std::fmt::Write;

use temblor_catalog::registry;
use temblor_codec::names::CODECS;
use temblor_declare::interceptor::Interceptor;
use temblor_declare::interceptor::after::POSTPROCESSORS;
use temblor_declare::interceptor::before::PREPROCESSORS;
use temblor_declare::{Connector, Ends, Notation, Setting, Takes, codec, read, shared};
use temblor_lang::lower::NoModules;
use temblor_pipeline::load::{Language, LoadOptions};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../CONNECTORS.md");

fn page() -> String {
    let mut text = String::from(
        "# Connectors\n\nWhere events come from and go to: files, commands, generators, networks and brokers. Made from the \
         declarations beside their code. How sources and sinks are written is in \
         [the language's pages](../spec/programs/ends.md).\n",
    );
    shared(&mut text);
    for (notation, title) in [
        (Notation::Temblor, "In Temblor files: `source NAME from KIND …`, `sink NAME into KIND …`"),
        (
            Notation::Tremor,
            "In flows of tremor: `define connector NAME from KIND with config = {…} end`",
        ),
    ] {
        let _ = writeln!(text, "\n## {title}");
        let mut rows: Vec<_> =
            registry().connectors().filter(|one| one.notation == notation).collect();
        rows.sort_by_key(|one| one.kind);
        rows.into_iter().for_each(|one| section(&mut text, one));
    }
    text
}

/// What holds for every connector.
fn shared(text: &mut String) {
    for (title, rows) in [
        ("Every source of a Temblor file that reads bytes", shared::READING),
        ("Every sink of a Temblor file", shared::WRITING),
        ("Sinks that are files, commands or standard output", shared::STREAM),
        ("Every sink of a Temblor file, about its queue", shared::QUEUE),
        ("Every source of a Temblor file that cannot be read again", shared::BUFFER),
        ("Every connector of a flow", shared::FLOW),
    ] {
        let _ = writeln!(text, "\n| {title} | takes | default | |\n|---|---|---|---|");
        settings(text, "", rows);
    }
    let _ = writeln!(text, "\n| codec | a message | reads | writes |\n|---|---|---|---|");
    for one in CODECS {
        let mark = |does: bool| if does { "yes" } else { "" };
        let (reads, writes) = (mark(one.reads.is_some()), mark(one.writes.is_some()));
        let _ = writeln!(text, "| `{}` | {} | {reads} | {writes} |", one.name, one.doc);
    }
    interceptors(text, "preprocessor", PREPROCESSORS);
    interceptors(text, "postprocessor", POSTPROCESSORS);
}

fn interceptors<T>(text: &mut String, what: &str, rows: &[Interceptor<T>]) {
    let _ = writeln!(text, "\n| {what} | takes | default | |\n|---|---|---|---|");
    for row in rows {
        let _ = writeln!(text, "| `{}` | | | {} |", row.name, row.doc);
        settings(text, &format!("{}.", row.name), row.settings);
    }
}

fn section(text: &mut String, one: &Connector) {
    let ends = match one.ends {
        Ends::Source => "a source",
        Ends::Sink => "a sink",
        Ends::Both => "a source and a sink",
    };
    let _ = writeln!(text, "\n### {}\n\nAs {ends}. {}", one.kind, one.doc);
    if let Some(address) = one.address {
        let _ = writeln!(text, "\nAddress: {address}.");
    }
    for (title, rows) in [("source", one.source), ("sink", one.sink)] {
        if !rows.is_empty() {
            let _ =
                writeln!(text, "\n| setting of a {title} | takes | default | |\n|---|---|---|---|");
            settings(text, "", rows);
        }
    }
    if let Some(example) = one.examples.first() {
        let _ = writeln!(text, "\n```text\n{example}\n```");
    }
}

fn settings(text: &mut String, prefix: &str, rows: &[Setting]) {
    // The address has a line of its own.
    for row in rows.iter().filter(|row| !row.takes.is_hidden() && row.name != "address") {
        let default = match (row.default, row.required) {
            (_, true) => "required".to_string(),
            (Some(default), _) => format!("`{}`", default.escape_debug()),
            (None, _) => String::new(),
        };
        let (takes, doc) = (row.takes.describe(), row.doc.replace('|', "\\|"));
        let _ = writeln!(text, "| `{prefix}{}` | {takes} | {default} | {doc} |", row.name);
        if let Takes::Record(inner) | Takes::Records(inner) = row.takes {
            settings(text, &format!("{prefix}{}.", row.name), inner);
        }
    }
}

#[test]
fn the_page_is_fresh() {
    let fresh = page();
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(PAGE, &fresh).expect("the page can be written");
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(written == fresh, "engine/CONNECTORS.md is stale: run with TEMBLOR_BLESS=1");
}

#[test]
fn every_default_is_what_its_setting_takes() {
    fn check(kind: &str, rows: &'static [Setting]) {
        for row in rows {
            if let Some(default) = row.default {
                let read = read::default_of(row, default);
                assert!(read.is_some(), "{kind}: `{}` cannot be {default}", row.name);
            }
            if let Takes::Record(inner) | Takes::Records(inner) = row.takes {
                check(kind, inner);
            }
        }
    }
    for one in registry().connectors() {
        check(one.kind, one.source);
        check(one.kind, one.sink);
    }
    for rows in [
        shared::READING,
        shared::WRITING,
        shared::STREAM,
        shared::QUEUE,
        shared::BUFFER,
        shared::FLOW,
    ] {
        check("every connector", rows);
    }
    check("json", codec::JSON);
    PREPROCESSORS.iter().for_each(|row| check(row.name, row.settings));
    POSTPROCESSORS.iter().for_each(|row| check(row.name, row.settings));
}

#[test]
fn every_example_compiles() {
    for one in registry().connectors() {
        let is_ours = one.notation == Notation::Temblor;
        assert!(!is_ours || !one.examples.is_empty(), "{} has no example", one.kind);
        let language = match one.notation {
            Notation::Temblor => Language::Temblor,
            Notation::Tremor => Language::Deploy,
        };
        for example in one.examples {
            let options = LoadOptions::new(registry());
            let loaded = options.compile(one.kind, (*example).to_string(), language, &NoModules);
            let report = loaded.report(false);
            // A file of an example, such as a certificate, is the user's; a build may lack a feature.
            let is_elsewhere =
                ["cannot be used:", "--features"].iter().any(|it| report.contains(it));
            assert!(!loaded.has_errors() || is_elsewhere, "{}: {example}\n{report}", one.kind);
        }
    }
}

#[test]
fn names_are_unique_in_each_notation() {
    let mut seen = std::collections::HashSet::new();
    for one in registry().connectors() {
        assert!(seen.insert((one.kind, one.notation == Notation::Temblor)), "{} twice", one.kind);
    }
}
