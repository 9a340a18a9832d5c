//! `temblor check --expand`: the long form of a program, with every chain turned into the
//! definitions and selects that it stands for.

use std::path::Path;
use temblor_catalog::registry;
use temblor_lang::span::Sources;
use temblor_lang::syntax;
use temblor_lang::syntax::tree::{Create, CreateKind, DefineKind, Query, Statement};
use temblor_pipeline::graph::{Declared, expand};
use temblor_pipeline::load::partitioned;

/// The long form of a text; of a script or deploy file only a clean copy.
pub(crate) fn long_form(name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("tremor") => syntax::print_script(&syntax::parse_script(&sources, source).tree),
        Some("troy") => syntax::print_deploy(&syntax::parse_deploy(&sources, source).tree),
        Some("trickle") => {
            let mut query = syntax::parse_query(&sources, source).tree;
            let names = Declared::of_query(&query, registry());
            expand_chains(&mut query, &names);
            syntax::print_query(&query)
        }
        _ => {
            let program = syntax::parse_program(&sources, source).tree;
            let mut program = partitioned(&program).into_owned();
            let names = Declared::of_program(&program, registry());
            expand_chains(&mut program.query, &names);
            syntax::print_program(&program)
        }
    }
}

fn expand_chains(query: &mut Query, names: &Declared) {
    let mut counter = 0;
    let streams = names.streams.iter().map(|name| {
        let (kind, span) = (CreateKind::Stream, name.span);
        Statement::Create(Create { kind, name: name.clone(), from: None, with: Vec::new(), span })
    });
    let mut statements: Vec<_> = streams.collect();
    for statement in std::mem::take(&mut query.statements) {
        match statement {
            Statement::Chain(chain) => {
                statements.extend(expand(&chain, registry(), &mut counter, names).statements);
            }
            Statement::Define(mut define) => {
                if let DefineKind::Pipeline(def) = &mut define.kind {
                    let inner = Declared::of_pipeline(def, registry());
                    expand_chains(&mut def.body, &inner);
                }
                statements.push(Statement::Define(define));
            }
            other => statements.push(other),
        }
    }
    query.statements = statements;
}
