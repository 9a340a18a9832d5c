//! What a name leads to, shown by where its definition stands.

use super::{Direction, Index, Part, PartKind, SymbolKind, Target};
use crate::span::{Sources, Span};
use crate::syntax::{parse_deploy, parse_program, parse_query, parse_script};

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

fn query(text: &str) -> Index {
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let parsed = parse_query(&sources, source);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    Index::of_query(&parsed.tree, Span::new(source, 0, text.len()))
}

#[test]
fn ports_of_scripts_are_what_they_emit() {
    let text = "define script s script from side event script match event of case %{ a == 1 } => \
                emit event => \"audit\" case _ => emit \"x\" => \"audit\" end end;\n\
                create script t from s;\nselect event from in into t/side;\n\
                select event from t/audit into out;\nselect event from t/err into out";
    let index = query(text);
    let audit = text.find("audit");
    assert_eq!(leads(&index, text, "audit"), [audit; 3]);
    let side = text.find("side");
    assert_eq!(leads(&index, text, "side"), [side; 2]);
    assert!(index.references.iter().any(|one| one.target == Target::Port(Some(0), "err".into())));
}

#[test]
fn ports_of_pipelines_are_their_streams() {
    let text = "define pipeline p from left into right, err pipeline select event from left into \
                right end;\ncreate pipeline q from p;\nselect event from in into q/left;\n\
                select event from q/right into out;\nselect event from q/err into err";
    let index = query(text);
    assert_eq!(leads(&index, text, "left"), [text.find("left"); 3]);
    assert_eq!(leads(&index, text, "right"), [text.find("right"); 3]);
    let of_itself = Target::Port(None, "err".to_string());
    assert_eq!(index.references.last().map(|one| &one.target), Some(&of_itself));
}

#[test]
fn a_port_and_a_stream_of_one_name_are_two() {
    let text = "define pipeline p from a into b pipeline select event from a into b end;\n\
                create pipeline p;\ncreate stream b;\nselect event from p/b into b;\n\
                select event from in into p/a";
    let places: Vec<_> = text.match_indices('b').map(|(at, _)| at).filter(|at| *at > 20).collect();
    let index = query(text);
    let found = leads(&index, text, "b");
    let (port, stream) = (Some(places[0]), text.find("stream b").map(|at| at + 7));
    assert_eq!(found, [port, port, stream, port, stream]);
}

#[test]
fn parts_of_modules_say_what_they_are_of() {
    let text = "use my::rules;\ncreate script s from rules::clean with limit = 2 end;\n\
                select event from in into s;\nselect event from s/audit into out";
    let part = |kind, name: &str| {
        let (module, owner) = ("my::rules".to_string(), "clean".to_string());
        Target::Part(Part { module, owner, kind, name: name.to_string() })
    };
    let index = query(text);
    let targets: Vec<_> = index.references.iter().map(|one| &one.target).collect();
    assert!(targets.contains(&&part(PartKind::Argument, "limit")), "{targets:?}");
    assert!(targets.contains(&&part(PartKind::Port(Direction::Out), "audit")), "{targets:?}");
}

#[test]
fn flows_connect_ports() {
    let text = "define flow f args size = 1 flow define pipeline p into extra pipeline \
                select event from in into extra end; create connector c from m::c; \
                create pipeline p; connect /pipeline/p/extra to /connector/c/in end;\n\
                deploy flow g from f with size = 2 end";
    let mut sources = Sources::default();
    let source = sources.add("", text);
    let parsed = parse_deploy(&sources, source);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let index = Index::of_deploy(&parsed.tree, Span::new(source, 0, text.len()));
    assert_eq!(leads(&index, text, "extra"), [text.find("extra"); 3]);
    assert_eq!(leads(&index, text, "size"), [text.find("size"); 2]);
}

#[test]
fn fields_of_patterns_are_fields() {
    let text = "match event of case %{ present a, b ~= %{ c == 1 } } => event.b.c case _ => 1 end";
    let index = script(text);
    let fields: Vec<_> = index.fields.iter().map(String::as_str).collect();
    assert_eq!(fields, ["event.a", "event.b", "event.b.c"]);
    let same = Target::Field("event.b.c".to_string());
    assert_eq!(index.references.iter().filter(|one| one.target == same).count(), 2);
}
