//! Every format, every way of saying from where and into what, and every way to fail.

use crate::event::Event;
use crate::operators::harness::{Harness, refusal};
use temblor_lang::value::{Arena, Value};

fn parse(settings: &[(&str, &str)], event: &str) -> String {
    let mut results = Harness::new("parse", settings).send(0, event);
    assert_eq!(results.len(), 1, "{results:?}");
    results.pop().unwrap()
}

#[test]
fn text_becomes_the_event() {
    assert_eq!(parse(&[("format", "json")], r#""{\"a\": [1]}""#), r#"out {"a":[1]}"#);
    assert_eq!(parse(&[("format", "json")], r#""7""#), "out 7");
}

#[test]
fn the_field_message_is_parsed_and_merged() {
    let event = r#"{"host":"h","message":"{\"a\":1,\"host\":\"i\"}"}"#;
    let merged = r#"out {"host":"i","message":"{\"a\":1,\"host\":\"i\"}","a":1}"#;
    assert_eq!(parse(&[("format", "json")], event), merged);
}

#[test]
fn text_comes_from_anywhere_and_goes_anywhere() {
    let from = ("from", "event.x[0]");
    let event = r#"{"x":["{\"a\":1}"]}"#;
    assert_eq!(parse(&[("format", "json"), from], event), r#"out {"x":["{\"a\":1}"],"a":1}"#);
    let into = [("format", "json"), from, ("into", "event.y.z")];
    assert_eq!(parse(&into, event), r#"out {"x":["{\"a\":1}"],"y":{"z":{"a":1}}}"#);
    let meta = [("format", "json"), from, ("into", "$m")];
    assert_eq!(parse(&meta, event), r#"out {"x":["{\"a\":1}"]} $ {"m":{"a":1}}"#);
    let fresh = [("format", "json"), ("into", "a.b")];
    assert_eq!(parse(&fresh, r#""1""#), r#"out {"a":{"b":1}}"#);
    let whole = [("format", "json"), from, ("into", "event")];
    assert_eq!(parse(&whole, event), r#"out {"a":1}"#);
}

#[test]
fn what_does_not_parse_is_told_with_reason_and_place() {
    let json = parse(&[("format", "json")], r#""{\"a\" 1}""#);
    assert!(
        json.starts_with(r#"else {"error":""#) && json.ends_with(r#""event":"{\"a\" 1}"}"#),
        "{json}"
    );
    let dissect = [("format", "dissect"), ("pattern", r#""%{a}: %{b}""#), ("from", "event.m")];
    let told = parse(&dissect, r#"{"m":"x y","n":1}"#);
    assert!(told.contains(r#""at":"#) && told.ends_with(r#""event":{"m":"x y","n":1}}"#), "{told}");
}

#[test]
fn what_is_no_text_is_told() {
    let json = [("format", "json")];
    assert!(parse(&json, "7").contains("expected text, found integer"));
    assert!(parse(&json, "[]").contains("expected text, found array"));
    assert!(parse(&json, r#"{"a":1}"#).contains("no field `message`"));
    assert!(parse(&json, r#"{"message":null}"#).contains("found null"));
    assert!(
        parse(&[("format", "json"), ("from", "event.no")], "{}").starts_with("else {\"error\"")
    );
    let into = [("format", "json"), ("from", "event.a"), ("into", "event.a.b")];
    assert!(parse(&into, r#"{"a":"1"}"#).contains("cannot be set in a value of kind string"));
    assert!(
        parse(&[("format", "json"), ("from", "event.a")], r#"{"a":"[1]"}"#).contains("kind array")
    );
}

#[test]
fn bytes_are_text_if_they_are_utf8() {
    let arena = Arena::new();
    let mut parse = Harness::new("parse", &[("format", "json")]);
    let good = Event::new(Value::Bytes(b"[1]"), Value::Null, 0);
    assert_eq!(parse.send_value(&arena, good), ["out [1]"]);
    let bad = Event::new(Value::Bytes(b"[\xff]"), Value::Null, 0);
    assert!(parse.send_value(&arena, bad)[0].contains(r#""at":1"#));
}

#[test]
fn grok_reads_a_web_log() {
    let grok = [("format", "grok"), ("pattern", r#""%{COMBINEDAPACHELOG}""#)];
    let line =
        r#""1.2.3.4 - u [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"""#;
    let parsed = parse(&grok, line);
    for field in [r#""clientip":"1.2.3.4""#, r#""response":"200""#, r#""verb":"GET""#] {
        assert!(parsed.starts_with("out {") && parsed.contains(field), "{parsed}");
    }
    let failed = parse(&grok, r#""1.2.3.4 - - nonsense""#);
    assert!(failed.starts_with("else ") && failed.contains(r#""at":"#), "{failed}");
    assert!(failed.contains("expected `"), "{failed}");
}

#[test]
fn grok_shapes_its_captures() {
    let grok = |pattern: &str, text: &str| parse(&[("format", "grok"), ("pattern", pattern)], text);
    let typed = grok(r#""%{NUMBER:i:int} %{NUMBER:f:float} %{WORD:w}""#, r#""12 2.5 z""#);
    assert_eq!(typed, r#"out {"i":12,"f":2.5,"w":"z"}"#);
    assert_eq!(grok(r#""%{NUMBER:i:int}""#, r#""1.9""#), r#"out {"i":1}"#);
    let large = grok(r#""%{NUMBER:i:int}""#, r#""18446744073709551615""#);
    assert_eq!(large, r#"out {"i":18446744073709551615}"#);
    let nested = grok(r#""%{WORD:[a][b]} %{WORD:[a][c]}""#, r#""x y""#);
    assert_eq!(nested, r#"out {"a":{"b":"x","c":"y"}}"#);
    let repeated = grok(r#""%{WORD:a} %{WORD:b} %{WORD:a}""#, r#""x y z""#);
    assert_eq!(repeated, r#"out {"a":["x","z"],"b":"y"}"#);
    assert_eq!(grok(r#""(%{INT:n})?%{WORD:w}""#, r#""abc""#), r#"out {"w":"abc"}"#);
    assert_eq!(grok(r#""%{DATA:d};%{WORD:w}""#, r#"";abc""#), r#"out {"w":"abc"}"#);
}

#[test]
fn grok_takes_settings() {
    let with = |more: &[(&str, &str)], text: &str| {
        let mut settings = vec![("format", "grok")];
        settings.extend_from_slice(more);
        parse(&settings, text)
    };
    let own = [("pattern", r#""%{HEX:h}""#), ("patterns", r#"{"HEX": "[a-f]+"}"#)];
    assert_eq!(with(&own, r#""xxabcx""#), r#"out {"h":"abc"}"#);
    let whole = [("pattern", r#""%{WORD:w}""#), ("anchor", "whole")];
    assert!(with(&whole, r#""a b""#).starts_with("else "));
    let several = [("pattern", r#"["%{INT:i:int}$", "%{WORD:w}"]"#)];
    assert_eq!(with(&several, r#""12""#), r#"out {"i":12}"#);
    assert_eq!(with(&several, r#""ab""#), r#"out {"w":"ab"}"#);
    let empty = [("pattern", r#""%{DATA:d};""#), ("keep_empty", "true")];
    assert_eq!(with(&empty, r#"";""#), r#"out {"d":""}"#);
    let ecs = [("pattern", r#""%{COMMONAPACHELOG}""#), ("library", "ecs")];
    let line = r#""1.2.3.4 - u [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 5""#;
    let parsed = with(&ecs, line);
    assert!(parsed.contains(r#""source":{"address":"1.2.3.4"}"#), "{parsed}");
}

#[test]
fn the_other_formats_parse() {
    let with = |format: &str, pattern: &str, text: &str| {
        parse(&[("format", format), ("pattern", pattern)], text)
    };
    assert_eq!(with("dissect", r#""%{a} %{b:int}""#, r#""x 5""#), r#"out {"a":"x","b":5}"#);
    assert_eq!(with("regex", r#""(?P<a>\\d+)""#, r#""x 5""#), r#"out {"a":"5"}"#);
    assert_eq!(with("kv", r#""%{key}:%{val};""#, r#""a:1;b:2""#), r#"out {"a":"1","b":"2"}"#);
    let plain = |format: &str, text: &str| parse(&[("format", format)], text);
    assert_eq!(plain("kv", r#""a=1 b=2""#), r#"out {"a":"1","b":"2"}"#);
    assert_eq!(plain("kv", r#""a='x y' b=[2 3]""#), r#"out {"a":"x y","b":"2 3"}"#);
    let kv = [("format", "kv"), ("field_split", "\"&\""), ("prefix", "\"q_\"")];
    assert_eq!(parse(&kv, r#""a=1&b=2""#), r#"out {"q_a":"1","q_b":"2"}"#);
    assert_eq!(plain("csv", r#""a,\"b,c\",d""#), r#"out ["a","b,c","d"]"#);
    assert_eq!(plain("logfmt", r#""a=1 b=\"x y\"""#), r#"out {"a":"1","b":"x y"}"#);
    let cef = plain("cef", r#""CEF:0|v|p|1|id|n|5|src=1.2.3.4""#);
    assert!(cef.starts_with("out {") && cef.contains(r#""src":"1.2.3.4""#), "{cef}");
    let leef = plain("leef", r#""LEEF:1.0|v|p|1|id|src=1.2.3.4""#);
    assert!(leef.starts_with("out {") && leef.contains("1.2.3.4"), "{leef}");
    let syslog = plain("syslog", r#""<34>1 2003-10-11T22:14:15.003Z h app 1 ID - hello""#);
    assert!(syslog.starts_with("out {") && syslog.contains(r#""hostname":"h""#), "{syslog}");
    assert!(plain("syslog", r#""<999>no""#).starts_with("else "));
    assert!(parse(&[("format", "syslog"), ("strict", "false")], r#""no""#).starts_with("out "));
    let influx = plain("influx", r#""m,t=1 v=2i 9""#);
    assert!(influx.contains(r#""measurement":"m""#), "{influx}");
    assert!(plain("influx", r##""# comment""##).starts_with("else "));
}

#[test]
fn csv_has_columns_and_types() {
    let csv = [
        ("format", "csv"),
        ("columns", r#"["a", "b", "c"]"#),
        ("types", r#"{"b": "int"}"#),
        ("separator", "\";\""),
    ];
    assert_eq!(parse(&csv, r#""x;7;y""#), r#"out {"a":"x","b":7,"c":"y"}"#);
    let mut strict = csv.to_vec();
    strict.push(("strict", "true"));
    assert!(parse(&strict, r#""x;seven;y""#).starts_with("else "));
}

#[test]
fn wrong_settings_are_refused() {
    let refused = |more: &[(&str, &str)]| refusal("parse", more);
    assert!(refused(&[("format", "jsn")]).contains("one of json, "));
    assert!(refused(&[("format", "grok")]).contains("needs a pattern"));
    assert!(refused(&[("format", "grok"), ("pattern", "[]")]).contains("needs a pattern"));
    assert!(refused(&[("format", "grok"), ("pattern", "\"%{NOPE:a}\"")]).contains("NOPE"));
    let both = [("format", "grok"), ("pattern", "\"%{WORD:a} %{WORD:[a][b]}\"")];
    assert!(refused(&both).contains("both a value and a record"));
    assert!(refused(&[("format", "regex"), ("pattern", "\"(\"")]).len() > 10);
    assert!(refused(&[("format", "json"), ("pattern", "\"x\"")]).contains("means nothing"));
    assert!(refused(&[("format", "json"), ("into", "a[0]")]).contains("not a place"));
    let types = [("format", "csv"), ("columns", "[\"a\"]"), ("types", "{\"a\": \"date\"}")];
    assert!(refused(&types).contains("unknown type"));
    assert!(refused(&[("format", "csv"), ("separator", "\"ab\"")]).contains("one ASCII"));
}
