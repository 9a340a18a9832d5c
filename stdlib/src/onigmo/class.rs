//! Character classes: shorthands, POSIX names, Unicode properties, and sets of characters.
//!
//! Invariant: a class is a set of Unicode scalar values; surrogates and bytes do not occur.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// A class of the given inclusive ranges.
pub(super) fn ranges(pairs: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(pairs.iter().map(|&(low, high)| ClassUnicodeRange::new(low, high)))
}

/// Every character.
pub(super) fn all() -> ClassUnicode {
    ranges(&[('\0', char::MAX)])
}

/// What `.` stands for.
pub(super) fn dot(matches_newline: bool) -> ClassUnicode {
    if matches_newline { all() } else { negated(ranges(&[('\n', '\n')])) }
}

/// The complement.
pub(super) fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

/// The class of `\d`, `\w`, `\s`, `\h` or their capitals; `None` for other letters.
pub(super) fn shorthand(letter: char, unicode: bool) -> Option<ClassUnicode> {
    let class = match (letter.to_ascii_lowercase(), unicode) {
        ('h', _) => ranges(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        ('d', false) => ranges(&[('0', '9')]),
        ('w', false) => ranges(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        ('s', false) => ranges(&[('\t', '\r'), (' ', ' ')]),
        ('d', true) => rust(r"\d")?,
        ('w', true) => rust(r"\w")?,
        ('s', true) => rust(r"\s")?,
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { negated(class) } else { class })
}

/// The class of a POSIX name, as in `[:alnum:]`; Ruby reads these over all of Unicode.
pub(super) fn posix(name: &str) -> Option<ClassUnicode> {
    rust(match name {
        "alnum" => r"[\p{Alphabetic}\p{Nd}]",
        "alpha" => r"\p{Alphabetic}",
        "ascii" => r"[\x00-\x7F]",
        "blank" => r"[\p{Zs}\t]",
        "cntrl" => r"\p{Cc}",
        "digit" => r"\p{Nd}",
        "graph" => r"[^\s\p{Cc}\p{Cn}]",
        "lower" => r"\p{Lowercase}",
        "print" => r"[[^\s\p{Cc}\p{Cn}]\p{Zs}]",
        "punct" => r"[\p{P}$+<=>^`|~]",
        "space" => r"\s",
        "upper" => r"\p{Uppercase}",
        "xdigit" => r"[0-9A-Fa-f]",
        "word" => r"[\p{L}\p{M}\p{Nd}\p{Pc}]",
        _ => return None,
    })
}

/// The class of `\p{name}`; POSIX names, scripts, categories and properties.
pub(super) fn property(name: &str) -> Option<ClassUnicode> {
    if let Some(rest) = name.strip_prefix('^') {
        return property(rest).map(negated);
    }
    let plain = name.to_ascii_lowercase();
    posix(&plain).or_else(|| {
        let safe = name.chars().all(|c| c.is_ascii_alphanumeric() || "_ -=".contains(c));
        if safe { rust(&format!(r"\p{{{name}}}")) } else { None }
    })
}

/// Adds the other case of every character.
pub(super) fn fold(mut class: ClassUnicode) -> ClassUnicode {
    // Without the Unicode tables folding is impossible; the tables are compiled in.
    if class.try_case_fold_simple().is_err() {
        debug_assert!(false, "Unicode case tables are compiled in");
    }
    class
}

/// Reads a class in Rust's notation; only used with texts made in this file.
fn rust(text: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::parse(text).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ranges(&[(c, c)]))
        }
        _ => None,
    }
}
