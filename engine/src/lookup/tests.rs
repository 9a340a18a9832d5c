//! Tables of every file type and every way of comparing keys.

use super::{Lookup, Matching, Plan};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use temblor_lang::value::{Arena, Value, to_json};

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
    assert!(lookup.reload().is_err());
    assert_eq!(
        (find(&lookup, Value::Str("a")).as_str(), lookup.failures()),
        (r#"{"k":"a","v":"1"}"#, 1)
    );
}
