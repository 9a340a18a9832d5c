//! Ports, streams and arguments: where they are defined, where they are used, and their renaming, in one
//! file and over modules.

use super::applied;
use super::client::{Client, marked, piece};
use serde_json::json;
use temblor_lang::syntax::{TokenClass, classes};

/// The pieces of a text that lead to the same as the marked one.
fn references(client: &mut Client, file: &str, marked_text: &str) -> Vec<u64> {
    let (text, at) = marked(marked_text);
    client.open(file, &text);
    let context = json!({"context": {"includeDeclaration": true}});
    let found = client.try_ask("references", file, (&text, at), context).expect("it is answered");
    let lines = found.as_array().expect("a list").iter();
    lines.map(|one| one["range"]["start"]["line"].as_u64().expect("a line")).collect()
}

/// The text after a renaming, or why it is refused.
fn renamed(
    client: &mut Client,
    file: &str,
    marked_text: &str,
    name: &str,
) -> Result<String, String> {
    let (text, at) = marked(marked_text);
    client.open(file, &text);
    let edits = client.try_ask("rename", file, (&text, at), json!({"newName": name}))?;
    Ok(applied(&text, &edits["changes"][client.uri(file)]))
}

const SCRIPT: &str = "define script s\nargs limit = 1\nscript\n  emit event => \"audit\"\nend;\n\
    create script t from s with limit = 2 end;\nselect event from in into t;\n\
    select event from t/audit into out;\nselect event from t/err into out";

#[test]
fn ports_of_a_script_are_one_name() {
    let mut client = Client::start("ports");
    let (text, at) = marked(&SCRIPT.replace("t/audit", "t/^audit"));
    client.open("a.trickle", &text);
    let place = client.ask("definition", "a.trickle", (&text, at));
    assert_eq!(piece(&text, &place["range"]), "audit");
    assert_eq!(place["range"]["start"]["line"], 3);
    let all = references(&mut client, "a.trickle", &SCRIPT.replace("\"audit", "\"^audit"));
    assert_eq!(all, [3, 7]);
    let new = renamed(&mut client, "a.trickle", &SCRIPT.replace("t/audit", "t/^audit"), "log");
    assert_eq!(new.expect("it can be done"), SCRIPT.replace("audit", "log"));
    let spaced = renamed(&mut client, "a.trickle", &SCRIPT.replace("t/audit", "t/^audit"), "a b");
    assert!(spaced.expect_err("it is no word").contains("cannot name a port"));
    client.stop();
}

#[test]
fn ports_that_nothing_defines_have_uses() {
    let mut client = Client::start("built-in-ports");
    let text = SCRIPT.replace("into out;\nselect", "into ^out;\nselect");
    assert_eq!(references(&mut client, "a.trickle", &text), [7, 8]);
    let refused = renamed(&mut client, "a.trickle", &text, "other");
    assert!(refused.expect_err("it is built in").contains("the built-in port `out`"));
    let (text, at) = marked(&SCRIPT.replace("t/err", "t/^err"));
    client.open("a.trickle", &text);
    let owner = client.ask("definition", "a.trickle", (&text, at));
    assert_eq!(piece(&text, &owner["range"]), "s", "the definition that has the port");
    let hover = client.ask("hover", "a.trickle", (&text, at));
    assert!(hover["contents"]["value"].as_str().expect("a text").contains("that fail"));
    client.stop();
}

#[test]
fn streams_of_a_pipeline_are_its_ports() {
    let mut client = Client::start("pipeline-ports");
    let text = "define pipeline p\nfrom left\ninto right\npipeline\n  select event from left into \
                right\nend;\ncreate pipeline p;\nselect event from in into p/left;\n\
                select event from p/^right into out";
    assert_eq!(references(&mut client, "a.trickle", text), [2, 4, 8]);
    let new = renamed(&mut client, "a.trickle", text, "done").expect("it can be done");
    assert_eq!(new, text.replace('^', "").replace("right", "done"));
    let text = "define pipeline p\nfrom left\ninto out\npipeline\n  select event from left into \
                ^out\nend";
    let refused = renamed(&mut client, "a.trickle", text, "done");
    assert!(refused.expect_err("others rely on it").contains("the built-in port `out`"));
    client.stop();
}

#[test]
fn arguments_are_renamed_with_their_uses() {
    let mut client = Client::start("arguments");
    let text = "define operator o from generic::batch\nargs size = 1\nwith count = args.size end;\n\
                create operator o with ^size = 2 end;\nselect event from in into o;\n\
                select event from o into out";
    let new = renamed(&mut client, "a.trickle", text, "amount").expect("it can be done");
    assert_eq!(new, text.replace('^', "").replace("size", "amount"));
    let text = "define flow f\nargs path\nflow\n  define connector c from file args path with codec \
                = \"json\", config = {\"path\": args.path} end;\n  create connector c with path = \
                args.path end\nend;\ndeploy flow f with ^path = \"x\" end";
    let new = renamed(&mut client, "a.troy", text, "place").expect("it can be done");
    let expected = text
        .replace('^', "")
        .replace("args path\nflow", "args place\nflow")
        .replace("path = args.path end\nend", "path = args.place end\nend")
        .replace("with path = \"x\"", "with place = \"x\"");
    assert_eq!(new, expected);
    client.stop();
}

#[test]
fn parts_are_renamed_over_modules() {
    let mut client = Client::start("module-parts");
    let module =
        "define script clean\nargs limit = 1\nscript\n  emit args.limit => \"audit\"\nend;\n";
    let other = "use rules as r;\ncreate script s from r::clean with limit = 3 end;\n\
                 select event from in into s;\nselect event from s/audit into out\n";
    client.write("rules.tremor", module);
    client.write("b.trickle", other);
    let text = "use rules;\ncreate script s from rules::clean with ^limit = 2 end;\n\
                select event from in into s;\nselect event from s/audit into out\n";
    for (old, new) in [("limit", "most"), ("audit", "log")] {
        let text = text.replace('^', "").replace(old, &format!("^{old}"));
        let (text, at) = marked(&text);
        client.open("a.trickle", &text);
        let edits = client.try_ask("rename", "a.trickle", (&text, at), json!({"newName": new}));
        let changes = edits.expect("it can be done")["changes"].clone();
        for (file, before) in
            [("a.trickle", text.as_str()), ("b.trickle", other), ("rules.tremor", module)]
        {
            let after = applied(before, &changes[client.uri(file)]);
            assert_eq!(after, before.replace(old, new), "{file}");
        }
    }
    let (text, at) = marked(text);
    client.open("a.trickle", &text);
    let place = client.ask("definition", "a.trickle", (&text, at));
    assert_eq!(place["uri"], client.uri("rules.tremor"));
    assert_eq!(piece(module, &place["range"]), "limit");
    client.stop();
}

#[test]
fn ports_are_proposed() {
    let mut client = Client::start("port-completion");
    let text = SCRIPT.replace("t/audit into out;\nselect event from t/err into out", "t/^");
    let labels = client.labels("a.trickle", &text);
    assert_eq!(labels, ["audit", "out", "err"]);
    client.write("rules.tremor", "define script clean\nscript\n  emit event => \"spam\"\nend;\n");
    let text = "use rules;\ncreate script s from rules::clean;\nselect event from in into s;\n\
                select event from s/^";
    assert_eq!(client.labels("b.trickle", text), ["spam", "out", "err"]);
    client.stop();
}

#[test]
fn every_word_of_a_program_has_a_colour() {
    let mut client = Client::start("colours");
    let text =
        "match event of case %{ present a, b ~= re|x| } => << 1:4/little >> case _ => $m end";
    let mut programs = vec![("tremor".to_string(), text.to_string())];
    programs.extend(super::hostile::programs().into_iter().filter(|one| one.0 != "conf"));
    assert!(programs.len() > 20, "only {} programs were found", programs.len());
    for (ending, text) in &programs {
        let file = format!("a.{ending}");
        client.open(&file, text);
        let answer = client.ask_all("semanticTokens/full", &file).expect("it is answered");
        let mut coloured = std::collections::BTreeMap::<String, usize>::new();
        for (piece, _) in super::decoded(text, &answer["data"]) {
            *coloured.entry(piece).or_default() += 1;
        }
        let words = classes(text).into_iter().filter(|piece| piece.2 == TokenClass::Word);
        for (start, end, _) in words {
            let left = coloured.get_mut(&text[start..end]).filter(|left| **left > 0);
            let line = text[start..].lines().next().unwrap_or("");
            *left.unwrap_or_else(|| panic!("no colour at byte {start}: {line}")) -= 1;
        }
    }
    client.stop();
}
