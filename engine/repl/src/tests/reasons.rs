//! Why: operands, arms, patterns, and the steps of a pipeline.

use super::{session, shows};

#[test]
fn arms_are_explained() {
    let mut session = session(&[r#"{"a": 1, "b": null}"#]);
    let reply = session.enter(
        ":explain match event of case %{ a == 2 } => 1 case %{ present c } => 2 case %{ present b } => 3 \
         case _ => 4 end",
    );
    assert_eq!(
        reply.text,
        "match event = {\"a\":1,\"b\":null}\n  case %{ a == 2 }: does not match\n    \
         a == 2: does not hold; a is 1\n  case %{ present c }: does not match\n    \
         present c: does not hold; c is missing\n  case %{ present b }: taken\n  case _: not tried\n"
    );
    shows(
        &mut session,
        &[":explain event.a == 1 and event.b == false"],
        "event.a == 1 and event.b == false = false\n  event.a == 1 = true\n    event.a = 1\n  \
         event.b == false = false\n    event.b = null\n",
    );
}

#[test]
fn patterns_are_explained() {
    let mut session = session(&["10.0.0.1 GET x"]);
    let reply = session.enter(":explain grok \"%{IP:ip} %{WORD:verb} %{NUMBER:n}\"");
    assert!(reply.text.contains("stopped at: %{NUMBER:n}"), "{}", reply.text);
    assert!(reply.text.contains("rest: x"), "{}", reply.text);
    let reply = session.enter(":explain grok \"%{IP:ip}\" event");
    assert_eq!(reply.text, "matches\n  10.0.0.1 GET x\n  aaaaaaaa\n  a ip = 10.0.0.1\n");
    let reply = session.enter(":explain dissect \"%{ip} %{verb}: %{n}\"");
    assert_eq!(
        reply.text,
        "does not match\n  10.0.0.1 GET x\n  aaaaaaaa ^\n  a ip = 10.0.0.1\n  matched: 10.0.0.1 \n  \
         stopped at: %{verb}: \n  rest: GET x\n"
    );
    let reply = session.enter(":explain regex r\"(?P<verb>[A-Z]+) \\d\"");
    assert_eq!(
        reply.text,
        "does not match\n  10.0.0.1 GET x\n           aaa ^\n  a verb = GET\n  matched: GET \n  \
         stopped at: \\d\n  rest: x\n"
    );
}

#[test]
fn arms_tell_how_far_their_patterns_got() {
    let mut session = session(&["10.0.0.1 GET x"]);
    let reply = session.enter(
        ":explain match event of case ~ re|^\\\\d+x| => 1 case ~ dissect|%{a} %{b}| => 2 end",
    );
    assert!(reply.text.contains("stopped at: x"), "{}", reply.text);
    assert!(reply.text.contains("case ~ dissect|%{a} %{b}|: taken"), "{}", reply.text);
}

#[test]
fn missing_null_and_false_are_told_apart() {
    let mut session = session(&[r#"{"n": null, "f": false}"#]);
    shows(
        &mut session,
        &[":explain event.n == event.f"],
        "event.n == event.f = false\n  event.n = null\n  event.f = false\n",
    );
    let reply = session.enter(":explain present event.m or event.m == 1");
    assert!(reply.text.contains("event.m = missing"), "{}", reply.text);
}

#[test]
fn conditions_are_explained() {
    let mut session = session(&[r#"{"a": 1}"#]);
    shows(
        &mut session,
        &[":explain if event.a > 1 then 1 else 2 end"],
        "if event.a > 1 then 1 else 2 end = 2\n  event.a > 1 = false\n    event.a = 1\n",
    );
}

#[test]
fn pipelines_say_why() {
    let mut session = session(&[r#"{"message": "10.0.0.1 GET", "a": 1}"#]);
    session.enter("where event.a > 1 |> set event.b = 2");
    shows(
        &mut session,
        &[":explain"],
        "1. where event.a > 1\n  event.a > 1 = false\n    event.a = 1\n  dropped\n",
    );
    session.enter("parse grok \"%{IP:ip} %{INT:n}\"");
    let reply = session.enter(":explain");
    assert!(reply.text.contains("stopped at: %{INT:n}"), "{}", reply.text);
}

#[test]
fn patterns_are_suggested() {
    let mut session = session(&["GET /a 12", "PUT /b 7"]);
    let reply = session.enter(":suggest");
    assert!(
        reply
            .text
            .contains("parse dissect \"%{word} %{path} %{number:int}\"\n  matches 2 of 2 lines\n"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("parse grok \"%{WORD:word} %{UNIXPATH:path} %{INT:number:int}\"\n  matches 2 of 2 lines\n"), "{}", reply.text);
    let step = reply.text.lines().next().expect("a proposal").to_string();
    assert!(!session.enter(&step).failed, "{step}");
}
