//! Texts, names and paths as Temblor writes them. Whatever is written here reads back as what it was made from.

use std::fmt::Write;
use temblor_lang::syntax::RESERVED;

/// Words of `if`, which may be names, but not beside it.
const WORDS_OF_IF: [&str; 4] = ["if", "then", "elif", "else"];

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && characters.all(|one| one.is_ascii_alphanumeric() || one == '_')
        && !RESERVED.contains(&name)
        && !WORDS_OF_IF.contains(&name)
}

/// The name with everything that names cannot hold replaced.
pub(crate) fn plain(name: &str) -> String {
    let fits = |one: char| if one.is_ascii_alphanumeric() { one } else { '_' };
    let name: String = name.chars().map(fits).collect();
    let name = name.trim_matches('_');
    if is_plain(name) { name.to_string() } else { format!("the_{name}") }
}

/// What stands between the quotes of a text.
pub(crate) fn escaped(content: &str) -> String {
    let mut out = String::new();
    let mut characters = content.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '#' if characters.peek() == Some(&'{') => out.push_str("\\#"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out
}

/// A text in quotes; one with backslashes is written raw where that is possible.
pub(crate) fn text(content: &str) -> String {
    let is_tame = !content.contains('"') && !content.ends_with('\\');
    if content.contains('\\') && is_tame && !content.chars().any(char::is_control) {
        return format!("r\"{content}\"");
    }
    format!("\"{}\"", escaped(content))
}

/// A list of texts.
pub(crate) fn texts<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(|item| text(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

/// The path of nested fields below a root such as `event`.
pub(crate) fn path<T: AsRef<str>>(root: &str, steps: &[T]) -> String {
    let mut out = root.to_string();
    for step in steps {
        let step = step.as_ref();
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) && step.len() < 10 {
            let _ = write!(out, "[{}]", step.parse::<u32>().unwrap_or(0));
        } else if is_plain(step) {
            let _ = write!(out, ".{step}");
        } else {
            let _ = write!(out, "[{}]", text(step));
        }
    }
    out
}

/// A `with … end` of settings; nothing where there are none.
pub(crate) fn with(settings: &[String]) -> String {
    if settings.is_empty() { String::new() } else { format!(" with {} end", settings.join(", ")) }
}

/// A regular expression, made to ignore case where that is asked for, as a condition on a text. One without
/// anything special in it is looked for as it is.
pub(crate) fn found(pattern: &str, ignore_case: bool, place: &str) -> (String, &'static str) {
    let is_literal = !pattern.is_empty() && regex::escape(pattern) == pattern;
    if is_literal && !ignore_case {
        return (format!("string::contains({place}, {})", text(pattern)), "string");
    }
    let flags = if ignore_case { "(?i)" } else { "" };
    (format!("re::is_match({}, {place})", text(&format!("{flags}{pattern}"))), "re")
}

/// Whether the expressions of Temblor, which have no look-around and no back-references, can say it.
pub(crate) fn compiles(pattern: &str) -> Result<(), String> {
    match regex::Regex::new(pattern) {
        Ok(_) => Ok(()),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or("").trim_start_matches("error: ");
            Err(format!(
                "the expression cannot be said without back-references and look-around, or is none: {reason}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{found, path, plain, text};

    #[test]
    fn writes_what_reads_back() {
        assert_eq!(text("a\"#{b}\n"), r##""a\"\#{b}\n""##);
        assert_eq!(text(r"\d+"), r#"r"\d+""#);
        assert_eq!(path("event", &["json", "a b", "0", "case"]), r#"event.json["a b"][0]["case"]"#);
        assert_eq!(plain("d-net.1"), "d_net_1");
        assert_eq!(plain("7"), "the_7");
        assert_eq!(found("sshd", false, "m").0, r#"string::contains(m, "sshd")"#);
        assert_eq!(found("^a", true, "m").0, r#"re::is_match("(?i)^a", m)"#);
    }
}
