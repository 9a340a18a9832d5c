//! Cases of [`Dissect`]: results, patterns that are refused, and where failures point.

use super::*;
use temblor_lang::value::to_json;

fn run(pattern: &str, text: &str) -> Option<String> {
    let pattern = Dissect::compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let arena = Arena::new();
    let found = pattern.parse(text, &arena).ok().map(to_json);
    assert_eq!(found.is_some(), pattern.matches(text), "both modes agree on {text:?}");
    found
}

#[test]
fn cuts_text() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("", "", Some("{}")),
        ("", "x", None),
        ("abc", "abc", Some("{}")),
        ("abc", "abcd", None),
        ("%{a}", "", Some(r#"{"a":""}"#)),
        ("%{a} %{b}", "x y z", Some(r#"{"a":"x","b":"y z"}"#)),
        ("%{a} %{b}", "x", None),
        ("%{a},%{b}", ",x", Some(r#"{"a":"","b":"x"}"#)),
        ("[%{a}]", "[x]", Some(r#"{"a":"x"}"#)),
        ("[%{a}]", "[x] ", None),
        ("%{a}: %{}, %{b}", "k: skipped, v", Some(r#"{"a":"k","b":"v"}"#)),
        ("%{a->}|%{.x y}", "1|2", Some(r#"{"a->":"1",".x y":"2"}"#)),
        (r"%{a}\t%{b}\\%{c}", "1\t2\\3", Some(r#"{"a":"1","b":"2","c":"3"}"#)),
        ("%{a} %{a}", "1 2", Some(r#"{"a":"2"}"#)),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(run(pattern, text).as_deref(), *expected, "{pattern} on {text:?}");
    }
}

#[test]
fn converts() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("%{n:int}", "-12", Some(r#"{"n":-12}"#)),
        ("%{n:int}", "+12", Some(r#"{"n":12}"#)),
        ("%{n:int}", "12.5", None),
        ("%{n:int}", "9223372036854775808", None),
        ("%{n:float}", "12", Some(r#"{"n":12.0}"#)),
        ("%{n:float}", "1e3", Some(r#"{"n":1000.0}"#)),
        ("%{n:float}", "x", None),
        ("%{n:string}", "12", Some(r#"{"n":"12"}"#)),
        ("%{?k:int}", "x", Some("{}")),
        ("%{+a:int}", "x", Some(r#"{"a:int":"x"}"#)),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(run(pattern, text).as_deref(), *expected, "{pattern} on {text:?}");
    }
}

#[test]
fn pads_names_and_appends() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("%{a}%{_}%{b}", "x    y", Some(r#"{"a":"x","b":"y"}"#)),
        ("%{a}%{_(-)}%{b}", "x---y", Some(r#"{"a":"x","b":"y"}"#)),
        ("%{a}%{_}", "x", Some(r#"{"a":"x"}"#)),
        ("%{a}%{_}", "x  ", Some(r#"{"a":"x"}"#)),
        ("%{a}%{_}|%{b}", "x|y", Some(r#"{"a":"x","b":"y"}"#)),
        ("%{a}%{_}|%{b}", "x  |y", Some(r#"{"a":"x","b":"y"}"#)),
        ("%{a}%{_}%{b}", "x", None),
        ("%{?k}=%{&k}", "unit=db", Some(r#"{"unit":"db"}"#)),
        ("%{?k}=%{&k:int}", "n=5", Some(r#"{"n":5}"#)),
        ("%{?k}=%{&k}", "=db", None),
        ("%{&k}=%{?k}", "a=b", None),
        ("%{?k} %{&k} %{&k}", "a b c", None),
        ("%{?k} %{a} %{&k}", "a b c", Some(r#"{"a":"c"}"#)),
        ("%{a} %{+a}", "x y", Some(r#"{"a":"x y"}"#)),
        ("%{+a} %{+a}", "x y", Some(r#"{"a":"x y"}"#)),
        ("%{a}%{_(, )}%{+a}", "x, y", Some(r#"{"a":"x, y"}"#)),
        ("%{a:int} %{b} %{+a}", "1 y z", Some(r#"{"b":"y"}"#)),
        ("%{a} %{b:int} %{?c}-%{&c} %{+a}", "u 12 k-v w", Some(r#"{"a":"u w","b":12,"k":"v"}"#)),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(run(pattern, text).as_deref(), *expected, "{pattern} on {text:?}");
    }
}

#[test]
fn refuses_bad_patterns() {
    for (pattern, reason) in [
        ("%{a}%{b}", "without a delimiter"),
        ("%{a", "no closing"),
        ("%{a %{b}", "no closing"),
        ("%{a}%{_} %{b}", "begins with it"),
        ("%{_()}", "neither"),
        ("%{_x}", "neither"),
        ("%{a:number}", "unknown type 'number'"),
        ("%{a:b:int}", "unknown type"),
        ("%{a:}", "unknown type"),
        (r"%{a}\d", "no escape"),
        (r"%{a}\", "lone backslash"),
    ] {
        let error = Dissect::compile(pattern).expect_err(pattern);
        assert!(error.contains(reason), "{pattern}: {error}");
    }
    let huge = "%{a} ".repeat(5000);
    assert!(Dissect::compile(&huge).is_err_and(|error| error.contains("4096")));
}

#[test]
fn failures_point_at_the_place() {
    let arena = Arena::new();
    let fail = |pattern: &str, text: &str| {
        let pattern = Dissect::compile(pattern).expect("a good pattern");
        pattern.parse(text, &arena).expect_err("no match").to_string()
    };
    assert_eq!(
        fail("%{a}: %{b} %{c}", "warn: disk"),
        r#"expected a field that ends in " " at byte 6, found "disk""#
    );
    assert_eq!(fail("%{a} %{n:int}", "x y"), r#"expected an integer at byte 2, found "y""#);
    assert_eq!(fail("[%{a}]", "x"), r#"expected the text "[" at byte 0, found "x""#);
    assert_eq!(fail("%{a}.", "x.y"), r#"expected the end of the text at byte 2, found "y""#);
}

#[test]
fn many_fields_keep_their_order_and_names() {
    let pattern: Vec<String> = (0..50).map(|n| format!("%{{field_{n}}}")).collect();
    let text: Vec<String> = (0..50).map(|n| format!("value {n}")).collect();
    let arena = Arena::new();
    let pattern = Dissect::compile(&pattern.join("|")).expect("a good pattern");
    let text = text.join("|");
    let value = pattern.parse(&text, &arena).expect("a match");
    let record = value.as_record(&arena).expect("a record");
    assert_eq!(record.len(), 50);
    assert_eq!(record.get("field_49").and_then(Value::as_str), Some("value 49"));
}
