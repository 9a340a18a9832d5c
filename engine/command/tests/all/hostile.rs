//! A bounded run of what `fuzz/` runs without end: good texts, changed by chance with a fixed seed,
//! on threads with a small stack in debug builds. `TEMBLOR_FUZZ_ROUNDS` makes the run longer and
//! `TEMBLOR_FUZZ_SEED` another one.

#[path = "../../../../fuzz/src/lib.rs"]
mod fuzz;

use std::path::Path;
use temblor_lang::random::Random;
use temblor_stdlib::extractors::EXTRACTORS;
use temblor_stdlib::registry;

/// Changed texts for each function.
const ROUNDS: u64 = 400;
/// As much as a spawned thread has.
const STACK_BYTES: usize = 2 << 20;
/// Longer texts take long and find nothing more.
const SEED_BYTES_MAX: usize = 4000;

/// Small numbers that only depend on the seed.
struct Chance(Random);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0.index(limit)
    }

    fn one_of<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.below(choices.len())]
    }

    /// A part of the text, cut between characters.
    fn part<'t>(&mut self, text: &'t str) -> &'t str {
        let (a, b) = (self.place(text), self.place(text));
        &text[a.min(b)..a.max(b)]
    }

    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
    }
}

const PIECES: &[&str] = &[
    " end",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "%{",
    "%[",
    "%(",
    "...",
    "|",
    "\"",
    "\"\"\"\n",
    "#{",
    "`",
    "\\",
    "\n",
    ";",
    ",",
    "=>",
    "~ ",
    "~=",
    "case _ => ",
    "match event of ",
    "for event of ",
    "patch event of ",
    "merge ",
    "let x = ",
    "let state = ",
    "event",
    "state",
    "$",
    "args",
    "recur(",
    "fn f(x) with ",
    "const c = ",
    "use std::string;",
    "emit ",
    "drop",
    "18446744073709551615",
    "-9223372036854775808",
    "1e308",
    "0.0",
    "<<",
    ">>",
    ">>>",
    "/big-signed-integer",
    "??",
    "10s",
    "9999999999999w",
    "é",
    "\u{0}",
    "\u{feff}",
    "into ",
    "when ",
    "present ",
    "absent ",
    "not ",
    "1 / 0",
    "[0:5]",
    "::",
    "re|",
    "cidr|",
    "%{WORD:w}",
    "(?P<a>",
    ".*",
    "{1,1000}",
    "null",
    ":",
    "\\u0000",
    "\\ud800",
    "1E999",
    "-0",
    "select event from in into out;",
    "|> ",
    "define ",
];

fn changed(seed: &str, all: &[String], chance: &mut Chance) -> String {
    let mut text = seed.to_string();
    for _ in 0..=chance.below(5) {
        let at = chance.place(&text);
        match chance.below(7) {
            0 => {
                let gone = chance.part(&text).to_string();
                text = text.replacen(&gone, "", 1);
            }
            1 => {
                let again = chance.part(&text).to_string();
                text.insert_str(at, &again);
            }
            2 | 3 => text.insert_str(at, chance.one_of(PIECES)),
            4 => {
                let other = &all[chance.below(all.len())];
                let other = chance.part(other).to_string();
                text.insert_str(at, &other);
            }
            5 => text.truncate(at),
            _ => {
                let piece = chance.one_of(PIECES);
                text.insert_str(at, &piece.repeat(chance.below(300)));
            }
        }
    }
    text
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Runs `check` on changed seeds; a panic tells the text.
fn run(seeds: Vec<String>, check: fn(&[u8])) {
    assert!(seeds.len() >= 10, "only {} seeds", seeds.len());
    let (rounds, first) = (number("TEMBLOR_FUZZ_ROUNDS", ROUNDS), number("TEMBLOR_FUZZ_SEED", 1));
    let play = move || {
        for round in 0..rounds {
            let mut chance =
                Chance(Random::seeded(first.wrapping_mul(1 << 40).wrapping_add(round)));
            let seed = &seeds[chance.below(seeds.len())];
            let text = changed(seed, &seeds, &mut chance);
            let told = Told(&text);
            check(text.as_bytes());
            std::mem::forget(told);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(play);
    thread.expect("a thread starts").join().expect("no text makes it panic");
}

/// Prints the text when it is dropped by a panic.
struct Told<'t>(&'t str);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        eprintln!("the text was {:?}", self.0);
    }
}

/// The texts of all cases below a folder of the specification.
fn cases(folder: &Path, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("the specification is beside the crate");
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|one| one.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            cases(&path, texts);
        } else if path.extension().is_some_and(|ending| ending == "txt") {
            let text = std::fs::read_to_string(&path).expect("cases are text");
            let parts = text.split("\n=== ").filter_map(|part| part.split_once('\n'));
            texts.extend(parts.map(|(_, part)| part.split("\n---").next().unwrap_or("").into()));
        }
    }
}

fn programs() -> Vec<String> {
    let mut texts = Vec::new();
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec"), &mut texts);
    for path in registry().function_paths() {
        let function = registry().function(path).expect("a path that was listed");
        let module = path.rsplit_once("::").map_or("", |(module, _)| module);
        texts.extend(function.examples.iter().map(|one| format!("use {module};\n{one}")));
    }
    texts.extend(extractions());
    texts.retain(|text| text.len() <= SEED_BYTES_MAX);
    texts
}

fn extractions() -> impl Iterator<Item = String> {
    EXTRACTORS.iter().flat_map(|kind| kind.examples).map(|(source, _)| (*source).to_string())
}

#[test]
fn no_program_makes_check_panic() {
    run(programs(), fuzz::program);
}

#[test]
fn no_script_makes_the_interpreter_panic() {
    let event = r#"{"a": [1, -2, 3.5, "x", null, {"b": "10.1.2.3"}], "c": {"d": {"e": true}}}"#;
    let behind = |text: String| format!("{text}\0{event}");
    run(programs().into_iter().map(behind).collect(), fuzz::script);
}

const EVENTS: &str = "{\"a\": [1, -2, 3.5, \"x\", null], \"message\": \"k=v 10.1.2.3\", \"c\": {\"d\": {}}}\n\
                      {\"a\": 1, \"message\": \"a,b\", \"n\": 1e300}\n[]\n\"x\"\nnot json\n{\"a\": 1}";

#[test]
fn no_program_panics_over_events() {
    let behind = |text: String| format!("{text}\0{EVENTS}");
    run(programs().into_iter().map(behind).collect(), fuzz::flows);
}

#[test]
fn no_configuration_panics_over_events() {
    let filters = [
        "kv { } mutate { split => { \"a\" => \",\" } merge => { \"a\" => \"c\" } rename => { \"c\" => \"[a][b]\" } }",
        "csv { columns => [\"x\", \"y\"] convert => { \"x\" => \"integer\" } } date { match => [\"x\", \"yyyy-MM-dd\", \"UNIX\"] }",
        "grok { match => { \"message\" => \"%{WORD:w}=%{WORD:v} %{IP:ip}\" } } if [ip] { mutate { gsub => [\"ip\", \"[.]\", \"%{w}\"] } }",
        "dissect { mapping => { \"message\" => \"%{a}=%{b} %{+b} %{&a}\" } } truncate { length_bytes => 3 fields => [\"b\"] }",
        "split { field => \"a\" } clone { clones => [\"x\"] } fingerprint { concatenate_all_fields => true method => \"MURMUR3\" }",
        "aggregate { task_id => \"%{a}\" code => \"map['n'] ||= 0; map['n'] += 1\" timeout => 2 push_map_as_event_on_timeout => true }",
        "throttle { key => \"%{a}\" before_count => 1 after_count => 2 period => 1 add_tag => \"t\" } prune { whitelist_names => [\"^a\"] }",
        "json { source => \"message\" target => \"[x][y]\" } xml { source => \"message\" target => \"z\" } de_dot { nested => true }",
        "translate { source => \"a\" target => \"t\" dictionary => { \"1\" => \"one\" } } urldecode { all_fields => true } cidr { address => [\"%{ip}\"] network => [\"10.0.0.0/8\"] }",
        "ruby { code => \"event.to_hash.each { |k, v| event.set(k + '_', v.to_s.reverse) }\" } metrics { meter => [\"m.%{a}\"] add_tag => \"metric\" }",
    ];
    let whole = |filter: &str| format!("filter {{ {filter} }}\0{EVENTS}");
    run(filters.iter().map(|one| whole(one)).collect(), fuzz::filters);
}

#[test]
fn what_the_compiler_claims_of_a_program_is_true() {
    run(programs(), fuzz::inference);
}

#[test]
fn a_row_of_and_and_or_gives_what_its_operands_give() {
    run(programs(), fuzz::logic);
}

#[test]
fn no_pattern_makes_an_extractor_panic() {
    let texts = [
        "%{IP:ip} %{WORD:w} [%{HTTPDATE:t}]\u{0}10.0.0.1 GET [10/Oct/2000:13:55:36 -0700]",
        "%{a} %{+a} - %{b->} %{&b}|%{?c}=%{*c}\u{0}x y - z   k|k=v",
        "%{key}=%{value}&\u{0}a=b&c=d",
        "(?P<a>[0-9]+)|(?i)x\\b\u{0}12x",
        "%Y-%m-%d %H:%M:%S%.f %z\u{0}2020-01-01 10:00:00.5 +01:00",
        "10.0.0.0/8, 192.168.0.0/16\u{0}192.168.1.1",
        "a*b?[!c-e]**/x\u{0}axxbfc/x",
        "\u{0}weather,location=us-midwest temperature=82i,x=\"y\" 1465839830100400200",
        "\u{0}<165>1 2003-10-11T22:14:15.003Z host app - ID47 [a@1 b=\"c\"] text",
        "\u{0}{\"a\": [1, 2.5, \"\\u00e9\", null]}",
        " ,;\u{0}a=\"b c\";d=(e f),g=h",
        "%{COMBINEDAPACHELOG}\u{0}127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 1 \"-\" \"x\"",
    ];
    run(texts.map(String::from).into(), fuzz::patterns);
}

/// Valid configurations with what real ones have: comments anywhere, `=>` without blanks, nested hashes
/// and lists, escapes in expressions, odd names, both line ends, a byte order mark.
const CONFIGURATIONS: &[&str] = &[
    "\u{feff}# first\r\ninput{stdin{}}\r\nfilter{mutate{add_field=>{\"a\"=>\"b\"}}}\r\noutput{stdout{}}\r\n",
    "filter { # a\n  if # b\n [a] # c\n == # d\n \"x\" # e\n { # f\n drop # g\n { # h\n } # i\n } # j\n }",
    "filter { grok { match => [ \"message\", \"%{IP:[a][b]:int} \\[%{DATA}\\]\", \"m\", \"(?<x>a|b)\" ] } }",
    "filter { if [m] =~ /^a\\/b#'\"[^\"]+$/ or [m] !~ \"x\" { mutate { gsub => [\"m\", \"[\\\\/]\", \"-\"] } } }",
    "filter { if [a] not in [\"x\", 'y', 3] and !([b] in [c]) { kv { } } else if ![d] { json { source => m } } else { } }",
    "filter { translate { source => \"a\" dictionary => { 1 => \"x\" \"2\" => 3 b => -1.5 } } mutate { id => one } }",
    "filter { mutate { rename => { \"a\" => \"b\" } rename => { \"c\" => \"d\" } add_tag => x add_tag => y } }",
    "filter { mutate { add_field => { \"[@metadata][é ü]\" => '%{+YYYY.MM} \u{1f600} #{x}' } } if [@metadata][é ü] { } }",
    "filter { if ([a] and ([b] or [c])) nand [d] { } if [a] xor [b] { } if \"t\" in [tags] { } }",
    "input { beats { port => 5044 ssl => true } tcp { port => 1 codec => json_lines { target => \"[d]\" } type => t } }",
    "input { file { path => [\"/var/log/*.log\", '/x'] codec => multiline { pattern => \"^ \" what => previous } } }",
    "output { if [t] == \"a\" { elasticsearch { hosts => [\"h:9200\"] index => \"x-%{+YYYY.MM.dd}\" } } else { stdout { codec => rubydebug { metadata => true } } } }",
    "output { file { path => \"/tmp/%{host}/x\" gzip => true } pipe { command => \"cat\" } null { } pipeline { send_to => [a, \"b\"] } }",
    "filter { if [t] == \"a\" { drop { } } else if [t] == \"b-c\" { geoip { source => ip } } else if [t] == \"\" { ruby { code => 'event.set(\"a\", 1)' } } }",
];

#[test]
fn valid_configurations_have_no_errors_of_grammar() {
    use temblor_logstash::configuration::diagnose;
    for text in CONFIGURATIONS {
        let (found, _) = diagnose("case", (*text).to_string());
        let faults: Vec<_> = found.iter().filter(|one| one.code <= "E0705").collect();
        assert!(faults.is_empty(), "{text}: {faults:?}");
    }
}

#[test]
fn no_configuration_makes_check_or_convert_panic() {
    run(CONFIGURATIONS.iter().map(ToString::to_string).collect(), fuzz::configuration);
}

#[test]
fn no_bytes_make_the_json_decoder_panic() {
    let texts = [
        r#"{"a": 1, "a": 2}"#,
        "[1, -1, 18446744073709551615, -9223372036854775808, 1e308, 5e-324]",
        r#""\u00e9\ud83d\ude00\n""#,
        "[[[[[[{}]]]]]]",
        "null",
        "{\"\": [true, false]}",
        "123456789012345678901234567890",
        "\"é\u{feff}\"",
        " [ 1 , 2 ] ",
        "{\"long\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}",
        "[0.1, 100000000000000000000.5]",
    ];
    run(texts.map(String::from).into(), fuzz::json);
}

#[test]
fn no_block_of_ruby_panics_or_goes_beyond_its_bounds() {
    let blocks = [
        "event.get('message').split(' ').map { |pair| pair.split('=', 2) }.to_h.each { |k, v| event.set(k, v) }",
        "@seen ||= {}; @seen[event.get('message')] = (@seen[event.get('message')] || 0) + 1; event.set('n', @seen)",
        "def clean(s) s.gsub(/[^a-z]+/) { |m| m.length.to_s } end; event.set('c', clean(event.get('message')))",
        "x = [3, 1, nil, 2.5].compact.sort_by { |v| -v }; x << x.dup; event.set('x', x.flatten.inject(:+))",
        "case event.get('message') when /(?<k>a)=(?<v>\\d)/ then event.set($~[:k], $~[:v].to_i ** 20) else event.cancel end",
        "class A; attr_accessor :v; def initialize(v) @v = v end; def <=>(o) v <=> o.v end; end; [A.new(2), A.new(1)].sort.first.v",
        "begin; Integer(event.get('message')); rescue ArgumentError => e; event.tag(e.message[0, 20]); ensure; event.remove('z'); end",
        "event.to_hash.each { |k, v| event.set(\"[@metadata][#{k}]\", v.is_a?(String) ? v.tr('a-y', 'b-z') : v.to_s.succ) }",
        "t = Time.at(0).utc; event.set('t', t.strftime('%Y-%m-%dT%H:%M:%S.%3N%z')); event.set('d', (Date.parse('2020-01-31') >> 1).to_s)",
        "f = ->(n) { n < 2 ? n : f.(n - 1) + f.(n - 2) }; event.set('f', f.(9)); 5.times { |i| break if i > 3 }",
        "h = Hash.new { |m, k| m[k] = [] }; h[1] << h; s = Set.new([h, 1]); event.set('s', s.to_a.size); JSON.parse('[1, {\"a\": null}]')",
        "event.set('p', format('%05.2f %-5s|%x', 3.14159, 'ab', 255) + [1, 2].pack('nC').unpack1('H*') + 'a'.unpack('b*').to_s)",
    ];
    run(blocks.map(String::from).into(), fuzz::ruby);
}
