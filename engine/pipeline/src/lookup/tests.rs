//! Tables of every file type and every way of comparing keys.

use super::{Lookup, Matching, Plan};
use crate::load::LoadOptions;
use crate::registry::Registry;
use crate::rehearsal::Rehearsal;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use temblor_codec::InputCodec;
use temblor_lang::diagnostic::{Colour, render_all};
use temblor_lang::value::{Arena, JsonStyle, Value, to_json};

/// A file that goes with the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("temblor-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("the directory for temporary files can be written");
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn plan(file: &File, matching: Matching) -> Plan {
    Plan { path: file.0.clone(), matching, key: None, until: None }
}

fn find(lookup: &Lookup, key: Value<'_>) -> String {
    let arena = Arena::new();
    lookup.find(key, &arena).map_or("none".to_string(), to_json)
}

fn open(plan: Plan) -> std::sync::Arc<Lookup> {
    Lookup::open(plan, None).expect("the table is good")
}

#[test]
fn a_csv_file_has_rows_by_its_first_column() {
    let file = File::new("a.csv", "\u{feff}id,name\n1,one\n2,\"two, 2\"\n\n1,uno\n");
    let lookup = open(plan(&file, Matching::Exact));
    assert_eq!(find(&lookup, Value::UInt(2)), r#"{"id":"2","name":"two, 2"}"#);
    assert_eq!(find(&lookup, Value::Str("1")), r#"{"id":"1","name":"uno"}"#);
    assert_eq!(find(&lookup, Value::Str("3")), "none");
    assert_eq!(find(&lookup, Value::Null), "none");
    let by_name = Plan { key: Some("name".into()), ..plan(&file, Matching::Exact) };
    assert_eq!(find(&open(by_name), Value::Str("uno")), r#"{"id":"1","name":"uno"}"#);
    assert_eq!(lookup.size().0, 3);
}

#[test]
fn json_files_have_rows_of_three_shapes() {
    let list = File::new("b.json", r#"[{"k":1,"v":true},{"k":"x","v":[2]}]"#);
    let lookup = open(plan(&list, Matching::Exact));
    assert_eq!(find(&lookup, Value::Int(1)), r#"{"k":1,"v":true}"#);
    assert_eq!(find(&lookup, Value::Str("x")), r#"{"k":"x","v":[2]}"#);
    let record = File::new("c.json", r#"{"a":{"v":1},"b":2}"#);
    let lookup = open(plan(&record, Matching::Exact));
    assert_eq!(find(&lookup, Value::Str("a")), r#"{"v":1}"#);
    assert_eq!(find(&lookup, Value::Str("b")), r#"{"value":2}"#);
    let lines = File::new("d.ndjson", "{\"k\":1}\n\n{\"k\":2}\n");
    assert_eq!(find(&open(plan(&lines, Matching::Exact)), Value::UInt(2)), r#"{"k":2}"#);
}

#[test]
fn the_longest_network_counts() {
    let text = "net,n\n0.0.0.0/0,any\n10.0.0.0/8,ten\n10.1.0.0/16,inner\n2001:db8::/32,six\n";
    let file = File::new("e.csv", text);
    let lookup = open(plan(&file, Matching::Network));
    for (address, name) in
        [("10.1.2.3", "inner"), ("10.2.2.3", "ten"), ("9.9.9.9", "any"), ("2001:db8::1", "six")]
    {
        let row = find(&lookup, Value::Str(address));
        assert!(row.ends_with(&format!(r#""n":"{name}"}}"#)), "{address}: {row}");
    }
    assert_eq!(find(&lookup, Value::Str("2001:db9::1")), "none");
    assert_eq!(find(&lookup, Value::Str("host")), "none");
}

#[test]
fn the_first_pattern_counts() {
    let file = File::new("f.csv", "p,n\n^err,bad\nerr,perhaps\n");
    let lookup = open(plan(&file, Matching::Pattern));
    assert_eq!(find(&lookup, Value::Str("error")), r#"{"p":"^err","n":"bad"}"#);
    assert_eq!(find(&lookup, Value::Str("no error")), r#"{"p":"err","n":"perhaps"}"#);
    assert_eq!(find(&lookup, Value::Str("fine")), "none");
}

#[test]
fn ranges_hold_what_is_between() {
    let file = File::new("g.csv", "from,to,n\n200,299,good\n10.0.0.0,10.0.0.9,net\n-5,2.5,low\n");
    let range = Plan { until: Some("to".into()), ..plan(&file, Matching::Range) };
    let lookup = open(range);
    for (key, name) in [
        (Value::UInt(200), "good"),
        (Value::Str("299"), "good"),
        (Value::Float(2.5), "low"),
        (Value::Int(-5), "low"),
        (Value::Str("10.0.0.7"), "net"),
    ] {
        assert!(find(&lookup, key).contains(name), "{key:?}");
    }
    for key in [Value::UInt(300), Value::Int(-6), Value::Str("10.0.0.10"), Value::UInt(u64::MAX)] {
        assert_eq!(find(&lookup, key), "none", "{key:?}");
    }
}

#[test]
fn a_file_that_is_no_table_is_refused_with_its_line() {
    let refused = |name: &str, text: &str, matching| {
        let file = File::new(name, text);
        let plan = Plan { until: Some("b".into()), ..plan(&file, matching) };
        Lookup::open(plan, None).expect_err("the table is bad")
    };
    assert!(refused("h.csv", "a,b\n1,2,3\n", Matching::Exact).contains("line 2"));
    assert!(refused("i.csv", "", Matching::Exact).contains("empty"));
    assert!(refused("j.csv", "a,c\n", Matching::Exact).contains("no column `b`"));
    assert!(refused("k.txt", "a,b\n", Matching::Exact).contains(".csv"));
    assert!(refused("l.json", "[1", Matching::Exact).contains("at byte"));
    assert!(refused("m.json", "[1]", Matching::Exact).contains("row 1: expected a record"));
    assert!(
        refused("n.csv", "a,b\nx,1\n", Matching::Network).contains("row 1: expected a network")
    );
    assert!(refused("o.csv", "a,b\n(,1\n", Matching::Pattern).contains("regex"));
    assert!(refused("p.csv", "a,b\n5,1\n", Matching::Range).contains("row 1"));
    assert!(refused("q.csv", "a,b\n1,5\n5,9\n", Matching::Range).contains("overlap"));
    let missing =
        Plan { path: "/no/such/file.csv".into(), ..plan(&File::new("r.csv", ""), Matching::Exact) };
    assert!(Lookup::open(missing, None).is_err());
}

#[test]
fn a_changed_file_is_read_again_and_a_broken_one_is_not() {
    let file = File::new("s.csv", "k,v\na,1\n");
    let every = Duration::from_millis(5);
    let lookup = Lookup::open(plan(&file, Matching::Exact), Some(every)).expect("a good table");
    std::fs::write(&file.0, "k,v\na,22\n").expect("the file can be written");
    let limit = Instant::now() + Duration::from_secs(20);
    while find(&lookup, Value::Str("a")) != r#"{"k":"a","v":"22"}"# {
        assert!(Instant::now() < limit, "the table was not read again");
        std::thread::sleep(every);
    }
    let broken = File::new("t.csv", "k,v\na,1\n");
    let lookup = open(plan(&broken, Matching::Exact));
    std::fs::write(&broken.0, "k,v\na\"b,1,2,3\n").expect("the file can be written");
    assert!(super::Reloaded::reload(&*lookup).is_err());
    assert_eq!(
        (find(&lookup, Value::Str("a")).as_str(), lookup.failures()),
        (r#"{"k":"a","v":"1"}"#, 1)
    );
}

/// A directory with a program and its tables.
fn program(name: &str, text: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("temblor-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    for (file, text) in [
        ("hosts.csv", "ip,name\n10.0.0.1,web\n"),
        ("nets.csv", "net,site\n10.0.0.0/8,lab\n"),
        ("bad.csv", "a,b\n1,2\n3,\"4\n"),
        ("main.tmb", text),
    ] {
        std::fs::write(directory.join(file), text).expect("a file");
    }
    directory.join("main.tmb")
}

fn diagnostics(name: &str, text: &str) -> String {
    let loaded = LoadOptions::new(Registry::of_this_crate())
        .file(&program(name, text))
        .expect("the file can be read");
    render_all(&loaded.diagnostics, &loaded.sources, Colour::Off)
}

#[test]
fn programs_declare_tables_for_scripts_and_operators() {
    let text = r#"
        table hosts from file "hosts.csv" with key = "ip" end;
        table nets from file "nets.csv" with mode = "cidr", every = 10s end;
        in
        |> enrich hosts from event.ip columns "name" into event.host
        |> set event.site = lookup::get("nets", event.ip).site, event.known = lookup::has(hosts, event.ip)
        |> script let event.missing = lookup::get(nets, "11.0.0.1"); event end
        |> out
    "#;
    let loaded = LoadOptions::new(Registry::of_this_crate())
        .file(&program("tables", text))
        .expect("the file can be read");
    assert!(!loaded.has_errors(), "{}", loaded.report(true));
    let tables = loaded.endpoints.tables.clone();
    let mut rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Compact)
        .with_tables(tables.shared());
    let caused = rehearsal.send("in", InputCodec::Json, br#"{"ip":"10.0.0.1"}"#);
    let expected = r#"{"ip":"10.0.0.1","host":"web","site":"lab","known":true,"missing":null}"#;
    let shown = format!("{caused:?}");
    assert!(shown.contains(&format!("{expected:?}")), "{shown}");
}

#[test]
fn check_finds_what_is_wrong_with_tables() {
    for (name, text, code, what) in [
        (
            "missing",
            r#"table t from file "none.csv"; where true"#,
            "E0526",
            "none.csv: No such file",
        ),
        ("malformed", r#"table t from file "bad.csv"; where true"#, "E0526", "line 3"),
        (
            "name",
            r#"table hosts from file "hosts.csv"; set event.a = lookup::get("host", 1)"#,
            "E0327",
            "did you mean `hosts`?",
        ),
        (
            "far",
            r#"table hosts from file "hosts.csv"; set event.a = lookup::has("q", 1)"#,
            "E0327",
            "declare it: table q from file",
        ),
        (
            "enrich",
            r#"table hosts from file "hosts.csv"; enrich "host" from event.ip"#,
            "E0600",
            "did you mean `hosts`?",
        ),
        (
            "setting",
            r#"table hosts from file "hosts.csv" with kye = "a" end; where true"#,
            "E0506",
            "did you mean `key`?",
        ),
        (
            "mode",
            r#"table hosts from file "hosts.csv" with mode = "best" end; where true"#,
            "E0510",
            "one of exact, cidr, regex, range",
        ),
        (
            "range",
            r#"table hosts from file "hosts.csv" with mode = "range" end; where true"#,
            "E0510",
            "add `until",
        ),
        (
            "until",
            r#"table hosts from file "hosts.csv" with until = "ip" end; where true"#,
            "E0510",
            "belongs to mode `range`",
        ),
        (
            "every",
            r#"table hosts from file "hosts.csv" with every = "soon" end; where true"#,
            "E0510",
            "a duration such as 10s",
        ),
        (
            "kind",
            r#"table hosts from sql "hosts"; where true"#,
            "E0519",
            "a table is read from a `file`",
        ),
        ("path", r#"table hosts from file; where true"#, "E0520", "needs the path"),
        (
            "column",
            r#"table hosts from file "hosts.csv" with key = "x" end; where true"#,
            "E0526",
            "x",
        ),
        (
            "twice",
            r#"table a from file "hosts.csv"; table a from file "nets.csv"; where true"#,
            "E0502",
            "already",
        ),
        (
            "owner",
            r#"table hosts from file "hosts.csv"; enrich hosts from event.ip key "ip""#,
            "E0600",
            "belongs to the declaration",
        ),
    ] {
        let said = diagnostics(name, text);
        assert!(said.contains(code) && said.contains(what), "{name}: {said}");
    }
    let unchecked = diagnostics("none", r#"set event.a = lookup::get("host", 1)"#);
    assert!(!unchecked.contains("E0327"), "{unchecked}");
}
