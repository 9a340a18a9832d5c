//! The scanning engine finds what the general engines find, group by group.
//!
//! Invariant: the general engines get the tree before any simplification.

use std::path::PathBuf;

use crate::onigmo;

use super::expand::expand;
use super::fallback::Fallback;
use super::pattern::Strategy;
use super::{Captures, Grok, Library, Options};

/// Lines of the formats that the shipped patterns describe.
const SAMPLES: &[&str] = &[
    r#"83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a/b.png?x=1&y=%20 HTTP/1.1" 200 203023 "http://semicomplete.com/p/" "Mozilla/5.0 (X; \"q\") é""#,
    r#"example.org bob alice@mail.example [17/May/2015:10:05:03 +0000] "-" 408 - "-" "-""#,
    r#"fe80::1%eth0 - - [1/Jan/2015:1:05:03 -0500] "POST / HTTP/1.0" - 12"#,
    "May 11 10:40:48 scrooge disk-health-nurse[26783]: [ERROR] user `bob' <13.2> ok",
    "<174>1 2016-12-31T23:59:60-04:00 resolver.se prg00000[1234] - - info: client 10.23.53.22#63252",
    "2015-05-17T10:05:03.123Z WARN [main] com.example.Foo(Foo.java:42) - took -12.5 ms, 0x1F, +.5",
    "Dec 13 12:20:27 fw %ASA-6-302013: Built outbound TCP connection 1 for outside:10.0.0.1/80",
    "user=\"a \\\" b\" path=/usr/local/bin C:\\win\\x urn:isbn:1 http://u:p@h.org:80/p?q#f 00:1b:44:11:3a:b7",
    "550e8400-e29b-41d4-a716-446655440000 1.2.3.4:80 ::ffff:1.2.3.4 256.1.1.1 12/31/99 Mon, 7 Mär 2011",
    "",
    "ünïcode – ß 1é2 a\u{300}_b\r\n second line\n\n",
];

/// A small generator, so that the tests need no crate and repeat exactly.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// A line with a few characters cut, doubled, swapped or replaced.
    fn garble(&mut self, line: &str) -> String {
        const NOISE: &[char] = &[' ', '"', '-', '.', ':', '0', '9', 'a', 'F', '[', '\\', '\n', 'é'];
        let mut chars: Vec<char> = line.chars().collect();
        for _ in 0..=self.below(4) {
            let at = self.below(chars.len());
            match self.below(4) {
                0 => chars.truncate(at),
                1 if !chars.is_empty() => drop(chars.remove(at)),
                2 => chars.insert(at, NOISE[self.below(NOISE.len())]),
                _ if !chars.is_empty() => chars[at] = NOISE[self.below(NOISE.len())],
                _ => {}
            }
        }
        chars.into_iter().collect()
    }
}

/// Both engines for one pattern.
struct Pair {
    pattern: String,
    grok: Grok,
    general: Fallback,
    groups: usize,
    ours: Captures,
    theirs: Captures,
}

impl Pair {
    fn new(pattern: &str, library: &Library) -> Option<Self> {
        let options = Options::default();
        let grok = Grok::compile(pattern, library, &options).ok()?;
        let expanded = expand(pattern, library, options.syntax, true).ok()?;
        let tree = expanded.tree();
        let general = Fallback::compile(&tree).ok()?;
        let groups = expanded.groups();
        let (ours, theirs) = (Captures::new(), Captures::new());
        Some(Self { pattern: pattern.to_string(), grok, general, groups, ours, theirs })
    }

    fn compare(&mut self, line: &str) -> bool {
        self.theirs.reset(self.groups);
        let expected = self.general.search(line, &mut self.theirs);
        if self.theirs.exhausted() {
            return false;
        }
        let found = self.grok.matches(line, &mut self.ours);
        assert_eq!(found, expected, "{} on {line:?}", self.pattern);
        if found {
            assert_eq!(self.ours.whole(), self.theirs.whole(), "{} on {line:?}", self.pattern);
            let named = |captures: &Captures| {
                (0..self.groups).map(|group| captures.span(group)).collect::<Vec<_>>()
            };
            assert_eq!(
                named(&self.ours),
                named(&self.theirs),
                "groups of {} on {line:?}",
                self.pattern
            );
        }
        found
    }
}

pub(super) fn shared(file: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(file);
    let path = if path.exists() {
        path
    } else {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file)
    };
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("SKIPPED: {} is not beside this checkout", path.display());
    }
    text
}

#[test]
fn shipped_patterns_agree_on_garbled_samples() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut lines: Vec<String> = SAMPLES.iter().map(|line| line.to_string()).collect();
    for _ in 0..12 {
        let sample = SAMPLES[random.below(SAMPLES.len())];
        lines.push(random.garble(sample));
    }
    let (mut scanned, mut matched) = (0, 0);
    for library in [Library::legacy(), Library::ecs()] {
        for name in library.names() {
            let Some(mut pair) = Pair::new(&format!("%{{{name}:x}}"), &library) else { continue };
            scanned += usize::from(pair.grok.strategy() == Strategy::Scan);
            matched += lines.iter().filter(|line| pair.compare(line)).count();
        }
    }
    assert!(scanned > 600, "only {scanned} patterns run on the scanner");
    assert!(matched > 3_000, "only {matched} matches compared");
}

#[test]
fn random_patterns_agree() {
    const PIECES: &[&str] = &[
        "%{IP:a}",
        "%{WORD:b}",
        "%{NUMBER:c}",
        "%{DATA:d}",
        "%{GREEDYDATA:e}",
        "%{NOTSPACE:f}",
        "%{QS:g}",
        "%{IPORHOST:h}",
        "%{HTTPDATE:i}",
        "%{TIMESTAMP_ISO8601:j}",
        "%{USER:k}",
        "%{SPACE}",
        " ",
        " ",
        ":",
        "-",
        "\"",
        r"\[",
        r"\]",
        r"(?:%{INT:l}|%{WORD:m})?",
        r"(?:-|%{POSINT:n})",
        r"[^ ]*",
        r"\S+?",
        r".",
        r"(?:a|b|%{HOUR:o})+",
        r"\b",
        "$",
        "^",
        r"(?=\d)",
        r"(?<![a-z])",
        "(?>%{WORD}|.)",
        r"(?:%{MONTHNUM:p}/)*",
        r"[[:alpha:]]{2,4}",
        "é?",
    ];
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let library = Library::legacy();
    let mut matched = 0;
    for _ in 0..400 {
        let length = 1 + random.below(6);
        let pattern: String = (0..length).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let Some(mut pair) = Pair::new(&pattern, &library) else { continue };
        for _ in 0..12 {
            let sample = SAMPLES[random.below(SAMPLES.len())];
            let line = random.garble(sample);
            matched += usize::from(pair.compare(&line));
        }
    }
    assert!(matched > 500, "only {matched} matches compared");
}

#[test]
fn real_logs_agree() {
    let mut random = Random(0xA076_1D64_78BD_642F);
    for file in ["apache_combined_5k.log", "apache_common_1k.log"] {
        let Some(log) = shared(file) else { continue };
        for (pattern, library) in [
            ("%{COMBINEDAPACHELOG}", Library::legacy()),
            ("%{COMMONAPACHELOG}", Library::legacy()),
            ("%{COMBINEDAPACHELOG}", Library::ecs()),
            (
                r#"%{IP:ip} .*"%{WORD:verb} %{URIPATHPARAM:path} .*" %{INT:status:int}"#,
                Library::ecs(),
            ),
        ] {
            let mut pair = Pair::new(pattern, &library).unwrap();
            let mut matched = 0;
            for line in log.lines() {
                matched += usize::from(pair.compare(line));
                let garbled = random.garble(line);
                pair.compare(&garbled);
            }
            let possible = file.contains("combined") || !pattern.contains("COMBINED");
            assert!(matched > 0 || !possible, "{pattern} matches nothing in {file}");
        }
    }
}

#[test]
fn dot_may_match_newlines() {
    let syntax = onigmo::Options { dot_matches_newline: true, ..onigmo::Options::default() };
    let options = Options { syntax, ..Options::default() };
    let grok = Grok::compile("%{DATA:a}=%{GREEDYDATA:b}", &Library::legacy(), &options).unwrap();
    let mut captures = Captures::new();
    assert!(grok.matches("x\ny=z\n", &mut captures));
    assert_eq!(captures.get(0, "x\ny=z\n"), Some("x\ny"));
    assert_eq!(captures.get(1, "x\ny=z\n"), Some("z\n"));
}
