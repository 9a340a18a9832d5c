//! `temblor check --expand`: the long form of a program, with every chain turned into the
//! definitions and selects that it stands for.

use std::path::Path;
use temblor_catalog::registry;
use temblor_lang::span::Sources;
use temblor_lang::syntax;
use temblor_lang::syntax::tree::{Query, Statement};
use temblor_pipeline::graph::expand;

/// The long form of a text; of a script or deploy file only a clean copy.
pub fn long_form(name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("tremor") => syntax::print_script(&syntax::parse_script(&sources, source).tree),
        Some("troy") => syntax::print_deploy(&syntax::parse_deploy(&sources, source).tree),
        Some("trickle") => {
            let mut query = syntax::parse_query(&sources, source).tree;
            expand_chains(&mut query);
            syntax::print_query(&query)
        }
        _ => {
            let mut program = syntax::parse_program(&sources, source).tree;
            expand_chains(&mut program.query);
            syntax::print_program(&program)
        }
    }
}

fn expand_chains(query: &mut Query) {
    let mut counter = 0;
    query.statements = std::mem::take(&mut query.statements)
        .into_iter()
        .flat_map(|statement| match statement {
            Statement::Chain(chain) => expand(&chain, registry(), &mut counter).statements,
            other => vec![other],
        })
        .collect();
}
