//! Translations whose meaning is checked by running them.
//!
//! Invariant: each case states the Ruby pattern, a text and what Ruby finds in it.

use super::{Options, translate};

fn find(pattern: &str, text: &str) -> Option<String> {
    let translated = translate(pattern, Options::default()).unwrap();
    let regex = fancy_regex::Regex::new(&translated.pattern).expect(&translated.pattern);
    regex.find(text).unwrap().map(|found| found.as_str().to_string())
}

#[test]
fn ruby_constructs_keep_their_meaning() {
    for (pattern, text, expected) in [
        (r"\h+", "xyz0fF", Some("0fF")),
        (r"\H+", "0fFxyz", Some("xyz")),
        (r"^b$", "a\nb\nc", Some("b")),
        (r"\Ab", "a\nb", None),
        (r"a\Z", "a\n", Some("a")),
        (r"a\z", "a\n", None),
        (r"a.b", "a\nb", None),
        (r"(?m)a.b", "a\nb", Some("a\nb")),
        (r"a(?i)b|c", "aC", Some("aC")),
        (r"a(?i:b)c", "aBc", Some("aBc")),
        (r"a++b", "aaab", Some("aaab")),
        (r"a++ab", "aaab", None),
        (r"(?>a|ab)c", "abc", None),
        (r"a{,2}b", "aaab", Some("aab")),
        (r"a{2}?b", "b", Some("b")),
        (r"x{a", "x{a", Some("x{a")),
        (r"[[:alpha:]_]+", "é_1", Some("é_")),
        (r"[a-z&&[^aeiou]]+", "aeixyz", Some("xyz")),
        (r"[]a]+", "]a", Some("]a")),
        (r"[\w.-]+", "a.b-c d", Some("a.b-c")),
        (r"\w+", "é", None),
        (r"(?u)\w+", "é", Some("é")),
        (r"(['x])b\1", "'b'", Some("'b'")),
        (r"(?<q>['x])b\k<q>", "xbx", Some("xbx")),
        (r"(?<=a)b", "ab", Some("b")),
        (r"(?x) a b # c", "ab", Some("ab")),
        (r"a(?#note)b", "ab", Some("ab")),
        (r"\R", "a\r\n", Some("\r\n")),
        (r"\x41\u0042\103", "ABC", Some("ABC")),
        (r"[~~-]+", "~-", Some("~-")),
        (r"[[:print:]]+", "\tb {}\n", Some("b {}")),
        (r"[[:graph:]]+", " é0% a", Some("é0%")),
        (r"(?i:\p{Upper})", "é", Some("é")),
        (r"a(?=b)?c", "ac", Some("ac")),
        (r"(?:(?<=a)){2}b", "ab", Some("b")),
        (r"a\Kb", "ab", Some("b")),
        (r"\Ga", "ba", None),
        (r"\X", "e\u{301}x", Some("e\u{301}")),
        (r"(?<n>a|b\g<n>c)$", "xbbacc", Some("bbacc")),
        (r"\A(?<p>\((?:[^()]|\g<p>)*\))", "(a(b)(c))d", Some("(a(b)(c))")),
        (r"/\*(?~\*/)\*/", "/* a */ b */", Some("/* a */")),
        (r"(?~ab)c", "xabc", Some("bc")),
        (r"(a)?(?(1)b|c)", "ac", Some("c")),
        (r#"(?<q>")?\w+(?(<q>)")"#, "\"word\"", Some("\"word\"")),
        (r"\u{61 62}", "xab", Some("ab")),
        (r"[[:alpha:]]+", "e\u{301}x", Some("e")),
        (r"^x?$", "a\n", None),
        (r"(?:\Z)*a", "a", Some("a")),
    ] {
        assert_eq!(find(pattern, text).as_deref(), expected, "{pattern} on {text:?}");
    }
}

#[test]
fn names_and_needs_are_reported() {
    let plain = translate("(?<a>x)(y)(?<a>z)", Options::default()).unwrap();
    assert!(!plain.needs_backtracking);
    assert_eq!(plain.groups, [Some("a".to_string()), Some("a".to_string())]);
    assert!(translate("(?<!x)y", Options::default()).unwrap().needs_backtracking);
}

#[test]
fn refusals_name_the_place() {
    for (pattern, offset) in [
        ("a(b", 1),
        ("ab)", 2),
        ("[ab", 0),
        ("[][:]", 0),
        ("*a", 0),
        ("a{3,2}", 1),
        (r"\p{Nope}", 2),
        ("(?Z)", 0),
    ] {
        let error = translate(pattern, Options::default()).unwrap_err();
        assert_eq!(error.offset, offset, "{pattern}: {error}");
    }
    assert!(translate(&"(".repeat(100_000), Options::default()).is_err());
}

#[test]
fn what_neither_engine_can_do_is_refused() {
    for (pattern, expected) in [
        (r"(a)\g<1>", "at byte 3: `\\g<1>` calls a group by its number; give it a name"),
        (r"\g<n>", "at byte 0: `\\g<n>` calls a group that there is not"),
        (r"(?<n>a)|(?<n>b)\g<n>", "at byte 0: `\\g<n>` could call several groups of this name"),
        (r"(?<n>a)\k<n+0>", "at byte 7: `\\k<n+0>` (with the level of a call) is not known here"),
        (
            r"(?~a|bc)",
            "at byte 0: in `(?~a)` all of `a` has to match texts of one length, and none is empty",
        ),
        (r"[[:foo:]]", "at byte 2: unknown class of characters `[:foo:]`"),
        (r"\u12", "at byte 0: four digits are needed, as in `\\u00e9`"),
        (
            r"(?(n)a)",
            "at byte 0: a condition asks for a group, as in `(?(1)a|b)` or `(?(<name>)a|b)`",
        ),
    ] {
        let error = translate(pattern, Options::default()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{pattern}");
    }
    let many = format!("(?<n>{}a)", r"\g<n>?".repeat(40));
    assert!(translate(&many, Options::default()).is_err());
}
