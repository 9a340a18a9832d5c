//! What a name leads to, shown by where its definition stands.

use super::{Index, SymbolKind, Target};
use crate::span::{Sources, Span};
use crate::syntax::{parse_program, parse_query, parse_script};

fn script(text: &str) -> Index {
    let mut sources = Sources::default();
    let source = sources.add("", text);
    Index::of_script(&parse_script(&sources, source).tree, Span::new(source, 0, text.len()))
}

/// For each place of `name` in the text, the place where what it leads to is defined.
fn leads(index: &Index, text: &str, name: &str) -> Vec<Option<usize>> {
    text.match_indices(name)
        .filter_map(|(at, _)| {
            let one = index.references.iter().find(|one| one.span.start as usize == at)?;
            match one.target {
                Target::Symbol(symbol) => Some(Some(index.symbols[symbol].span.start as usize)),
                _ => Some(None),
            }
        })
        .collect()
}

#[test]
fn inner_names_hide_outer_ones() {
    let text = "let x = 1;\nmatch event of\n  case x = %{ present a } => x\n  case _ => x\nend;\n\
                fn f(x) with let y = x; y end;\nf(x)";
    let index = script(text);
    let places: Vec<_> = text.match_indices('x').map(|(at, _)| at).collect();
    // let; the binding and its use; the local; the parameter and its use; the local again.
    let (local, bound, param) = (places[0], places[1], places[4]);
    let expected = [local, bound, bound, local, param, param, local];
    assert_eq!(leads(&index, text, "x"), expected.map(Some));
}

#[test]
fn constants_win_over_locals() {
    let text = "const A = 1;\nfor [1] of case (A, b) => A + b end";
    let index = script(text);
    assert_eq!(leads(&index, text, "A"), [Some(6), Some(30), Some(6)]);
}

#[test]
fn a_name_that_is_read_first_is_the_local_that_is_assigned_later() {
    let text = "let a = match event.n of case 1 => zz case _ => 2 end;\nlet zz = a";
    let index = script(text);
    let second = text.rfind("zz");
    assert_eq!(leads(&index, text, "zz"), [second, second]);
}

#[test]
fn paths_lead_into_modules() {
    let text = "use std::string;\nuse my::tools as t;\nstring::len(t::LIMIT)";
    let index = script(text);
    let member = |module: &str, name: &str| Target::Member(module.into(), name.into());
    let targets: Vec<_> = index.references.iter().map(|one| &one.target).collect();
    assert!(targets.contains(&&member("std::string", "len")), "{targets:?}");
    assert!(targets.contains(&&member("my::tools", "LIMIT")), "{targets:?}");
    let alias = index.symbols.iter().position(|one| one.name == "t").expect("it is defined");
    assert_eq!(index.references_to(alias).count(), 2);
}

#[test]
fn fields_are_gathered() {
    let index = script(
        "let event.a.b = $meta.x;\nmatch event of case %{ c == 1 } => event.d[0].e case _ => 1 end",
    );
    let fields: Vec<_> = index.fields.iter().map(String::as_str).collect();
    assert_eq!(fields, ["$meta", "$meta.x", "event.a", "event.a.b", "event.c", "event.d"]);
}

#[test]
fn chains_and_their_outputs_are_one_name() {
    let text = "sink bad into file \"x\";\nin |> where event.a else bad |> route case event.b => bad \
                default => rest end;\nrest |> out";
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let parsed = parse_program(&sources, source);
    let index = Index::of_program(&parsed.tree, Span::new(source, 0, text.len()));
    assert_eq!(leads(&index, text, "bad"), [Some(5); 3]);
    let rest = text.find("rest");
    assert_eq!(leads(&index, text, "rest"), [rest, rest]);
}

#[test]
fn definitions_and_their_arguments() {
    let text = "define script s args limit = 1 script event.a > args.limit end;\n\
                create script s with limit = 2 end;\nselect event from in into s;\n\
                select event from s/err into out";
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let parsed = parse_query(&sources, source);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let index = Index::of_query(&parsed.tree, Span::new(source, 0, text.len()));
    let limit = text.find("limit");
    assert_eq!(leads(&index, text, "limit"), [limit; 3]);
    let kinds: Vec<_> = index.symbols.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [SymbolKind::Script, SymbolKind::Argument]);
    assert_eq!(index.references_to(0).count(), 4);
}
