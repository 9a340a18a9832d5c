//! `temblor lsp` as editors use it: each capability, over a real conversation with the process.

mod client;
mod hostile;
mod parts;

use client::{Client, marked, piece};
use serde_json::{Value, json};

#[test]
fn what_is_wrong_is_told_while_one_types() {
    let mut client = Client::start("diagnostics");
    let text =
        "use std::string;\nlet x = string::uppercas(\"a\");\nlet y = ;\nlet z = nope::f(1);\nz";
    client.open("a.tremor", text);
    let found = client.problems("a.tremor");
    let codes: Vec<_> = found.iter().map(|one| one["code"].as_str().expect("a code")).collect();
    assert!(codes.contains(&"E0303") && codes.contains(&"E0201") && codes.contains(&"E0306"));
    assert_eq!(piece(text, &found[0]["range"]), "string::uppercas");
    assert!(found[0]["message"].as_str().expect("a text").contains("string::uppercase"));
    // Type the missing letter, then the missing value.
    let place = client::position(text, text.find("(\"a\")").expect("it is there"));
    client.change("a.tremor", json!([{"range": {"start": place, "end": place}, "text": "e"}]));
    let left = client.problems("a.tremor");
    assert!(left.iter().all(|one| one["code"] != "E0303"), "{left:?}");
    client.change("a.tremor", json!([{"text": "let x = 1;\nx"}]));
    assert_eq!(client.problems("a.tremor"), Vec::<Value>::new());
    client.stop();
}

#[test]
fn all_dialects_are_checked() {
    let mut client = Client::start("dialects");
    for (file, text, code) in [
        ("a.tmb", "in |> dedpu by event.a |> out", "E0505"),
        ("a.trickle", "select event from inn into out", "E0502"),
        ("a.troy", "deploy flow nope", "E0501"),
        ("a.conf", "filter { mutate { ad_field => {} } }", "E07"),
        ("m.tremor", "const A = 1;\ndefine script s script nope::f() end;", "E0306"),
    ] {
        client.open(file, text);
        let found = client.problems(file);
        let codes: Vec<_> = found.iter().map(|one| one["code"].as_str().unwrap_or("")).collect();
        assert!(codes.iter().any(|one| one.starts_with(code)), "{file}: {found:?}");
    }
    client.open("good.tremor", "const A = 1;\ndefine script s script event end;");
    assert_eq!(client.problems("good.tremor"), Vec::<Value>::new());
    client.stop();
}

#[test]
fn unsaved_modules_win_over_those_on_disk() {
    let mut client = Client::start("modules");
    client.write("lib/tools.tremor", "## Two.\nconst TWO = 2;\n");
    client.open("a.tremor", "use lib::tools;\ntools::TWO + tools::THREE");
    let found = client.problems("a.tremor");
    assert!(found.iter().any(|one| one["code"] == "E0304"), "{found:?}");
    let module = "## Two.\nconst TWO = 2;\nconst THREE = 3;\n";
    client.open("lib/tools.tremor", module);
    client.forget("a.tremor");
    client.problems("lib/tools.tremor");
    // The server has looked at the other text again, too.
    assert_eq!(client.problems("a.tremor"), Vec::<Value>::new());
    let text = "use lib::tools;\ntools::TWO + tools::THREE";
    let at = text.find("THREE").expect("it is there");
    let place = client.ask("definition", "a.tremor", (text, at));
    assert_eq!(place["uri"], client.uri("lib/tools.tremor"));
    assert_eq!(piece(module, &place["range"]), "THREE");
    client.stop();
}

#[test]
fn completion_knows_the_place() {
    let mut client = Client::start("completion");
    let has = |labels: &[String], wanted: &[&str]| {
        for one in wanted {
            assert!(labels.iter().any(|label| label == one), "no `{one}` in {labels:?}");
        }
    };
    let labels =
        client.labels("a.tremor", "const LIMIT = 1;\nfn f(a) with a end;\nlet local = 2;\n^");
    has(&labels, &["LIMIT", "f", "local", "match", "string"]);
    assert!(!labels.contains(&"a".to_string()), "parameters stay in their function");
    has(&client.labels("b.tremor", "use std::string as s;\ns::^"), &["uppercase", "split"]);
    let items = client.open_and_ask("completion", "c.tremor", "use std::string;\nstring::spl^");
    let split = items.as_array().expect("a list").iter().find(|one| one["label"] == "split");
    let detail = split.expect("it is there")["detail"].as_str().expect("a text").to_string();
    assert!(detail.starts_with("string::split(") && detail.contains("-> array"), "{detail}");
    has(&client.labels("d.tremor", "use std::^"), &["string", "array"]);
    let text = "let x = event.request.path;\nevent.request.^";
    assert_eq!(client.labels("e.tremor", text), ["path"]);
    has(&client.labels("f.tremor", "let $meta.a = 1; $^"), &["meta"]);
    let steps = client.labels("g.tmb", "in |> ^");
    has(&steps, &["dedup", "parse", "rate_limit", "where", "route", "out"]);
    has(&client.labels("h.tmb", "in |> dedup by event.a ^"), &["within", "else", "max_keys"]);
    has(&client.labels("i.tmb", "in |> parse grok \"%{IPO^"), &["IPORHOST", "NUMBER"]);
    has(&client.labels("j.tremor", "match event of case %{ a ~= ^"), &["re", "grok", "json"]);
    has(&client.labels("k.trickle", "create stream mine;\nselect event from ^"), &["mine", "in"]);
    has(&client.labels("l.trickle", "define operator x from ^"), &["generic::batch"]);
    has(&client.labels("m.tmb", "source a from ^"), &["file", "stdin"]);
    has(&client.labels("p.tmb", "sink a into ^"), &["file", "tcp", "kafka"]);
    has(&client.labels("q.troy", "define connector a from ^"), &["stdio", "tcp_server"]);
    has(
        &client.labels("r.tmb", "source a from syslog \"udp://h:1\" with ^"),
        &["codec", "max_connections"],
    );
    has(&client.labels("s.tmb", "source a from generator \"weblog\" with rate = 5, ^"), &["seed"]);
    has(&client.labels("t.tmb", "sink a into file \"x\" with codec = \"^"), &["pretty-json"]);
    has(
        &client.labels("u.troy", "define connector a from file with preprocessors = [\"^"),
        &["separate"],
    );
    has(&client.labels("v.troy", "define connector a from file with config = {^"), &["path"]);
    has(&client.labels("w.trickle", "define window a from tumbling with ^"), &["interval"]);
    has(&client.labels("n.conf", "filter { ^"), &["mutate", "grok"]);
    assert_eq!(client.labels("o.tremor", "# a note ^"), Vec::<String>::new());
    client.stop();
}

#[test]
fn hover_explains_names_and_words() {
    let mut client = Client::start("hover");
    for (text, words) in [
        ("use std::string;\nstring::upper^case(\"a\")", "string::uppercase(text: string)"),
        ("ma^tch event of case _ => 1 end", "first arm that matches"),
        ("## Doubles it.\nfn double(x) with x * 2 end;\ndou^ble(1)", "Doubles it."),
        ("match event of case ~ r^e|a| => 1 case _ => 2 end", "re|…|"),
    ] {
        let hover = client.open_and_ask("hover", "a.tremor", text);
        let shown = hover["contents"]["value"].as_str().unwrap_or("nothing").to_string();
        assert!(shown.contains(words), "{text}: {shown}");
    }
    let hover = client.open_and_ask("hover", "a.tmb", "in |> ded^up by event.a within 10s |> out");
    assert!(hover["contents"]["value"].as_str().expect("a text").contains("stream::dedup"));
    let hover = client.open_and_ask("hover", "b.tmb", "in |> dedup by event.a wit^hin 10s |> out");
    assert!(hover["contents"]["value"].as_str().expect("a text").contains("within"));
    for (file, text, words) in [
        ("c.tmb", "source a from tc^p \"h:1\"; a |> out;", "Address: "),
        ("d.tmb", "sink a into file \"x\" with mo^de = \"append\" end; in |> a;", "one of append"),
        ("e.tmb", "source a from metronome with inter^val = 1s end; a |> out;", "a duration"),
        ("f.troy", "define connector a from std^io;", "standard error"),
    ] {
        let hover = client.open_and_ask("hover", file, text);
        let shown = hover["contents"]["value"].as_str().unwrap_or("nothing").to_string();
        assert!(shown.contains(words), "{text}: {shown}");
    }
    client.stop();
}

#[test]
fn signatures_follow_the_argument() {
    let mut client = Client::start("signature");
    let help = client.open_and_ask(
        "signatureHelp",
        "a.tremor",
        "use std::string;\nstring::split(\"a\", ^",
    );
    assert_eq!(help["activeParameter"], 1);
    let label = help["signatures"][0]["label"].as_str().expect("a label").to_string();
    assert!(label.starts_with("string::split("), "{label}");
    let help = client.open_and_ask("signatureHelp", "b.tremor", "fn f(a, b) with a end;\nf(1, f(^");
    assert_eq!(
        (help["activeParameter"].as_u64(), &help["signatures"][0]["label"]),
        (Some(0), &json!("f(a, b)"))
    );
    client.stop();
}

/// What each name marked by its place leads to, as `line:column` of the definition.
fn defined(client: &mut Client, file: &str, text: &str) -> Option<(u64, u64)> {
    let place = client.open_and_ask("definition", file, text);
    let start = &place["range"]["start"];
    Some((start["line"].as_u64()?, start["character"].as_u64()?))
}

#[test]
fn definitions_are_found() {
    let mut client = Client::start("definition");
    for (file, text, expected) in [
        ("a.tremor", "let x = 1;\n^x", Some((0, 4))),
        ("a.tremor", "const A = 1;\n^A", Some((0, 6))),
        ("a.tremor", "fn f(a) with a end;\n^f(1)", Some((0, 3))),
        ("a.tremor", "match event of case y = %{} => ^y case _ => 1 end", Some((0, 20))),
        ("a.tremor", "let é = \"\u{1f600}\"; let b = 1; ^b", Some((0, 18))),
        (
            "a.trickle",
            "define window w from tumbling with size = 1 end;\nselect aggr::stats::count() from in[^w] into out",
            Some((0, 14)),
        ),
        (
            "a.trickle",
            "define operator o from generic::batch with count = 1 end;\ncreate operator p from ^o;\nselect event from in into p;\nselect event from p into out",
            Some((0, 16)),
        ),
        (
            "a.trickle",
            "create stream s;\nselect event from in into s;\nselect event from ^s into out",
            Some((0, 14)),
        ),
        (
            "a.trickle",
            "define pipeline p pipeline select event from in into out end;\ncreate pipeline ^p;\nselect event from in into p;\nselect event from p into out",
            Some((0, 16)),
        ),
        ("a.tmb", "sink bad into file \"x\";\nin |> where event.a else ^bad |> out", Some((0, 5))),
        ("a.tremor", "use std::string;\nstring::n^one(\"a\")", None),
    ] {
        assert_eq!(defined(&mut client, file, text), expected, "{text}");
    }
    client.stop();
}

#[test]
fn references_and_rename_keep_to_the_scope() {
    let mut client = Client::start("rename");
    let (text, at) = marked(
        "let ^x = 1;\nfn f(x) with x end;\nmatch event of\n  case x = %{ present a } => x\n  case _ => x + f(x)\nend",
    );
    client.open("a.tremor", &text);
    let all = client
        .try_ask(
            "references",
            "a.tremor",
            (&text, at),
            json!({"context": {"includeDeclaration": true}}),
        )
        .expect("it is answered");
    assert_eq!(all.as_array().expect("a list").len(), 3);
    let edits = client
        .try_ask("rename", "a.tremor", (&text, at), json!({"newName": "total"}))
        .expect("it can be done");
    let renamed = applied(&text, &edits["changes"][client.uri("a.tremor")]);
    let expected = "let total = 1;\nfn f(x) with x end;\nmatch event of\n  case x = %{ present a } => x\n  case _ => total + f(total)\nend";
    assert_eq!(renamed, expected);
    let quoted = client.try_ask("rename", "a.tremor", (&text, at), json!({"newName": "two words"}));
    let quoted = quoted.expect("it can be done");
    assert!(
        applied(&text, &quoted["changes"][client.uri("a.tremor")])
            .starts_with("let `two words` = 1")
    );
    client.stop();
}

#[test]
fn rename_refuses_what_it_must() {
    let mut client = Client::start("refuse");
    for (text, name, words) in [
        ("use std::string;\nstring::l^en(\"a\")", "size", "built-in"),
        ("let ^x = 1; x", "match", "word of the language"),
        ("let ^x = 1; let y = 2; x + y", "y", "confused"),
        ("const A = 1; let ^x = 2; x + A", "A", "confused"),
        ("let ^x = 1; match event of case y = _ => x + y end", "y", "confused"),
        ("event.^a", "b", "field"),
        ("1 + ^1", "b", "no name"),
    ] {
        let (text, at) = marked(text);
        client.open("a.tremor", &text);
        let refused = client.try_ask("rename", "a.tremor", (&text, at), json!({"newName": name}));
        let reason = refused.expect_err(&text);
        assert!(reason.contains(words), "{text}: {reason}");
    }
    client.stop();
}

#[test]
fn rename_goes_through_all_files() {
    let mut client = Client::start("files");
    let module = "## Two.\nconst TWO = 2;\nfn f() with TWO end;\n";
    client.write("tools.tremor", module);
    client.write("b.tremor", "use tools as t;\nt::TWO");
    client.write("other.tremor", "const TWO = 3;\nTWO");
    client.write("c.tremor", "use tools;\ntools:: # why\n `TWO` + 1");
    let (text, at) = marked("use tools;\ntools::^TWO");
    client.open("a.tremor", &text);
    let edits = client
        .try_ask("rename", "a.tremor", (&text, at), json!({"newName": "PAIR"}))
        .expect("it can be done");
    let changes = edits["changes"].as_object().expect("a record");
    assert_eq!(changes.len(), 4, "{changes:?}");
    assert_eq!(
        applied(module, &changes[&client.uri("tools.tremor")]),
        module.replace("TWO", "PAIR")
    );
    assert_eq!(
        applied("use tools as t;\nt::TWO", &changes[&client.uri("b.tremor")]),
        "use tools as t;\nt::PAIR"
    );
    client.stop();
}

/// A text after edits that do not overlap.
fn applied(text: &str, edits: &Value) -> String {
    let mut edits: Vec<_> = edits.as_array().expect("a list of edits").clone();
    edits.sort_by_key(|edit| {
        let start = &edit["range"]["start"];
        (start["line"].as_u64(), start["character"].as_u64())
    });
    let mut text = text.to_string();
    for edit in edits.iter().rev() {
        let old = piece(&text, &edit["range"]);
        let start = old.as_ptr() as usize - text.as_ptr() as usize;
        let range = start..start + old.len();
        text.replace_range(range, edit["newText"].as_str().expect("a text"));
    }
    text
}

#[test]
fn formatting_is_that_of_the_command() {
    let mut client = Client::start("format");
    let text = "# why\nlet x=1 ;event # here\n";
    client.open("a.tremor", text);
    let edits = client.ask_all("formatting", "a.tremor").expect("it is answered");
    assert_eq!(applied(text, &edits), "# why\nlet x = 1;\nevent # here\n");
    client.open("b.tremor", "let = 1");
    let refused = client.ask_all("formatting", "b.tremor").expect_err("it has errors");
    assert!(refused.contains("errors"), "{refused}");
    client.stop();
}

#[test]
fn tokens_outline_and_folds() {
    let mut client = Client::start("shape");
    let text =
        "## Doc.\nfn f(a) with\n  let b = a;\n  \"x #{b}\"\nend;\nconst C = 1; # note\nf(C)\n";
    client.open("a.tremor", text);
    let answer = client.ask_all("semanticTokens/full", "a.tremor").expect("it is answered");
    let tokens = decoded(text, &answer["data"]);
    let is =
        |piece: &str, kind: u64| tokens.iter().any(|(text, one)| text == piece && *one == kind);
    assert!(is("fn", 0) && is("f", 8) && is("a", 6) && is("b", 5) && is("C", 5), "{tokens:?}");
    assert!(is("## Doc.", 1) && is("# note", 1) && is("\"x #{", 2) && is("1", 3), "{tokens:?}");
    let outline = client.ask_all("documentSymbol", "a.tremor").expect("it is answered");
    let names: Vec<_> =
        outline.as_array().expect("a list").iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["f", "C"]);
    let folds = client.ask_all("foldingRange", "a.tremor").expect("it is answered");
    assert_eq!((&folds[0]["startLine"], &folds[0]["endLine"]), (&json!(1), &json!(3)));
    let query = "define script s\nargs limit = 1\nscript event end;\ncreate script s";
    client.open("b.trickle", query);
    let outline = client.ask_all("documentSymbol", "b.trickle").expect("it is answered");
    assert_eq!(outline[0]["children"][0]["name"], "limit");
    client.stop();
}

/// Each token's text and type.
fn decoded(text: &str, data: &Value) -> Vec<(String, u64)> {
    let numbers: Vec<u64> = data
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one.as_u64().expect("a number"))
        .collect();
    let (mut line, mut column) = (0, 0);
    numbers
        .chunks(5)
        .map(|one| {
            if one[0] > 0 {
                (line, column) = (line + one[0], 0);
            }
            column += one[1];
            let place = |column: u64| json!({"line": line, "character": column});
            let range = json!({"start": place(column), "end": place(column + one[2])});
            (piece(text, &range).to_string(), one[3])
        })
        .collect()
}

#[test]
fn misspelt_names_have_a_fix() {
    let mut client = Client::start("fix");
    for (file, text, expected) in [
        (
            "a.tremor",
            "use std::string as s;\ns::uppercas(\"a\")",
            "use std::string as s;\ns::uppercase(\"a\")",
        ),
        (
            "a.tmb",
            "in |> dedpu by event.a within 1s |> out",
            "in |> dedup by event.a within 1s |> out",
        ),
    ] {
        client.open(file, text);
        let whole =
            json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
        let params = json!({"textDocument": {"uri": client.uri(file)}, "range": whole, "context": {"diagnostics": []}});
        let actions = client.request("textDocument/codeAction", params).expect("it is answered");
        let edits = &actions[0]["edit"]["changes"][client.uri(file)];
        assert_eq!(applied(text, edits), expected, "{actions}");
    }
    client.stop();
}

#[test]
fn what_is_not_known_is_refused_and_nothing_ends() {
    let mut client = Client::start("robust");
    client.request("textDocument/nonsense", json!({})).expect_err("it is not known");
    client.request("textDocument/hover", json!({"textDocument": 5})).expect_err("it is no place");
    client.notify("textDocument/didChange", json!({"nonsense": true}));
    assert_eq!(client.refused(b"{nope"), -32700);
    assert_eq!(client.refused(b"\xff"), -32700);
    assert_eq!(client.refused(b"[]"), -32600);
    let large = format!("let x = \"{}\";\nx", "a".repeat(3 << 20));
    client.open("large.tremor", &large);
    let found = client.problems("large.tremor");
    assert!(found[0]["message"].as_str().expect("a text").contains("larger than"), "{found:?}");
    client.request("shutdown", Value::Null).expect("it is answered");
    let late = client.request("textDocument/hover", json!({})).expect_err("it is over");
    assert!(late.contains("behind `shutdown`"), "{late}");
    client.leave();
}

const CONFIGURATION: &str = r#"input {
  file { path => "/var/log/a.log" codec => json { } }
}
filter {
  if [status] >= 400 {
    grok {
      match => { "message" => "%{IP:ip}" }
      tag_on_failure => ["bad"]
    }
  }
}
output { stdout { codec => rubydebug } }
"#;

#[test]
fn configurations_of_logstash_are_described() {
    let mut client = Client::start("logstash");
    client.open("logstash.conf", CONFIGURATION);
    let mut hover = |word: &str| {
        let at = CONFIGURATION.find(word).expect("it is there") + 1;
        let said = client.ask("hover", "logstash.conf", (CONFIGURATION, at));
        said["contents"]["value"].as_str().unwrap_or("nothing").to_string()
    };
    assert!(hover("grok {").starts_with("**grok**\n\nTakes fields out of text"), "the plugin");
    assert!(hover("tag_on_failure").contains("`tag_on_failure` (list): The tags"), "an option");
    assert!(hover("path =>").contains("`path` (list, required): Files"), "a required option");
    assert!(hover("filter {").contains("What happens to events"), "a section");
    assert!(hover("rubydebug").starts_with("**rubydebug**"), "a codec");
    assert_eq!(hover("\"message\""), "nothing");
    let outline = client.ask_all("documentSymbol", "logstash.conf").expect("there is an answer");
    let names = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.map(|one| one["name"].as_str().unwrap_or("").to_string()).collect()
    };
    assert_eq!(names(&outline), ["input", "filter", "output"]);
    assert_eq!(names(&outline[1]["children"]), ["if [status] >= 400"]);
    assert_eq!(names(&outline[1]["children"][0]["children"]), ["grok"]);
    assert_eq!(piece(CONFIGURATION, &outline[2]["selectionRange"]), "output");
    let folds = client.ask_all("foldingRange", "logstash.conf").expect("there is an answer");
    let first: Vec<_> =
        folds.as_array().into_iter().flatten().map(|one| &one["startLine"]).collect();
    assert_eq!(first, [0, 3, 4, 5]);
    client.stop();
}

#[test]
fn configurations_of_logstash_are_completed() {
    let mut client = Client::start("logstash-completion");
    let mut labels = |text: &str| client.labels("a.conf", text);
    assert_eq!(labels("^"), ["input", "filter", "output"]);
    let filters = labels("filter { mut^ }");
    assert!(filters.contains(&"mutate".to_string()) && !filters.contains(&"stdin".to_string()));
    assert!(labels("input { if [a] { ^").contains(&"beats".to_string()));
    let options = labels("filter { grok { ^ } }");
    assert!(options.contains(&"match".to_string()) && options.contains(&"add_tag".to_string()));
    assert!(!options.contains(&"singles".to_string()), "what is gone is not proposed");
    assert_eq!(labels("filter { grok { break_on_match => ^ } }"), ["true", "false"]);
    assert!(labels("input { stdin { codec => ^ } }").contains(&"multiline".to_string()));
    assert!(labels("input { stdin { codec => multiline { ^ } } }").contains(&"what".to_string()));
    let patterns = labels("filter { grok { match => { \"message\" => \"%{COMB^\" } } }");
    assert!(patterns.contains(&"COMBINEDAPACHELOG".to_string()));
    assert!(labels("filter { nonsense { ^ } }").is_empty());
    client.stop();
}

#[test]
fn functions_of_the_library_can_be_gone_to() {
    let mut client = Client::start("library");
    let text = "use std::string;\nstring::uppercase(event)";
    client.open("a.tremor", text);
    for (word, line) in
        [("uppercase", "# string::uppercase(text: string) -> string"), ("string;", "")]
    {
        let at = text.find(word).expect("it is there") + 1;
        let place = client.ask("definition", "a.tremor", (text, at));
        let uri = place["uri"].as_str().unwrap_or("none").to_string();
        assert!(uri.ends_with("/std/string.tremor"), "{word}: {place}");
        let page =
            std::fs::read_to_string(uri.trim_start_matches("file://")).expect("it is a file");
        let number = place["range"]["start"]["line"].as_u64().expect("a line") as usize;
        assert!(page.lines().nth(number).is_some_and(|one| one.starts_with(line)), "{page}");
    }
    client.stop();
}
