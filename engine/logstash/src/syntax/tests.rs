//! Texts that follow the grammar and texts that do not.

use super::parse;
use super::tree::{ExprKind, Statement};
use temblor_lang::span::SourceId;

fn errors(text: &str) -> Vec<String> {
    let parsed = parse(text, SourceId::default());
    parsed.diagnostics.into_iter().map(|one| format!("{} {}", one.message, one.label)).collect()
}

#[test]
fn accepts_the_whole_grammar() {
    let text = r#"
        # a comment
        input { stdin { codec => json { target => "x" } } tcp { port => 5140 } }
        filter {
          if [a] == "x" and ([b][c] =~ /^\/x/ or "t" in [tags]) { drop {} }
          else if [n] > 5.5 { mutate { add_field => { "k" => "v" "l" => 'w' } # why
            gsub => ["a", "b", "c", # inside
              "d", 'e', ""] } }
          else { "grok" { match => { "message" => "%{X:y}" } overwrite => [ ] } }
          if ![x] or !([y] and [z]) { uuid { target => "[@metadata][id]" } }
          if [a] in ["x", "y"] or [b] not in [c] or -5 < [n] { drop { percentage => 40 } }
          if ([a] xor [b]) nand [c] { drop {} }
        }
        output { stdout { } if "x" in [tags] { null { } } }
    "#;
    assert_eq!(errors(text), Vec::<String>::new());
}

#[test]
fn reads_a_list_of_one_as_a_field() {
    let parsed = parse(r#"filter { if [f] in ["x"] { drop {} } }"#, SourceId::default());
    let Statement::Branch(branch) = &parsed.config.sections[0].body[0] else { panic!("no branch") };
    let ExprKind::In { right, .. } = &branch.arms[0].0.kind else { panic!("no in") };
    assert!(matches!(&right.kind, super::tree::OperandKind::Field(text) if text == r#"["x"]"#));
}

#[test]
fn names_what_is_wrong_and_goes_on() {
    for (text, expected) in [
        ("filter { if [a] elsif [b] {} }", "unexpected `elsif`"),
        ("filter { mutate { a = 1 } }", "unexpected `=`"),
        ("filter { mutate { a => { \"x\" => 1, \"y\" => 2 } } }", "no commas"),
        ("filter { mutate { a => [1, 2,] } }", "unexpected `]`"),
        ("filter { mutate { a => \"x } }", "never closed"),
        ("filter { mutate { ", "end of the text"),
        ("filter { if [a] xor [b] and [c] { drop {} } }", "no precedence"),
        ("filter { mutate { a => { x => 1 x => 2 } } }", "is there already"),
        ("filters { }", "unexpected `filters`"),
        ("filter { if ![a] == 1 { drop {} } }", "unexpected `=`"),
    ] {
        let found = errors(text);
        assert!(found.iter().any(|error| error.contains(expected)), "{text}: {found:?}");
    }
    let two = "filter { mutate { a = 1 } grok { b => } drop { } } output { x }";
    assert_eq!(errors(two).len(), 3, "{:?}", errors(two));
}

#[test]
fn survives_anything() {
    let deep = format!("filter {{ if {}", "(".repeat(100_000));
    assert!(!errors(&deep).is_empty());
    let nested = format!("filter {{ a {{ b => {}", "[".repeat(100_000));
    assert!(!errors(&nested).is_empty());
    for text in
        ["", "}", "{", "\"", "filter", "filter {", "#", "\u{feff}filter { }", "é { }", "[", "}}}{"]
    {
        let _ = errors(text);
    }
    let long =
        format!("filter {{ if {} {{ drop {{}} }} }}", vec!["[a] == 1"; 20_000].join(" and "));
    assert!(errors(&long).is_empty());
}
