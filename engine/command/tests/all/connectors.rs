//! The page of connectors is made from their declarations, and what a declaration shows is true.
//! `TEMBLOR_BLESS=1 cargo test -p temblor-command --test all connectors` writes `engine/CONNECTORS.md`.

use std::fmt::Write;

use temblor_catalog::registry;
use temblor_declare::{Connector, Ends, Notation, Setting, Takes, queue, read};
use temblor_lang::lower::NoModules;
use temblor_pipeline::load::{Language, LoadOptions};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../CONNECTORS.md");

fn page() -> String {
    let mut text = String::from(
        "# Connectors\n\nWhere events come from and go to over networks and brokers, made from the declarations \
         beside their code. Files, standard input and output, commands and generators are in \
         [the language's pages](../spec/README.md).\n",
    );
    text.push_str(
        "\n## Queues and buffers\n\nEvery sink of a Temblor file takes these settings, and every source of the kinds below \
         and `stdin` those about a buffer; [delivery](../spec/delivery.md) says what they mean.\n\n| setting | takes | default \
         | |\n|---|---|---|---|\n",
    );
    settings(&mut text, "", &queue::SINK);
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
    for row in rows.iter().filter(|row| !matches!(row.takes, Takes::Hidden(_))) {
        let default = match (row.default, row.required) {
            (_, true) => "required".to_string(),
            (Some(default), _) => format!("`{default}`"),
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
        check("every sink", &queue::SINK);
        check(one.kind, one.sink);
    }
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
