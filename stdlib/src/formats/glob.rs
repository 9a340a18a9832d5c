//! Shell globs over whole texts: `*` any run, `?` one character, `[abc]`, `[!a-z]`, `**` whole path
//! parts. A glob that is only a prefix, a suffix or a plain text is compared as such.

use regex_automata::meta::Regex;

/// A compiled glob.
#[derive(Clone, Debug)]
pub(crate) enum Glob {
    /// `text`
    Literal(Box<str>),
    /// `text*`
    Prefix(Box<str>),
    /// `*text`
    Suffix(Box<str>),
    /// Anything else.
    Regex(Regex),
}

impl Glob {
    /// Compiles a glob. A lone leading or trailing `*` makes the rest a plain suffix or prefix,
    /// brackets included.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the glob.
    pub(crate) fn compile(glob: &str) -> Result<Self, String> {
        let plain = |text: &str| !text.is_empty() && !text.contains(['*', '?']);
        if let Some(prefix) = glob.strip_suffix('*').filter(|text| plain(text)) {
            return Ok(Glob::Prefix(prefix.into()));
        }
        if let Some(suffix) = glob.strip_prefix('*').filter(|text| plain(text)) {
            return Ok(Glob::Suffix(suffix.into()));
        }
        if !glob.contains(['*', '?', '[']) {
            return Ok(Glob::Literal(glob.into()));
        }
        let pattern = glob_to_regex(glob)?;
        Regex::new(&pattern).map(Glob::Regex).map_err(|_| "the glob is too large".into())
    }

    /// Whether all of `text` matches.
    #[must_use]
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Glob::Literal(literal) => text == &**literal,
            Glob::Prefix(prefix) => text.starts_with(&**prefix),
            Glob::Suffix(suffix) => text.ends_with(&**suffix),
            Glob::Regex(regex) => regex.is_match(text),
        }
    }

    /// A regular expression for the same texts.
    #[must_use]
    pub(crate) fn to_regex(glob: &str) -> Option<String> {
        match Self::compile(glob).ok()? {
            Glob::Literal(text) => Some(format!(r"\A{}\z", regex::escape(&text))),
            Glob::Prefix(text) => Some(format!(r"\A{}", regex::escape(&text))),
            Glob::Suffix(text) => Some(format!(r"{}\z", regex::escape(&text))),
            Glob::Regex(_) => glob_to_regex(glob).ok(),
        }
    }
}

fn glob_to_regex(glob: &str) -> Result<String, String> {
    let mut regex = String::from(r"(?s)\A");
    let mut rest = glob;
    while let Some(character) = rest.chars().next() {
        let at = glob.len() - rest.len();
        match character {
            '*' => {
                let stars = rest.len() - rest.trim_start_matches('*').len();
                rest = &rest[stars..];
                if stars == 1 {
                    regex.push_str(".*");
                } else {
                    rest = path_parts(glob, at, stars, rest, &mut regex)?;
                }
            }
            '?' => {
                regex.push('.');
                rest = &rest[1..];
            }
            '[' => rest = push_set(rest, at, &mut regex)?,
            _ => {
                rest = &rest[character.len_utf8()..];
                regex.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
            }
        }
    }
    regex.push_str(r"\z");
    Ok(regex)
}

/// `**`: any number of whole path parts. Returns what follows it.
fn path_parts<'g>(
    glob: &str,
    at: usize,
    stars: usize,
    rest: &'g str,
    regex: &mut String,
) -> Result<&'g str, String> {
    let alone = at == 0 || glob[..at].ends_with('/');
    if stars > 2 || !alone || !(rest.is_empty() || rest.starts_with('/')) {
        return Err(format!(
            "the stars at byte {at} of the glob are neither one '*' nor a '**' that is a whole \
             part of a path"
        ));
    }
    regex.push_str("(?:|.*/|.*\\z)");
    Ok(rest.strip_prefix('/').unwrap_or(rest))
}

/// `[abc]`, `[!a-z]`. Returns what follows it.
fn push_set<'g>(rest: &'g str, at: usize, regex: &mut String) -> Result<&'g str, String> {
    let inner = &rest[1..];
    let (negated, inner) = match inner.strip_prefix('!') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    // The first character is a member even if it is a bracket.
    let first = inner.chars().next().map_or(0, char::len_utf8);
    let end = inner[first..].find(']').filter(|_| first > 0).ok_or_else(|| {
        format!("the set at byte {at} of the glob has no member or no closing bracket")
    })?;
    let members: Vec<char> = inner[..first + end].chars().collect();
    regex.push_str(&set_to_regex(&members, negated));
    Ok(&inner[first + end + 1..])
}

fn set_to_regex(members: &[char], negated: bool) -> String {
    let mut set = String::new();
    let mut at = 0;
    while at < members.len() {
        let (first, last) = match members[at..] {
            [first, '-', last, ..] => (first, last),
            [first, ..] => (first, first),
            [] => break,
        };
        at += if members.get(at + 1) == Some(&'-') && at + 2 < members.len() { 3 } else { 1 };
        // A range whose ends are swapped has no member.
        if first <= last {
            set.push_str(&format!(r"\u{{{:x}}}-\u{{{:x}}}", first as u32, last as u32));
        }
    }
    match (set.is_empty(), negated) {
        (true, true) => ".".into(),
        (true, false) => r"[^\s\S]".into(),
        (false, true) => format!("[^{set}]"),
        (false, false) => format!("[{set}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_whole_texts() {
        for (glob, yes, no) in [
            ("foo", &["foo"][..], &["foo ", "fo", "Foo"][..]),
            ("foo*", &["foo", "foo/bar"], &["fo", "xfoo"]),
            ("*foo", &["foo", "a\nfoo"], &["foox"]),
            ("f*o", &["fo", "fxxo", "f/o"], &["f", "fox"]),
            ("f?o", &["fxo", "f/o", "fäo", "f\no"], &["fo", "fxxo"]),
            ("a[bc]d", &["abd", "acd"], &["ad", "abcd", "a[bc]d"]),
            ("a[!bc]d", &["axd", "a!d"], &["abd", "ad"]),
            ("[a-c]x[0-9]", &["bx7"], &["dx7", "bxx"]),
            ("[]]x?", &["]xy"], &["[xy"]),
            ("[!]]?", &["ab"], &["]b"]),
            ("[a-]?", &["ab", "-b"], &["bb"]),
            ("[z-a]?", &[], &["zb", "ab"]),
            ("[!z-a]?", &["zb"], &["z"]),
            ("[ab]*", &["[ab]x"], &["a1"]),
            ("**", &["", "a/b"], &[]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a/xb", "ab", "a/b/c"]),
            ("a/**", &["a/", "a/b/c"], &["a", "b/a/"]),
            ("*", &["", "x"], &[]),
            ("", &[""], &["x"]),
            ("a.b?", &["a.bc"], &["axbc"]),
        ] {
            let compiled = Glob::compile(glob).expect("a good glob");
            for text in yes {
                assert!(compiled.matches(text), "{glob} should match {text:?}");
            }
            for text in no {
                assert!(!compiled.matches(text), "{glob} should not match {text:?}");
            }
        }
    }

    #[test]
    fn refuses_bad_globs() {
        for glob in ["[a", "x[]", "x[!]", "[!a?", "***", "a**", "**a", "a/**b", "[", "x["] {
            assert!(Glob::compile(glob).is_err(), "{glob} should be refused");
        }
    }
}
