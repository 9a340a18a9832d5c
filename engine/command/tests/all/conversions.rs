//! What `temblor convert logstash` writes does what the configuration does: both are run over the same
//! input, and what comes out must be the same, byte for byte. The conversions in `examples/logstash`
//! are written anew by `TEMBLOR_BLESS=1`.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a run of the command gave: output, what it said, and whether it ended well.
fn temblor(arguments: &[&str], input: &[u8]) -> (String, String, bool) {
    let ran = temblor_testing::temblor(arguments).env("SITE", "north").input(input).run();
    (ran.out, ran.err, ran.code == Some(0))
}

/// The files below a folder, with their contents.
fn written(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("it can be listed").path())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("it can be read")))
        .collect();
    files.sort();
    files
}

#[test]
fn examples_do_as_their_conversions() {
    for name in ["access", "syslog", "application", "java", "firewall"] {
        let conf = format!("examples/logstash/{name}.conf");
        let tmb = format!("examples/logstash/{name}.tmb");
        let (fresh, said, good) = temblor(&["convert", "logstash", &conf], b"");
        assert!(good, "{said}");
        if std::env::var_os("TEMBLOR_BLESS").is_some() {
            fs::write(root().join(&tmb), &fresh).expect("it can be written");
        }
        let kept = fs::read_to_string(root().join(&tmb)).unwrap_or_default();
        assert!(kept == fresh, "{tmb} is stale: run with TEMBLOR_BLESS=1");
        let input = fs::read(root().join(format!("examples/logstash/{name}.log")));
        let input = input.unwrap_or_default();
        let folder = root().join("target/logstash");
        let clock = ["--virtual-clock", "1s"];
        let mut ways = Vec::new();
        for program in [&["--logstash", &*conf][..], &[&*tmb]] {
            let _ = fs::remove_dir_all(&folder);
            let arguments = [&["run", "-q"], program, &clock].concat();
            let (out, said, good) = temblor(&arguments, &input);
            assert!(good, "{program:?}: {said}");
            ways.push((out, written(&folder)));
        }
        assert_eq!(ways[0], ways[1], "{name}");
        let (out, files) = &ways[0];
        assert!(out.lines().count() + files.len() > 1, "{name} says nothing: {out}");
    }
}

#[test]
fn every_plugin_is_in_the_coverage_report() {
    use temblor_logstash::{catalog, codec, filter, input, output};
    let conf = "examples/logstash/plugins";
    let ran = temblor_testing::temblor(["convert", "logstash", conf, "--report"]).run();
    let (found, said) = (ran.out, ran.err);
    assert_eq!(ran.code, Some(3), "{said}");
    let kept = root().join(conf).join("coverage.txt");
    if std::env::var_os("TEMBLOR_BLESS").is_some() {
        fs::write(&kept, &found).expect("it can be written");
    }
    let expected = fs::read_to_string(&kept).unwrap_or_default();
    assert!(expected == found, "{} is stale: run with TEMBLOR_BLESS=1", kept.display());
    let mut blocks = Vec::new();
    blocks.extend(input::INPUTS.iter().map(|one| ("input", one.name)));
    blocks.extend(filter::FILTERS.iter().map(|one| ("filter", one.name)));
    blocks.extend(output::OUTPUTS.iter().map(|one| ("output", one.name)));
    for kind in ["input", "filter", "output"] {
        blocks.extend(catalog::names(kind).map(|name| (kind, name)));
    }
    for (kind, name) in blocks {
        assert!(found.contains(&format!(": {kind} {name}: ")), "{kind} {name} is not in it");
    }
    let texts = fs::read_to_string(root().join(conf).join("05-codecs.conf")).expect("it is there");
    let here = codec::CODECS.iter().map(|one| one.name);
    for name in here.chain(catalog::names("codec")) {
        assert!(texts.contains(&format!("codec => {name} {{")), "codec {name} is not in it");
    }
}

/// Events that the configurations below get.
const EVENTS: &str = r#"{"message":"GET /a 200","type":"a","n":5,"tags":["x"],"user":{"name":"Ann","id":7}}
{"message":"POST /b 503","type":"b","n":15,"list":["1","2"],"empty":""}
{"message":"k=v a=1 a=2","type":"c","n":"7","flag":true,"user":{"name":"bob"}}
{"message":"{\"inner\":{\"x\":1}}","type":"d","n":null,"tags":[]}
{"message":"1,2,\"three\"","n":1.5,"time":"2026-05-01T10:00:00Z","ip":"10.1.2.3"}
{"message":"a|b|c","type":"e","n":-3,"f":"false","time":"01/May/2026:10:00:00 +0200"}
{}
{"message":"GET /a 200","type":"a","n":5,"tags":["x"],"user":{"name":"Ann","id":7}}
{"message":["one","two"],"type":5,"$odd-name":{"a b":1},"match":"word"}
"#;

/// Filter sections, each with something of its own.
const FILTERS: &[(&str, &str)] = &[
    (
        "mutate in its order",
        r#"mutate { add_field => { "x" => "%{n}" "[deep][er]" => "%{type}!" }
        rename => { "type" => "kind" } uppercase => ["message"] split => { "message" => " " }
        convert => { "n" => "string" } copy => { "message" => "copied" } remove_tag => ["x"] }"#,
    ),
    (
        "grok and its failure",
        r#"grok { match => { "message" => "%{WORD:verb} %{URIPATH:path} %{INT:status:int}" } }
        if "_grokparsefailure" in [tags] { mutate { add_field => { "bad" => "1" } } }
        else { mutate { add_tag => ["parsed"] } } mutate { add_tag => ["end"] }"#,
    ),
    (
        "grok and no failure",
        r#"grok { match => { "message" => ["^%{WORD:verb} ", "^(?<first>\d)"] } add_tag => "g" }
        if !("_grokparsefailure" in [tags]) { mutate { add_tag => ["parsed"] } }"#,
    ),
    (
        "a match",
        r#"if [type] == "a" { mutate { replace => { "w" => "A" } } } else if [type] == "b-c" { drop { } }
        else if [type] == "b" { mutate { replace => { "w" => "B" } } } else { mutate { replace => { "w" => "rest" } } }"#,
    ),
    (
        "comparisons",
        r#"if [n] { if [n] != "7" and [type] != 5 and [type] and [type] != "d" {
        if [n] > 3 and [n] <= 15 { mutate { add_tag => "high" } } else if [n] < 0 { mutate { add_tag => "low" } } } }"#,
    ),
    ("an order that there is not", r#"if [n] >= 5 { mutate { add_tag => "high" } }"#),
    (
        "in and not in",
        r#"if [type] in ["a", "b", "5"] { mutate { add_tag => "listed" } }
        if "x" in [tags] { mutate { add_tag => "tagged" } } if "T /" in [message] { mutate { add_tag => "part" } }
        if [type] not in ["a", "c"] { mutate { add_tag => "other" } } if [user][name] in [message] { mutate { add_tag => "self" } }
        if 5 in [n] { mutate { add_tag => "never" } } if "1" in [list] { mutate { add_tag => "one" } } if [type] in "abc" { mutate { add_tag => "letters" } }"#,
    ),
    (
        "regular expressions",
        r##"if [message] =~ /^(GET|POST) \/\w+ \d{3}$/ { mutate { add_tag => "http" } }
        if [n] !~ "5" { mutate { add_tag => "no5" } } if [message] =~ "a#b|\"" { mutate { add_tag => "odd" } }"##,
    ),
    (
        "truth",
        r#"if [empty] or [f] or ![flag] { mutate { add_tag => "t1" } } if [tags] { mutate { add_tag => "t2" } }
        if !([type] == "a" or [type] == "b") { mutate { add_tag => "t3" } } if [@metadata] { mutate { add_tag => "t4" } }"#,
    ),
    (
        "xor and nand",
        r#"if [type] xor [flag] { mutate { add_tag => "xor" } } if ([type] nand [n]) and [message] { mutate { add_tag => "nand" } }"#,
    ),
    (
        "metadata",
        r#"mutate { add_field => { "[@metadata][k]" => "%{type}" "[@metadata][a-b][c]" => "1" } }
        if [@metadata][k] == "a" or [@metadata][a-b][c] != "1" { mutate { add_field => { "seen" => "%{[@metadata][k]}" } } }"#,
    ),
    (
        "odd names",
        r#"if [$odd-name][a b] { mutate { rename => { "[$odd-name][a b]" => "[match][x]" } } }
        if [match] == "word" { mutate { add_tag => "match" } } if [list][0] == "1" and [list][-1] == "2" { mutate { add_tag => "ends" } }"#,
    ),
    (
        "kv and drop",
        r#"kv { prefix => "p_" } if [p_a] { drop { } } kv { field_split => "|" value_split => ":" }"#,
    ),
    (
        "json",
        r#"json { source => "message" target => "doc" tag_on_failure => ["no_json"] } if [doc][inner][x] == 1 { mutate { rename => { "[doc][inner]" => "inner" } } }"#,
    ),
    (
        "csv and dissect",
        r#"csv { columns => ["a", "b", "c"] target => "row" } dissect { mapping => { "message" => "%{x}|%{y}|%{z}" } }"#,
    ),
    (
        "date",
        r#"date { match => ["time", "ISO8601", "dd/MMM/yyyy:HH:mm:ss Z"] remove_field => "time" add_tag => "dated" } mutate { add_field => { "day" => "%{+YYYY.MM.dd}" } }"#,
    ),
    (
        "translate",
        r#"translate { source => "type" target => "word" dictionary => { "a" => "first" "b" => "second" } fallback => "%{n}" }"#,
    ),
    (
        "fingerprint and prune",
        r#"fingerprint { source => ["type", "n"] concatenate_sources => true method => "SHA1" } prune { whitelist_names => ["^@", "hash", "^event$", "type"] }"#,
    ),
    (
        "split and clone",
        r#"split { field => "list" } clone { clones => ["copy"] add_field => { "cloned" => "yes" } }"#,
    ),
    (
        "throttle",
        r#"throttle { key => "%{message}" after_count => 1 period => "3600" add_tag => "often" } if "often" in [tags] { drop { } }"#,
    ),
    ("ruby", r#"ruby { code => "event.set('up', event.get('type').to_s.upcase)" }"#),
    (
        "variables",
        r#"mutate { add_field => { "site" => "${SITE}" "other" => "${NOT_SET_HERE:none}" } } if "${SITE}" == "north" { mutate { add_tag => "north" } }"#,
    ),
    (
        "the common options",
        r#"mutate { id => "one" add_field => { "list" => "3" "new" => ["a", "b"] } remove_field => ["n", "[user][id]"] add_tag => ["t", "%{type}"] }"#,
    ),
    (
        "removing what every event has",
        r#"mutate { remove_field => ["@version", "@timestamp"] } mutate { add_field => { "x" => "%{+YYYY}" } }"#,
    ),
    (
        "nested branches",
        r#"if [type] { if [n] { if [tags] { mutate { add_tag => "deep" } } else { mutate { add_tag => "else" } } } } else { if [message] { drop { } } }"#,
    ),
    (
        "names that begin with an underline, and numbers in the path of lists",
        r#"mutate { add_field => { "_x" => "%{type}" "[_y][_z]" => "1" } } if [_x] == "a" and [_y][_z] == "1" { mutate { rename => { "_x" => "_w" } } }
        if [list][1] == "2" { mutate { add_tag => "second" } } ruby { code => "event.set('_q', event.get('_w'))" }"#,
    ),
    (
        "times between steps",
        r#"date { match => ["time", "ISO8601", "dd/MMM/yyyy:HH:mm:ss Z"] target => "[a][t]" } mutate { rename => { "[a][t]" => "[@metadata][t]" } }
        if [@metadata][t] { ruby { code => "event.set('year', event.get('[@metadata][t]').year)" } mutate { copy => { "[@metadata][t]" => "u" } } }
        if [u] { ruby { code => "event.set('kind', event.get('u').class.to_s)" } }"#,
    ),
    (
        "keys that stand twice in a hash",
        r#"mutate { add_field => { "n1" => "1" "n1" => "2" } rename => { "type" => "x" "type" => "y" } }"#,
    ),
    (
        "branches in branches",
        r#"if [n] { if [type] == "a" { drop { } } else { if [tags] { } else { mutate { add_tag => "no" } } mutate { add_tag => "b" } } }
        else if [flag] { mutate { add_tag => "flag" } if [user] { drop { } mutate { add_tag => "never" } } else { } }
        else { if [type] == "e" { mutate { add_tag => "e" } } else if [type] == "d" { mutate { add_tag => "d" } } }"#,
    ),
    (
        "a text with everything",
        "mutate { add_field => { \"x\" => 'a \"quoted\" #{x} \\n \\d %{type} \u{fc}\u{1f600}\n  two lines' } gsub => [\"message\", \"[/ ]+\", \"-\\\\0\"] }",
    ),
];

#[test]
fn filters_do_as_their_conversions() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("conversions");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (conf, tmb) = (folder.join("case.conf"), folder.join("case.tmb"));
    let (conf, tmb) = (conf.display().to_string(), tmb.display().to_string());
    let faults: Vec<_> =
        FILTERS.iter().filter_map(|(name, filters)| fault(name, filters, &conf, &tmb)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// What is wrong with the conversion of some filters, as their own steps and as the language has them.
fn fault(name: &str, filters: &str, conf: &str, tmb: &str) -> Option<String> {
    let exact = fault_of(name, filters, (conf, tmb), &["--exact"]);
    exact.or_else(|| fault_of(name, filters, (conf, tmb), &[]))
}

fn fault_of(name: &str, filters: &str, (conf, tmb): (&str, &str), more: &[&str]) -> Option<String> {
    let text = format!("input {{ beats {{ port => 5044 }} }}\nfilter {{\n{filters}\n}}\n");
    fs::write(conf, text).expect("it can be written");
    let edges = ["--stdin", "--stdout"];
    let convert = [&["convert", "logstash", conf, "-o", tmb][..], &edges, more].concat();
    let (_, said, good) = temblor(&convert, b"");
    if !good || !said.contains(" 0 needs a hand, 0 not possible") {
        return Some(format!("{name} is not converted: {said}"));
    }
    let clock = ["--virtual-clock", "1s"];
    let run = [&["run", "-q", "--logstash", conf][..], &edges, &clock].concat();
    let (expected, said, good) = temblor(&run, EVENTS.as_bytes());
    if !good || expected.is_empty() {
        return Some(format!("{name} does not run: {said}"));
    }
    let run = [&["run", "-q", tmb][..], &clock].concat();
    let (found, said, _) = temblor(&run, EVENTS.as_bytes());
    let text = fs::read_to_string(tmb).expect("it was written");
    let wrong = || format!("{name}:\n{text}\n{said}\nexpected {expected}\nfound    {found}");
    (found != expected).then(wrong)
}

#[test]
fn differences_are_shown_and_counted() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("differences");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let place = |name: &str| folder.join(name).display().to_string();
    let (conf, other, samples) = (place("a.conf"), place("b.tmb"), place("in.ndjson"));
    fs::write(&conf, "filter { mutate { add_field => { \"x\" => \"%{n}\" } } }").expect("writes");
    let program = "in |> logstash::input |> set event.x = \"1\" |> out;\n";
    fs::write(&other, program).expect("writes");
    fs::write(&samples, "{\"n\":1}\n{\"n\":2}\n").expect("writes");
    let run = |with: &str, more: &[&str]| {
        let arguments = ["diff", "--logstash", &conf, "--with", with, "--input", &samples];
        temblor(&[&arguments, more].concat(), b"")
    };
    let (out, said, good) = run(&other, &[]);
    assert!(!good && out.contains("[x]: \"1\" instead of \"2\""), "{out}{said}");
    assert!(out.ends_with("2 compared, 1 differ\n"), "{out}");
    let (out, _, good) = run(&other, &["--ignore", "x"]);
    assert!(good && out.ends_with("2 compared, 0 differ\n"), "{out}");
    let second = place("second.conf");
    fs::write(&second, "filter { if [n] == 1 { mutate { add_field => { x => \"1\" } } } }")
        .expect("writes");
    let (out, said, good) = run(&second, &[]);
    assert!(!good && out.contains("[x]"), "{out}{said}");
    assert!(out.ends_with("2 compared, 1 differ\n"), "{out}");
    let (out, _, good) = run(&second, &["--ignore", "x"]);
    assert!(good && out.ends_with("2 compared, 0 differ\n"), "{out}");
    let (out, _, good) = run(&conf, &[]);
    assert!(good && out.ends_with("2 compared, 0 differ\n"), "{out}");
    let (out, _, good) = run(&conf, &["--stdin", "--stdout"]);
    assert!(good && out.ends_with("2 compared, 0 differ\n"), "{out}");
    let (_, said, good) = run(&place("none.conf"), &[]);
    assert!(!good && said.contains("none.conf"), "{said}");
    let recorded = place("recorded.ndjson");
    let events = r#"{"x":"1","n":1,"@version":"1"}
{"n":2,"x":"2","@version":"1","host":"elsewhere"}"#;
    fs::write(&recorded, events).expect("writes");
    let (out, _, good) = run(&recorded, &["--ignore", "@timestamp", "--ignore", "host"]);
    assert!(good && out.ends_with("2 compared, 0 differ\n"), "{out}");
}

/// Inputs over the network, and what the source of each must say.
const NETWORK_INPUTS: [(&str, &str); 13] = [
    ("beats { port => 5044 type => \"b\" }", "from beats \"0.0.0.0:5044\""),
    (
        "tcp { host => \"127.0.0.1\" port => \"${PORT:5000}\" codec => json_lines tags => [\"t\"] }",
        "#{env::PORT ?? \"5000\"}",
    ),
    (
        "udp { port => 5001 source_ip_fieldname => \"from\" }",
        "options = {\"source_ip_fieldname\": \"from\"}",
    ),
    (
        "syslog { port => 5002 grok_pattern => \"<%{POSINT:priority}>%{SYSLOGLINE}\" }",
        "from udp \"0.0.0.0:5002\"",
    ),
    ("http { port => 5003 user => \"u\" password => \"${SECRET:x}\" }", "env::SECRET ?? \"x\""),
    (
        "http_poller { urls => { a => \"http://127.0.0.1:1/\" } schedule => { every => \"5s\" } target => \"got\" }",
        "from http_poll",
    ),
    (
        "kafka { bootstrap_servers => \"127.0.0.1:9092\" topics => [\"a\", \"b\"] codec => json }",
        "topics = [\n  \"a\",\n  \"b\"\n]",
    ),
    (
        "rabbitmq { host => \"127.0.0.1\" queue => \"q\" }",
        "from rabbitmq \"amqp://127.0.0.1:5672/%2F\"",
    ),
    ("redis { data_type => \"list\" key => \"k\" }", "list = \"k\""),
    ("relp { port => 5004 }", "from relp"),
    ("graphite { port => 5005 }", "from tcp"),
    ("websocket { url => \"ws://127.0.0.1:1/\" }", "from websocket"),
    ("s3 { bucket => \"b\" endpoint => \"http://127.0.0.1:1\" }", "from s3 \"b\""),
];

/// Outputs over the network, and what the conversion of each must say.
const NETWORK_OUTPUTS: [(&str, &str); 14] = [
    (
        "elasticsearch { hosts => [\"http://127.0.0.1:9200\"] index => \"web-%{+YYYY.MM.dd}\" user => \"u\" password => \"${SECRET:x}\" }",
        "index = $to_index",
    ),
    (
        "elasticsearch { hosts => [\"http://127.0.0.1:9200\"] }",
        "#{event.data_stream.type ?? \"logs\"}",
    ),
    (
        "opensearch { hosts => [\"http://127.0.0.1:9200\"] index => \"fixed\" document_id => \"%{id}\" }",
        "id = $to_id",
    ),
    (
        "tcp { host => \"127.0.0.1\" port => 1 codec => line { format => \"%{message}\" } }",
        "into tcp \"127.0.0.1:1\"",
    ),
    ("udp { host => \"127.0.0.1\" port => 1 }", "into udp"),
    (
        "syslog { host => \"127.0.0.1\" port => 1 facility => \"local4\" severity => \"%{sev}\" }",
        "logstash::output \"syslog\"",
    ),
    (
        "http { url => \"http://127.0.0.1:1/%{path}\" http_method => \"post\" mapping => { a => \"%{b}\" } }",
        "url = $to_url",
    ),
    (
        "kafka { bootstrap_servers => \"127.0.0.1:9092\" topic_id => \"%{topic}\" codec => json }",
        "topic = $to_topic",
    ),
    (
        "rabbitmq { host => \"127.0.0.1\" exchange => \"e\" exchange_type => \"direct\" key => \"%{k}\" }",
        "routing_key = $to_routing_key",
    ),
    ("redis { data_type => \"list\" key => \"%{k}\" }", "list = $to_list"),
    ("statsd { host => \"127.0.0.1\" increment => [\"a.%{b}\"] }", "logstash::output \"statsd\""),
    (
        "graphite { host => \"127.0.0.1\" metrics => { \"a.b\" => \"%{n}\" } }",
        "logstash::output \"graphite\"",
    ),
    ("loki { url => \"http://127.0.0.1:1/loki/api/v1/push\" }", "labels = $to_labels"),
    ("websocket { port => 5006 }", "into websocket"),
];

#[test]
fn plugins_over_the_network_become_sources_and_sinks() {
    let folder = temblor_testing::Folder::new();
    let inputs = NETWORK_INPUTS.iter().map(|(block, says)| (format!("input {{ {block} }}"), says));
    let outputs = NETWORK_OUTPUTS
        .iter()
        .map(|(block, says)| (format!("input {{ stdin {{ }} }} output {{ {block} }}"), says));
    let mut faults = Vec::new();
    for (text, says) in inputs.chain(outputs) {
        let (conf, tmb) = (folder.file("a.conf"), folder.file("a.tmb"));
        fs::write(&conf, &text).expect("the folder can be written");
        let (conf, tmb) = (conf.display().to_string(), tmb.display().to_string());
        let (_, said, good) = temblor(&["convert", "logstash", &conf, "-o", &tmb], b"");
        let made = fs::read_to_string(&tmb).unwrap_or_default();
        let (_, complaint, passes) = temblor(&["check", &tmb], b"");
        if !good || !passes || !made.contains(says) {
            faults.push(format!("{text}\nwants {says}\n{said}{complaint}{made}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n----\n"));
}

#[test]
fn what_cannot_be_converted_fails_check_until_somebody_decides() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("undecided");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (conf, tmb) = (folder.join("a.conf"), folder.join("a.tmb"));
    let (conf, tmb) = (conf.display().to_string(), tmb.display().to_string());
    fs::write(&conf, "filter {\n  # who\n  virustotal { field => \"x\" }\n}").expect("writes");
    let ran = temblor_testing::temblor(["convert", "logstash", &conf, "-o", &tmb, "--json"]).run();
    let json = ran.out;
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(json.contains(r#""line":3,"block":"filter virustotal","coverage":"needs_a_hand""#));
    let (_, said, good) = temblor(&["check", &tmb], b"");
    assert!(!good && said.contains("E0721") && said.contains("a.conf:3"), "{said}");
    let text = fs::read_to_string(&tmb).expect("it was written");
    assert!(text.contains("# who\n") && text.contains("#     virustotal { field"), "{text}");
}

#[test]
fn lines_of_two_files_do_not_join() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streams");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let place = |name: &str| folder.join(name).display().to_string();
    fs::write(place("a.log"), "one\n").expect("writes");
    fs::write(place("b.log"), " two\nthree\n").expect("writes");
    let conf = place("x.conf");
    let text = format!(
        "input {{ file {{ path => \"{}\" mode => read codec => multiline {{ pattern => \"^ \" what \
         => previous }} }} }} output {{ stdout {{ codec => line {{ format => \"%{{message}} of \
         %{{[log][file][path]}}\" }} }} }}",
        place("*.log")
    );
    fs::write(&conf, text).expect("writes");
    let (out, said, good) = temblor(&["run", "-q", "--workers", "1", "--logstash", &conf], b"");
    assert!(good, "{said}");
    let mut lines: Vec<_> = out.lines().map(str::to_string).collect();
    lines.sort();
    let (a, b) = (place("a.log"), place("b.log"));
    assert_eq!(lines, [format!(" two of {b}"), format!("one of {a}"), format!("three of {b}")]);
}
