//! The manual of operators is made from their declarations. `engine/OPERATORS.md` is written anew by
//! `TEMBLOR_BLESS=1 cargo test -p temblor-command --test all manual`.

use std::fmt::Write;
use temblor_catalog::registry;
use temblor_declare::{InChain, Setting, Takes};
use temblor_pipeline::operators::OperatorKind;

const MANUAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../OPERATORS.md");

fn manual() -> String {
    let mut text = String::from(
        "# Operators\n\nMade from the declarations in `engine/pipeline/src/operators`. In a chain an operator is written by its word, \
         in the long notation by its path:\n`define operator name from path with setting = value end`. \
         Chains also know `where`, `set`, `script`, `route` and `select`, which stand for scripts and selects.\n",
    );
    let mut list: Vec<_> = registry().operators().collect();
    list.sort_by_key(|kind| kind.word.unwrap_or(kind.path));
    for kind in list {
        section(&mut text, kind);
    }
    text
}

fn section(text: &mut String, kind: &OperatorKind) {
    let title = kind.word.unwrap_or(kind.path);
    let _ = writeln!(text, "\n## {title}\n\n`{}`\n\n{}", kind.path, kind.doc);
    if !kind.ports.is_empty() {
        let ports: Vec<_> = kind.ports.iter().map(|port| format!("`{port}`")).collect();
        let _ = writeln!(text, "\nFurther output ports: {}.", ports.join(", "));
    }
    if !kind.settings.is_empty() {
        let _ =
            writeln!(text, "\n| setting | in a chain | takes | default | |\n|---|---|---|---|---|");
        kind.settings.iter().for_each(|setting| row(text, setting));
    }
    if !kind.examples.is_empty() {
        let _ = writeln!(text, "\n```text\n{}\n```", kind.examples.join("\n"));
    }
}

fn row(text: &mut String, setting: &Setting) {
    let chain = match setting.chain {
        InChain::Positional => format!("`{}`, by its place", setting.name),
        InChain::Clause(word) => format!("`{word} …`"),
        InChain::Flag(word) => format!("`{word}`"),
        InChain::No => "in `with`".to_string(),
    };
    let takes = match setting.takes {
        Takes::Word(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        takes => takes.describe(),
    };
    let default = setting.default.map_or(String::new(), |default| format!("`{default}`"));
    let required = if setting.required { " Required." } else { "" };
    let doc = setting.doc.replace('|', "\\|");
    let _ =
        writeln!(text, "| `{}` | {chain} | {takes} | {default} | {doc}{required} |", setting.name);
}

#[test]
fn the_manual_is_fresh() {
    let fresh = manual();
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        std::fs::write(MANUAL, &fresh).expect("the manual can be written");
    }
    let written = std::fs::read_to_string(MANUAL).unwrap_or_default();
    assert!(written == fresh, "engine/OPERATORS.md is stale: run with TEMBLOR_BLESS=1");
}
