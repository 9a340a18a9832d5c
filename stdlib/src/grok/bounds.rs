//! Texts and patterns that are long: a search, and what explains it, take steps in proportion to the
//! text whether they succeed or not, or say that they gave up; large patterns are refused or compiled.

use std::time::{Duration, Instant};

use super::{Captures, Grok, Library, Options};

/// No search or compilation here takes a tenth of this where nothing else runs; without a bound each takes
/// minutes.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Length of the texts.
const TEXT_BYTES: usize = 32 << 10;

fn compile(pattern: &str) -> Result<Grok, String> {
    Grok::compile(pattern, &Library::legacy(), &Options::default()).map_err(|e| e.to_string())
}

/// Patterns and what their texts repeat; no text matches.
const COSTLY: [(&str, &str); 12] = [
    ("%{URI:a} x", "http://a.b/c?d=e&"),
    ("%{URI:a} x", "http://"),
    ("%{URIPATH:a} x", "/a"),
    ("%{DATA:a} %{DATA:b}X", "a b "),
    ("%{DATA:a}%{DATA:b}%{DATA:c}X", "ab"),
    ("%{GREEDYDATA:a} %{GREEDYDATA:b} %{GREEDYDATA:c}X", "a b "),
    ("%{IP:a} %{IP:b} x", "10.0.0.1 "),
    ("%{WORD:a}( %{WORD:b})*X", "word "),
    ("(?<a>(a|aa)+)X", "a"),
    ("%{QUOTEDSTRING:a} x", "\"\\"),
    ("%{HOSTNAME:a} x", "a."),
    ("(?=%{DATA:a}X)%{DATA:b}Y", "ab"),
];

#[test]
fn long_texts_end_soon_whether_they_match_or_not() {
    for (pattern, piece) in COSTLY {
        let grok = compile(pattern).expect(pattern);
        let text = piece.repeat(TEXT_BYTES / piece.len());
        let mut captures = Captures::new();
        let start = Instant::now();
        assert!(!grok.matches(&text, &mut captures), "{pattern}");
        let found = start.elapsed();
        let explanation = grok.explain(&text, &mut captures);
        assert!(explanation.matched_prefix_end <= text.len());
        let all = start.elapsed();
        assert!(all < TIME_MAX, "{pattern} over {piece:?}: {found:?}, explained in {all:?}");
    }
}

#[test]
fn many_alternatives_are_compiled_or_refused_soon() {
    for count in [2_000, 20_000] {
        let words: Vec<String> = (0..count).map(|n| format!("word{n}end")).collect();
        for pattern in [words.join("|"), format!("%{{IP:a}} (?<b>{})$", words.join("|"))] {
            let start = Instant::now();
            let compiled = compile(&pattern);
            let mut captures = Captures::new();
            match &compiled {
                Ok(grok) => {
                    let text = format!("10.0.0.1 word{}end", count - 1);
                    let found = grok.matches(&text, &mut captures);
                    assert!(found || captures.exhausted(), "{count}");
                }
                Err(error) => assert!(!error.is_empty()),
            }
            assert!(start.elapsed() < TIME_MAX, "{count} alternatives: {:?}", start.elapsed());
        }
    }
}
