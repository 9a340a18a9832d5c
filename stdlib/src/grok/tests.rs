//! Behaviour of grok patterns as a whole.
//!
//! Invariant: expected values are written out or come from another engine, never from this one.

use super::error::GrokErrorKind;
use super::{Anchor, Captures, Conversion, Grok, Library, Options};

fn fields(pattern: &str, text: &str) -> Option<Vec<(String, String)>> {
    fields_with(pattern, text, &Library::legacy(), &Options::default())
}

fn fields_with(
    pattern: &str,
    text: &str,
    library: &Library,
    options: &Options,
) -> Option<Vec<(String, String)>> {
    let grok = Grok::compile(pattern, library, options).unwrap();
    let mut captures = Captures::new();
    grok.matches(text, &mut captures).then(|| {
        let found = grok.fields().iter().filter_map(|field| {
            captures.get(field.group, text).map(|value| (field.name.clone(), value.to_string()))
        });
        found.collect()
    })
}

fn pairs(expected: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    Some(expected.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
}

#[test]
fn every_shipped_pattern_compiles() {
    for library in [Library::legacy(), Library::ecs()] {
        assert!(library.names().len() >= 317);
        for name in library.names() {
            let compiled = Grok::compile(&format!("%{{{name}}}"), &library, &Options::default());
            assert!(compiled.is_ok(), "{name}: {}", compiled.unwrap_err());
        }
    }
}

#[test]
fn fields_and_their_forms() {
    assert_eq!(
        fields("%{IP:client} %{WORD:[http][verb]} %{NUMBER:ms:int}", "x 10.0.0.1 GET 12 y"),
        pairs(&[("client", "10.0.0.1"), ("[http][verb]", "GET"), ("ms", "12")])
    );
    assert_eq!(fields("(?<a>x+)(?P<b>y)", "xxy"), pairs(&[("a", "xx"), ("b", "y")]));
    assert_eq!(fields("%{ID:id=[a-f]{2}}!", "zabef!"), pairs(&[("id", "ef")]));
    assert_eq!(fields("%{WORD:a} %{WORD:a}", "x y"), pairs(&[("a", "x"), ("a", "y")]));
    assert_eq!(fields("%{WORD:a}( %{WORD:b})?$", "x"), pairs(&[("a", "x")]));
    assert_eq!(fields("100%{} %{WORD:a}", "100%{} b"), pairs(&[("a", "b")]));
}

#[test]
fn types_are_reported() {
    let grok = Grok::compile(
        "%{INT:a:int} %{INT:b:float} %{INT:c}",
        &Library::legacy(),
        &Options::default(),
    )
    .unwrap();
    let kinds: Vec<_> = grok.fields().iter().map(|field| field.conversion).collect();
    assert_eq!(kinds, [Conversion::Integer, Conversion::Float, Conversion::Text]);
    assert_eq!(grok.fields()[0].type_word.as_deref(), Some("int"));
}

#[test]
fn anchors_and_flags() {
    let library = Library::legacy();
    let whole = Options { anchor: Anchor::Whole, ..Options::default() };
    assert_eq!(fields_with("%{INT:a}", "x1", &library, &whole), None);
    assert_eq!(fields_with("%{DATA:a}", "x1", &library, &whole), pairs(&[("a", "x1")]));
    let all = Options { named_captures_only: false, ..Options::default() };
    assert_eq!(
        fields_with("%{INT}", "x1", &library, &all),
        pairs(&[("INT", "1"), ("BASE10NUM", "1")][..1])
    );
    let mut dotall = Options::default();
    dotall.syntax.dot_matches_newline = true;
    assert_eq!(fields_with("%{GREEDYDATA:a}", "x\ny", &library, &dotall), pairs(&[("a", "x\ny")]));
    assert_eq!(fields("%{GREEDYDATA:a}", "x\ny"), pairs(&[("a", "x")]));
    assert_eq!(fields("^%{WORD:a}$", "x y\nz"), pairs(&[("a", "z")]));
}

#[test]
fn own_definitions() {
    let library = Library::legacy()
        .with_definitions([("POSTFIX_ID", "[0-9A-F]{10}")])
        .with_pattern_file("# own\n\nPAIR %{WORD:k}=%{WORD:v}\n")
        .unwrap();
    let found =
        fields_with("%{POSTFIX_ID:q}: %{PAIR}", "BEF25A7296: a=b", &library, &Options::default());
    assert_eq!(found, pairs(&[("q", "BEF25A7296"), ("k", "a"), ("v", "b")]));
    assert!(Library::empty().with_pattern_file("A x\nB\n").is_err());
}

#[test]
fn refusals() {
    let library = Library::legacy().with_definitions([("A", "%{B}"), ("B", "x%{A}"), ("C", "(")]);
    let refuse = |pattern: &str| Grok::compile(pattern, &library, &Options::default()).unwrap_err();
    let unknown = refuse("ab %{NUMBR:x}");
    assert_eq!(unknown.offset, 3);
    assert_eq!(
        unknown.kind,
        GrokErrorKind::UnknownPattern { name: "NUMBR".into(), nearest: Some("NUMBER".into()) }
    );
    let recursion = refuse("%{A}");
    assert!(matches!(recursion.kind, GrokErrorKind::Recursion { .. }), "{recursion}");
    assert_eq!(recursion.path, ["A", "B"]);
    assert!(matches!(refuse("%{C}").kind, GrokErrorKind::Syntax { .. }));
    let mut bomb = vec![("X0".to_string(), "a".to_string())];
    for level in 1..20 {
        bomb.push((format!("X{level}"), format!("%{{X{0}}}%{{X{0}}}", level - 1)));
    }
    let bomb = Library::empty().with_definitions(bomb);
    let error = Grok::compile("%{X19}", &bomb, &Options::default()).unwrap_err();
    assert!(matches!(error.kind, GrokErrorKind::TooLarge { .. }), "{error}");
}

/// What was parsed for an earlier pattern counts against the limits as if it were parsed again.
#[test]
fn refusals_do_not_depend_on_earlier_patterns() {
    let doubling = |level| (format!("X{level}"), format!("(%{{X{0}}}%{{X{0}}})", level - 1));
    let nesting = |level| (format!("D{level}"), format!("{}%{{D{}}})", "(".repeat(3), level - 1));
    let chain = |level| (format!("C{level}"), format!("%{{C{}}}", level - 1));
    let ends = ["X", "D", "C"].map(|name| (format!("{name}0"), "a".to_string()));
    let bad = [("BAD".to_string(), "(".to_string()), ("OUTER".to_string(), "b%{BAD}".to_string())];
    let own = (1..70).flat_map(|level| [doubling(level), nesting(level), chain(level)]);
    let fresh =
        || Library::empty().with_definitions(own.clone().chain(ends.clone()).chain(bad.clone()));
    let used = fresh();
    let options = Options::default();
    let mut refused = 0;
    for pattern in (1..70).flat_map(|n| ["X", "D", "C"].map(|name| format!("%{{{name}{n}}}"))) {
        let first = Grok::compile(&pattern, &fresh(), &options);
        let later = Grok::compile(&pattern, &used, &options);
        refused += usize::from(first.is_err());
        assert_eq!(first.err(), later.err(), "{pattern}");
    }
    assert!((70..200).contains(&refused), "{refused}");
    for pattern in ["%{OUTER}", "%{C1:x} %{OUTER}", "%{OUTER}", "%{C2=%{C3}}", "%{C3=%{C1} %{C3}}"]
    {
        let first = Grok::compile(pattern, &fresh(), &options).unwrap_err();
        assert_eq!(first, Grok::compile(pattern, &used, &options).unwrap_err(), "{pattern}");
    }
}

#[test]
fn own_definitions_reach_into_shipped_ones() {
    let options = Options::default();
    let text = "user=bob";
    for (own, expected) in [(None, "user"), (Some("[^=]+=[a-z]+"), "user=bob"), (None, "user")] {
        let own = own.map(|text| ("USERNAME", text));
        let library = Library::legacy().with_definitions(own);
        assert_eq!(fields_with("%{USER:u}", text, &library, &options), pairs(&[("u", expected)]));
    }
}

#[test]
fn explanations_name_the_part_and_the_place() {
    let line = r#"1.2.3.4 - - [17/Maj/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 3"#;
    let mut captures = Captures::new();
    let grok =
        Grok::compile("%{COMBINEDAPACHELOG}", &Library::legacy(), &Options::default()).unwrap();
    let why = grok.explain(line, &mut captures);
    assert_eq!(why.stopped_at_token, "%{HTTPDATE:timestamp}");
    assert_eq!(&line[..why.matched_prefix_end], "1.2.3.4 - - [");
    assert_eq!(why.rest, &line[why.matched_prefix_end..]);
    let grok =
        Grok::compile("^%{INT:a}? %{INT:b}", &Library::legacy(), &Options::default()).unwrap();
    let why = grok.explain("12 x", &mut captures);
    assert_eq!((why.stopped_at_index, &*why.stopped_at_token), (3, "%{INT:b}"));
    assert_eq!(why.rest, "x");
}

#[test]
fn hostile_patterns_and_lines_end_soon() {
    let mut captures = Captures::new();
    let library = Library::legacy();
    for pattern in
        ["(.*a){30}x", "(a|aa)+$", "^(%{DATA:a},)+;", "(?<!b)(a|a)*c", "%{QS:q}x", "(?>a+)+b"]
    {
        let grok = Grok::compile(pattern, &library, &Options::default()).unwrap();
        for text in ["a".repeat(3_000) + "!", "a,".repeat(3_000), "\"a\\".repeat(2_000)] {
            let started = std::time::Instant::now();
            let _ = grok.matches(&text, &mut captures);
            grok.explain(&text, &mut captures);
            assert!(started.elapsed().as_secs() < 60, "{pattern} on {}…", &text[..10]);
        }
    }
    let long = "x".repeat(1 << 20);
    let apache = Grok::compile("%{COMBINEDAPACHELOG}", &library, &Options::default()).unwrap();
    assert!(!apache.matches(&long, &mut captures));
}
