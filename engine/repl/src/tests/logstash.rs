//! Logstash configurations on the bench.

use super::{Session, shows};
use std::path::PathBuf;
use temblor_lang::diagnostic::Colour;
use temblor_logstash::configuration::Wishes;

const CONFIGURATION: &str = r#"input { beats { port => 5044 } }
filter {
  grok { match => { "message" => "%{WORD:verb} %{INT:status:int}" } }
  if [status] >= 400 {
    mutate { add_tag => ["bad"] add_field => { "[@metadata][index]" => "errors" } }
  } else if "_grokparsefailure" in [tags] {
    drop { }
  }
  if [user] { uuid { target => "id" } }
}
output { elasticsearch { } }
"#;

/// A session with the configuration in a file of the test's own, and samples.
fn session(test: &str) -> (Session, PathBuf) {
    let name = format!("temblor-{test}-{}.conf", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, CONFIGURATION).expect("the file can be written");
    let mut session = Session::new(Vec::new(), Colour::Off);
    session.enter(":sample GET 200");
    session.enter(":sample PUT 404");
    session.enter(":goto 1");
    session.enter(":mode changes");
    (session, file)
}

#[test]
fn filters_are_steps() {
    let (mut session, file) = session("steps");
    let reply = session.load_configuration(&file, Wishes::default());
    assert!(reply.text.contains("2 samples\n2  out  (1, 2)\n"), "{}", reply.text);
    shows(
        &mut session,
        &[":goto 2", ":steps"],
        "line 3  grok { match => { \"message\" => \"%{WORD:verb} %{INT:status:in…\n\
         + event.verb: \"PUT\"\n+ event.status: 404\n\
         line 4  [status] >= 400: true\n\
         line 5  mutate { add_tag => [\"bad\"] add_field => { \"[@metadata][inde…\n\
         + event.tags: [\"bad\"]\n+ event.@metadata: {\"index\":\"errors\"}\n\
         line 9  [user]: false\n",
    );
    shows(
        &mut session,
        &[":coverage"],
        "2 of 4 filters reached\nnot reached: line 7  drop { }\n\
         not reached: line 9  uuid { target => \"id\" }\n",
    );
    std::fs::remove_file(&file).expect("the file is there");
}

#[test]
fn conditions_and_patterns_are_explained() {
    let (mut session, file) = session("why");
    let reply = session.enter(&format!(":load {}", file.display()));
    assert!(!reply.failed, "{}", reply.text);
    session.enter(":sample oops: none");
    let why = session.enter(":explain").text;
    for part in [
        "  %{WORD:verb} %{INT:status:int}\n    does not match\n      oops: none\n",
        "      stopped at: ",
        "+ event.tags: [\"_grokparsefailure\"]\n",
        "line 4  [status] >= 400: `[status]` (missing) and `400` have no order\n  [status] is missing\n",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    std::fs::remove_file(&file).expect("the file is there");
}

#[test]
fn a_configuration_is_compared_and_saved_as_a_test() {
    let (mut session, file) = session("compare");
    session.load_configuration(&file, Wishes::default());
    std::fs::write(&file, CONFIGURATION.replace("bad", "worse")).expect("it can be written");
    let reply = session.enter(&format!(":load {}", file.display()));
    assert!(!reply.failed, "{}", reply.text);
    let difference =
        "2 samples: 1 the same, 1 not\nsample 2\n~ event.tags: [\"bad\"] -> [\"worse\"]\n";
    shows(&mut session, &[":compare"], difference);
    let tests = file.with_extension("txt");
    let saved = session.enter(&format!(":save test of a configuration {}", tests.display()));
    assert!(!saved.failed, "{}", saved.text);
    let text = std::fs::read_to_string(&tests).expect("the test was written");
    assert!(text.starts_with("=== logstash: of a configuration\ninput {"), "{text}");
    assert!(text.contains("--- codec string\n--- in\nGET 200\n"), "{text}");
    std::fs::remove_file(&tests).expect("the file is there");
    std::fs::remove_file(&file).expect("the file is there");
}

#[test]
fn what_is_wrong_with_a_configuration_is_told() {
    let mut session = Session::new(Vec::new(), Colour::Off);
    let missing = session.load_configuration("no-such.conf".as_ref(), Wishes::default());
    assert!(missing.failed && missing.text.contains("no-such.conf"), "{}", missing.text);
    let file = std::env::temp_dir().join(format!("temblor-wrong-{}.conf", std::process::id()));
    std::fs::write(&file, "filter { mutatte { } }").expect("it can be written");
    let wrong = session.load_configuration(&file, Wishes::default());
    assert!(wrong.failed && wrong.text.contains("did you mean `mutate`"), "{}", wrong.text);
    std::fs::remove_file(&file).expect("the file is there");
}

#[test]
fn what_filters_remember_is_read_and_changed() {
    let file = std::env::temp_dir().join(format!("temblor-kept-{}.conf", std::process::id()));
    let configuration = r#"filter {
      grok { match => { "message" => "%{WORD:id} %{WORD:what} %{INT:ms:int}" } }
      aggregate { task_id => "%{id}" code => "map['sum'] ||= 0; map['sum'] += event.get('ms')
        event.set('sum', map['sum'])" }
      throttle { key => "%{id}" after_count => 1 period => 60 add_tag => "throttled" }
      metrics { meter => "events.%{what}" }
      if [what] == "start" { mutate { add_tag => "start" } }
      elapsed { start_tag => "start" end_tag => "end" unique_id_field => "id" }
    }"#;
    std::fs::write(&file, configuration).expect("it can be written");
    let mut session = Session::new(Vec::new(), Colour::Off);
    session.enter(":sample a start 1");
    session.enter(":sample b start 2");
    session.enter(":mode json");
    let loaded = session.load_configuration(&file, Wishes::default());
    assert!(!loaded.failed, "{}", loaded.text);
    let state = session.enter(":state").text;
    for row in [
        "  [\"aggregate\",\"a\"] map={\"sum\":1} created_ns=1 last_ns=1 timeout=null",
        "  [\"elapsed\",\"b\"] start_ns=2 seen_ns=2\n",
        "  [\"metrics meter\",\"events.start\"] count=2 fresh=2",
        "  [\"throttle\",\"a\"] origin=0 latest=0 counts=[0,1]\n",
    ] {
        assert!(state.contains(row), "{row} in {state}");
    }
    let set = session.enter(":state main set [\"aggregate\", \"b\"] = {\"map\": {\"sum\": 40}}");
    assert!(set.text.contains("[\"aggregate\",\"b\"] map={\"sum\":40}"), "{}", set.text);
    let forgotten = session.enter(":state main forget [\"throttle\", \"b\"]").text;
    assert!(!forgotten.contains("[\"throttle\",\"b\"]"), "{forgotten}");
    session.enter(":goto 2");
    let sent = session.enter(":send").text;
    assert!(sent.contains("\"sum\":42") && !sent.contains("throttled"), "{sent}");
    for (entry, reason) in [
        (":state main set [\"aggregate\", \"b\"] = {\"mop\": 1}", "there is no column `mop`"),
        (":state main set [\"elapsed\", \"b\"] = {\"start_ns\": \"x\"}", "not of the kinds"),
        (":state main set [\"elapsed\", \"q\"] = {\"start_ns\": 1}", "a key that was seen"),
        (":state main forget [\"elapsed\", \"q\"]", "does not know [\"elapsed\",\"q\"]"),
    ] {
        let reply = session.enter(entry);
        assert!(reply.failed && reply.text.contains(reason), "{entry}: {}", reply.text);
    }
    std::fs::remove_file(&file).expect("the file is there");
}
