//! Every example of every operator compiles, in the chain notation and in the long one it stands
//! for.

use temblor_catalog::registry;
use temblor_lang::span::Sources;
use temblor_lang::syntax::tree::Statement;
use temblor_lang::syntax::{parse_program, print_program};
use temblor_pipeline::graph::{Declared, expand};
use temblor_pipeline::load::LoadOptions;

/// What compiling says; a table that is not there is no mistake in an example.
fn mistakes(text: &str) -> String {
    let loaded = LoadOptions::new(registry()).text(text);
    let report = if loaded.has_errors() { loaded.report(false) } else { String::new() };
    if report.contains("cannot use the table") { String::new() } else { report }
}

/// The definitions and selects that a chain stands for.
fn long_form(text: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add("example", text);
    let mut program = parse_program(&sources, source).tree;
    let names = Declared::of_program(&program, registry());
    let (mut counter, mut statements) = (0, Vec::new());
    for statement in std::mem::take(&mut program.query.statements) {
        match statement {
            Statement::Chain(chain) => {
                statements.extend(expand(&chain, registry(), &mut counter, &names).statements)
            }
            other => statements.push(other),
        }
    }
    program.query.statements = statements;
    print_program(&program)
}

#[test]
fn examples_compile() {
    let mut count = 0;
    // The step whose purpose it is to fail every check.
    for kind in registry().operators().filter(|kind| kind.path != "logstash::undecided") {
        assert!(!kind.examples.is_empty(), "{} has no example", kind.path);
        for example in kind.examples {
            assert_eq!(mistakes(example), "", "{}: {example}", kind.path);
            let long = long_form(example);
            assert!(!long.contains("|>"), "{long}");
            assert_eq!(mistakes(&long), "", "{}: {long}", kind.path);
            count += 1;
        }
    }
    assert!(count >= 25, "{count} examples");
}
