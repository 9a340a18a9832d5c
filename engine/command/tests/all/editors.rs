//! The grammars for editors name the words of the language, all of them and no others.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use temblor_lang::syntax::{CLAUSE_WORDS, KEYWORDS};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors").join(file);
    std::fs::read_to_string(path).expect("it is in the repository")
}

/// The words of the language's own tables.
fn words() -> BTreeSet<String> {
    let keywords = KEYWORDS.iter().map(|(word, _)| *word);
    keywords.chain(CLAUSE_WORDS).map(str::to_string).collect()
}

/// The words of a pattern `(?<!…)\b(?:a|b)\b…`.
fn alternatives(pattern: &str) -> Vec<String> {
    let (_, rest) = pattern.split_once(r"\b(?:").expect("a list of words");
    let (list, _) = rest.split_once(r")\b").expect("it ends");
    list.split('|').map(str::to_string).collect()
}

#[test]
fn textmate_knows_the_words_of_the_language() {
    let grammar: Value = serde_json::from_str(&read("vscode/syntaxes/temblor.tmLanguage.json"))
        .expect("the grammar is JSON");
    let mut known = BTreeSet::new();
    for part in ["keywords", "clauses"] {
        let patterns = grammar["repository"][part]["patterns"].as_array().expect("a list");
        for pattern in patterns {
            known.extend(alternatives(pattern["match"].as_str().expect("a pattern")));
        }
    }
    assert_eq!(known, words());
}

/// The names of all parts that a grammar includes somewhere.
fn included(grammar: &Value, found: &mut BTreeSet<String>) {
    match grammar {
        Value::Object(fields) => {
            let name = fields.get("include").and_then(Value::as_str);
            found.extend(name.map(|name| name.trim_start_matches('#').to_string()));
            fields.values().for_each(|inner| included(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| included(inner, found)),
        _ => {}
    }
}

#[test]
fn textmate_grammars_are_whole() {
    let package: Value =
        serde_json::from_str(&read("vscode/package.json")).expect("the package is JSON");
    let grammars = package["contributes"]["grammars"].as_array().expect("a list");
    let languages: Vec<_> = grammars.iter().map(|one| one["language"].as_str()).collect();
    assert_eq!(languages, [Some("temblor"), Some("logstash")]);
    for one in grammars {
        let file = format!("vscode/{}", one["path"].as_str().expect("a path"));
        let grammar: Value = serde_json::from_str(&read(&file)).expect("the grammar is JSON");
        assert_eq!(grammar["scopeName"], one["scopeName"], "{file}");
        let mut used = BTreeSet::new();
        included(&grammar, &mut used);
        let repository = grammar["repository"].as_object().expect("a record");
        // What is included is there, and what is there is included.
        assert_eq!(used, repository.keys().cloned().collect(), "{file}");
    }
    for language in package["contributes"]["languages"].as_array().expect("a list") {
        let file = format!("vscode/{}", language["configuration"].as_str().expect("a path"));
        serde_json::from_str::<Value>(&read(&file)).expect("the configuration is JSON");
    }
}

/// The quoted words in the text between two marks.
fn quoted(text: &str, from: &str, to: &str, quote: char) -> Vec<String> {
    let (_, rest) = text.split_once(from).expect("the list begins");
    let (list, _) = rest.split_once(to).expect("the list ends");
    list.split(quote).skip(1).step_by(2).map(str::to_string).collect()
}

#[test]
fn tree_sitter_knows_the_words_of_the_language() {
    let grammar = read("tree-sitter/grammar.js");
    let mut known = BTreeSet::from(["true", "false", "null"].map(str::to_string));
    known.extend(quoted(&grammar, "const KEYWORDS = [", "];", '\''));
    known.extend(quoted(&grammar, "const ROOTS = [", "];", '\''));
    let keywords: BTreeSet<_> = KEYWORDS.iter().map(|(word, _)| word.to_string()).collect();
    assert_eq!(known, keywords);
    let colours = read("tree-sitter/queries/highlights.scm");
    let clauses: BTreeSet<_> =
        quoted(&colours, "#any-of? @keyword.modifier", "))", '"').into_iter().collect();
    let only_clauses = CLAUSE_WORDS.iter().filter(|word| !keywords.contains(**word));
    assert_eq!(clauses, only_clauses.map(ToString::to_string).collect());
}

#[test]
fn the_extension_serves_the_files_of_the_language() {
    let package: Value =
        serde_json::from_str(&read("vscode/package.json")).expect("the package is JSON");
    let endings = &package["contributes"]["languages"][0]["extensions"];
    assert_eq!(*endings, serde_json::json!([".tmb", ".tremor", ".trickle", ".troy"]));
    let configuration = read("vscode/language-configuration.json");
    serde_json::from_str::<Value>(&configuration).expect("the configuration is JSON");
    assert!(read("vscode/extension.js").contains("args: ['lsp'"), "it starts the server");
}
